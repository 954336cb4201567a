// The processes of an evaluation, as /proc tells of them.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace kbench::testing {

/// Children of this process, or of another.
std::vector<pid_t> children_of(pid_t parent);
/// Its arguments, between spaces: "kbench runner-process candidate cpu".
std::string command_of(pid_t process);
/// Running still: neither gone nor waiting to be reaped.
bool alive(pid_t process);
/// Waits a minute for that to end.
bool dies(pid_t process);

/// The judges that this process has started, and the runners that they have.
std::vector<pid_t> judges();
std::vector<pid_t> runners(const std::string& role);

/// A mapping of shared memory: which, and whether it may be written.
struct SharedMapping {
  std::string file;  ///< device and inode
  bool writable = false;
  bool operator<(const SharedMapping& other) const {
    return file != other.file ? file < other.file : writable < other.writable;
  }
};
/// The memory files of kbench's that a process maps; needs the right to look into it.
std::set<SharedMapping> shared_mappings(pid_t process);

}  // namespace kbench::testing
