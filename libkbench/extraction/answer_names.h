// The names that answers give their blocks.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kbench {

struct BlockName {
  std::string path;      ///< safe; empty: there is no name
  bool in_line = false;  ///< not on the fence
  bool unsafe = false;   ///< what was written had to be changed
};

/// Whether a name is one of a candidate's files, by its suffix.
bool has_kernel_suffix(std::string_view name);    ///< .comp .glsl .hlsl .cu .ptx .py
bool has_include_suffix(std::string_view name);   ///< .h .inc .glslh .hlsli
bool has_manifest_suffix(std::string_view name);  ///< .yaml .yml

/// A path relative to the candidate's folder: without "..", "." and a leading "/", of
/// [A-Za-z0-9_./-]. Empty where nothing is left.
BlockName safe_name(std::string_view written);

/// The name of a block: a word of the fence's info string, else alone on the line before, else
/// alone in a comment that is the block's first line.
BlockName block_name(std::string_view info, std::string_view line_before, std::string_view text);

/// Why files of these names (safe ones, each with its text) cannot lie in one folder beside the
/// files that a run keeps there, as a sentence for their author; empty where they can.
std::string why_not_in_one_folder(const std::map<std::string, std::string>& files);

}  // namespace kbench
