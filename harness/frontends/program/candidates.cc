#include "harness/frontends/program/candidates.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/frontends/program/terminal.h"
#include "kbench/attempt.h"
#include "kbench/candidate.h"
#include "kbench/candidate_limits.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/task_file.h"
#include "kbench/version.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/files.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStandardInput = "stdin.yaml";
constexpr size_t kLongestSetName = 100;

struct Suffix {
  std::string_view suffix, what, language;
};

/// Suffixes of kernel files, and the language for which `kbench new` writes them.
constexpr Suffix kKernels[] = {
    {".comp", "a GLSL shader", "glsl"},  {".glsl", "a GLSL shader", "glsl"},
    {".compute", "a shader", "hlsl"},    {".cginc", "a shader", "hlsl"},
    {".hlsl", "an HLSL shader", "hlsl"}, {".fx", "an HLSL shader", "hlsl"},
    {".spv", "a SPIR-V module", "glsl"}, {".wgsl", "a WGSL shader", "glsl"},
    {".cu", "a CUDA kernel", "cuda"},    {".cuh", "a CUDA header", "cuda"},
    {".ptx", "a PTX kernel", "cuda"},    {".py", "a Python file", "triton"},
};

std::string read_standard_input() {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_io("read", "standard input");
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(count));
    if (text.size() > limits::kFileBytes) {
      throw Error(ErrorCode::kInvalidArgument, "standard input is too long for a candidate");
    }
  }
}

NamedCandidate standard_input() {
  CandidateSource source(
      std::map<std::string, std::string>{{kStandardInput, read_standard_input()}}, kStandardInput);
  source.manifest = kStandardInput;
  return {std::move(source), kStandardInput};
}

/// Throws if a path has the suffix of a kernel's file, which is given by its manifest.
void expect_no_kernel(const std::string& path) {
  const std::string suffix = fs::path(path).extension().string();
  const auto found = std::ranges::find(kKernels, suffix, &Suffix::suffix);
  if (found == std::end(kKernels)) return;
  const bool python = suffix == ".py";
  if (python && defines_model(read_file(path))) return;
  const std::string why =
      python ? ": it defines no ModelNew, and a Triton kernel is named by a YAML manifest"
             : ", which is a YAML manifest that names it";
  throw Error(ErrorCode::kInvalidArgument,
              "'" + shown(path) + "' is " + std::string(found->what) + " and no candidate" + why +
                  "; `kbench new TASK --language " + std::string(found->language) +
                  "` writes one to start from");
}

/// The file in memory, with the task in a comment behind it.
CandidateSource with_task(const std::string& path, std::string text, const std::string& task) {
  const std::string name = fs::path(path).filename().string();
  text += "\n# task: " + task + "\n";
  CandidateSource source(std::map<std::string, std::string>{{name, std::move(text)}}, path);
  source.manifest = name;
  return source;
}

/// A candidate on disk; a ModelNew file that does not say which task it is for is for `task`. One
/// of a folder that is for none is refused by its judge, as the others may be right.
CandidateSource source_of(const std::string& path, const std::string& task, bool of_folder) {
  if (!is_model_file(path)) return path;
  std::string text = read_file(path);
  if (stated_task(text, path)) return path;
  if (!task.empty()) return with_task(path, std::move(text), task);
  if (of_folder) return path;
  throw Error(ErrorCode::kInvalidArgument,
              "'" + shown(path) +
                  "' does not say which task it is for: write a line '# task: level1/19' in it, "
                  "call it as KernelBench does (19_ReLU.py), or give --task");
}

}  // namespace

void CandidateTasks::add_to(Command app) {
  app.in_group("Tasks").add_option(
      "--task,--tasks TASK,...", selection_,
      "The task of a ModelNew that names none: level1/19, or its name; files of tasks of your own, "
      "or folders of them, that candidates are of");
}

void CandidateTasks::read() {
  if (given()) named_ = select_tasks_and_files(selection_);
  for (const Task* task : named_) {
    for (const std::string& at : task->ignored_certificates) {
      warn("note: the certificate of " + to_string(task->id) + " at preset " + at +
           " is not used, as the task or its tolerance was another: kbench task certify FILE");
    }
  }
}

std::string CandidateTasks::of_unnamed() const {
  return named_.size() == 1 ? to_string(named_.front()->id) : "";
}

/// Where files of tasks are given, candidates of other tasks may be judged beside those of the
/// files.
void CandidateTasks::expect(const Task* task, const std::string& candidate) const {
  const bool all_named =
      given() && std::ranges::all_of(named_, [](const Task* each) { return each->id.own.empty(); });
  if (!all_named || task == nullptr || std::ranges::count(named_, task) > 0) return;
  throw Error(ErrorCode::kInvalidArgument, shown(candidate) + " is for " + to_string(task->id) +
                                               ", which --task " + shown(selection_) +
                                               " does not name");
}

