#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "kbench/error.h"
#include "kbench/result.h"
#include "kbench/score.h"
#include "tests/error_of.h"
#include "tests/scoring/example_result.h"
#include "tests/scratch_folder.h"

namespace kbench {
namespace {

using ::testing::AllOf;
using testing::example;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ResultFile : public ::testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  testing::ScratchFolder folder_;
  const std::string path_ = folder_.path("results.jsonl");
};

TEST_F(ResultFile, AbsentFileIsEmpty) { EXPECT_TRUE(read_results(path_).empty()); }

TEST_F(ResultFile, AppendsAndReadsBack) {
  {
    ResultWriter writer(path_);
    writer.append(example());
    EXPECT_EQ(read_results(path_).size(), 1u) << "readable while the run goes on";
  }
  Result second = example();
  second.task = {2, 1};
  ResultWriter(path_).append(second);
  const auto results = read_results(path_);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(to_json(results[0]), to_json(example()));
  EXPECT_EQ(results[1].task, (TaskId{2, 1}));
}

/// A result that passed, as a measurement has it.
Result passed() {
  Result result = example();
  result.verdict = Verdict::passed;
  result.samples = 16;
  result.speedup = {1.8, 2, 2.2};
  result.candidate_ms = 0.5;
  result.baseline_ms = 1;
  return result;
}

/// The complaint about a file whose second line is a result that passed and was then changed.
class ImpossibleLine : public ResultFile {
 protected:
  template <class Change>
  std::string refusal(Change change) {
    Result result = passed();
    change(result);
    write(to_json(passed()) + "\n" + to_json(result) + "\n");
    try {
      read_results(path_);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kParse);
      EXPECT_THAT(e.what(), ::testing::HasSubstr(path_ + ":2: "));
      EXPECT_THROW(result_from_json(to_json(result)), Error) << "the line alone";
      return e.message();
    }
    return "accepted";
  }
};

TEST_F(ImpossibleLine, ContradictsItself) {
  EXPECT_EQ(refusal([](Result&) {}), "accepted");
  EXPECT_EQ(refusal([](Result& r) { r.speedup.high = testing::kInf; }), "accepted");
  EXPECT_EQ(refusal([](Result& r) {
              r.speedup = {0.01, 0.83, 50};
              r.candidate_ms = 16 * r.baseline_ms;
            }),
            "accepted")
      << "two noisy samples";
  EXPECT_THAT(refusal([](Result& r) { r.samples = 0; }), StartsWith("result.samples is 0"));
  EXPECT_THAT(refusal([](Result& r) {
                r.speedup = {3, 2, 1};
              }),
              StartsWith("result.speedup.low is 3, above speedup.point, 2"));
  EXPECT_THAT(refusal([](Result& r) { r.speedup.high = 1.9; }),
              StartsWith("result.speedup.high is 1.9, below"));
  EXPECT_THAT(refusal([](Result& r) {
                r.speedup = {testing::kInf, testing::kInf, testing::kInf};
              }),
              StartsWith("result.speedup.point is inf"));
  EXPECT_THAT(refusal([](Result& r) {
                r.speedup = {1e6, 1e6, 1e6};
              }),
              StartsWith("result.speedup.point is 1e+06 where baseline_ms / candidate_ms is 2"));
  EXPECT_THAT(refusal([](Result& r) { r.candidate_ms = 0; }), StartsWith("result.candidate_ms"));
  EXPECT_THAT(refusal([](Result& r) {
                r.candidate_ms = 1e-300;
                r.baseline_ms = 2e-300;
              }),
              StartsWith("result.candidate_ms is 1e-300"))
      << "in proportion, and no time at all";
  EXPECT_THAT(refusal([](Result& r) { r.holds_at->right = 7; }),
              StartsWith("result.holds_at.right is 7 of 6"));
  EXPECT_THAT(refusal([](Result& r) { r.holds_at->right = 6; }),
              StartsWith("result.holds_at.first_wrong is given"));
  EXPECT_THAT(refusal([](Result& r) { r.holds_at->first_wrong.reset(); }),
              StartsWith("result.holds_at.first_wrong is missing where 4 of 6"));
  EXPECT_THAT(refusal([](Result& r) { r.holds_at->first_wrong->verdict = Verdict::passed; }),
              StartsWith("result.holds_at.first_wrong.verdict is passed"));
  EXPECT_THAT(refusal([](Result& r) { r.holds_at = HoldsAt{}; }),
              StartsWith("result.holds_at.tried is 0"));
  EXPECT_THAT(refusal([](Result& r) { r.workloads = Workloads{}; }),
              StartsWith("result.workloads.each is empty"));
  EXPECT_THAT(refusal([](Result& r) { r.workloads->each[0].speedup.low = 3; }),
              StartsWith("result.workloads.each[0].speedup.low is 3, above"));
  EXPECT_THAT(refusal([](Result& r) { r.workloads->least.high = 0.5; }),
              StartsWith("result.workloads.least.high is 0.5, below"));
  EXPECT_THAT(refusal([](Result& r) { r.workloads->each[0].candidate_ms = testing::kInf; }),
              StartsWith("result.workloads.each[0].candidate_ms is infinite"));
  EXPECT_THAT(refusal([](Result& r) { r.tuning[0].chosen = 2; }),
              StartsWith("result.tuning[0].chosen is 2"));
  EXPECT_THAT(refusal([](Result& r) { r.software_device = false; }),
              StartsWith("result.busy is true"));
  EXPECT_THAT(refusal([](Result& r) { r.task = {}; }), StartsWith("result.task is level0/0"));
  EXPECT_THAT(refusal([](Result& r) { r.task = {.own = "my/mlp"}; }),
              StartsWith("result.settings has no task=HASH"));
  EXPECT_EQ(refusal([](Result& r) {
              r.task = {.own = "my/mlp"};
              r.settings += " task=0123456789abcdef";
            }),
            "accepted");
}

