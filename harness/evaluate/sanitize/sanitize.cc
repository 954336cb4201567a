#include "harness/evaluate/sanitize/sanitize.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/evaluate/self_test/self_test.h"
#include "harness/measure/cuda/driver_list.h"
#include "harness/measure/cuda/driver_state.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/process/child_process.h"
#include "harness/measure/process/host_lock.h"
#include "harness/measure/runner/cuda_kernels.h"
#include "harness/measure/runner/lock_in.h"
#include "harness/measure/runner/python/python_prototype.h"
#include "harness/measure/runner/resolved.h"
#include "harness/measure/runner/torch/torch_lane.h"
#include "kbench/reference.h"
#include "kbench/task_file.h"
#include "libkbench/base/files.h"
#include "libkbench/base/hash.h"

namespace kbench::sanitize {
namespace {

using Json = nlohmann::json;
using runner::PythonScratch;

TaskAt at_of(const Question& question, const Candidate& candidate) {
  return task_at(candidate.task, preset_from_name(question.preset), question.overrides,
                 question.dtype);
}

/// The values of an input, a parameter or a constant, as they are stored.
Tensor values_of(const Graph& graph, int id, TaskId task, const Question& question) {
  const Graph::ValueInfo& value = graph.value(id);
  const Tensor tensor = value.kind == Graph::Kind::constant
                            ? value.data
                            : draw_tensor(graph, value, task, question.plan.seed.value_or(0));
  return tensor.converted(graph.stored_type(id).dtype);
}

/// In the process under a checker: runs setup and dispatch once, each tensor in memory of its own.
void run_candidate(const Question& question, const vulkan::DeviceSnapshot& device,
                   std::vector<std::string> readable) {
  const Candidate candidate = candidate_of(question.candidate);
  const bool triton = std::ranges::any_of(candidate.kernels, [](const Kernel& kernel) {
    return kernel.language == Kernel::Language::triton;
  });
  const auto python = triton ? std::make_unique<runner::PythonHelper>() : nullptr;
  const auto folders = cuda::find_toolkit(cuda::toolkit_places()).folders();
  readable.insert(readable.end(), folders.begin(), folders.end());
  // Opened unlocked: a checker and the driver find each other by sockets and shared memory. The
  // driver's threads are then held by the filter of system calls alone.
  cuda::Driver driver(device.device_uuid);
  runner::LockIn lock({.readable = readable, .device = vulkan::to_string(device.device_uuid)});
  lock.before_open();
  lock.after_open(/*software_device=*/false);
  cuda::Driver::State& state = driver.state();

  const TaskAt at = at_of(question, candidate);
  const auto graph = build_graph(at);
  const ResolvedCandidate resolved = resolve(candidate, *graph, runner::device_numbers(device));
  std::vector<uint64_t> addresses;
  for (const BufferSlot& slot : resolved.buffers) {
    const bool given = slot.value >= 0 && slot.kind != BufferSlot::Kind::output;
    const Tensor values = given ? values_of(*graph, slot.value, at.task, question) : Tensor();
    const auto bytes = static_cast<size_t>(slot.type.bytes());
    cuda::driver::Pointer address = 0;
    state.check(state.calls.allocate(&address, std::max<size_t>(bytes, 1)), "cuMemAlloc");
    const void* from = given ? static_cast<const void*>(values.raw()) : slot.words.data();
    if (bytes > 0 && (given || !slot.words.empty())) {
      state.check(state.calls.upload(address, from, bytes), "cuMemcpyHtoD");
    }
    addresses.push_back(address);
  }
  runner::CudaCompilers compilers([&] { return runner::cuda_capability(device); }, python.get(),
                                  /*line_info=*/true);
  std::vector<runner::CudaKernel> kernels;
  std::vector<cuda::DriverKernel> loaded;
  for (size_t i = 0; i < resolved.kernels.size(); ++i) {
    runner::CudaAttempt made = compilers.compile(resolved, i, question.limits.compile_seconds);
    if (made.refusal) throw Error(ErrorCode::kCompile, made.refusal->message);
    kernels.push_back(std::move(made.kernel));
    loaded.push_back(driver.load(kernels.back().cubin, kernels.back().entry));
  }
  std::vector<cuda::LaunchStep> steps;
  for (const ResolvedStep* each : runner::all_steps(resolved)) {
    const auto kernel = static_cast<size_t>(each->kernel);
    const ResolvedStep step = runner::as_launched(kernels.at(kernel), *each);
    cuda::LaunchStep& made = steps.emplace_back();
    made = {loaded[kernel], {step.groups, step.block, step.shared_bytes}, step.push};
    for (const auto& [offset, buffer] : step.addresses) {
      const uint64_t address = addresses.at(static_cast<size_t>(buffer));
      std::memcpy(made.parameters.data() + offset, &address, sizeof address);
    }
    driver.allow(made.kernel, made.launch);
  }
  cuda::DriverList(driver, std::move(steps)).run(/*seconds=*/100);
  // Racecheck says what it has found where the context waits for its work, or ends.
  state.check(state.calls.synchronize(), "cuCtxSynchronize");
  state.check(state.calls.context_reset(state.device), "cuDevicePrimaryCtxReset");
}

/// What checked.py takes, beside the values.
Json torch_job(const Question& question, const vulkan::DeviceSnapshot& device,
               const Candidate& candidate, std::vector<std::string> readable,
               const PythonScratch& own, const PythonScratch& folder) {
  const std::string uuid = vulkan::to_string(device.device_uuid);
  const cuda::ComputeCapability has = runner::cuda_capability(device);
  const std::string architecture = std::to_string(has.major) + "." + std::to_string(has.minor);
  const runner::PythonInterpreter python = runner::find_python("torch").found.value();
  put_kept_extensions(
      python,
      {.script = runner::with_loader(runner::precompile_script(), question.rule.full_headers),
       .made_from = candidate.torch->source,
       .architecture = architecture},
      folder);
  const TaskAt at = at_of(question, candidate);
  const auto graph = build_graph(at);
  std::string values;
  for (const auto kind : {Graph::Kind::parameter, Graph::Kind::input}) {
    for (const int id : graph->values_of(kind)) {
      const Tensor tensor = values_of(*graph, id, at.task, question);
      values.append(reinterpret_cast<const char*>(tensor.raw()), size_t(tensor.bytes()));
    }
  }
  own.write("values", values);
  const std::string script = std::string(runner::kernel_names_script())
                                 .append(runner::weights_script())
                                 .append(runner::driver_script());
  readable.insert(readable.end(), python.readable.begin(), python.readable.end());
  return {{"python", python.program},
          {"folder", folder.path()},
          {"values", own.path("values")},
          {"prototype", runner::prototype_script()},
          {"driver", runner::with_loader(script, /*full_headers=*/true)},
          {"lock", runner::python_lock(readable, folder.path(), runner::device_files(uuid), 0)},
          {"filter", hex_of(runner::program_of_python_filter())},
          {"device", "GPU-" + uuid},
          {"architecture", architecture},
          {"task", runner::torch_tensors(runner::torch_task(*candidate.torch, at), *graph)}};
}

/// `command`: compute-sanitizer and the process under it. What both print goes to the file `log`,
/// as ChildProcess keeps the end only.
std::unique_ptr<process::ChildProcess> start_under(const std::string& checker,
                                                   std::vector<std::string> command,
                                                   const std::string& log) {
  command.insert(command.begin() + 1, {"--tool", checker, "--target-processes", "application-only",
                                       "--show-backtrace", "no"});
  // PyTorch asks for what may not be there.
  if (checker == "memcheck") command.insert(command.begin() + 1, {"--report-api-errors", "no"});
  command.insert(command.begin(), {"-c", "exec \"$@\" >\"$0\" 2>&1", log});
  process::Spawn spawn;
  spawn.program = "/bin/sh";
  spawn.arguments = std::move(command);
  spawn.environment = runner::sanitized_environment();
  spawn.environment->emplace_back("PATH=/usr/local/cuda/bin:/usr/bin:/bin");
  return std::make_unique<process::ChildProcess>(spawn);
}

/// Adds what the checker has found, once its process has ended.
void read_findings(const std::string& checker, process::ChildProcess& process, bool torch,
                   const std::string& log, Sanitized& found) {
  constexpr std::chrono::seconds kLimit(120);  // Kernels take up to a hundred times as long.
  const process::Exit exit = process.finish(kLimit);
  CheckerReport report = read_report(checker, read_file(log));
  const bool ended = exit.signal == 0 && exit.status == 0 && report.errors;
  const bool understood = report.errors == 0 || !report.findings.empty();
  // What PyTorch's own kernels race for, or read beside what they need, is not the candidate's.
  if (torch && checker != "memcheck") {
    std::erase_if(report.findings,
                  [](const auto& each) { return runner::is_library_kernel(each.kernel); });
  }
  std::ranges::copy(report.findings, std::back_inserter(found.findings));
  if (!report.findings.empty()) return;
  if (ended && understood) return found.clean.push_back(checker);
  found.unknown.push_back(checker + " did not finish: its process " + describe(exit) + ": " +
                          report.last_words);
}

/// Under all checkers at once, as nothing is timed, while no other process measures on the device.
void run(const Machine& machine, Question question, const std::vector<std::string>& checkers,
         const std::stop_token& stop, Sanitized& found) {
  process::HostLock lock(process::device_lock_name(vulkan::to_string(machine.device.device_uuid)));
  lock.take({}, stop);
  const PythonScratch own, folder;
  question.candidate = in_memory(question.candidate);
  const Candidate candidate = candidate_of(question.candidate);
  // A toolkit's bin/ has a script; what it loads into the process lies in the folder beside it.
  const auto bin = std::filesystem::canonical(machine.sanitizer).parent_path();
  const std::vector<std::string> readable = {bin, bin.parent_path() / "compute-sanitizer"};
  const bool torch = candidate.torch.has_value();
  Json order = {{"request", judge::to_json(judge::EvaluateRequest{.question = question})},
                {"device", judge::to_json(machine.device)},
                {"readable", readable}};
  std::vector<std::string> command = {machine.sanitizer, path_for_others(machine.program),
                                      "checked-process"};
  if (torch) {
    order = torch_job(question, machine.device, candidate, readable, own, folder);
    command = {machine.sanitizer, order.at("python"), "-I", "-B", "-c", ""};
    command.back() = runner::checked_script();
  }
  own.write("order", order.dump(-1, ' ', false, Json::error_handler_t::replace));
  command.push_back(own.path("order"));
  if (stop.stop_requested()) throw Cancelled();
  std::vector<std::unique_ptr<process::ChildProcess>> children;
  for (const std::string& each : checkers) {
    children.push_back(start_under(each, command, own.path(each)));
  }
  for (size_t i = 0; i < checkers.size(); ++i) {
    read_findings(checkers[i], *children[i], torch, own.path(checkers[i]), found);
  }
}

/// The question at sizes that are small enough to check, its own if they are; nothing where the
/// candidate is made for others.
std::optional<Question> at_small_sizes(Question question, const Result& result,
                                       const vulkan::DeviceSnapshot& device) {
  question.plan.seed = result.seed;
  question.preset = result.preset;
  constexpr std::string_view kSmall[] = {"smoke", "train"};
  if (std::ranges::find(kSmall, question.preset) != std::end(kSmall)) return question;
  if (result.holds_at && result.holds_at->right == 0) return std::nullopt;
  question.overrides.clear();
  const Candidate candidate = candidate_of(question.candidate);
  for (const std::string_view preset : kSmall) {
    question.preset = preset;
    try {
      const auto graph = build_graph(at_of(question, candidate));
      if (requirements_broken(candidate.requirements, graph->variables()) > 0) continue;
      if (!candidate.torch) resolve(candidate, *graph, runner::device_numbers(device));
      return question;
    } catch (const Error&) {  // It cannot be had at these.
    }
  }
  return std::nullopt;
}

}  // namespace

std::string find_sanitizer(const vulkan::DeviceSnapshot& device) {
  std::vector<std::string> folders;
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) folders.push_back(folder);
  for (const std::string& root : cuda::toolkit_places().roots) folders.push_back(root + "/bin");
  const auto found = std::ranges::find_if(folders, [](const std::string& folder) {
    return folder.starts_with('/') && access((folder + "/compute-sanitizer").c_str(), X_OK) == 0;
  });
  if (found == folders.end()) {
    throw Error(ErrorCode::kUnsupported,
                "--sanitize takes NVIDIA's compute-sanitizer, which is in none of PATH, "
                "CUDA_HOME/bin and /usr/local/cuda/bin; it comes with the CUDA toolkit, or as "
                "NVIDIA's package cuda-sanitizer-VERSION");
  }
  runner::cuda_capability(device);
  return *found + "/compute-sanitizer";
}

