// How much a candidate may ask of whoever reads and resolves it. Every limit is far above what a
// candidate that solves a task needs; together they keep reading and resolving any candidate within
// a second or two and some hundred MiB. Exceeding one is an Error (kParse) at the place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kbench::limits {

// Files. A YAML parser takes about a microsecond a byte at worst.
inline constexpr size_t kManifestBytes = size_t{1} << 20;  ///< the YAML file
inline constexpr size_t kFileBytes = size_t{4} << 20;      ///< any other file: far above any shader
inline constexpr size_t kCandidateBytes = size_t{16} << 20;  ///< all files together
inline constexpr size_t kFiles = 256;     ///< without the YAML file; each open file costs a message
inline constexpr size_t kLookups = 1024;  ///< different paths tried for #include lines
inline constexpr size_t kPathBytes = 1024;  ///< of a path relative to the folder

}  // namespace kbench::limits
