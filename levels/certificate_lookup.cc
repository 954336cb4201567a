// What is known of the checks of tasks.
#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

#include "kbench/certificate.h"
#include "kbench/result.h"
#include "levels/tables.h"

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

/// A rewriting that is as much faster than the eager baseline as this makes a task collapse.
constexpr double kCollapse = 2;

std::vector<TaskId> find_collapsing() {
  std::vector<TaskId> found;
  for (const Task& task : tasks()) {
    if (!task.trivial.empty()) found.push_back(task.id);
  }
  std::istringstream lines{std::string(levels::algebra_results())};
  for (std::string line; std::getline(lines, line);) {
    const Result result = result_from_json(line);
    if (result.correct() && result.speedup.low >= kCollapse) found.push_back(result.task);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
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
  for (const auto& own : task->certificates) {
    if (own->preset == preset && own->dtype == at.dtype) return &own->tasks.front();
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

// --- tasks that can be computed with far less work than their operators take
const std::vector<TaskId>& collapsing_tasks() {
  static const std::vector<TaskId> found = find_collapsing();
  return found;
}

bool collapses(const TaskId& task) { return std::ranges::binary_search(collapsing_tasks(), task); }

}  // namespace kbench
