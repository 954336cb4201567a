// Server-sent events, in which answers are streamed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kbench::models {

/// Parses a stream that arrives in pieces of any size, and calls `event` with the data of each
/// event. Lines end with \n, \r or both; comments and other fields are skipped; data of several
/// lines are joined with \n.
class ServerEvents {
 public:
  /// A line, or an event's data, of more than `most` bytes ends the parse.
  ServerEvents(size_t most, std::function<void(std::string_view data)> event)
      : most_(most), event_(std::move(event)) {}

  /// False if the limit was exceeded.
  bool feed(std::string_view bytes);
  /// The end of the stream. An event without its final blank line is delivered too.
  void finish();

 private:
  void end_line();

  size_t most_;
  std::function<void(std::string_view)> event_;
  std::string line_, data_;
  bool has_data_ = false;
  bool after_return_ = false;  ///< a following \n belongs to the \r before it
  bool first_line_ = true;
};

}  // namespace kbench::models