TEST_F(ImpossibleLine, HasAValueThatNoMeasurementGives) {
  EXPECT_THAT(refusal([](Result& r) { r.own_kernels = 7; }),
              StartsWith("result.own_kernels is 7, above 1"));
  EXPECT_EQ(refusal([](Result& r) { r.own_kernels = 1 + 1e-12; }), "accepted");
  EXPECT_THAT(refusal([](Result& r) { r.lane = "opencl"; }),
              AllOf(StartsWith("result.lane is 'opencl'"), HasSubstr("torch-captured")));
  EXPECT_THAT(refusal([](Result& r) { r.preset = "v9"; }), StartsWith("result.preset is wrong"));
  EXPECT_THAT(refusal([](Result& r) { r.diagnostics[1].severity = "fatal"; }),
              StartsWith("result.diagnostics[1].severity is 'fatal'"));
  EXPECT_THAT(refusal([](Result& r) { r.compile_s = testing::kInf; }),
              StartsWith("result.compile_s is infinite"));
  EXPECT_EQ(refusal([](Result& r) { r.max_error = testing::kInf; }), "accepted");
}

TEST_F(ImpossibleLine, HasANegativeNumberInAnyField) {
  // Each number of the line in turn, wherever it stands; only shape variables can be negative.
  const nlohmann::json whole = nlohmann::json::parse(to_json(passed()));
  const nlohmann::json flat = whole.flatten();
  int numbers = 0;
  for (const auto& [name, value] : flat.items()) {
    if (!value.is_number() || name.find("/variables/") == 0 || name.find("/sizes/") != name.npos) {
      continue;
    }
    nlohmann::json changed = whole;
    changed[nlohmann::json::json_pointer(name)] =
        value.is_number_float() ? nlohmann::json(-1.0) : nlohmann::json(-1);
    write(to_json(passed()) + "\n" + changed.dump() + "\n");
    EXPECT_THROW(read_results(path_), Error) << name;
    ++numbers;
  }
  EXPECT_GE(numbers, 20);
}

