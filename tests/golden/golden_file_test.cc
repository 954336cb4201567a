#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <fstream>
#include <set>

#include "tests/error_of.h"
#include "tests/golden/golden_data.h"

namespace kbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kRecord = R"({"generator": "test", "tasks": [{
  "task": "1/19", "name": "ReLU", "seed": 18446744073709551615,
  "vars": {"N": 3, "slope": 0.5, "bias": true, "shape": [2, 1]},
  "tensors": [
    {"name": "x", "kind": "input", "dtype": "f32", "shape": [3], "dist": {"kind": "normal"}},
    {"name": "m", "kind": "input", "dtype": "f32", "shape": [2, 2],
     "dist": {"kind": "normal", "mean": 1, "std": 2.5, "then": "triu"}},
    {"name": "t", "kind": "input", "dtype": "i64", "shape": [4],
     "dist": {"kind": "randint", "lo": 0, "hi": 7}},
    {"name": "w", "kind": "param", "dtype": "f32", "shape": [],
     "dist": {"kind": "uniform", "lo": -0.5, "hi": 0.25}},
    {"name": "s", "kind": "scalar", "value": 3.14}],
  "constants": [{"name": "mask", "shape": [2]}],
  "outputs": [{"shape": [3], "dtype": "f32", "rms": 1.5, "std": 1, "absmax": 2,
    "checksum": -0.25, "checksum_scale": 0.75, "float32_error": 1e-7,
    "index": [0, 2], "value": [0.5, -2]}]}]})";

class GoldenFile : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = ::testing::TempDir() + "kbench_golden_" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  /// The message with which the record is refused after replacing a text in it.
  std::string refusal(const std::string& from, const std::string& to) const {
    std::string text = kRecord;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const Error e = error_of([&] { load_golden(write("bad.json", text)); });
    EXPECT_EQ(e.code(), ErrorCode::kParse);
    EXPECT_THAT(e.what(), HasSubstr("bad.json"));
    return e.message();
  }
};

TEST_F(GoldenFile, ReadsEveryField) {
  const auto records = load_golden(write("good.json", kRecord));
  ASSERT_EQ(records.size(), 1u);
  const GoldenRecord& record = records[0];
  EXPECT_EQ(record.task, (TaskId{1, 19}));
  EXPECT_EQ(record.name, "ReLU");
  EXPECT_EQ(record.seed, UINT64_MAX);
  EXPECT_EQ(record.variables, (Variables{{"N", int64_t{3}},
                                         {"slope", 0.5},
                                         {"bias", int64_t{1}},
                                         {"shape", std::vector<int64_t>{2, 1}}}));
  ASSERT_EQ(record.tensors.size(), 5u);
  EXPECT_EQ(record.tensors[0].distribution, normal());
  Distribution upper = normal(1, 2.5);
  upper.then = Distribution::Then::triu;
  EXPECT_EQ(record.tensors[1].distribution, upper);
  EXPECT_EQ(record.tensors[2].distribution, randint(0, 7));
  EXPECT_EQ(record.tensors[2].type, (TensorType{DType::i64, {4}}));
  EXPECT_EQ(record.tensors[3].distribution, uniform(-0.5, 0.25));
  EXPECT_EQ(record.tensors[3].type, (TensorType{DType::f32, {}}));
  EXPECT_EQ(record.tensors[4].kind, "scalar");
  EXPECT_EQ(record.tensors[4].value, 3.14);
  ASSERT_EQ(record.outputs.size(), 1u);
  const GoldenOutput& output = record.outputs[0];
  EXPECT_EQ(output.rms, 1.5);
  EXPECT_EQ(output.std, 1);
  EXPECT_EQ(output.absmax, 2);
  EXPECT_EQ(output.checksum, -0.25);
  EXPECT_EQ(output.checksum_scale, 0.75);
  EXPECT_EQ(output.float32_error, 1e-7);
  EXPECT_THAT(output.index, ElementsAre(0, 2));
  EXPECT_THAT(output.value, ElementsAre(0.5, -2));
}

