// Opening files below a folder, no link followed.
#pragma once

#include <string>

namespace kbench {

/// Opens a file for reading by a path of plain parts below the folder `directory`, without waiting
/// and without following any symbolic link. Returns the descriptor, or -1 with errno: ELOOP for a
/// symbolic link, EXDEV for a path that would leave the folder.
int open_beneath(int directory, const std::string& path);

/// The same part by part, for kernels without openat2.
int open_beneath_by_parts(int directory, const std::string& path);

}  // namespace kbench
