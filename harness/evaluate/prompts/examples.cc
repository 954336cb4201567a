#include "harness/evaluate/prompts/examples.h"

#include <algorithm>
#include <utility>

#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "kbench/prompts.h"
#include "libkbench/candidate/files.h"

namespace kbench {
namespace prompts {

std::map<std::string, std::string> embedded_folder(const std::string& folder) {
  const std::string prefix = folder + "/";
  std::map<std::string, std::string> files;
  for (const EmbeddedFile* file = kEmbeddedFiles; file->path != nullptr; ++file) {
    const std::string path = file->path;
    if (path.starts_with(prefix)) files[path.substr(prefix.size())] = file->text;
  }
  return files;
}

namespace {

/// The files of a shipped set, or of the examples that are in no set.
std::map<std::string, std::string> folder_of_examples(const std::string& name) {
  const auto folder = embedded_folder("candidates/" + name);
  return folder.empty() ? embedded_folder("examples/" + name) : folder;
}

}  // namespace

Example load_example(const std::string& path) {
  const size_t slash = path.find('/');
  const std::map<std::string, std::string> folder = folder_of_examples(path.substr(0, slash));
  const std::string name = slash == std::string::npos ? "" : path.substr(slash + 1);
  if (!folder.contains(name)) {
    throw Error(ErrorCode::kNotFound, "no candidate '" + shown(path) + "' ships with kbench");
  }
  Example example;
  example.path = path;
  example.candidate = candidate_from_files(name, folder);
  if (is_model_file(name)) {
    example.files = model_candidate(example.candidate.task, folder.at(name));
    return example;
  }
  example.files["candidate.yaml"] = folder.at(name);
  for (const Kernel& kernel : example.candidate.kernels) {
    const std::string file = kernel.file.substr(kernel.file.rfind('/') + 1);
    if (file != name && folder.contains(file)) example.files[file] = folder.at(file);
  }
  for (const auto& [file, text] : example.candidate.includes) example.files[file] = text;
  return example;
}

namespace {

/// A fence longer than any run of backticks in the text.
std::string fence_for(const std::string& text) {
  size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

std::string block(const std::string& info, const std::string& text) {
  const std::string fence = fence_for(text);
  return fence + info + "\n" + text + (text.empty() || text.back() == '\n' ? "" : "\n") + fence +
         "\n";
}

/// The language tag of a code block, from the file's name.
std::string fence_of(const std::string& name) {
  constexpr std::pair<const char*, const char*> kFences[] = {{".hlsl", "hlsl"}, {".hlsli", "hlsl"},
                                                             {".cu", "cuda"},   {".cuh", "cuda"},
                                                             {".ptx", "ptx"},   {".py", "python"}};
  for (const auto& [suffix, fence] : kFences) {
    if (name.ends_with(suffix)) return fence;
  }
  return "glsl";
}

}  // namespace
}  // namespace prompts

std::string canonical_answer(const std::map<std::string, std::string>& files) {
  if (const auto model = model_of(files)) return prompts::block("python", *model);
  std::string text;
  const auto manifest = files.find("candidate.yaml");
  if (manifest != files.end()) text += prompts::block("yaml", manifest->second);
  for (const auto& [name, source] : files) {
    if (name == "candidate.yaml" || name.ends_with(".spv")) continue;
    text += prompts::block(prompts::fence_of(name) + " " + name, source);
  }
  return text;
}

}  // namespace kbench
