// The waiting experiments, and which device gets which of them next. No threads, no processes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace kbench::evaluators {

struct Waiting {
  uint64_t id = 0;
  std::string group = {};  ///< experiments of one group should run on one device; "": no group
  std::optional<size_t> only_on = {};   ///< set if only this device may run it
  std::optional<size_t> never_on = {};  ///< the device that failed while running it
};

/// Devices are numbered from 0. Every experiment that is added is taken once, removed, or returned
/// when no device is left for it.
class Backlog {
 public:
  explicit Backlog(size_t devices) : devices_(devices) {}

  /// Appends, or puts it first. False if no device is left that may run it.
  bool add(Waiting waiting, bool at_front = false);
  /// False if it is not waiting.
  bool remove(uint64_t id);
  /// Takes the next experiment for a device; nothing if there is none.
  std::optional<Waiting> take(size_t device);
  /// The experiments that this device will get next, in order, as things stand.
  std::vector<uint64_t> following(size_t device);
  /// Excludes a device. Returns the experiments that only it could run.
  std::vector<Waiting> take_out(size_t device);
  /// Removes and returns everything.
  std::vector<Waiting> clear();

  size_t size() const;
  size_t devices_left() const;

 private:
  struct Device {
    bool out = false;
    std::string group;          ///< group of the last one taken
    std::deque<Waiting> ahead;  ///< reserved for this device
  };
  bool may_have(size_t device, const Waiting& waiting) const;
  bool any_device_may_have(const Waiting& waiting) const;
  bool others_are_at(const std::string& group, size_t device) const;
  void set_aside(size_t device);
  std::optional<Waiting> take_from_another(size_t device);

  std::deque<Waiting> waiting_;
  std::vector<Device> devices_;
  uint64_t passed_over_id_ = 0;  ///< the first in line, and how often others were taken before it
  int passed_over_ = 0;
};

}  // namespace kbench::evaluators
