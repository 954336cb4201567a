// Structs as JSON by their lists of fields.
#include "libkbench/scoring/json_fields.h"

#include <gtest/gtest.h>

#include "tests/error_of.h"

namespace kbench {
namespace json_fields_test {  // clang refuses AnyMember for types without linkage

enum class Colour { red, green };

struct Inner {
  double real = 0;
  std::array<uint8_t, 2> bytes{};
};
KBENCH_FIELDS(Inner, real, bytes)

struct Outer {
  std::string text;
  int64_t number = 0;
  uint32_t small = 0;
  bool flag = false;
  Colour colour = Colour::red;
  Verdict verdict = Verdict::passed;
  std::optional<Inner> inner;
  std::vector<Inner> list;
  std::map<std::string, double> by_name;
  std::map<TaskId, Variables> by_task;
  std::function<void()> callback;
};
KBENCH_FIELDS(Outer, text, number, small, flag, colour, verdict, inner, list, by_name, by_task,
              callback)
KBENCH_OPTIONAL_FIELDS(Outer, inner, flag)

struct Derived : Inner {
  int more = 0;
};
KBENCH_FIELDS_OF_DERIVED(Derived, Inner, more, real, bytes)

struct Empty {};
KBENCH_FIELDS(Empty)

// A list that lacks a member, or has one too many, does not compile.
static_assert(kHasMembers<Outer, 11> && !kHasMembers<Outer, 10> && !kHasMembers<Outer, 12>);
static_assert(kHasMembers<Derived, 2> && kHasMembers<Empty, 0> && !kHasMembers<Empty, 1>);
static_assert(HasFields<const Derived> && !HasFields<Tensor> && !HasFields<int>);

Outer full() {
  Outer outer;
  outer.text = "a\n";
  outer.number = -5;
  outer.small = 4294967295;
  outer.flag = true;
  outer.colour = Colour::green;
  outer.verdict = Verdict::crashed;
  outer.inner = {0.5, {1, 255}};
  outer.list = {{1, {}}, {2, {3, 4}}};
  outer.by_name = {{"a", 1.5}};
  outer.by_task[{1, 19}] = {{"n", int64_t{4}}};
  return outer;
}

template <class T>
T read(const std::string& text, ReadRules rules = {}) {
  static const std::string kFile = "a file";
  const nlohmann::json json = parse_json(text, kFile);
  T value;
  read_value(JsonField(json, kFile, "it"), value, rules);
  return value;
}

TEST(JsonFields, AreWrittenInOrderAndReadBack) {
  const std::string line = json_text(json_of<nlohmann::ordered_json>(full()));
  EXPECT_EQ(line,
            "{\"text\":\"a\\n\",\"number\":-5,\"small\":4294967295,\"flag\":true,\"colour\":1,"
            "\"verdict\":\"crashed\",\"inner\":{\"real\":0.5,\"bytes\":[1,255]},"
            "\"list\":[{\"real\":1.0,\"bytes\":[0,0]},{\"real\":2.0,\"bytes\":[3,4]}],"
            "\"by_name\":{\"a\":1.5},\"by_task\":{\"level1/19\":{\"n\":4}}}");
  EXPECT_EQ(json_text(json_of<nlohmann::ordered_json>(read<Outer>(line))), line);
}

/// A process that knows another file of that name must not take the one for the other.
TEST(JsonFields, OfATaskOfOnesOwnHaveItsMeaning) {
  Outer outer;
  const TaskId task{.own = "my/mlp", .meaning = 0xabc};
  outer.by_task[task] = {{"n", int64_t{4}}};
  const std::string line = json_line(outer);
  EXPECT_NE(line.find("\"my/mlp@0000000000000abc\""), line.npos) << line;
  EXPECT_EQ(read<Outer>(line).by_task.begin()->first, task);
  EXPECT_EQ(json_of<nlohmann::json>(task), "my/mlp@0000000000000abc");
  EXPECT_EQ(read<TaskId>("\"my/mlp@0000000000000abc\""), task);
}

TEST(JsonFields, OfABaseAreItsOwn) {
  Derived derived;
  derived.more = 7;
  derived.real = 2;
  EXPECT_EQ(json_line(derived), R"({"bytes":[0,0],"more":7,"real":2.0})");
  EXPECT_EQ(read<Derived>(json_line(derived)).real, 2);
}

TEST(JsonFields, OptionalOnesMayBeAbsent) {
  const std::string line = json_line(Outer());
  EXPECT_EQ(line.find("inner"), line.npos);
  EXPECT_FALSE(read<Outer>(line).inner);
  EXPECT_EQ(json_of<nlohmann::json>(Outer(), Unset::null).at("inner"), nullptr);
  EXPECT_EQ(code_of([] { read<Outer>("{}"); }), ErrorCode::kParse);
  EXPECT_EQ(read<Outer>("{}", {.all_optional = true}).small, 0u);
}

TEST(JsonFields, AWrongOneIsNamed) {
  const auto refusal = [](const std::string& name, const std::string& json, ReadRules rules = {}) {
    nlohmann::json value = json_of<nlohmann::json>(full());
    value[name] = nlohmann::json::parse(json);
    try {
      read<Outer>(value.dump(), rules);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kParse);
      return e.message();
    }
    return std::string("taken");
  };
  EXPECT_EQ(refusal("text", "1"), "it.text must be a string");
  EXPECT_EQ(refusal("small", "4294967296"), "it.small is out of range");
  EXPECT_EQ(refusal("small", "-1"), "it.small is out of range");
  EXPECT_EQ(refusal("number", "1.5"), "it.number must be an integer");
  EXPECT_EQ(refusal("flag", "0"), "it.flag must be true or false");
  EXPECT_EQ(refusal("inner", "[]"), "it.inner must be an object");
  EXPECT_EQ(refusal("inner", R"({"real": 1})"), "it.inner lacks field 'bytes'");
  EXPECT_EQ(refusal("inner", R"({"real": 1, "bytes": [1]})"), "it.inner.bytes must be a list of 2");
  EXPECT_EQ(refusal("list", R"([{"real": 1, "bytes": [1, 256]}])"),
            "it.list[0].bytes[1] is out of range");
  EXPECT_EQ(refusal("by_name", R"({"a": null})"), "it.by_name.a must be a number");
  EXPECT_EQ(refusal("inner", R"({"real": -1, "bytes": [1, 2]})", {.reals = Reals::not_negative}),
            "it.inner.real must not be negative");
  EXPECT_EQ(refusal("other", "1", {.no_others = true}),
            "it has no field 'other'; it may have text, number, small, flag, colour, verdict, "
            "inner, list, by_name, by_task");
  EXPECT_EQ(refusal("other", "1"), "taken");
}

TEST(JsonFields, ALineThatIsNoneSaysOfWhat) {
  for (const char* line : {"", "[]", "1", "{"}) {
    EXPECT_EQ(code_of([&] { value_of_line<Inner>(line, "malformed inner"); }), ErrorCode::kParse);
  }
  EXPECT_EQ(error_of([] { value_of_line<Inner>("{}", "malformed inner"); }).message(),
            "malformed inner: message lacks field 'real'");
}

}  // namespace json_fields_test
}  // namespace kbench
