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

const Task* named_task(const CandidateSource& source) {
  try {
    return lookup_task(parse_task_id(manifest_outline(manifest_of(source)).task.value_or("")));
  } catch (const Error&) {  // The judge says what is wrong.
    return nullptr;
  }
}

}  // namespace kbench::client
