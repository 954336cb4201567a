// What a CUDA source got from headers that a compiler for the device alone does not have.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace kbench::importing {

/// Whether such a compiler has the header. <cub/cub.cuh> is for the host too, so it does not.
bool is_device_header(std::string_view name);

/// What is known of a source's device code.
struct UsedWords {
  std::set<std::string, std::less<>> words;    ///< all names in it
  std::set<std::string, std::less<>> defined;  ///< macros of its own
  bool standard = false;                       ///< something of std:: is among them
  bool cub = false;                            ///< <cub/cub.cuh> is included
};

/// Code that stands in for those headers, of which only what is used: constants, integer types,
/// CUB's parts, a few functions of std.
std::string stand_in(const UsedWords& used);

}  // namespace kbench::importing
