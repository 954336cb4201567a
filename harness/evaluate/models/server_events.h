// Server-sent events, the form in which answers are streamed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kbench::models {

/// Takes a stream in pieces of any size and gives the data of each event. Lines end with \n, \r or
/// both; comments and other fields are passed over; data of several lines are joined with \n.
class ServerEvents {
 public:
  /// Lines longer than `most` bytes, or an event's data of more, end the reading.
  ServerEvents(size_t most, std::function<void(std::string_view data)> event)
      : most_(most), event_(std::move(event)) {}

  /// False when a limit was passed.
  bool feed(std::string_view bytes);
  /// The end of the stream: an event that lacks its blank line is given all the same.
  void finish();

 private:
  void end_line();

  size_t most_;
  std::function<void(std::string_view)> event_;
  std::string line_, data_;
  bool has_data_ = false;
  bool after_return_ = false;  ///< a \n now belongs to the \r before it
  bool first_line_ = true;
};

}  // namespace kbench::models
