// The Python of this room, as text inside the library.
#pragma once

#include <string>

namespace kbench::from_pytorch {

std::string trace_script();    ///< recorded.py, operators.py and trace.py, one after the other
std::string compare_script();  ///< compare.py

}  // namespace kbench::from_pytorch
