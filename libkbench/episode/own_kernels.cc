#include <algorithm>
#include <set>

#include "libkbench/episode/reading.h"

namespace kbench {
namespace {

/// Buffers by their number.
using Buffers = std::set<int>;

/// The buffers that a kernel can reach: it may read them, and write those that are not read-only.
Buffers reached(const ResolvedStep& kernel) {
  Buffers all(kernel.bind.begin(), kernel.bind.end());
  for (const auto& [offset, buffer] : kernel.addresses) all.insert(buffer);
  for (const ResolvedArgument& argument : kernel.arguments) {
    if (argument.buffer >= 0) all.insert(argument.buffer);
  }
  return all;
}

class Flow {
 public:
  explicit Flow(const ResolvedCandidate& candidate) : candidate_(candidate) {}

  /// Goes from the last step to the first with the set of buffers whose values reach an output, and
  /// around again: dispatch is run many times, so the first step may read what the last wrote.
  bool kernel_reaches_output() const {
    Buffers needed_at_end;
    for (int i = 0; i < std::ssize(candidate_.buffers); ++i) {
      if (buffer(i).kind == BufferSlot::Kind::output) needed_at_end.insert(i);
    }
    for (;;) {
      Buffers needed = needed_at_end;
      for (auto step = candidate_.dispatch.rbegin(); step != candidate_.dispatch.rend(); ++step) {
        if (step->kind != Step::Kind::kernel) {
          pass(*step, needed);
        } else if (may_write_any(*step, needed)) {
          return true;
        }
      }
      const size_t before = needed_at_end.size();
      needed_at_end.merge(needed);
      if (needed_at_end.size() == before) return false;
    }
  }

 private:
  const BufferSlot& buffer(int number) const { return candidate_.buffers[size_t(number)]; }

  bool may_write_any(const ResolvedStep& kernel, const Buffers& needed) const {
    const Buffers all = reached(kernel);
    return std::any_of(all.begin(), all.end(), [&](int each) {
      const BufferSlot& slot = buffer(each);
      const bool writable = slot.kind == BufferSlot::Kind::output ||
                            (slot.kind == BufferSlot::Kind::temporary && !slot.setup);
      return writable && needed.contains(each);
    });
  }

  /// An operator: the buffers that it writes are not needed before it, those it reads are.
  void pass(const ResolvedStep& step, Buffers& needed) const {
    const size_t inputs = step.call.inputs.size();
    bool useful = false;
    for (size_t i = inputs; i < step.bind.size(); ++i) useful |= needed.contains(step.bind[i]);
    if (!useful) return;
    for (size_t i = inputs; i < step.bind.size(); ++i) needed.erase(step.bind[i]);
    for (size_t i = 0; i < inputs; ++i) needed.insert(step.bind[i]);
  }

  const ResolvedCandidate& candidate_;
};

}  // namespace

bool own_kernel_reaches_output(const ResolvedCandidate& candidate) {
  return Flow(candidate).kernel_reaches_output();
}

}  // namespace kbench
