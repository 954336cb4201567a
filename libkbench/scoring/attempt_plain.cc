// An attempt's line straight into its fields, for files of a million.
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "libkbench/scoring/attempt_json.h"

namespace kbench {
namespace {

/// In the order in which to_json writes them.
enum class AttemptField : uint32_t {
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
constexpr auto kFields = static_cast<uint32_t>(AttemptField::unknown);

enum class ObjectOf { outside, attempt, speedup, usage };

struct FieldName {
  ObjectOf in;
  std::string_view name;
};
constexpr std::array<FieldName, kFields> kNames = {
    {{ObjectOf::attempt, "model"},         {ObjectOf::attempt, "answered_by"},
     {ObjectOf::attempt, "task"},          {ObjectOf::attempt, "sample"},
     {ObjectOf::attempt, "attempt"},       {ObjectOf::attempt, "parent"},
     {ObjectOf::attempt, "outcome"},       {ObjectOf::attempt, "leniencies"},
     {ObjectOf::attempt, "candidate"},     {ObjectOf::attempt, "candidate_hash"},
     {ObjectOf::attempt, "verdict"},       {ObjectOf::attempt, "preset"},
     {ObjectOf::attempt, "device"},        {ObjectOf::attempt, "speedup"},
     {ObjectOf::speedup, "low"},           {ObjectOf::speedup, "point"},
     {ObjectOf::speedup, "high"},          {ObjectOf::attempt, "feedback_hash"},
     {ObjectOf::attempt, "prompt_hash"},   {ObjectOf::attempt, "usage"},
     {ObjectOf::usage, "input"},           {ObjectOf::usage, "cached"},
     {ObjectOf::usage, "output"},          {ObjectOf::usage, "reasoning"},
     {ObjectOf::attempt, "cost"},          {ObjectOf::attempt, "seconds"},
     {ObjectOf::attempt, "operator_steps"}}};

/// False, from any of these, ends the parse.
class PlainReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit PlainReader(Attempt& attempt) : a_(attempt) {}

  bool complete() const { return seen_ == (uint32_t{1} << kFields) - 1; }

  bool null() override {
    switch (field_) {
      case AttemptField::verdict:
        a_.verdict.reset();
        return true;
      case AttemptField::cost:
        a_.cost.reset();
        return true;
      case AttemptField::low:
      case AttemptField::point:
      case AttemptField::high:
        return real(std::numeric_limits<double>::infinity());
      case AttemptField::input:
      case AttemptField::cached:
      case AttemptField::output:
      case AttemptField::reasoning:
        tokens().reset();
        return true;
      default:
        return passed_over();
    }
  }
  bool boolean(bool value) override {
    if (field_ != AttemptField::operator_steps) return passed_over();
    a_.operator_steps = value;
    return true;
  }
  bool number_integer(int64_t) override { return passed_over(); }
  bool number_unsigned(uint64_t value) override {
    switch (field_) {
      case AttemptField::sample:
        return count(value, 1, a_.sample);
      case AttemptField::attempt:
        return count(value, 1, a_.attempt);
      case AttemptField::parent:
        return count(value, 0, a_.parent);
      case AttemptField::input:
      case AttemptField::cached:
      case AttemptField::output:
      case AttemptField::reasoning:
        tokens() = static_cast<int64_t>(value);
        return value <= uint64_t{INT64_MAX};
      default:
        return real(static_cast<double>(value));
    }
  }
  bool number_float(double value, const std::string&) override { return real(value); }
  bool string(std::string& value) override {
    switch (field_) {
      case AttemptField::model:
        return keep(value, a_.model);
      case AttemptField::answered_by:
        return keep(value, a_.answered_by);
      case AttemptField::task:
        a_.task = parse_task_id(value);
        return true;
      case AttemptField::outcome:
        a_.outcome = outcome_from_name(value);
        return true;
      case AttemptField::leniencies:
        if (!in_list_) return false;
        a_.leniencies.push_back(value);
        return true;
      case AttemptField::candidate:
        return keep(value, a_.candidate);
      case AttemptField::candidate_hash:
        return keep(value, a_.candidate_hash);
      case AttemptField::verdict:
        a_.verdict = verdict_from_name(value);
        return true;
      case AttemptField::preset:
        return keep(value, a_.preset);
      case AttemptField::device:
        return keep(value, a_.device);
      case AttemptField::feedback_hash:
        return keep(value, a_.feedback_hash);
      case AttemptField::prompt_hash:
        return keep(value, a_.prompt_hash);
      default:
        return passed_over();
    }
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }

