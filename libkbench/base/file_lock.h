// Locks on files that one process at a time writes.
#pragma once

#include <string>

namespace kbench {

/// Locks an open file for this process until its descriptor is closed; on a file system without
/// locks does nothing. Throws kIo when another has it: "PATH is in use: process 4711 is DOING".
void lock_file(int fd, const std::string& path, const std::string& doing);

/// Syncs the folder of a new file, so that the file's name survives a loss of power.
void sync_folder(const std::string& path);

}  // namespace kbench
