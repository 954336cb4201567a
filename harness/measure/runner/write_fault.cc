#include "harness/measure/runner/write_fault.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace kbench::runner {
namespace {

constexpr std::string_view kWords = "wrote to what may only be read: ";
/// The character for each WriteFault::Place, between the tensor's index and the bytes.
constexpr std::string_view kPlaces = "=-+";

/// The addresses of a tensor and of the mapping it lies in.
struct Range {
  uintptr_t begin, end, mapping_begin, mapping_end;
};
/// Read by the signal handler; changed only while nothing runs.
std::vector<Range> ranges;

WriteFault fault_of(size_t index, uintptr_t at) {
  const Range& range = ranges[index];
  const int tensor = static_cast<int>(index);
  if (at < range.begin) return {tensor, WriteFault::Place::before, range.begin - at};
  if (at >= range.end) return {tensor, WriteFault::Place::behind, at - range.end};
  return {tensor, WriteFault::Place::inside, 0};
}

bool nearer(const WriteFault& a, const WriteFault& b) {
  const auto inside = [](const WriteFault& each) {
    return each.place == WriteFault::Place::inside;
  };
  return inside(a) != inside(b) ? inside(a) : a.bytes < b.bytes;
}

/// Async-signal-safe. Several threads may be in it at once.
void on_fault(int, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  WriteFault nearest;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (at < ranges[i].mapping_begin || at >= ranges[i].mapping_end) continue;
    const WriteFault fault = fault_of(i, at);
    if (nearest.tensor < 0 || nearer(fault, nearest)) nearest = fault;
  }
  if (nearest.tensor < 0) {
    signal(SIGSEGV, SIG_DFL);  // The instruction runs again and ends the process.
    return;
  }
  constexpr size_t kNumber = 24;  // most digits of a number and the character behind it
  char line[kWords.size() + 2 * kNumber];
  std::ignore = kWords.copy(line, kWords.size());
  char* end =
      std::to_chars(line + kWords.size(), line + kWords.size() + kNumber - 1, nearest.tensor).ptr;
  *end++ = kPlaces[static_cast<size_t>(nearest.place)];
  end = std::to_chars(end, end + kNumber - 1, nearest.bytes).ptr;
  *end++ = '\n';
  std::ignore = write(STDERR_FILENO, line, static_cast<size_t>(end - line));
  _exit(kWriteFaultStatus);
}

}  // namespace

void report_write_faults(const std::vector<vulkan::Region>& tensors) {
  ranges.clear();
  bool any = false;
  for (const vulkan::Region& tensor : tensors) {
    Range range{0, 0, 0, 0};
    if (tensor.buffer != nullptr && tensor.buffer->mapped() != nullptr) {
      range.mapping_begin = reinterpret_cast<uintptr_t>(tensor.buffer->mapped());
      range.mapping_end = range.mapping_begin + tensor.buffer->size();
      range.begin = range.mapping_begin + tensor.offset;
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

WriteFault write_fault_of(const std::string& last_words) {
  WriteFault fault;
  if (!last_words.starts_with(kWords)) return fault;
  const char* const last = last_words.data() + last_words.size();
  const char* at = std::from_chars(last_words.data() + kWords.size(), last, fault.tensor).ptr;
  const size_t place = at == last ? std::string_view::npos : kPlaces.find(*at);
  if (place == std::string_view::npos) return fault;
  fault.place = static_cast<WriteFault::Place>(place);
  std::from_chars(at + 1, last, fault.bytes);
  return fault;
}

}  // namespace kbench::runner
