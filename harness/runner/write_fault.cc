#include "harness/runner/write_fault.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace kbench::runner {
namespace {

constexpr std::string_view kWords = "wrote to what may only be read: ";

struct Range {
  uintptr_t begin, end;
};
/// Read by the signal handler; changed while nothing runs.
std::vector<Range> ranges;

/// Calls only what a signal handler may. Several threads may be in it at once.
void on_fault(int, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (at < ranges[i].begin || at >= ranges[i].end) continue;
    char line[64];
    std::ignore = kWords.copy(line, kWords.size());
    char* end = std::to_chars(line + kWords.size(), line + sizeof line - 1, i).ptr;
    *end++ = '\n';
    std::ignore = write(STDERR_FILENO, line, static_cast<size_t>(end - line));
    _exit(kWriteFaultStatus);
  }
  signal(SIGSEGV, SIG_DFL);  // It comes again when the instruction does.
}

}  // namespace

void report_write_faults(const std::vector<vulkan::Region>& tensors) {
  ranges.clear();
  bool any = false;
  for (const vulkan::Region& tensor : tensors) {
    Range range{0, 0};
    if (tensor.buffer != nullptr && tensor.buffer->mapped() != nullptr) {
      range.begin = reinterpret_cast<uintptr_t>(tensor.buffer->mapped() + tensor.offset);
      range.end = range.begin + tensor.size;
      any = true;
    }
    ranges.push_back(range);
  }
  if (!any) return;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

int write_fault_index(const std::string& last_words) {
  if (!last_words.starts_with(kWords)) return -1;
  int index = -1;
  std::from_chars(last_words.data() + kWords.size(), last_words.data() + last_words.size(), index);
  return index;
}

}  // namespace kbench::runner
