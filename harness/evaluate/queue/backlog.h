// What waits to be evaluated, and which device gets what next. Pure: no thread, no process.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace kbench::queue {

struct Waiting {
  uint64_t id = 0;
  std::string group = {};               ///< kept together where that costs nobody much; "" is none
  std::optional<size_t> only_on = {};   ///< the one device it is for
  std::optional<size_t> never_on = {};  ///< a device that it was lost with
};

/// Devices are numbers from 0 on. Nothing in it is lost: what is added is taken once, removed, or
/// handed back when no device is left for it.
class Backlog {
 public:
  explicit Backlog(size_t devices) : devices_(devices) {}

  /// Behind what waits, or before all of it. False when no device is left that may have it.
  bool add(Waiting waiting, bool at_front = false);
  /// False when it does not wait here.
  bool remove(uint64_t id);
  /// The next for a device; nothing when there is none for it.
  std::optional<Waiting> take(size_t device);
  /// What that device gets next, as things stand, the next one first.
  std::vector<uint64_t> following(size_t device);
  /// Has a device get no more. What only it could have is handed back.
  std::vector<Waiting> take_out(size_t device);
  /// Everything, handed back.
  std::vector<Waiting> clear();

  size_t size() const;
  size_t devices_left() const;

 private:
  struct Device {
    bool out = false;
    std::string group;          ///< of what it has taken last
    std::deque<Waiting> ahead;  ///< set aside for it, so that others do not take it
  };
  bool may_have(size_t device, const Waiting& waiting) const;
  bool anybody_may_have(const Waiting& waiting) const;
  bool others_are_at(const std::string& group, size_t device) const;
  void set_aside(size_t device);
  std::optional<Waiting> take_from_another(size_t device);

  std::deque<Waiting> waiting_;
  std::vector<Device> devices_;
  uint64_t passed_over_id_ = 0;  ///< who is first, and how often others went before
  int passed_over_ = 0;
};

}  // namespace kbench::queue
