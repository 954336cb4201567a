// ModelNew files: a PyTorch module that is a candidate by itself, as KernelBench has them.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <optional>

#include "kbench/candidate_limits.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/files.h"

namespace kbench {
namespace {

constexpr std::string_view kTaskKey = "# task:";
constexpr const char* kManifest = "candidate.yaml";
constexpr const char* kModel = "model_new.py";

/// What stands before and behind the task in the manifest of model_candidate().
constexpr std::string_view kHead = "kbench: 1\ntask: ", kTail = "\ntorch: {file: model_new.py}\n";

/// The number behind `word` in a name such as "level_1_problem_19_sample_0"; nothing if there is
/// none.
std::optional<int> number_behind(std::string_view name, std::string_view word) {
  const size_t at = name.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  size_t digit = at + word.size();
  if (digit < name.size() && (name[digit] == '_' || name[digit] == '-')) ++digit;
  int number = 0;
  size_t digits = 0;
  for (; digit + digits < name.size() && digits < 4; ++digits) {
    const char c = name[digit + digits];
    if (!std::isdigit(static_cast<unsigned char>(c))) break;
    number = number * 10 + (c - '0');
  }
  return digits > 0 ? std::optional(number) : std::nullopt;
}

/// The text and the line of the comment that names the task, if there is one.
std::optional<Sourced> task_comment(std::string_view text, const std::string& file) {
  text = without_byte_order_mark(text);
  int line = 1;
  for (size_t begin = 0; begin <= text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    if (whole.starts_with(kTaskKey)) {
      return Sourced{std::string(trimmed(whole.substr(kTaskKey.size()))), {file, line, 1}};
    }
    begin = end + 1;
  }
  return std::nullopt;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return find_word(text, word) == 0;
}

/// Whether a line of a module's own scope binds the name: heads its class or function, imports it,
/// or assigns to it.
bool line_binds(std::string_view line, std::string_view name) {
  line = trimmed(line.substr(0, line.find('#')));
  if (starts_with_word(line, "async")) line = trimmed(line.substr(5));
  const bool imports = starts_with_word(line, "import") || starts_with_word(line, "from");
  for (size_t from = 0, at = 0; (at = find_word(line.substr(from), name)) != line.npos;) {
    const std::string_view before = trimmed(line.substr(0, from + at));
    from += at + name.size();
    const std::string_view after = trimmed(line.substr(from));
    if (before == "class" || before == "def") return true;
    const bool target =
        before.empty() || before.ends_with('=') || before.ends_with(';') || before.ends_with(':');
    if (target && after.starts_with('=') && !after.starts_with("==")) return true;
    if (before.empty() && after.starts_with(':')) return true;
    const bool renamed = find_word(after, "as") != after.npos;
    if (imports && before != "from" && !renamed && !before.ends_with('.')) return true;
  }
  return false;
}

/// Whether a line of the module's own scope binds the name. With `strings` the lines of long
/// strings are none; `unclosed` tells whether one is open at the end.
bool module_binds(std::string_view text, std::string_view name, bool strings, bool& unclosed) {
  text = without_byte_order_mark(text);
  std::string_view open;  // the quotes of a long string
  bool inside = false;    // of a class or function
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool continues = !open.empty();
    for (size_t at = 0; strings && at < line.size(); ++at) {
      const std::string_view quotes = line.substr(at, 3);
      if (open.empty() && line[at] == '#') break;
      if (open.empty() ? quotes != "\"\"\"" && quotes != "'''" : quotes != open) continue;
      open = open.empty() ? quotes : std::string_view();
      at += 2;
    }
    if (continues || trimmed(line).empty() || trimmed(line).starts_with('#')) continue;
    if (line.find_first_not_of(" \t") == 0) {
      inside = starts_with_word(line, "class") || starts_with_word(line, "def") ||
               starts_with_word(line, "async");
      if (inside) line = line.substr(0, line.find(':'));  // what follows is inside
    } else if (inside) {
      continue;
    }
    if (line_binds(line, name)) return true;
  }
  unclosed = !open.empty();
  return false;
}

}  // namespace

bool is_model_file(const std::string& name) { return name.ends_with(".py"); }

bool defines_model(const std::string& text) {
  bool unclosed = false;
  return module_binds(text, "ModelNew", /*strings=*/true, unclosed) ||
         // Quotes in other strings were taken for those of long ones.
         (unclosed && module_binds(text, "ModelNew", /*strings=*/false, unclosed));
}

std::optional<TaskId> stated_task(const std::string& text, const std::string& name, Location* at) {
  if (const auto comment = task_comment(text, name)) {
    if (at != nullptr) *at = comment->at;
    try {
      return task_id_of(comment->text);
    } catch (const Error& error) {
      throw Error(error.code(), comment->at, error.message());
    }
  }
  const std::filesystem::path path(name);
  const std::string stem = path.filename().string();
  const auto level = number_behind(stem, "level"), problem = number_behind(stem, "problem");
  if (level && problem) return TaskId{*level, *problem};
  const auto level_of_folder = number_behind(path.parent_path().filename().string(), "level");
  const auto first = number_behind(stem, "");
  if (level_of_folder && first) return TaskId{*level_of_folder, *first};
  try {
    return named_task(path.filename().string()).id;
  } catch (const Error&) {
    return std::nullopt;
  }
}

Candidate load_model(const std::string& text, const std::string& file) {
  Candidate candidate;
  candidate.path = file;
  const auto task = stated_task(text, file, &candidate.task_at);
  if (!task) {
    throw Error(ErrorCode::kParse, Location{file, 1, 0},
                "neither its name nor a comment says which task it is for; write a line '# task: "
                "level1/19' into it");
  }
  candidate.task = *task;
  if (!defines_model(text)) {
    throw Error(ErrorCode::kParse, Location{file, 1, 0},
                "no ModelNew: a Python file is a candidate only if it defines one (a class, or an "
                "assignment, outside of other classes and functions)");
  }
  candidate.torch = TorchModule{file, text, Location{file, 1, 1}};
  candidate.hash = Sha256().add(text).hex();
  return candidate;
}

std::map<std::string, std::string> model_candidate(TaskId task, const std::string& text) {
  return {{kManifest, std::string(kHead) + to_string(task) + std::string(kTail)}, {kModel, text}};
}

std::optional<std::string> model_of(const std::map<std::string, std::string>& files) {
  const auto manifest = files.find(kManifest), model = files.find(kModel);
  if (files.size() != 2 || manifest == files.end() || model == files.end()) return std::nullopt;
  const std::string_view text = manifest->second;
  const bool is_made_here =
      text.size() > kHead.size() + kTail.size() && text.starts_with(kHead) &&
      text.ends_with(kTail) &&
      text.substr(kHead.size(), text.size() - kHead.size() - kTail.size()).find('\n') ==
          std::string_view::npos;
  return is_made_here ? std::optional(model->second) : std::nullopt;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace kbench
