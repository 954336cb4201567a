#include <algorithm>

#include "kbench/certificate.h"
#include "kbench/result.h"
#include "levels/certificates.h"

namespace kbench {
namespace {

CertificateFile read(Preset preset) {
  const std::string text(levels::certificate_text(preset));
  if (text.empty()) {
    CertificateFile none;
    none.preset = preset;
    return none;
  }
  return parse_certificates(text, "the certificates of " + std::string(name_of(preset)));
}

}  // namespace

const CertificateFile& certificates(Preset preset) {
  static const CertificateFile smoke = read(Preset::smoke), v0 = read(Preset::v0),
                               v0_1 = read(Preset::v0_1);
  return preset == Preset::smoke ? smoke : preset == Preset::v0 ? v0 : v0_1;
}

const Certificate* lookup_certificate(TaskId task, Preset preset) {
  const std::vector<Certificate>& all = certificates(preset).tasks;
  const auto found = std::ranges::lower_bound(all, task, {}, &Certificate::task);
  return found != all.end() && found->task == task ? &*found : nullptr;
}

std::string_view certification(const Task& task, Preset preset) {
  const Certificate* certificate = lookup_certificate(task.id, preset);
  return certificate != nullptr ? certification(task, *certificate) : "";
}

std::string_view certification(const Task& task, const Certificate& certificate) {
  if (!task.trivial.empty()) return kTrivialTask;
  return certificate.precision() ? kCertifiedPrecision
         : certificate.values()  ? kCertifiedValues
                                 : kNotCertified;
}

std::string_view certification(const Experiment& experiment) {
  const Task* task = lookup_task(experiment.task);
  if (task == nullptr || experiment.preset.empty()) return "";
  const Preset preset = preset_from_name(experiment.preset);
  const Variables at_preset = variables_of(*task, preset);
  for (const auto& [name, value] : experiment.variables) {
    const auto found = at_preset.find(name);
    if (found == at_preset.end() || found->second != value) return "";
  }
  return certification(*task, preset);
}

}  // namespace kbench
