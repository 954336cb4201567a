#include "libkbench/scoring/json_field.h"

#include <algorithm>
#include <limits>

#include "libkbench/base/files.h"
#include "libkbench/base/text.h"
#include "libkbench/core/variables_json.h"

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

JsonField JsonField::operator[](const std::string& name) const {
  if (!json_->is_object()) fail("must be an object");
  const auto found = json_->find(name);
  if (found == json_->end()) fail("lacks field '" + name + "'");
  return {*found, *file_, where_.empty() ? name : where_ + "." + name};
}

size_t JsonField::list_size() const {
  if (!json_->is_array()) fail("must be a list");
  return json_->size();
}

JsonField JsonField::item(size_t i) const {
  return {(*json_)[i], *file_, where_ + "[" + std::to_string(i) + "]"};
}

std::vector<JsonField> JsonField::items() const {
  std::vector<JsonField> all;
  for (size_t i = 0; i < list_size(); ++i) all.push_back(item(i));
  return all;
}

std::vector<std::pair<std::string, JsonField>> JsonField::members() const {
  if (!json_->is_object()) fail("must be an object");
  std::vector<std::pair<std::string, JsonField>> all;
  for (const auto& [name, value] : json_->items()) all.emplace_back(name, (*this)[name]);
  return all;
}

std::string JsonField::text() const {
  if (!json_->is_string()) fail("must be a string");
  return json_->get<std::string>();
}

double JsonField::real() const {
  if (!json_->is_number()) fail("must be a number");
  return json_->get<double>();
}

double JsonField::real_or_infinity() const {
  if (is_null()) return std::numeric_limits<double>::infinity();
  if (!json_->is_number()) fail("must be a number or null");
  return json_->get<double>();
}

double JsonField::positive_real() const {
  const double value = real();
  if (!(value >= 0)) fail("must not be negative");
  return value;
}

bool JsonField::boolean() const {
  if (!json_->is_boolean()) fail("must be true or false");
  return json_->get<bool>();
}

int64_t JsonField::integer() const {
  if (json_->is_boolean()) return json_->get<bool>();
  return integer_in(*json_, "must be an integer");
}

int JsonField::small_integer() const { return whole<int>(); }

uint64_t JsonField::seed() const {
  if (!json_->is_number_unsigned()) fail("must be an integer and not negative");
  return json_->get<uint64_t>();
}

std::vector<int64_t> JsonField::integers() const {
  if (!json_->is_array()) fail("must be a list of integers");
  std::vector<int64_t> all;
  all.reserve(json_->size());
  for (const nlohmann::json& item : *json_) {
    all.push_back(integer_in(item, "must be a list of integers"));
  }
  return all;
}

std::vector<double> JsonField::reals() const {
  if (!json_->is_array()) fail("must be a list of numbers");
  std::vector<double> all;
  all.reserve(json_->size());
  for (const nlohmann::json& item : *json_) {
    if (!item.is_number()) fail("must be a list of numbers");
    all.push_back(item.get<double>());
  }
  return all;
}

Variables JsonField::variables() const {
  if (!json_->is_object()) fail("must be an object");
  return variables_from_json(
      *json_, [&](const std::string& name, const char* what) { (*this)[name].fail(what); });
}

void JsonField::fail(const std::string& why) const {
  const std::string where = where_.empty() ? "the file" : where_;
  throw Error(ErrorCode::kParse, Location{*file_}, where + (why.starts_with(':') ? "" : " ") + why);
}

int64_t JsonField::integer_in(const nlohmann::json& json, const char* complaint) const {
  if (!json.is_number_integer()) fail(complaint);
  if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX}) {
    fail("holds an integer out of range");
  }
  return json.get<int64_t>();
}

DType dtype_or_f32(const JsonField& object) {
  return object.has("dtype") ? object["dtype"].as(task_dtype_from_name) : DType::f32;
}

void expect_only(const JsonField& object, const std::vector<std::string_view>& names) {
  for (const auto& [name, value] : object.members()) {
    if (std::ranges::count(names, name) > 0) continue;
    const std::vector<std::string> known(names.begin(), names.end());
    const std::string near = suggestion(name, known);
    object.fail("has no field '" + shown(name) + "'" +
                (near.empty() ? "; it may have " + joined(known) : near));
  }
}

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