NamedCandidate one_candidate(const std::string& word, const std::string& task) {
  constexpr size_t kNamed = 5;
  std::vector<NamedCandidate> found = named_candidates({word}, task);
  if (found.size() == 1) return std::move(found.front());
  const auto name = [](const NamedCandidate& each) { return shown(each.name); };
  throw Error(ErrorCode::kInvalidArgument,
              "'" + shown(word) + "' holds " + std::to_string(found.size()) +
                  " candidates; name one of " + listed(found, name, kNamed));
}

std::vector<NamedCandidate> named_candidates(const std::vector<std::string>& words,
                                             const std::string& task) {
  if (std::ranges::count(words, "-") > 1) {
    throw Error(ErrorCode::kInvalidArgument, "'-' is given twice; standard input is one candidate");
  }
  std::vector<NamedCandidate> candidates;
  for (const std::string& word : words) {
    if (word == "-") {
      candidates.push_back(standard_input());
      continue;
    }
    expect_no_kernel(word);
    const std::vector<std::string> files = candidate_files(word);
    if (files.empty()) {
      throw Error(ErrorCode::kNotFound,
                  "'" + shown(word) +
                      "' holds no candidate: no *.yaml file, and no *.py file "
                      "with a ModelNew, anywhere below it");
    }
    const std::string author =
        fs::is_directory(word) ? word : fs::path(word).parent_path().string();
    for (const std::string& file : files) {
      candidates.push_back({source_of(file, task, fs::is_directory(word)), file});
      candidates.back().source.author = author.empty() ? "." : author;
    }
  }
  return candidates;
}

std::string set_name(const std::string& path) {
  std::error_code ignored;
  fs::path absolute = fs::absolute(path, ignored).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  const bool folder = fs::is_directory(path, ignored);
  return shown((folder ? absolute.filename() : absolute.stem()).string(), kLongestSetName);
}

DType dtype_for(const std::optional<Candidate>& candidate, const SizeOptions& size) {
  if (!size.dtype_name.empty()) return size.dtype();
  return candidate && candidate->dtypes.size() == 1 ? candidate->dtypes.front() : DType::f32;
}

