// "did you mean" for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// "; did you mean 'x'?" for the name closest to `wrong` by edit distance, in which neighbours that
/// changed places count one; or "" when none is close.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace kbench
