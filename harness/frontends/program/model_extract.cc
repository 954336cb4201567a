#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "kbench/extract.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

struct ExtractVerbOptions {
  std::string answer, task;
  std::optional<std::string> output;
  bool json = false;
};

struct FoundFile {
  std::string path;
  size_t bytes = 0;
  std::string text;
};
KBENCH_FIELDS(FoundFile, path, bytes, text)

/// The document of --json.
struct ExtractDocument {
  Outcome outcome = Outcome::candidate;
  std::string explanation;
  std::vector<FoundFile> files;
  std::vector<std::string> leniencies;
  std::optional<std::string> written_to;
};
KBENCH_FIELDS(ExtractDocument, outcome, explanation, files, leniencies, written_to)

[[noreturn]] void refuse_folder(const std::string& folder, const std::string& why) {
  throw Error(ErrorCode::kIo, "cannot make folder " + shown(folder) + ": " + why);
}

/// Writes into a new or empty folder: nothing is replaced, and no link is followed. The files are
/// written beside it and then renamed, so that the folder appears completely or not at all.
void write_files(const Extraction& found, const std::string& folder) {
  std::error_code error;
  fs::path target = fs::absolute(folder, error).lexically_normal();
  if (error) refuse_folder(folder, error.message());
  if (!target.has_filename()) target = target.parent_path();
  const bool there = fs::exists(target, error);
  if (error) refuse_folder(folder, error.message());
  if (there && !fs::is_directory(target)) refuse_folder(folder, "it is a file");
  if (there && !fs::is_empty(target, error)) {
    throw Error(ErrorCode::kIo, "folder " + shown(folder) + " is not empty; give a new one");
  }
  // Inside an existing folder, which may be a working directory or the target of a link.
  const std::string next = "." + std::to_string(getpid()) + ".next";
  const fs::path place = there ? target / next : fs::path(target.string() + next);
  fs::create_directories(place, error);
  if (error) refuse_folder(folder, error.message());
  try {
    for (const auto& [path, text] : found.files) {
      const fs::path whole = place / path;
      fs::create_directories(whole.parent_path(), error);
      replace_file(whole.string(), text);
    }
    if (there) {
      for (const auto& each : fs::directory_iterator(place)) {
        fs::rename(each.path(), target / each.path().filename());
      }
      fs::remove(place);
    } else {
      fs::rename(place, target);
    }
  } catch (const std::exception& e) {
    fs::remove_all(place, error);
    refuse_folder(folder, e.what());
  }
}

void print_text(const Extraction& found) {
  if (found.outcome != Outcome::candidate) {
    std::printf("no candidate: %s\n", found.explanation.c_str());
    return;
  }
  for (const auto& [path, text] : found.files) {
    std::printf("%s  %zu bytes\n", path.c_str(), text.size());
  }
  const size_t missing = found.explanation.find("; ");
  if (missing != std::string::npos) {
    std::printf("%s\n", found.explanation.substr(missing + 2).c_str());
  }
  if (found.leniencies.empty()) return;
  std::printf("overlooked: %s\n", listed(found.leniencies, std::identity()).c_str());
}

int run_extract(const ExtractVerbOptions& options) {
  Answer answer;
  answer.text = options.answer == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {})
                                      : read_file(options.answer);
  const TaskId task = options.task.empty() ? TaskId{} : named_task(options.task).id;
  const Extraction found = extract(answer, task);
  const bool writes = options.output && found.outcome == Outcome::candidate;
  if (!options.json) print_text(found);
  if (writes) write_files(found, *options.output);
  if (options.json) {
    ExtractDocument document{found.outcome, found.explanation, {}, found.leniencies, std::nullopt};
    for (const auto& [path, text] : found.files) {
      document.files.push_back({path, text.size(), text});
    }
    if (writes) document.written_to = options.output;
    say(json_document(document));
  } else if (writes) {
    std::printf("written to %s\n", shown(*options.output).c_str());
  }
  return found.outcome == Outcome::candidate ? kDone : kFailed;
}

}  // namespace

Verb add_model_extract(Command model) {
  auto options = std::make_shared<ExtractVerbOptions>();
  const Command app = model.add_verb(
      "extract", "The candidate in a language model's answer",
      "Finds the candidate in an answer as a language model writes it: a fenced YAML block with "
      "'kbench:', and a fenced block for each shader; or a fenced Python block that defines "
      "ModelNew. Says which files there are and what was overlooked. Exit code 1 when the answer "
      "holds none.",
      "  kbench model extract answer.md\n"
      "  kbench model extract - --task level1/19 --output my/relu < answer.md");
  app.add_option("ANSWER", options->answer,
                 "A file with the answer's text, or - for standard input")
      .required();
  app.add_option("--task,--tasks TASK", options->task, "The task that was asked for");
  const Command output = app.in_group("Output");
  output.add_option("--output DIR", options->output,
                    "Write the files into this folder, a new or empty one");
  output.add_flag("--json", options->json, "What was found, the files too, as JSON");
  return {app, [options] { return run_extract(*options); }};
}

}  // namespace kbench::program
