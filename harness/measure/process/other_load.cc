#include "harness/measure/process/other_load.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

namespace kbench::process {
namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_of_process(pid_t process) {
  clockid_t clock{};
  return clock_getcpuclockid(process, &clock) == 0 ? seconds_of(clock) : 0;
}

/// 3 for "cpu3"; -1 for any other word, "cpu" included.
int processor_of(const std::string& word) {
  int number = -1;
  if (!word.starts_with("cpu")) return number;
  std::from_chars(word.data() + 3, word.data() + word.size(), number);
  return number;
}

/// A processor's ticks that were neither idle nor waiting for a disk.
double busy_ticks(std::istream& line) {
  std::array<double, 8> ticks{};  // user nice system idle iowait irq softirq steal
  for (double& each : ticks) line >> each;
  return ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
}

}  // namespace

std::optional<double> taken_by_others(const ProcessorClocks& before, const ProcessorClocks& after) {
  const double wall_s = after.wall_s - before.wall_s;
  const double busy_s = after.busy_s - before.busy_s;
  const double own_s = after.own_s - before.own_s;
  if (wall_s <= 0 || busy_s <= 0 || after.processors <= 0) return std::nullopt;
  const double in_doubt_s = after.tick_s * after.processors;
  const double others = std::max(busy_s - own_s - in_doubt_s, 0.0) / wall_s;
  double usable = after.processors;
  double free = usable - others;
  if (before.quota && after.quota) {
    const double of_group_s = after.quota->used_s - before.quota->used_s;
    usable = std::min(usable, after.quota->processors);
    free = std::min(free, after.quota->processors - std::max(of_group_s - own_s, 0.0) / wall_s);
  }
  return std::clamp(1 - free / usable, 0.0, 1.0);
}

std::optional<ProcessorClocks> processor_clocks(const std::vector<pid_t>& own,
                                                const SystemFolders& folders) {
  cpu_set_t usable;
  const long ticks = sysconf(_SC_CLK_TCK);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0 || ticks <= 0) return std::nullopt;
  ProcessorClocks clocks;
  clocks.tick_s = 1.0 / static_cast<double>(ticks);
  std::ifstream table(folders.proc + "/stat");
  for (std::string text; std::getline(table, text);) {
    std::istringstream line(text);
    std::string word;
    line >> word;
    const int processor = processor_of(word);
    if (processor < 0 || processor >= CPU_SETSIZE || !CPU_ISSET(processor, &usable)) continue;
    clocks.processors += 1;
    clocks.busy_s += busy_ticks(line) * clocks.tick_s;
  }
  if (clocks.processors == 0) return std::nullopt;
  clocks.own_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  for (const pid_t process : own) clocks.own_s += seconds_of_process(process);
  clocks.quota = cgroup_processor_quota(folders);
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  clocks.wall_s = now.count();
  return clocks;
}

}  // namespace kbench::process
