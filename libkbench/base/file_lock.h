// Files that one process at a time writes.
#pragma once

#include <string>

namespace kbench {

/// Takes an open file for this process alone; the lock goes when the descriptor does. A file system
/// without locks is done without. Throws kIo when another has it: "PATH is in use: process 4711 is
/// DOING".
void lock_file(int fd, const std::string& path, const std::string& doing);

/// A file that was just made must be found again after a loss of power.
void sync_folder(const std::string& path);

}  // namespace kbench
