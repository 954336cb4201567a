#include "libkbench/core/variables_json.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace kbench {
namespace {

using nlohmann::json;

Variables read(const json& object) {
  return variables_from_json(
      object, [](const std::string& name, const char*) { throw std::domain_error(name); });
}

TEST(VariablesJson, EveryTypeComesBackAsItWas) {
  const Variables variables = {
      {"n", int64_t{-7}}, {"slope", 2.0}, {"shape", std::vector<int64_t>{16, 1, 1}}};
  const json object = json::parse(variables_json<json>(variables).dump());
  EXPECT_EQ(read(object), variables);
}

TEST(VariablesJson, TrueAndFalseAreFlags) {
  EXPECT_EQ(read({{"bias", true}, {"relu", false}}),
            (Variables{{"bias", int64_t{1}}, {"relu", int64_t{0}}}));
}

TEST(VariablesJson, WhatIsNoVariablesValueIsNamed) {
  for (const json& bad : {json(nullptr), json("2"), json::object(), json({1, 2.5})}) {
    SCOPED_TRACE(bad.dump());
    try {
      read({{"good", 1}, {"poor", bad}});
      ADD_FAILURE() << "was taken";
    } catch (const std::domain_error& e) {
      EXPECT_STREQ(e.what(), "poor");
    }
  }
}

}  // namespace
}  // namespace kbench
