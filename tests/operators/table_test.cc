// Every operator has a definition and rows; and what a line of text means.
#include "tests/operators/table.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace kbench::definitions {
namespace {

TEST(OperatorTable, EveryOperatorHasADefinitionAndRows) {
  std::set<std::string> defined, declared, rows;
  for (const Family& family : families()) {
    for (const Definition& d : family.definitions()) {
      EXPECT_TRUE(defined.insert(d.op).second) << d.op << " is defined twice";
    }
  }
  for (const Row& row : table()) {
    if (!row.has("threads")) rows.insert(row.call.op->name);
  }
  for (const Operator* op : operators()) {
    declared.insert(op->name);
    if (op->is_view) rows.insert(op->name);
  }
  EXPECT_EQ(defined, declared) << "a new operator needs its definition in tests/operators/";
  // What a cast gives bit by bit is held in tests of its own.
  rows.insert("cast");
  EXPECT_EQ(rows, declared) << "a new operator needs rows in tests/operators/table.txt";
}

TEST(OperatorTable, ALineIsACall) {
  const Row row = row_of("conv2d 2x6x5x7 9x2x3x3 9 stride=3,2 groups=3 padding=1 @plan=tiles @gpu");
  EXPECT_EQ(
      text_of(row.call),
      text_of(make_call(find_operator("conv2d"),
                        {{DType::f32, {2, 6, 5, 7}}, {DType::f32, {9, 2, 3, 3}}, {DType::f32, {9}}},
                        {{"stride", std::vector<int64_t>{3, 2}},
                         {"groups", int64_t{3}},
                         {"padding", std::vector<int64_t>{1}}})));
  EXPECT_EQ(row.words, (decltype(row.words){{"gpu", ""}, {"plan", "tiles"}}));
  EXPECT_EQ(row_of("expand () shape=2,3").call.inputs[0].shape, Shape{});
  EXPECT_EQ(row_of("index_rows 9x5 i64:3").call.inputs[1].dtype, DType::i64);
  EXPECT_EQ(row_of("lstm 3x5x7 hidden=2 bidirectional=1").call.inputs.size(), 3u + 2 * 4);
  for (const char* bad :
       {"relu 3 slope=1", "relu 3x", "relu", "relu 3 : 1 2 => 1 2 3", "relu 3 : 1 2 3 => 1 2"}) {
    EXPECT_THROW(row_of(bad), std::invalid_argument) << bad;
  }
}

TEST(OperatorTable, BracesAndTransposesMakeRows) {
  const auto rows = rows_of(
      "# rows\n{sum|mean} {3x5 axis={0|1}\n |7 axis=0}  # of each\nrelu 1\n"
      "matmul 3x5 5x7 @transposes\n");
  ASSERT_EQ(rows.size(), 6u + 1 + 4);
  EXPECT_EQ(text_of(rows[1].call), text_of(row_of("sum 3x5 axis=1").call));
  EXPECT_EQ(text_of(rows[5].call), text_of(row_of("mean 7 axis=0").call));
  EXPECT_EQ(text_of(rows[10].call),
            text_of(row_of("matmul 5x3 7x5 transpose_a=1 transpose_b=1").call));
}

TEST(OperatorTable, AnExactRowHasItsNumbers) {
  const Row row = row_of("argmax 2x6 axis=1 : 1*2 nan => 2");
  ASSERT_EQ(row.inputs.size(), 1u);
  EXPECT_EQ(row.inputs[0].values[4], 1);
  EXPECT_TRUE(std::isnan(row.inputs[0].values[5]));
  EXPECT_EQ(row.outputs[0].values, (std::vector<double>{2, 2}));
}

}  // namespace
}  // namespace kbench::definitions
