#include "harness/measure/runner/kept_pipelines.h"

#include "libkbench/base/hash.h"

namespace kbench::runner {
namespace {

constexpr const char* kPrefix = "pipelines-";

}  // namespace

KeptPipelines::KeptPipelines(vulkan::PipelineCache& pipelines, const std::string& folder,
                             const std::string& subject, const std::string& what)
    : pipelines_(pipelines),
      folder_(folder),
      subject_(subject),
      prefix_(kPrefix + Sha256().add(subject).hex().substr(0, 16) + "-"),
      name_(prefix_ + what),
      before_(folder_.kept(name_, subject_)) {
  if (folder_.there()) pipelines_.use(before_);
}

void KeptPipelines::keep() const {
  const std::string now = folder_.there() ? pipelines_.keep() : "";
  if (now.size() <= before_.size()) return;
  folder_.keep(name_, subject_, now);
  if (before_.empty()) folder_.forget_stale(kPrefix, prefix_);  // of older builds
}

}  // namespace kbench::runner
