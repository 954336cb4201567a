// An attempt's line straight into its fields, for files of a million.
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "libkbench/scoring/attempt_json.h"

namespace kbench {
namespace {

using Json = nlohmann::json;

/// In the order in which to_json writes them.
enum class Field : uint32_t {
  model,
  answered_by,
  task,
  sample,
  attempt,
  parent,
  outcome,
  leniencies,
  candidate,
  candidate_hash,
  verdict,
  preset,
  device,
  speedup,
  low,
  point,
  high,
  feedback_hash,
  prompt_hash,
  usage,
  input,
  cached,
  output,
  reasoning,
  cost,
  seconds,
  operator_steps,
  unknown,  ///< of a later version
};
constexpr auto kFields = static_cast<uint32_t>(Field::unknown);

enum class Scope { outside, attempt, speedup, usage };

struct FieldName {
  Scope in;
  std::string_view name;
};
constexpr std::array<FieldName, kFields> kNames = {
    {{Scope::attempt, "model"},         {Scope::attempt, "answered_by"},
     {Scope::attempt, "task"},          {Scope::attempt, "sample"},
     {Scope::attempt, "attempt"},       {Scope::attempt, "parent"},
     {Scope::attempt, "outcome"},       {Scope::attempt, "leniencies"},
     {Scope::attempt, "candidate"},     {Scope::attempt, "candidate_hash"},
     {Scope::attempt, "verdict"},       {Scope::attempt, "preset"},
     {Scope::attempt, "device"},        {Scope::attempt, "speedup"},
     {Scope::speedup, "low"},           {Scope::speedup, "point"},
     {Scope::speedup, "high"},          {Scope::attempt, "feedback_hash"},
     {Scope::attempt, "prompt_hash"},   {Scope::attempt, "usage"},
     {Scope::usage, "input"},           {Scope::usage, "cached"},
     {Scope::usage, "output"},          {Scope::usage, "reasoning"},
     {Scope::attempt, "cost"},          {Scope::attempt, "seconds"},
     {Scope::attempt, "operator_steps"}}};

/// False, from any of these, ends the parse.
class PlainReader : public nlohmann::json_sax<Json> {
 public:
  explicit PlainReader(Attempt& attempt) : a_(attempt) {}

  bool complete() const { return seen_ == (uint32_t{1} << kFields) - 1; }

  bool null() override {
    switch (field_) {
      case Field::verdict:
        a_.verdict.reset();
        return true;
      case Field::cost:
        a_.cost.reset();
        return true;
      case Field::low:
      case Field::point:
      case Field::high:
        return real(std::numeric_limits<double>::infinity());
      case Field::input:
      case Field::cached:
      case Field::output:
      case Field::reasoning:
        tokens().reset();
        return true;
      default:
        return passed_over();
    }
  }
  bool boolean(bool value) override {
    if (field_ != Field::operator_steps) return passed_over();
    a_.operator_steps = value;
    return true;
  }
  bool number_integer(int64_t) override { return passed_over(); }
  bool number_unsigned(uint64_t value) override {
    switch (field_) {
      case Field::sample:
        return count(value, 1, a_.sample);
      case Field::attempt:
        return count(value, 1, a_.attempt);
      case Field::parent:
        return count(value, 0, a_.parent);
      case Field::input:
      case Field::cached:
      case Field::output:
      case Field::reasoning:
        tokens() = static_cast<int64_t>(value);
        return value <= uint64_t{INT64_MAX};
      default:
        return real(static_cast<double>(value));
    }
  }
  bool number_float(double value, const std::string&) override { return real(value); }
  bool string(std::string& value) override {
    switch (field_) {
      case Field::model:
        return keep(value, a_.model);
      case Field::answered_by:
        return keep(value, a_.answered_by);
      case Field::task:
        a_.task = parse_task_id(value);
        return true;
      case Field::outcome:
        a_.outcome = outcome_from_name(value);
        return true;
      case Field::leniencies:
        if (!in_list_) return false;
        a_.leniencies.push_back(value);
        return true;
      case Field::candidate:
        return keep(value, a_.candidate);
      case Field::candidate_hash:
        return keep(value, a_.candidate_hash);
      case Field::verdict:
        a_.verdict = verdict_from_name(value);
        return true;
      case Field::preset:
        return keep(value, a_.preset);
      case Field::device:
        return keep(value, a_.device);
      case Field::feedback_hash:
        return keep(value, a_.feedback_hash);
      case Field::prompt_hash:
        return keep(value, a_.prompt_hash);
      default:
        return passed_over();
    }
  }
  bool binary(Json::binary_t&) override { return false; }

