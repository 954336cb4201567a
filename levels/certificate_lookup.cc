#include <algorithm>

#include "kbench/certificate.h"
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

const Certificate* lookup_certificate(const TaskAt& at) {
  const Task* task = lookup_task(at.task);
  if (task == nullptr || at.preset.empty()) return nullptr;
  const Preset preset = preset_from_name(at.preset);
  const Variables at_preset = variables_of(*task, preset);
  for (const auto& [name, value] : at.variables) {
    const auto found = at_preset.find(name);
    if (found == at_preset.end() || found->second != value) return nullptr;
  }
  const std::vector<Certificate>& all = certificates(preset).tasks;
  const auto found = std::ranges::lower_bound(all, at.task, {}, &Certificate::task);
  return found != all.end() && found->task == at.task ? &*found : nullptr;
}

std::string_view certification(const TaskAt& at) {
  const Certificate* certificate = lookup_certificate(at);
  return certificate != nullptr ? certification(find_task(at.task), *certificate) : "";
}

std::string_view certification(const Task& task, const Certificate& certificate) {
  if (!task.trivial.empty()) return kTrivialTask;
  return certificate.precision() ? kCertifiedPrecision
         : certificate.values()  ? kCertifiedValues
                                 : kNotCertified;
}

}  // namespace kbench
