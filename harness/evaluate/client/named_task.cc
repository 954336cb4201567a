#include "harness/evaluate/client/named_task.h"

#include "kbench/error.h"
#include "libkbench/candidate/files.h"
#include "libkbench/extraction/manifest_outline.h"

namespace kbench::client {
namespace {

std::string manifest_of(const CandidateSource& source) {
  if (source.files) {
    const auto found = source.files->find(source.manifest);
    return found == source.files->end() ? "" : found->second;
  }
  const CandidatePlace place = candidate_place(source.path);
  return CandidateFolder(place.folder).read(place.manifest).value_or("");
}

}  // namespace

std::optional<TaskId> named_task_id(const CandidateSource& source) {
  try {
    const std::string text = manifest_of(source);
    const std::string name = source.files ? source.manifest : source.path;
    if (is_model_file(name)) return stated_task(text, name);
    return parse_task_id(manifest_outline(text).task.value_or(""));
  } catch (const Error&) {  // The judge says what is wrong.
    return std::nullopt;
  }
}

const Task* named_task(const CandidateSource& source) {
  const std::optional<TaskId> id = named_task_id(source);
  return id ? lookup_task(*id) : nullptr;
}

std::optional<DType> named_dtype(const CandidateSource& source) {
  if (is_model_file(source.files ? source.manifest : source.path)) return std::nullopt;
  try {
    return task_dtype_from_name(manifest_outline(manifest_of(source)).dtype);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace kbench::client