  bool start_object(size_t) override {
    if (field_ == Field::unknown && scope_ != Scope::outside) return ++unknown_depth_, true;
    if (scope_ == Scope::outside) {
      scope_ = Scope::attempt;
    } else if (field_ == Field::speedup) {
      scope_ = Scope::speedup;
    } else if (field_ == Field::usage) {
      scope_ = Scope::usage;
    } else {
      return false;
    }
    return true;
  }
  bool key(std::string& name) override {
    if (unknown_depth_ > 0) return true;
    field_ = find(name);
    if (field_ == Field::unknown) return true;
    const uint32_t bit = uint32_t{1} << static_cast<uint32_t>(field_);
    const bool twice = (seen_ & bit) != 0;
    seen_ |= bit;
    return !twice;
  }
  bool end_object() override {
    if (unknown_depth_ > 0) return --unknown_depth_, true;
    scope_ = scope_ == Scope::attempt ? Scope::outside : Scope::attempt;
    return true;
  }
  bool start_array(size_t) override {
    if (field_ == Field::unknown && scope_ != Scope::outside) return ++unknown_depth_, true;
    if (field_ != Field::leniencies || in_list_) return false;
    a_.leniencies.clear();
    return in_list_ = true;
  }
  bool end_array() override {
    if (unknown_depth_ > 0) return --unknown_depth_, true;
    in_list_ = false;
    return true;
  }
  bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  bool passed_over() const { return field_ == Field::unknown && scope_ != Scope::outside; }

  /// The parser's own string becomes the field, and the field's old memory the parser's.
  static bool keep(std::string& value, std::string& into) {
    into.swap(value);
    return true;
  }

  static bool count(uint64_t value, uint64_t least, int& into) {
    if (value < least || value > uint64_t{std::numeric_limits<int>::max()}) return false;
    into = static_cast<int>(value);
    return true;
  }

  bool real(double value) {
    switch (field_) {
      case Field::low:
        a_.speedup.low = value;
        return true;
      case Field::point:
        a_.speedup.point = value;
        return true;
      case Field::high:
        a_.speedup.high = value;
        return true;
      case Field::cost:
        a_.cost = value;
        return value >= 0;
      case Field::seconds:
        a_.seconds = value;
        return value >= 0;
      default:
        return passed_over();
    }
  }

  std::optional<int64_t>& tokens() {
    switch (field_) {
      case Field::input:
        return a_.usage.input;
      case Field::cached:
        return a_.usage.cached;
      case Field::output:
        return a_.usage.output;
      default:
        return a_.usage.reasoning;
    }
  }

  /// Mostly the one behind the last.
  Field find(std::string_view name) {
    const auto is = [&](uint32_t i) {
      return i < kFields && kNames[i].in == scope_ && kNames[i].name == name;
    };
    uint32_t i = next_;
    if (!is(i)) {
      for (i = 0; i < kFields && !is(i); ++i) {
      }
    }
    next_ = i + 1;
    return static_cast<Field>(i);
  }

  Attempt& a_;
  Field field_ = Field::unknown;
  Scope scope_ = Scope::outside;
  bool in_list_ = false;
  int unknown_depth_ = 0;
  uint32_t next_ = 0, seen_ = 0;
};

}  // namespace

bool read_plain_attempt(std::string_view line, Attempt& attempt) {
  PlainReader reader(attempt);
  try {
    return Json::sax_parse(line.begin(), line.end(), &reader) && reader.complete();
  } catch (const Error&) {  // a name that there is not
    return false;
  }
}

}  // namespace kbench