TEST_F(ImpossibleLine, IsNeitherTakenForATornOneNorCutOff) {
  Result result = passed();
  result.runner_served = -1;
  write(to_json(passed()) + "\n" + to_json(result));
  EXPECT_THROW(read_results(path_), Error);
  { ResultWriter writer(path_); }
  EXPECT_THROW(read_results(path_), Error);
}

TEST_F(ResultFile, OfATaskThatDoesNotExistIsRefusedWithItsPlace) {
  Result unknown = passed(), own = passed(), none = example();
  unknown.task = {9, 999};
  own.task = {.own = "my/mlp"};
  own.settings += " task=0123456789abcdef";
  none.task = {};
  write(to_json(own) + "\n" + to_json(none) + "\n");
  require_known_tasks(read_result_lines(path_));
  write(to_json(own) + "\n" + to_json(unknown) + "\n");
  const Error e = error_of([&] { require_known_tasks(read_result_lines(path_)); });
  EXPECT_EQ(e.code(), ErrorCode::kParse);
  EXPECT_THAT(e.what(), HasSubstr(path_ + ":2: result.task is level9/999"));
}

TEST_F(ResultFile, LinesAreReadWithTheirPlaces) {
  const std::string whole = to_json(example()) + '\n';
  write(whole + '\n' + whole + whole.substr(0, 20));
  const auto lines = read_result_lines(path_);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].file, path_);
  EXPECT_EQ(lines[1].line, 3) << "the empty line counts";
  EXPECT_EQ(to_json(lines[1].result), to_json(example()));
}

TEST_F(ResultFile, EveryTornLastLineIsIgnoredAndCut) {
  const std::string whole = to_json(example()) + '\n';
  for (size_t length : {size_t{1}, size_t{4}, size_t{9}, whole.size() / 2, whole.size() - 2}) {
    write(whole + whole.substr(0, length));
    EXPECT_EQ(read_results(path_).size(), 1u) << length;
    ResultWriter(path_).append(example());
    EXPECT_EQ(text(), whole + whole) << length;
  }
}

TEST_F(ResultFile, ZeroBytesAfterALossOfPowerAreIgnoredAndCut) {
  const std::string line = to_json(example()), whole = line + '\n';
  const auto zeros = [](size_t count) { return std::string(count, '\0'); };
  struct Case {
    std::string text;
    size_t lines;
  };
  const Case cases[] = {{zeros(1), 0},
                        {zeros(100000), 0},
                        {whole + zeros(5), 1},
                        {whole + zeros(1 << 16), 1},
                        {whole + zeros(100000), 1},
                        {line + zeros(300), 1},
                        {whole + line.substr(0, 40) + zeros(300), 1},
                        {whole + line.substr(0, 4) + zeros(70000), 1},
                        // A block in the middle, or the first, that did not reach the disk.
                        {whole + line.substr(0, 40) + zeros(99) + line.substr(139) + '\n', 1},
                        {whole + zeros(100) + line.substr(100) + '\n', 1},
                        {whole + zeros(100) + line.substr(100) + '\n' + zeros(9), 1}};
  for (const Case& torn : cases) {
    const auto number = &torn - cases;
    write(torn.text);
    EXPECT_EQ(read_results(path_).size(), torn.lines) << number;
    ResultWriter(path_).append(example());
    EXPECT_EQ(text(), torn.lines == 1 ? whole + whole : whole) << number;
  }
}

TEST_F(ResultFile, ZeroBytesOfOtherFilesAreLeftAlone) {
  for (const std::string& other :
       {std::string("my notes\n\0\0", 11),
        std::string("\0\0\0\x18"
                    "ftyp",
                    8),
        std::string("notes\n\0picture", 14), std::string("notes\n\0picture\n", 15)}) {
    write(other);
    EXPECT_THROW(ResultWriter{path_}, Error);
    EXPECT_EQ(text(), other);
  }
}

TEST_F(ResultFile, ALastLineThatLacksOnlyItsNewlineIsKept) {
  const std::string line = to_json(example());
  write(line);
  EXPECT_EQ(read_results(path_).size(), 1u);
  ResultWriter(path_).append(example());
  EXPECT_EQ(text(), line + '\n' + line + '\n');
}

