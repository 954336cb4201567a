#include "harness/measure/judge/baseline_process.h"

#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "kbench/error.h"
#include "kbench/task_file.h"
#include "libkbench/base/hash.h"

namespace kbench::judge {

namespace {

/// Compiling the baseline of a large network and running its reference at small sizes.
constexpr double kBaselineSeconds = 600;

}  // namespace

VerifiedNotes::VerifiedNotes(process::OwnFolder folder, const std::string& subject)
    : folder_(std::move(folder)),
      name_("verified-" + Sha256().add(subject).hex().substr(0, 16)),
      subject_(subject) {
  std::istringstream lines(folder_.read(name_));
  for (std::string name, signed_with; lines >> name >> signed_with;) {
    try {
      const TaskId task = parse_task_id(name);
      if (signature(task) == signed_with) noted_.insert(task);
    } catch (const Error&) {  // no note
    }
  }
}

std::string VerifiedNotes::signature(TaskId task) const {
  return folder_.signature(subject_ + '\n' + to_string(task));
}

void VerifiedNotes::add(TaskId task) {
  if (!folder_.there() || !noted_.insert(task).second) return;
  folder_.append(name_, to_string(task) + ' ' + signature(task) + '\n');
}

std::string build_identity() {
  std::ifstream program("/proc/self/exe", std::ios::binary);
  std::string part(size_t{1} << 20, '\0');  // A program has 50 MB: not all at once.
  Sha256 hash;
  bool any = false;
  while (program.read(part.data(), static_cast<std::streamsize>(part.size())) ||
         program.gcount() > 0) {
    hash.add(std::string_view(part).substr(0, static_cast<size_t>(program.gcount())));
    any = true;
  }
  return any ? hash.hex() : "";
}

/// Whatever the task stores, the truth is computed in float32.
TaskAt BaselineProcess::truth_of(const TaskAt& key) {
  TaskAt truth = key;
  truth.dtype = DType::f32;
  return truth;
}

void BaselineProcess::prepare(const TaskAt& key, uint64_t seed) {
  const TaskAt truth = truth_of(key);
  if (told_ == truth) return;
  wait_prepared();
  runner::Prepare request{
      .at = truth, .seed = seed, .verified = false, .task_files = own_task_files()};
  // A note has a task's name alone, and a file of that name may say something else.
  request.verified = notes_ != nullptr && key.task.own.empty() && notes_->has(key.task);
  // To be held to the reference it has to run on the device.
  runner_.stand_by(!request.verified);
  runner_.send(request);
  told_ = truth;
  pending_ = true;
}

void BaselineProcess::wait_prepared() {
  if (!std::exchange(pending_, false)) return;
  const auto told = std::exchange(told_, std::nullopt);  // Nothing is made if this fails.
  runner_.receive<runner::Built>(kBaselineSeconds);
  told_ = told;
  runner_.stand_by(false);
  const bool as_noted = told_->preset != name_of(Preset::smoke) || told_->variables.empty();
  if (notes_ != nullptr && as_noted && told_->task.own.empty()) notes_->add(told_->task);
}

void BaselineProcess::release_memory(const SlabStore& store) {
  if (!runner_.holds_dropped(store)) return;
  wait_prepared();
  runner_.release_memory(store);
}

}  // namespace kbench::judge
