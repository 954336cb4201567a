#include "harness/frontends/program/candidate_arguments.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "harness/evaluate/client/named_task.h"
#include "kbench/candidate.h"
#include "kbench/candidate_limits.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/text.h"
#include "libkbench/base/files.h"
#include "libkbench/candidate/files.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStandardInput = "stdin.yaml";

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

}  // namespace

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

namespace {

/// The file in memory, with the task in a comment behind it.
CandidateSource with_task(const std::string& path, std::string text, const std::string& task) {
  const std::string name = fs::path(path).filename().string();
  text += "\n# task: " + task + "\n";
  CandidateSource source(std::map<std::string, std::string>{{name, std::move(text)}}, path);
  source.manifest = name;
  return source;
}

/// A candidate on disk; a ModelNew file that does not say which task it is for is for `task`, or
/// for the task that its name is KernelBench's file name of.
CandidateSource source_of(const std::string& path, const std::string& task) {
  if (!is_model_file(path)) return path;
  std::string text = read_file(path);
  if (stated_task(text, path)) return path;
  const std::string meant = task.empty() ? fs::path(path).filename().string() : task;
  return with_task(path, std::move(text), to_string(named_task(meant).id));
}

}  // namespace

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
      candidates.push_back({source_of(file, task), file});
      candidates.back().source.author = author.empty() ? "." : author;
    }
  }
  return candidates;
}

DType dtype_for(const CandidateSource& candidate, const SizeOptions& size) {
  if (!size.dtype_name.empty()) return size.dtype();
  return client::named_dtype(candidate).value_or(DType::f32);
}

}  // namespace kbench::program