TEST_F(ResultFile, CutsATornLineLongerThanABlock) {
  const std::string whole = to_json(example()) + '\n';
  write(whole + "{\"set\":\"" + std::string(200000, 'x'));
  ResultWriter writer(path_);
  EXPECT_EQ(text(), whole);
}

TEST_F(ResultFile, LeavesAFileThatIsNotItsOwnAlone) {
  write("my notes\nthe last of them");
  EXPECT_THROW(ResultWriter{path_}, Error);
  EXPECT_THROW(read_results(path_), Error);
  EXPECT_EQ(text(), "my notes\nthe last of them");
}

TEST_F(ResultFile, MalformedLinesAreErrorsWithTheirNumber) {
  const std::string whole = to_json(example()) + '\n';
  write(whole + "{\"set\":\n" + whole);
  const Error e = error_of([&] { read_results(path_); });
  EXPECT_EQ(e.code(), ErrorCode::kParse);
  EXPECT_EQ(e.location().line, 2);
  EXPECT_EQ(e.location().file, path_);
}

TEST_F(ResultFile, ErrorsNameThePathAndTheReason) {
  const auto message = [](const std::string& path) -> std::string {
    try {
      ResultWriter writer(path);
      writer.append(example());
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kIo);
      return e.what();
    }
    return "accepted";
  };
  const std::string nowhere = folder_ / "absent" / "x.jsonl";
  EXPECT_EQ(message(nowhere), "cannot write " + nowhere + ": No such file or directory");
  EXPECT_EQ(message(folder_.path()), "cannot write " + folder_.path() + ": Is a directory");
  EXPECT_EQ(message("/dev/full"), "cannot write to /dev/full: No space left on device");
  EXPECT_THROW(read_results(folder_.path()), Error);
}

TEST_F(ResultFile, CannotBeReadForAReasonOfItsOwn) {
  std::filesystem::create_symlink(path_, path_);
  const Error e = error_of([&] { read_results(path_); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
  EXPECT_EQ(e.message(), "cannot read " + path_ + ": Too many levels of symbolic links");
}

TEST_F(ResultFile, ASecondWriterIsRefusedWithTheFirstOnesProcess) {
  {
    ResultWriter first(path_);
    first.append(example());
    const Error e = error_of([&] { ResultWriter second(path_); });
    EXPECT_EQ(e.code(), ErrorCode::kIo);
    EXPECT_EQ(e.message(), path_ + " is in use: process " + std::to_string(getpid()) +
                               " is writing results to it");
    first.append(example());
  }
  ResultWriter(path_).append(example());
  EXPECT_EQ(read_results(path_).size(), 3u);
}

/// Has writes past a size fail, as on a full disk, while it lives.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    handler_ = signal(SIGXFSZ, SIG_IGN);
    const rlimit less = {bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    signal(SIGXFSZ, handler_);
  }
  SizeLimit(const SizeLimit&) = delete;

 private:
  rlimit limit_ = {};
  sighandler_t handler_;
};

TEST_F(ResultFile, AFailedAppendLeavesItWholeAndCanBeRepeated) {
  const std::string whole = to_json(example()) + '\n';
  ResultWriter writer(path_);
  writer.append(example());
  {
    const SizeLimit limit(whole.size() + 100);
    EXPECT_THROW(writer.append(example()), Error);
    EXPECT_THROW(writer.append(example()), Error);
    EXPECT_EQ(text(), whole);
  }
  writer.append(example());
  EXPECT_EQ(text(), whole + whole);
}

TEST_F(ResultFile, AKilledWriterLeavesWholeLines) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ResultWriter writer(path_);
    for (;;) writer.append(example());
  }
  while (!std::filesystem::exists(path_) || std::filesystem::file_size(path_) < 20000) {
    std::this_thread::yield();
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  const size_t before = read_results(path_).size();
  EXPECT_GE(before, 10u);
  ResultWriter(path_).append(example());
  EXPECT_EQ(read_results(path_).size(), before + 1);
}

}  // namespace
}  // namespace kbench
