// Which names a Python module's text gives a meaning, as far as that can be said without running
// it.
#pragma once

#include <string_view>

namespace kbench {

/// Whether the text binds the name in the module's own scope: by a class, a function, an assignment
/// or an import, which may stand below an `if`, a `try` and the like. Read as Python's grammar
/// divides it into tokens and lines, so that strings, comments and what is inside of classes and
/// functions do not count. A byte order mark is skipped.
bool binds_name(std::string_view python, std::string_view name);

/// The text without the byte order mark that it may begin with.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace kbench
