#include "kbench/error.h"

#include <utility>

#include "kbench/text.h"

namespace kbench {
namespace {

std::string with_location(const Location& at, const std::string& message) {
  if (at.file.empty()) return message;
  std::string text = shown(at.file, 1000);
  if (at.line > 0) text += ":" + std::to_string(at.line);
  if (at.line > 0 && at.column > 0) text += ":" + std::to_string(at.column);
  return text + ": " + message;
}

}  // namespace

Error::Error(ErrorCode code, const std::string& message) : Error(code, Location{}, message) {}

Error::Error(ErrorCode code, Location location, const std::string& message)
    : std::runtime_error(with_location(location, message)),
      code_(code),
      location_(std::move(location)),
      message_(message) {}

}  // namespace kbench
