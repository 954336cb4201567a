#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/diagnose/investigate.h"
#include "harness/evaluate/generate/run_folder.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/report.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "harness/frontends/program/watch.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "kbench/feedback.h"
#include "kbench/text.h"
#include "libkbench/base/files.h"
#include "libkbench/scoring/run_names.h"

extern char** environ;

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

struct ReplOptions {
  std::string task, candidate;
  bool edit = false;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
};

constexpr const char* kCommands =
    "save a file of the folder: judged again; Enter: judge; d: diagnose; e: edit; q: quit;\n"
    "or type a candidate, from its line 'kbench: 1' to a line that is a dot";

/// The candidate that is being edited, with its judge kept running.
class Repl {
 public:
  Repl(const Task& task, std::string file, const ReplOptions& options)
      : task_(task),
        file_(std::move(file)),
        evaluation_(evaluate_options(options.size, options.device, options.measure)),
        judge_(evaluation_.program, evaluation_.device, evaluation_.validate),
        watch_(fs::path(file_).parent_path().string()) {
    evaluation_.preset =
        name_of(check_sizes({&task}, options.size, judge_.snapshot(), evaluation_.recorded));
  }

  int run(bool edit_first) {
    std::printf("%s_%s on %s, preset %s: %s\n", to_string(task_.id).c_str(), task_.name.c_str(),
                judge_.snapshot().name.c_str(),
                preset_in_words(evaluation_.preset, evaluation_.dtype).c_str(),
                shown(file_).c_str());
    if (judge_.snapshot().software()) {
      std::printf("%s\n", software_warning(judge_.snapshot().name).c_str());
    }
    std::printf("%s\n", kCommands);
    edit_first ? edit() : judge();
    for (;;) {
      prompt();
      const Watch::Happened happened = watch_.next();
      if (happened.what == Watch::What::end) break;
      if (happened.what == Watch::What::saved) {
        judge();
      } else if (happened.line == "q" || happened.line == "quit") {
        break;
      } else if (!obey(happened.line)) {
        std::printf("%s\n", kCommands);
      }
    }
    return last_ && last_->correct() ? kDone : kFailed;
  }

 private:
  static void prompt() {
    if (isatty(STDIN_FILENO) == 1) std::printf("> ");
    std::fflush(stdout);
  }

  bool obey(const std::string& line) {
    if (line.empty() || line == "r") {
      judge();
    } else if (line == "d") {
      diagnose();
    } else if (line == "e") {
      edit();
    } else if (line.starts_with("kbench:")) {
      take_typed(line);
    } else {
      return false;
    }
    return true;
  }

  void judge() {
    const client::EvaluateRequest request{file_, evaluation_, /*check_only=*/false, /*more=*/true};
    Result result = judge_.run(request, nullptr);
    // A candidate of another task can pass, but is of no use here.
    if (result.correct() && result.task != task_.id) {
      std::printf("the candidate is for %s, not for %s\n", to_string(result.task).c_str(),
                  to_string(task_.id).c_str());
      result.verdict = Verdict::invalid_candidate;
    } else {
      print(result);
    }
    last_ = std::move(result);
    std::fflush(stdout);
  }

  void print(const Result& result) const {
    std::string line(name_of(result.verdict));
    if (result.correct()) {
      line += "  " + format_speedup(result.speedup) + "  " + format_ms(result.candidate_ms) +
              ", baseline " + format_ms(result.baseline_ms);
      if (last_ && last_->correct()) line += "; before " + format_speedup(last_->speedup);
    } else if (!result.message.empty()) {
      line += ": " + shown_message(result.message);
    }
    std::printf("%s  (%s s)\n", line.c_str(), format_number(result.wall_s, 2).c_str());
    for (const Diagnostic& each : result.diagnostics) {
      std::printf("  %s\n", format_diagnostic(each).c_str());
    }
  }

  /// Prints the feedback that a model would get.
  void diagnose() {
    if (!last_) judge();
    diagnose::InvestigateOptions options;
    options.evaluate = evaluation_;
    const Evidence evidence = diagnose::investigate(judge_, file_, *last_, options);
    std::optional<Candidate> candidate;
    try {
      candidate = load_candidate(file_);
    } catch (const Error&) {  // the verdict says what is wrong
    }
    std::printf("%s\n", feedback(*last_, candidate ? &*candidate : nullptr, evidence).text.c_str());
    std::fflush(stdout);
  }

  void edit() {
    const char* const editor = std::getenv("EDITOR");
    if (editor == nullptr || *editor == '\0') {
      std::printf("EDITOR is not set; edit %s with any editor\n", shown(file_).c_str());
      return;
    }
    const char* const script = "exec $EDITOR \"$1\"";
    const char* const arguments[] = {"sh", "-c", script, "sh", file_.c_str(), nullptr};
    pid_t child = 0;
    if (posix_spawnp(&child, "sh", nullptr, nullptr, const_cast<char* const*>(arguments),
                     environ) != 0) {
      throw_io("run", editor);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    watch_.drain();
    judge();
  }

  void take_typed(const std::string& first) {
    std::string text = first + "\n";
    for (;;) {
      const Watch::Happened happened = watch_.next();
      if (happened.what == Watch::What::end) break;
      if (happened.what == Watch::What::saved) continue;
      if (happened.line == ".") break;
      text += happened.line + "\n";
    }
    replace_file(file_, text);
    watch_.drain();
    judge();
  }

  const Task& task_;
  std::string file_;
  EvaluateOptions evaluation_;
  client::JudgeClient judge_;
  Watch watch_;
  std::optional<Result> last_;
};

/// The candidate to start from: the given one, or a new one of built-in steps.
std::string file_to_edit(const Task& task, const ReplOptions& options) {
  fs::path path =
      options.candidate.empty() ? fs::path(run_file_name(task.id)) : fs::path(options.candidate);
  std::error_code ignored;
  if (path.extension() != ".yaml") path /= "candidate.yaml";
  path = fs::absolute(path).lexically_normal();
  if (fs::exists(path, ignored)) return path.string();
  generate::make_folder(path.parent_path().string());
  const auto graph =
      build_graph(task_at(task.id, Preset::smoke, options.size.overrides(), options.size.dtype()));
  replace_file(path.string(), eager_candidate_yaml(task, *graph));
  return path.string();
}

int run_repl(const ReplOptions& options) {
  const Task& task = task_argument(options.task);
  return Repl(task, file_to_edit(task, options), options).run(options.edit);
}

}  // namespace

Verb add_repl(Command program) {
  auto options = std::make_shared<ReplOptions>();
  const Command app = program.add_verb(
      "repl", "A kernel under your hands: its verdict after each save",
      "Judges a candidate again whenever a file in its folder is saved, with device, compiler and "
      "baseline kept warm. Without a candidate it begins with one of built-in operators, in a "
      "folder named after the task, to be replaced kernel by kernel. Exit code 1 when the last one "
      "did not pass. Commands may be piped.",
      "  kbench repl level1/19\n"
      "  kbench repl level1/23 my/softmax.yaml --preset v0\n"
      "  EDITOR=vim kbench repl 1/19 --edit");
  app.add_option("TASK", options->task, "The task: level1/19, 1/19, or its name").required();
  app.add_option("CANDIDATE", options->candidate,
                 "A YAML file, or a folder for candidate.yaml; made where it is not there");
  app.in_group("Output").add_flag("--edit", options->edit, "Begin in $EDITOR");
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_to(app);
  options->measure.add_to(app);
  return {app, [options] { return run_repl(*options); }};
}

}  // namespace kbench::program
