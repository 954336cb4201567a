#include "harness/evaluate/models/server_events.h"

namespace kbench::models {

bool ServerEvents::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (after_return_ && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      after_return_ = false;
      continue;
    }
    after_return_ = false;
    size_t end = 0;
    while (end < bytes.size() && bytes[end] != '\n' && bytes[end] != '\r') ++end;
    line_ += bytes.substr(0, end);
    if (line_.size() > most_ || data_.size() > most_) return false;
    if (end == bytes.size()) return true;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line();
  }
  return true;
}

void ServerEvents::finish() {
  if (!line_.empty()) end_line();
  end_line();
}

void ServerEvents::end_line() {
  std::string_view line = line_;
  if (first_line_ && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) {
    if (has_data_) event_(data_);
    data_.clear();
    has_data_ = false;
  } else if (line.starts_with("data:") || line == "data") {
    line.remove_prefix(line == "data" ? 4 : 5);
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += line;
    has_data_ = true;
  }
  line_.clear();
}

}  // namespace kbench::models