std::string path_for_others(const std::string& program) {
  return program == "/proc/self/exe" ? "/proc/" + std::to_string(getpid()) + "/exe" : program;
}

void check(const Machine& machine, const Question& question, const std::stop_token& stop,
           Result& result) {
  Sanitized& sanitized = result.sanitized.emplace();
  std::vector<std::string> believed;
  for (const std::string checker : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
    Result made;
    made.lane = "sanitize/" + checker;
    const auto judge = [&](const Question& plant) {
      Sanitized found;
      run(machine, plant, {checker}, stop, found);
      made.message = found.unknown.empty() ? "" : found.unknown.front();
      made.verdict = !found.unknown.empty()   ? Verdict::harness_error
                     : found.findings.empty() ? Verdict::passed
                                              : Verdict::race;
      return made;
    };
    const std::string fault =
        self_test::fault_of_lane(made.lane, machine.device, machine.sanitizer, judge);
    if (fault.empty()) {
      believed.push_back(checker);
    } else {
      sanitized.unknown.push_back(checker + " is not believed on this machine: " + fault);
    }
  }
  const auto asked = at_small_sizes(question, result, machine.device);
  if (!asked) return sanitized.unknown.push_back("the sizes that it is made for are too large");
  sanitized.preset = asked->preset;
  if (!believed.empty()) run(machine, *asked, believed, stop, sanitized);
  if (question.rule.sanitize != Sanitize::fail || !result.correct()) return;
  if (sanitized.findings.empty()) return;
  result.verdict = Verdict::race;
  result.message = "at preset " + sanitized.preset + ": " + in_words(sanitized.findings.front());
  drop_times(result);
}

int run_checked_process(int argc, char** argv) {
  try {
    if (argc != 1) throw Error(ErrorCode::kInvalidArgument, "this verb is for kbench's own use");
    const Json order = Json::parse(read_file(argv[0]));
    const judge::EvaluateRequest request = judge::request_from_json(order.at("request"));
    const std::string device = order.at("device");
    set_task_files(request.task_files);
    run_candidate(request.question, judge::snapshot_from_json(device), order.at("readable"));
    return 0;
  } catch (const cuda::StepError& failure) {
    std::fprintf(stderr, "kbench: %s\n", failure.error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kbench: %s\n", error.what());
  }
  return 2;
}

}  // namespace kbench::sanitize
