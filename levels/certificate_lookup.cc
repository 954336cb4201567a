#include <algorithm>
#include <map>
#include <mutex>

#include "kbench/certificate.h"
#include "levels/embedded.h"

namespace kbench {
namespace {

CertificateFile read(Preset preset, DType dtype) {
  std::string file(name_of(preset));
  if (dtype != DType::f32) file += "." + std::string(name_of(dtype));
  const std::string text(levels::certificate_text(file + ".json"));
  if (text.empty()) {
    CertificateFile none;
    none.preset = preset;
    none.dtype = dtype;
    return none;
  }
  return parse_certificates(text, "the certificates of " + file);
}

}  // namespace

const CertificateFile& certificates(Preset preset, DType dtype) {
  static std::mutex mutex;
  static std::map<std::pair<Preset, DType>, CertificateFile> files;
  const std::lock_guard lock(mutex);
  const auto found = files.find({preset, dtype});
  if (found != files.end()) return found->second;
  return files.emplace(std::pair{preset, dtype}, read(preset, dtype)).first->second;
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
  const std::vector<Certificate>& all = certificates(preset, at.dtype).tasks;
  const auto found = std::ranges::lower_bound(all, at.task, {}, &Certificate::task);
  return found != all.end() && found->task == at.task ? &*found : nullptr;
}

std::string_view certification(const TaskAt& at) {
  const Certificate* certificate = lookup_certificate(at);
  return certificate != nullptr ? certification(find_task(at.task), *certificate) : kUntried;
}

std::string_view certification(const Task& task, const Certificate& certificate) {
  if (!task.trivial.empty()) return kTrivialTask;
  return certificate.precision() ? kCertifiedPrecision
         : certificate.values()  ? kCertifiedValues
                                 : kNotCertified;
}

}  // namespace kbench
