#include "kbench/error.h"

#include <utility>

#include "kbench/text.h"
#include "libkbench/base/enum_names.h"

namespace kbench {

std::string_view name_of(ErrorCode code) {
  return name_in<ErrorCode::kInternal>(
      {"invalid_argument", "not_found", "shape", "parse", "io", "compile", "unsupported",
       "out_of_memory", "timeout", "device_lost", "model", "internal"},
      code);
}

std::string at(const Location& location) {
  if (location.file.empty()) return "";
  std::string text = shown(location.file, 1000);
  if (location.line > 0) text += ":" + std::to_string(location.line);
  if (location.line > 0 && location.column > 0) text += ":" + std::to_string(location.column);
  return text + ": ";
}

Error::Error(ErrorCode code, const std::string& message) : Error(code, Location{}, message) {}

Error::Error(ErrorCode code, Location location, const std::string& message)
    : std::runtime_error(at(location) + message),
      code_(code),
      location_(std::move(location)),
      message_(message) {}

}  // namespace kbench