TEST_F(GoldenFile, ReadsZstdAndRefusesATornOne) {
  const std::string text(kRecord);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  EXPECT_EQ(load_golden(write("packed.json.zst", packed)).size(), 1u);
  for (const std::string& bad :
       {packed.substr(0, packed.size() - 5), packed.substr(0, 3), std::string(), text}) {
    EXPECT_THROW(load_golden(write("torn.json.zst", bad)), Error);
  }
}

TEST_F(GoldenFile, NamesRecordAndFieldThatAreWrong) {
  const std::string record = "record 0 (task 1/19)";
  EXPECT_EQ(refusal("\"rms\": 1.5", "\"rms\": \"1.5\""),
            record + ".outputs[0].rms must be a number");
  EXPECT_EQ(refusal("\"std\": 1,", ""), record + ".outputs[0] lacks field 'std'");
  EXPECT_THAT(refusal("\"dtype\": \"f32\", \"shape\": [3]", "\"dtype\": \"f33\", \"shape\": [3]"),
              HasSubstr(record + ".tensors[0].dtype: unknown element type 'f33'"));
  EXPECT_EQ(refusal("\"kind\": \"param\"", "\"kind\": \"weight\""),
            record + ".tensors[3].kind 'weight' is none of input, param, scalar");
  EXPECT_THAT(refusal("\"triu\"", "\"upper\""), HasSubstr("tensors[1].dist.then 'upper'"));
  EXPECT_THAT(refusal("\"randint\"", "\"poisson\""), HasSubstr("tensors[2].dist.kind 'poisson'"));
  EXPECT_THAT(refusal("[0, 2], \"value\"", "[0, 3], \"value\""), HasSubstr("index holds 3"));
  EXPECT_THAT(refusal("[0.5, -2]", "[0.5]"), HasSubstr("holds 1 numbers for 2 indices"));
  EXPECT_THAT(refusal("[2, 1]", "[2, 1.5]"), HasSubstr("vars.shape must be a list of integers"));
  EXPECT_THAT(refusal("18446744073709551615", "-1"), HasSubstr("seed must be"));
  EXPECT_THAT(refusal("1/19", "ReLU"), HasSubstr("(task ReLU).task: "));
  EXPECT_THAT(refusal("\"shape\": [2, 2]", "\"shape\": [2, -2]"), HasSubstr("tensors[1].shape: "));
  EXPECT_THAT(refusal("1e-7", "-1e-7"), HasSubstr("float32_error must not be negative"));
  EXPECT_THAT(refusal("\"tasks\"", "\"task\""), HasSubstr("the file lacks field 'tasks'"));
  EXPECT_THAT(refusal("\"absmax\": 2", "\"absmax\": 2e999"), HasSubstr("number out of range"));
  EXPECT_THAT(refusal("\"N\": 3", "\"N\": 9223372036854775808"),
              HasSubstr("vars.N holds an integer"));
  EXPECT_THAT(refusal("}]}]}", "}]}]"), HasSubstr("is not JSON"));
}

TEST_F(GoldenFile, NamesAFileThatIsNotThere) {
  const Error e = error_of([&] { load_golden("/no/such/file.json"); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
  EXPECT_STREQ(e.what(), "cannot read /no/such/file.json: No such file or directory");
}

TEST(GoldenData, HoldsAll250TasksAtEveryPreset) {
  for (const Preset preset : {Preset::smoke, Preset::v0, Preset::v0_1}) {
    std::set<TaskId> seen;
    std::map<int, int> by_level;
    for (const GoldenRecord& record : golden_records(preset)) {
      EXPECT_TRUE(seen.insert(record.task).second) << to_string(record.task);
      ++by_level[record.task.level];
      EXPECT_FALSE(record.tensors.empty());
      for (const GoldenOutput& output : record.outputs) EXPECT_FALSE(output.index.empty());
    }
    EXPECT_EQ(by_level, (std::map<int, int>{{1, 100}, {2, 100}, {3, 50}})) << name_of(preset);
  }
}

}  // namespace
}  // namespace kbench