namespace {

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// The folders of the sets that ship: beside the installed program, in $KBENCH_DATA, in a source
/// tree around the current folder, or in the source tree of this build.
std::vector<std::string> shipped_sets() {
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  std::vector<fs::path> places = {self.parent_path().parent_path() / "share/kbench/candidates"};
  if (const char* data = std::getenv("KBENCH_DATA"); data != nullptr && *data != '\0') {
    places.push_back(fs::path(data) / "candidates");
  }
  places.push_back("harness/candidates");
#ifdef KBENCH_BUILD_FOLDER
  if (self.string().rfind(std::string(KBENCH_BUILD_FOLDER) + "/", 0) == 0) {
    places.push_back(fs::path(KBENCH_SOURCE_FOLDER) / "harness/candidates");
  }
#endif
  const auto found = std::find_if(places.begin(), places.end(), is_folder);
  std::vector<std::string> sets;
  if (found == places.end()) return sets;
  for (const auto& entry : fs::directory_iterator(*found)) {
    if (entry.is_directory()) sets.push_back(entry.path().string());
  }
  std::sort(sets.begin(), sets.end());
  return sets;
}

/// The path if it exists, else the shipped set of that name.
std::string locate(const std::string& path) {
  std::error_code ignored;
  expect_no_kernel(path);
  if (fs::exists(path, ignored)) return path;
  for (const std::string& set : shipped_sets()) {
    if (fs::path(set).filename() == path) return set;
  }
  throw Error(ErrorCode::kNotFound, "no candidates at '" + shown(path) +
                                        "': give a folder of candidate files, or the name of a set "
                                        "that ships (simple, fused, cuda, triton)");
}

/// The candidates of RUN/candidates/MODEL, one for each task: the fastest that passed, else the
/// last. Empty if the folder is not part of a run. Throws kIo, kParse.
std::vector<std::string> best_of_run(const std::string& folder) {
  std::error_code ignored;
  fs::path set = fs::absolute(folder, ignored).lexically_normal();
  if (!set.has_filename()) set = set.parent_path();
  const fs::path run = set.parent_path().parent_path();
  if (set.parent_path().filename() != "candidates" ||
      !fs::exists(run / "attempts.jsonl", ignored)) {
    return {};
  }
  const std::string prefix = "candidates/" + set.filename().string() + "/";
  std::map<TaskId, std::pair<double, std::string>> best;  // speedup and candidate
  read_attempts((run / "attempts.jsonl").string(), [&](const Attempt& attempt) {
    if (attempt.outcome != Outcome::candidate || !attempt.candidate.starts_with(prefix)) return;
    const double speedup = attempt.correct() ? attempt.speedup.point : -1;
    auto& so_far = best.try_emplace(attempt.task, -1, "").first->second;
    if (speedup >= so_far.first) so_far = {speedup, attempt.candidate.substr(prefix.size())};
  });
  std::vector<std::string> files;
  for (const auto& [task, each] : best) files.push_back((fs::path(folder) / each.second).string());
  return files;
}

/// Loads a candidate; if it belongs to no task of this build, notes that in the set instead.
std::optional<Candidate> load_or_note(CandidateSet& set, const std::string& file,
                                      const std::string& relative) {
  std::string message;
  try {
    Candidate candidate = load_candidate(file);
    try {
      find_task(candidate.task);
      return candidate;
    } catch (const Error& e) {
      message = Error(e.code(), candidate.task_at, e.message()).what();
    }
  } catch (const Error& e) {
    message = e.what();
  }
  Result& result = set.unusable.emplace_back();
  result.set = set.name;
  result.candidate = relative;
  result.version = version();
  result.verdict = Verdict::invalid_candidate;
  result.message = shown(message, limits::kMessageBytes);
  return std::nullopt;
}

/// Marks tasks with several files as failed.
void note_rivals(CandidateSet& set, const std::map<TaskId, std::vector<SetEntry>>& files_of) {
  constexpr size_t kNamed = 5;
  for (const auto& [task, files] : files_of) {
    if (files.size() < 2) continue;
    std::string names = files[0].relative;
    std::string hashes = files[0].hash;
    for (size_t i = 1; i < std::min(files.size(), kNamed); ++i) {
      names += (i + 1 == files.size() ? " and " : ", ") + files[i].relative;
      hashes += "+" + files[i].hash;
    }
    if (files.size() > kNamed) names += " and others";
    SetEntry& entry = set.entries.at(task);
    entry.hash = hashes;
    entry.problem = "set '" + set.name + "' has " +
                    (files.size() == 2 ? "two" : std::to_string(files.size())) +
                    " candidates for " + to_string(task) + ", " + names +
                    "; keep one, or give each a set of its own";
  }
}

bool runs_anywhere(Kernel::Language language) {
  return language == Kernel::Language::glsl || language == Kernel::Language::hlsl ||
         language == Kernel::Language::spirv;
}

CandidateSet read_candidate_set(const std::string& path) {
  CandidateSet set;
  set.name = set_name(path);
  set.folder = path;
  std::vector<std::string> files = best_of_run(path);
  if (files.empty()) files = candidate_files(path);
  if (files.empty()) {
    throw Error(ErrorCode::kNotFound,
                "'" + shown(path) + "' holds no candidate: no *.yaml file anywhere below it");
  }
  std::map<TaskId, std::vector<SetEntry>> files_of;
  for (const std::string& file : files) {
    const std::string relative =
        shown(is_folder(path) ? fs::path(file).lexically_relative(path).string()
                              : fs::path(file).filename().string());
    const std::optional<Candidate> candidate = load_or_note(set, file, relative);
    if (!candidate) continue;
    const SetEntry entry{file, relative, candidate->hash, ""};
    for (const Kernel& kernel : candidate->kernels) {
      set.portable = set.portable && runs_anywhere(kernel.language);
    }
    set.entries.try_emplace(candidate->task, entry);
    files_of[candidate->task].push_back(entry);
  }
  note_rivals(set, files_of);
  return set;
}

}  // namespace

std::vector<CandidateSet> read_candidate_sets(const std::vector<std::string>& paths) {
  std::vector<std::string> places;
  for (const std::string& path : paths) places.push_back(locate(path));
  if (paths.empty()) places = shipped_sets();
  if (places.empty()) {
    throw Error(ErrorCode::kNotFound,
                "the candidate sets that ship are not installed; give some by --candidates DIR, or "
                "set KBENCH_DATA");
  }
  std::vector<CandidateSet> sets;
  for (const std::string& place : places) {
    sets.push_back(read_candidate_set(place));
    if (paths.empty() && !sets.back().portable) {
      sets.pop_back();
      continue;
    }
    const auto same = [&](const CandidateSet& set) { return set.name == sets.back().name; };
    if (std::count_if(sets.begin(), sets.end(), same) > 1) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "two candidate sets are called '" + sets.back().name + "'; rename one of the folders");
    }
  }
  return sets;
}

}  // namespace kbench::program
