#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>

#include "harness/program/help.h"
#include "harness/program/verbs.h"
#include "kbench/extract.h"
#include "kbench/text.h"
#include "libkbench/src/files.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

struct ExtractVerbOptions {
  std::string answer, task, into, finish = "stop";
};

/// The folder is made, or is there and empty: nothing is replaced, and no link is followed.
void write_files(const Extraction& found, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    throw Error(ErrorCode::kIo, "cannot make folder " + shown(folder) +
                                    (error ? ": " + error.message() : ": it is a file"));
  }
  if (!fs::is_empty(folder)) {
    throw Error(ErrorCode::kIo, "folder " + shown(folder) + " is not empty; give a new one");
  }
  for (const auto& [path, text] : found.files) {
    const fs::path whole = fs::path(folder) / path;
    fs::create_directories(whole.parent_path(), error);
    replace_file(whole.string(), text);
  }
}

int run_extract(const ExtractVerbOptions& options) {
  Answer answer;
  answer.text = options.answer == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {})
                                      : read_file(options.answer);
  answer.finish = options.finish;
  const TaskId task = options.task.empty() ? TaskId{} : parse_task_id(options.task);
  const Extraction found = extract(answer, task);
  if (found.outcome != Outcome::candidate) {
    std::printf("no candidate: %s\n", found.explanation.c_str());
    return kFailed;
  }
  for (const auto& [path, text] : found.files) {
    std::printf("%s  %zu bytes\n", path.c_str(), text.size());
  }
  const size_t missing = found.explanation.find("; ");
  if (missing != std::string::npos) {
    std::printf("%s\n", found.explanation.substr(missing + 2).c_str());
  }
  std::string overlooked;
  for (const std::string& leniency : found.leniencies) {
    overlooked += (overlooked.empty() ? "" : ", ") + leniency;
  }
  if (!overlooked.empty()) std::printf("overlooked: %s\n", overlooked.c_str());
  if (!options.into.empty()) {
    write_files(found, options.into);
    std::printf("written to %s\n", shown(options.into).c_str());
  }
  return kDone;
}

}  // namespace

Verb add_extract(CLI::App& program) {
  auto options = std::make_shared<ExtractVerbOptions>();
  CLI::App* app = add_verb(
      program, "extract", "The candidate in a language model's answer",
      "Finds the candidate in an answer as a language model writes it: a fenced YAML block with\n"
      "'kbench:', and a fenced block for each shader. Says which files there are and what was\n"
      "overlooked. Exit code 1 when the answer holds none.",
      "  kbench extract answer.md\n"
      "  kbench extract - --task level1/19 --into my/relu < answer.md");
  app->add_option("ANSWER", options->answer,
                  "A file with the answer's text, or - for standard input")
      ->required()
      ->option_text("ANSWER");
  app->add_option("--task", options->task, "The task that was asked for")->option_text("TASK");
  app->add_option("--finish", options->finish,
                  "Why the answer ended: stop, or length where it was cut off")
      ->option_text("WORD")
      ->capture_default_str();
  app->add_option("--into", options->into, "Write the files into this folder, a new or empty one")
      ->group("Output")
      ->option_text("FOLDER");
  return {app, [options] { return run_extract(*options); }};
}

}  // namespace kbench::program
