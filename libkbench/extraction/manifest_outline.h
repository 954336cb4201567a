// The outline of a text that may be a candidate's manifest, also where it is not valid YAML.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

struct ManifestOutline {
  bool kbench = false;              ///< there is a top-level key of that name
  std::optional<std::string> task;  ///< the value of the top-level `task`
  std::string dtype;                ///< the value of the top-level `dtype`; of a list empty
  std::vector<std::string> files;   ///< the values of every `file`, in order
};

/// Looks at keys line by line, in block and in flow style, JSON too; block scalars (shaders) are
/// passed over. A manifest that is malformed further down is still known for one, so that its
/// author is told the place of the mistake.
ManifestOutline manifest_outline(std::string_view text);

}  // namespace kbench
