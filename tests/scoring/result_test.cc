#include "kbench/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/error_of.h"
#include "tests/scoring/example_result.h"

namespace kbench {
namespace {

using ::testing::AllOf;
using testing::example;
using ::testing::HasSubstr;
using testing::kInf;
using ::testing::Not;

TEST(ResultJson, RoundTripsEveryFieldExactly) {
  const Result r = example();
  const std::string line = to_json(r);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Result back = result_from_json(line);
  EXPECT_EQ(to_json(back), line);
  EXPECT_EQ(back.key(), r.key());
  EXPECT_EQ(back.variables, r.variables);
  EXPECT_EQ(back.message, r.message);
  EXPECT_EQ(back.verdict, r.verdict);
  EXPECT_EQ(back.speedup.point, r.speedup.point);
  EXPECT_EQ(back.speedup.high, kInf);
  EXPECT_EQ(back.candidate_ms, r.candidate_ms);
  EXPECT_EQ(back.baseline_ms, r.baseline_ms);
  EXPECT_EQ(back.max_error, kInf);
  EXPECT_EQ(back.roof_gbytes_per_s, r.roof_gbytes_per_s);
  EXPECT_EQ(back.roof_tflops, r.roof_tflops);
  EXPECT_EQ(back.stage_s, r.stage_s);
  EXPECT_EQ(back.device_uuid, r.device_uuid);
  ASSERT_EQ(back.diagnostics.size(), 2u);
  EXPECT_EQ(back.diagnostics[0].column, 7);
  ASSERT_EQ(back.tuning.size(), 1u);
  EXPECT_EQ(back.tuning[0].kernel, "relu");
  EXPECT_EQ(back.tuning[0].chosen, 1);
  ASSERT_EQ(back.tuning[0].configs.size(), 2u);
  EXPECT_EQ(back.tuning[0].configs[1].text, "num_warps 8, BLOCK 64");
  EXPECT_EQ(back.tuning[0].configs[1].ms, 0.25);
}

TEST(ResultJson, RoundTripsLabels) {
  const Result back = result_from_json(to_json(example()));
  EXPECT_EQ(back.made_for, example().made_for);
  EXPECT_EQ(back.own_kernels, 0.75);
  EXPECT_EQ(back.library_calls, example().library_calls);
  ASSERT_TRUE(back.holds_at);
  EXPECT_EQ(back.holds_at->tried, 6);
  EXPECT_EQ(back.holds_at->right, 4);
  ASSERT_TRUE(back.holds_at->first_wrong);
  EXPECT_EQ(back.holds_at->first_wrong->sizes, (Variables{{"dim", int64_t{67}}}));
  EXPECT_EQ(back.holds_at->first_wrong->verdict, Verdict::out_of_bounds);
  EXPECT_FALSE(back.holds_at->everywhere());
}

/// Most candidates have none, and records of earlier versions know of none.
TEST(ResultJson, LeavesLabelsOutThatAreNotThere) {
  Result r = example();
  r.made_for.clear();
  r.own_kernels.reset();
  r.library_calls.clear();
  r.holds_at.reset();
  r.roof_gbytes_per_s = r.roof_tflops = 0;
  const std::string line = to_json(r);
  for (const char* label : {"made_for", "own_kernels", "library_calls", "holds_at", "roof_"}) {
    EXPECT_THAT(line, Not(HasSubstr(label)));
  }
  EXPECT_EQ(to_json(result_from_json(line)), line);
  r.holds_at = HoldsAt{5, 5, std::nullopt};
  EXPECT_TRUE(result_from_json(to_json(r)).holds_at->everywhere());
}

TEST(ResultJson, WritesInfiniteEndsAsNull) {
  EXPECT_THAT(to_json(example()), HasSubstr("\"high\":null"));
}

TEST(ResultJson, SurvivesTextThatIsNotUtf8) {
  Result r = example();
  r.message = "bad \xff byte";
  EXPECT_EQ(result_from_json(to_json(r)).message, "bad \xef\xbf\xbd byte");
}

TEST(ResultJson, EscapesWhatATerminalWouldNotShow) {
  Result r = example();
  r.set = "a\u202eb\u0085c\x7f\u2028\U000e0001\x1b[2J\u00e9\u4e2d";
  const std::string line = to_json(r);
  EXPECT_THAT(line, HasSubstr("\"set\":\"a\\u202eb\\u0085c\\u007f\\u2028\\udb40\\udc01\\u001b[2J"
                              "\u00e9\u4e2d\""));
  EXPECT_EQ(result_from_json(line).set, r.set);
}

TEST(ResultJson, IgnoresFieldsOfLaterVersions) {
  std::string line = to_json(example());
  line.insert(1, "\"later\":[1],");
  EXPECT_EQ(to_json(result_from_json(line)), to_json(example()));
}

/// A line without the field, as earlier versions wrote it, is read as this result.
void expect_read_without(const std::string& field, const Result& result) {
  std::string line = to_json(result);
  ASSERT_THAT(line, HasSubstr(field));
  line.erase(line.find(field), field.size());
  EXPECT_EQ(to_json(result_from_json(line)), to_json(result));
}

TEST(ResultJson, ReadsRecordsOfEarlierVersions) {
  Result r = example();
  r.device_uuid.clear();
  EXPECT_EQ(r.key(), example().key()) << "another device of the kind is the same experiment";
  r.stage_s.clear();
  r.busy = false;
  r.tuning.clear();
  for (const char* field :
       {",\"device_uuid\":\"\"", ",\"stage_s\":{}", ",\"busy\":false", "\"tuning\":[],"}) {
    expect_read_without(field, r);
  }
}

TEST(ResultJson, SaysTheDtypeOfHalvesOnly) {
  EXPECT_THAT(to_json(example()), Not(HasSubstr("\"dtype\"")))
      << "records of float32 are as they were before there were others";
  EXPECT_EQ(result_from_json(to_json(example())).dtype, DType::f32);
  for (const DType dtype : {DType::f16, DType::bf16}) {
    Result halves = example();
    halves.dtype = dtype;
    const std::string line = to_json(halves);
    EXPECT_THAT(line, HasSubstr("\"dtype\":\"" + std::string(name_of(dtype)) + "\""));
    EXPECT_EQ(result_from_json(line).dtype, dtype);
    EXPECT_EQ(to_json(result_from_json(line)), line);
  }
  std::string line = to_json(example());
  line.insert(1, "\"dtype\":\"f32\",");
  EXPECT_EQ(to_json(result_from_json(line)), to_json(example()));
}

/// What is said of the example's line with another text in place of `from`.
std::string refusal(const std::string& from, const std::string& to) {
  std::string line = to_json(example());
  const size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  line.replace(at, from.size(), to);
  const Error e = error_of([&] { result_from_json(line); });
  EXPECT_EQ(e.code(), ErrorCode::kParse);
  return e.message();
}

TEST(ResultJson, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(refusal("\"samples\":17", "\"samples\":\"17\""),
              HasSubstr("result.samples must be an integer"));
  EXPECT_THAT(refusal("\"samples\":17", "\"sample\":17"), HasSubstr("lacks field 'samples'"));
  EXPECT_THAT(refusal("\"low\":0.0", "\"low\":true"), HasSubstr("speedup.low"));
  EXPECT_THAT(refusal("compile_error", "compiler_error"), HasSubstr("'compiler_error'"));
  EXPECT_THAT(refusal("level1/19\"", "ReLU\""), HasSubstr("ReLU"));
  EXPECT_THAT(refusal("{\"compile\":0.5", "{\"compile\":\"0.5\""), HasSubstr("stage_s.compile"));
  EXPECT_THAT(refusal("\"chosen\":1", "\"chosen\":2"), HasSubstr("tuning[0].chosen"));
  EXPECT_THAT(refusal("\"slope\":2.0", "\"slope\":\"2\""), HasSubstr("variables.slope"));
  EXPECT_THAT(refusal("[16,1,1]", "[16,1.5,1]"), HasSubstr("variables.shape"));
  EXPECT_THAT(refusal("{\"set\"", "\"set\""), HasSubstr("is not JSON at character 6"));
  EXPECT_THAT(refusal("{\"set\"", "{\"dtype\":\"i64\",\"set\""),
              AllOf(HasSubstr("result.dtype"), HasSubstr("f32, f16, bf16")));
}

TEST(ResultJson, RefusesNumbersThatItsTypesDoNotHold) {
  for (const char* number : {"1e999", "-1e999", "1e400"}) {
    EXPECT_THAT(refusal("\"tflops\":0.25", "\"tflops\":" + std::string(number)),
                HasSubstr("holds a number out of range at character "));
  }
  EXPECT_THAT(refusal("\"samples\":17", "\"samples\":1" + std::string(400, '0')),
              HasSubstr("out of range"));
  EXPECT_THAT(refusal("\"samples\":17", "\"samples\":4294967313"), HasSubstr("out of range"))
      << "17 in its lower half";
  EXPECT_THAT(refusal("\"batch_size\":16", "\"batch_size\":18446744073709551615"),
              HasSubstr("variables.batch_size holds an integer out of range"));
  EXPECT_THAT(refusal("[16,1,1]", "[16,9223372036854775808,1]"), HasSubstr("out of range"));
}

TEST(ResultJson, TakesAnyShapeOfText) {
  const std::string line = to_json(example());
  const std::string deep(100000, '[');
  EXPECT_THROW(result_from_json(deep), Error);
  EXPECT_EQ(to_json(result_from_json("{\"later\":" + deep + std::string(deep.size(), ']') + "," +
                                     line.substr(1))),
            line);
  EXPECT_EQ(result_from_json("{\"set\":1," + line.substr(1)).set, "mine") << "the last one counts";
  for (const char* text : {"", "null", "[]", "1", "\"", "{\"set\":\"\xff\"}"}) {
    EXPECT_THROW(result_from_json(text), Error) << text;
  }
}

TEST(ResultKey, DependsOnTheExperimentAndNotOnItsOutcome) {
  const Result r = example();
  Result same = r;
  same.verdict = Verdict::passed;
  same.speedup = {1, 2, 3};
  same.message = "";
  same.wall_s = 9;
  EXPECT_EQ(same.key(), r.key());

  const auto differs = [&](auto change) {
    Result other = r;
    change(other);
    return other.key() != r.key();
  };
  EXPECT_TRUE(differs([](Result& o) { o.candidate_hash = "ab13"; }));
  EXPECT_TRUE(differs([](Result& o) { o.set = "yours"; }));
  EXPECT_TRUE(differs([](Result& o) { o.task.number = 20; }));
  EXPECT_TRUE(differs([](Result& o) { o.variables["batch_size"] = int64_t{17}; }));
  EXPECT_TRUE(differs([](Result& o) { o.variables["batch_size"] = 16.0; }));
  EXPECT_TRUE(differs([](Result& o) { o.dtype = DType::f16; }));
  EXPECT_TRUE(differs([](Result& o) { o.device = "H200"; }));
  EXPECT_TRUE(differs([](Result& o) { o.driver = "Mesa 23"; }));
  EXPECT_TRUE(differs([](Result& o) { o.baseline = "other"; }));
  EXPECT_TRUE(differs([](Result& o) { o.settings = "tolerance=kernelbench"; }));
  EXPECT_TRUE(differs([](Result& o) { o.version = "0.2.0"; }));
  // What moves from one field to the next is another experiment, too.
  EXPECT_TRUE(differs([](Result& o) { o.device = "llvmpipe\",\"", o.driver = ""; }));
}

}  // namespace
}  // namespace kbench
