// The programs of pytorch_module() compute what their tasks compute: PyTorch runs them in float64
// on what the golden records are drawn from.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/process/channel.h"
#include "harness/measure/process/child_process.h"
#include "harness/measure/runner/python_interpreter.h"
#include "kbench/golden.h"
#include "kbench/listing.h"
#include "kbench/reference.h"
#include "kbench/task_file.h"
#include "tests/candidate/support.h"
#include "tests/core/task_parameters.h"
#include "tests/golden/golden_data.h"
#include "tests/golden/golden_odd.h"
#include "tests/read_npy.h"
#include "tests/support/needs_torch.h"

namespace kbench {
namespace {

using testing_support::ScratchFolder;

/// As in check_golden(), of the output's RMS.
constexpr double kMostDifference = 32 * 1e-7;

/// The python3 with torch.
const std::string& python_with_torch() {
  static const std::string program = [] {
    const runner::PythonSearch search = runner::find_python("torch");
    return search.found ? search.found->program : "";
  }();
  return program;
}

/// Bytes of inputs and parameters that take long to write and read: VGG has 560 MB at any size.
constexpr int64_t kMany = int64_t{150} << 20;

/// A process of run_pytorch_code.py.
class Torch {
 public:
  Torch() {
    auto [here, there] = process::make_socket_pair();
    process_ = std::make_unique<process::ChildProcess>(
        process::Spawn{.program = python_with_torch(),
                       .arguments = {"-I", "-B", KBENCH_RUN_PYTORCH_CODE},
                       .descriptors = {{there.get(), 0}, {there.get(), 3}},
                       .environment = {}});
    socket_ = std::move(here);
  }

  void begin(const std::string& folder) {
    const std::string line = folder + "\n";
    if (send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) != ssize_t(line.size())) {
      throw Error(ErrorCode::kIo, "python3 takes no request: " + process_->last_words());
    }
  }

  /// "done", or what went wrong.
  std::string answer() {
    std::string line;
    char letter = 0;
    while (read(socket_.get(), &letter, 1) == 1) {
      if (letter == '\n') return line;
      line += letter;
    }
    throw Error(ErrorCode::kIo, "python3 has ended: " + process_->last_words());
  }

 private:
  std::unique_ptr<process::ChildProcess> process_;
  UniqueFd socket_;
};

class PytorchCode : public ::testing::TestWithParam<Task> {
 protected:
  static void TearDownTestSuite() { torch_.reset(); }

  void SetUp() override { KBENCH_NEED_TORCH(); }

  /// Runs the task's program and compares its outputs with the record and with the reference.
  static void check(const GoldenRecord& record) {
    const auto graph = build_graph(record);
    std::vector<Tensor> outputs;
    compute(GetParam(), *graph, draw_golden(record, *graph), outputs);
    if (HasFatalFailure()) return;
    const GoldenCheck golden = check_golden(record, outputs, Precision::f64);
    EXPECT_TRUE(golden.passed) << golden.message << "\n" << pytorch_module(GetParam(), *graph);
  }

  /// Runs the task's program, compares its outputs with the reference, and hands them on.
  static void compute(const Task& task, const Graph& graph, NamedTensors given,
                      std::vector<Tensor>& outputs) {
    const ScratchFolder folder;
    for (const char* kind : {"input", "parameter"}) {
      std::filesystem::create_directories(folder.path(kind));
    }
    for (const Graph::ValueInfo& value : graph.values()) {
      if (value.kind != Graph::Kind::input && value.kind != Graph::Kind::parameter) continue;
      write_npy(folder.path(std::string(name_of(value.kind)) + "/" + value.name + ".npy"),
                given.at(value.name));
    }
    const std::string program = pytorch_module(task, graph);
    folder.write("program.py", program);
    if (!torch_) torch_ = std::make_unique<Torch>();
    std::string answer;
    std::vector<Tensor> expected;
    try {
      torch_->begin(folder.path());
      expected =
          run_reference(graph, std::move(given), {.precision = Precision::f64, .threads = 1});
      answer = torch_->answer();
    } catch (const Error& error) {
      torch_.reset();  // the next task has a new one
      answer = error.what();
    }
    ASSERT_EQ(answer, "done") << program;
    for (size_t i = 0; i < expected.size(); ++i) {
      outputs.push_back(test::read_npy(folder.path(std::to_string(i) + ".npy")));
      const std::string difference = difference_of(outputs[i], expected[i]);
      EXPECT_TRUE(difference.empty()) << graph.output_name(i) << " " << difference << "\n"
                                      << program;
    }
  }

 private:
  /// Empty where they are alike; else with the largest difference.
  static std::string difference_of(const Tensor& got, const Tensor& expected) {
    if (got.type() != expected.type()) {
      return "is " + to_string(got.type()) + ", not " + to_string(expected.type());
    }
    double squares = 0, largest = 0;
    int64_t where = -1;
    for (int64_t i = 0; i < got.elements(); ++i) {
      squares += expected.at(i) * expected.at(i);
      const double difference = std::abs(got.at(i) - expected.at(i));
      if (difference <= largest) continue;  // false for NaN
      largest = difference;
      where = i;
    }
    const double rms = std::sqrt(squares / double(got.elements()));
    if (where < 0 || largest <= kMostDifference * rms) return "";
    std::ostringstream text;
    text << "differs from the reference most in element " << where << ", by " << largest / rms
         << " of its RMS: " << got.at(where) << ", not " << expected.at(where);
    return text.str();
  }

  inline static std::unique_ptr<Torch> torch_;
};

TEST_P(PytorchCode, ComputesItsTaskAtPresetSmoke) {
  check(golden_record(Preset::smoke, GetParam().id));
}

/// But for those with many parameters.
TEST_P(PytorchCode, ComputesItsTaskAtOddSizes) {
  for (const GoldenRecord& record : odd_records()) {
    if (record.task != GetParam().id) continue;
    int64_t bytes = 0;
    for (const GoldenTensor& tensor : record.tensors) bytes += tensor.type.bytes();
    if (bytes > kMany) continue;
    SCOPED_TRACE(sizes_of(record));
    check(record);
  }
}

/// The documentation's examples of tasks of one's own, at preset smoke and at other sizes.
class PytorchCodeOfFiles : public PytorchCode {};

TEST_P(PytorchCodeOfFiles, ComputesItsTask) {
  const Task& task = GetParam();
  for (const Variables& variables : {Variables{}, Variables{{"tokens", int64_t{5}}}}) {
    const auto graph = build_graph(task, Preset::smoke, variables);
    std::vector<Tensor> outputs;
    compute(task, *graph, draw_tensors(*graph, task.id, 1), outputs);
  }
}

std::vector<Task> tasks_of_files() {
  const TaskSet set = TaskSet::from_path(KBENCH_EXAMPLE_TASKS);
  std::vector<Task> tasks;
  for (const Task* task : set.tasks()) tasks.push_back(*task);
  return tasks;
}

INSTANTIATE_TEST_SUITE_P(Examples, PytorchCodeOfFiles, ::testing::ValuesIn(tasks_of_files()),
                         test_name);

INSTANTIATE_TEST_SUITE_P(All, PytorchCode, ::testing::ValuesIn(tasks()), test_name);

}  // namespace
}  // namespace kbench
