#include "libkbench/scoring/json_field.h"

#include <algorithm>

#include "libkbench/base/files.h"

namespace kbench {
namespace {

/// Goes over a text that is refused, to find out where and why.
class FaultFinder : public nlohmann::json_sax<nlohmann::json> {
 public:
  size_t position = 0;  ///< characters read, with the one that is wrong
  std::string reason;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(int64_t) override { return true; }
  bool number_unsigned(uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(nlohmann::json::binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(std::string&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  // The parser's own message quotes the text, at any length: only its kind is kept.
  bool parse_error(size_t at, const std::string&, const nlohmann::json::exception& e) override {
    position = at;
    const bool too_large = dynamic_cast<const nlohmann::json::out_of_range*>(&e) != nullptr;
    reason = too_large ? "holds a number out of range" : "is not JSON";
    return false;
  }
};

}  // namespace

nlohmann::json parse_json(const std::string& text, const std::string& path) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_discarded()) return json;
  FaultFinder fault;
  nlohmann::json::sax_parse(text, &fault);
  const size_t before = std::min(text.size(), fault.position - std::min<size_t>(fault.position, 1));
  const std::string_view read = std::string_view(text).substr(0, before);
  const auto line = 1 + static_cast<int>(std::count(read.begin(), read.end(), '\n'));
  const size_t newline = read.rfind('\n');
  const auto column = static_cast<int>(newline == read.npos ? before + 1 : before - newline);
  if (path.empty()) {
    throw Error(ErrorCode::kParse, fault.reason + " at character " + std::to_string(column));
  }
  throw Error(ErrorCode::kParse, Location{path, line, column}, fault.reason);
}

nlohmann::json read_json(const std::string& path) { return parse_json(read_file(path), path); }

}  // namespace kbench