  bool start_object(size_t) override {
    if (field_ == AttemptField::unknown && scope_ != ObjectOf::outside)
      return ++unknown_depth_, true;
    if (scope_ == ObjectOf::outside) {
      scope_ = ObjectOf::attempt;
    } else if (field_ == AttemptField::speedup) {
      scope_ = ObjectOf::speedup;
    } else if (field_ == AttemptField::usage) {
      scope_ = ObjectOf::usage;
    } else {
      return false;
    }
    return true;
  }
  bool key(std::string& name) override {
    if (unknown_depth_ > 0) return true;
    field_ = find(name);
    if (field_ == AttemptField::unknown) return true;
    const uint32_t bit = uint32_t{1} << static_cast<uint32_t>(field_);
    const bool twice = (seen_ & bit) != 0;
    seen_ |= bit;
    return !twice;
  }
  bool end_object() override {
    if (unknown_depth_ > 0) return --unknown_depth_, true;
    scope_ = scope_ == ObjectOf::attempt ? ObjectOf::outside : ObjectOf::attempt;
    return true;
  }
  bool start_array(size_t) override {
    if (field_ == AttemptField::unknown && scope_ != ObjectOf::outside)
      return ++unknown_depth_, true;
    if (field_ != AttemptField::leniencies || in_list_) return false;
    a_.leniencies.clear();
    return in_list_ = true;
  }
  bool end_array() override {
    if (unknown_depth_ > 0) return --unknown_depth_, true;
    in_list_ = false;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  bool passed_over() const {
    return field_ == AttemptField::unknown && scope_ != ObjectOf::outside;
  }

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
      case AttemptField::low:
        a_.speedup.low = value;
        return true;
      case AttemptField::point:
        a_.speedup.point = value;
        return true;
      case AttemptField::high:
        a_.speedup.high = value;
        return true;
      case AttemptField::cost:
        a_.cost = value;
        return value >= 0;
      case AttemptField::seconds:
        a_.seconds = value;
        return value >= 0;
      default:
        return passed_over();
    }
  }

  std::optional<int64_t>& tokens() {
    switch (field_) {
      case AttemptField::input:
        return a_.usage.input;
      case AttemptField::cached:
        return a_.usage.cached;
      case AttemptField::output:
        return a_.usage.output;
      default:
        return a_.usage.reasoning;
    }
  }

  /// Mostly the one behind the last.
  AttemptField find(std::string_view name) {
    const auto is = [&](uint32_t i) {
      return i < kFields && kNames[i].in == scope_ && kNames[i].name == name;
    };
    uint32_t i = next_;
    if (!is(i)) {
      for (i = 0; i < kFields && !is(i); ++i) {
      }
    }
    next_ = i + 1;
    return static_cast<AttemptField>(i);
  }

  Attempt& a_;
  AttemptField field_ = AttemptField::unknown;
  ObjectOf scope_ = ObjectOf::outside;
  bool in_list_ = false;
  int unknown_depth_ = 0;
  uint32_t next_ = 0, seen_ = 0;
};

}  // namespace

bool read_plain_attempt(std::string_view line, Attempt& attempt) {
  PlainReader reader(attempt);
  try {
    return nlohmann::json::sax_parse(line.begin(), line.end(), &reader) && reader.complete();
  } catch (const Error&) {  // a name that there is not
    return false;
  }
}

}  // namespace kbench
