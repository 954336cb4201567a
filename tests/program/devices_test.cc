// --devices of the main job, on the software device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kbench/result.h"
#include "tests/program/run_program.h"

namespace kbench {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using namespace kbench::testing;

class Devices : public ::testing::Test {
 protected:
  void SetUp() override {
    KBENCH_NEED_SOFTWARE_DEVICE();
    for (const char* task : {"1/19", "1/20", "1/26"}) {
      const Said said = run_program({"show", task, "--candidate"});
      ASSERT_EQ(said.code, 0) << said.err;
      write_file(folder_ / ("mine/" + std::string(task + 2) + ".yaml"), said.out);
    }
  }
  Said evaluate(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--candidates",
                                          folder_ / "mine",
                                          "--task",
                                          "1/19,1/20,1/26,1/21",
                                          "--preset",
                                          "smoke",
                                          "--measure-seconds",
                                          "0.02",
                                          "--precision",
                                          "0.9",
                                          "--min-samples",
                                          "2",
                                          "--other-sizes",
                                          "none"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }

  ScratchFolder folder_;
};

/// `kbench devices`, with one python3 alone to be tried.
Said devices_with(const std::string& python, const std::string& more = "") {
  return run_in_shell("KBENCH_PYTHON='" + python + "' \"$KBENCH\" devices " + more, ".");
}

json pytorch_in(const json& device) {
  for (const json& language : device.at("languages")) {
    if (language.at("name") == "PyTorch") return language;
  }
  return nullptr;
}

TEST_F(Devices, SayWhichPythonHasPytorchOrWhatWasTried) {
  // A package of that name will do: it is not imported.
  const std::string made =
      "/usr/bin/python3 -m venv --without-pip '" + std::string(folder_ / "venv") + "' 2>/dev/null";
  if (std::system(made.c_str()) != 0) GTEST_SKIP() << "no module venv";
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "venv/lib")) {
    const std::filesystem::path site = entry.path() / "site-packages";
    write_file(site / "torch/__init__.py", "raise SystemExit('imported')\n");
    write_file(site / "torch/version.py", "cuda = '12.8'\n");
    write_file(site / "torch-2.9.dist-info/METADATA",
               "Metadata-Version: 2.1\nName: torch\nVersion: 2.9\n");
  }
  const std::string python = folder_ / "venv/bin/python3";
  const Said text = devices_with(python);
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("PyTorch (2.9 of " + python + ", built for CUDA 12.8)"));
  json found;
  for (const json& device : json::parse(devices_with(python, "--json").out)) {
    if (device["type"] == "cpu") found = pytorch_in(device);
  }
  ASSERT_TRUE(found.is_object());
  EXPECT_EQ(found["usable"], true);
  EXPECT_EQ(found["python"], json({{"program", python}, {"version", "2.9"}, {"cuda", "12.8"}}));

  const Said none = devices_with("/nowhere/python3");
  ASSERT_EQ(none.code, 0) << none.err;
  EXPECT_THAT(none.out, HasSubstr("not PyTorch: '/nowhere/python3' cannot be run"));
  const json lacks = pytorch_in(json::parse(devices_with("/nowhere/python3", "--json").out).at(0));
  EXPECT_EQ(lacks["usable"], false);
  EXPECT_FALSE(lacks.contains("python"));
}

TEST_F(Devices, AsAListOfOneDoWhatOneDoes) {
  const std::string output = folder_ / "results.jsonl";
  const Said said = evaluate({"--devices", "cpu", "--output", output, "--json"});
  ASSERT_EQ(said.code, 0) << said.err;
  const json document = json::parse(said.out);
  ASSERT_EQ(document["devices"].size(), 1u);
  EXPECT_EQ(document["devices"][0], document["device"]);
  EXPECT_EQ(document["leaderboard"][0]["correct"], 3);
  const std::vector<Result> results = read_results(output);
  ASSERT_EQ(results.size(), 4u);
  std::set<TaskId> tasks;
  for (const Result& result : results) {
    tasks.insert(result.task);
    if (result.verdict == Verdict::missing) continue;
    EXPECT_EQ(result.device_uuid, document["device"]["uuid"]);
  }
  EXPECT_EQ(tasks.size(), 4u);
  // It is the same experiment with --device.
  const Said again = evaluate({"--device", "cpu", "--output", output});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("4 already done"));
  EXPECT_EQ(read_results(output).size(), 4u);
}

TEST_F(Devices, RepetitionsAreEvaluatedAndWrittenEach) {
  const std::string output = folder_ / "results.jsonl";
  const Said said = evaluate({"--devices", "cpu", "--output", output, "--benchmark_repetitions=2"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(read_results(output).size(), 8u);
  EXPECT_THAT(said.out, HasSubstr("median of 2"));
}

}  // namespace
}  // namespace kbench
