#include "harness/measure/judge/baseline_process.h"

#include <algorithm>
#include <utility>

namespace kbench::judge {
namespace {

/// Compiling the baseline of a large network and running its reference at small sizes.
constexpr double kPrepareSeconds = 600;

}  // namespace

void BaselineProcess::prepare(const TaskAt& key, uint64_t seed, const std::vector<uint64_t>& kept) {
  if (told_ == key) {
    imported_.clear();  // The next Attach replaces all that it has imported.
    return;
  }
  wait_prepared();
  std::vector<int> slabs;
  std::vector<uint64_t> left;
  for (size_t i = 0; i < imported_.size(); ++i) {
    if (std::ranges::find(kept, imported_[i]) == kept.end()) continue;
    slabs.push_back(static_cast<int>(i));
    left.push_back(imported_[i]);
  }
  runner::Prepare request{.at = key,
                          .seed = seed,
                          .kept = std::move(slabs),
                          .verified = false,
                          .cache_folder = "",
                          .cache_subject = ""};
  if (cache_ != nullptr) {
    request.verified = cache_->notes.has(key.task);
    request.cache_folder = cache_->folder;
    request.cache_subject = cache_->subject;
  }
  runner_.stand_by(true);  // It may have to run on the device to be held to the reference.
  runner_.send(request);
  imported_ = std::move(left);
  told_ = key;
  pending_ = true;
}

void BaselineProcess::attach(const Attachment& attachment) {
  runner_.send(attachment.message, attachment.descriptors);
  imported_ = attachment.memories();
}

void BaselineProcess::wait_prepared() {
  if (!std::exchange(pending_, false)) return;
  runner_.receive<runner::Built>(kPrepareSeconds);
  runner_.stand_by(false);
  const bool as_noted = told_->preset != name_of(Preset::smoke) || told_->variables.empty();
  if (cache_ != nullptr && as_noted) cache_->notes.add(told_->task);
}

void BaselineProcess::release_memory() {
  wait_prepared();
  attach(Attachment());
  runner_.receive<runner::Attached>(kAttachSeconds);
}

}  // namespace kbench::judge
