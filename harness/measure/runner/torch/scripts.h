// The Python that kbench runs for a ModelNew, as text inside the library.
#pragma once

#include <string>
#include <string_view>

namespace kbench::runner {

std::string_view load_module_script();  ///< load_module.py
std::string_view driver_script();       ///< driver.py
std::string_view precompile_script();   ///< precompile.py

/// Both of the latter load a module in the same way.
inline std::string with_loader(std::string_view script) {
  return std::string(load_module_script()) + std::string(script);
}

}  // namespace kbench::runner
