// The self-test: its plants are judged as they must be, and one that is judged otherwise is
// noticed.

#include "harness/evaluate/self_test/self_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/evaluate/client/judge_client.h"
#include "kbench/error.h"
#include "tests/scratch_folder.h"
#include "tests/support/devices.h"

namespace kbench::self_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

vulkan::DeviceSnapshot a_gpu() {
  vulkan::DeviceSnapshot device;
  device.type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  device.name = "a GPU";
  device.driver = "1.0";
  device.device_local_bytes = uint64_t{64} << 30;
  return device;
}

/// A machine that judges every plant as it must be judged, but for those that `change` changes.
class Machine {
 public:
  std::map<std::string, Result> change;
  int judged = 0;

  Judge judge() {
    return [this](const Question& question) {
      ++judged;
      const std::string& name = question.candidate.path;
      if (const auto found = change.find(name); found != change.end()) return found->second;
      return right(name);
    };
  }
  static Result right(const std::string& name) {
    const std::string lane = name.substr(0, name.find('/'));
    Result result;
    result.lane = lane;
    for (const Plant& plant : plants(lane)) {
      if (plant.name != name) continue;
      result.verdict = *plant.verdicts.begin();
      const double speedup = plant.speedup == 0 ? 1 : plant.speedup;
      if (result.correct()) result.speedup = {speedup * 0.999, speedup, speedup * 1.001};
    }
    return result;
  }
  Report tested(std::string_view lane) { return test(lane, plants(lane), a_gpu(), judge()); }
};

TEST(Plants, OfEachLaneAreRightAndWrongOnesAndOneThatTakesTwiceAsLong) {
  for (const std::string_view lane : kLanes) {
    SCOPED_TRACE(lane);
    std::vector<std::string> names;
    bool twice = false;
    for (const Plant& plant : plants(lane)) {
      names.push_back(plant.name.substr(lane.size() + 1));
      EXPECT_FALSE(plant.verdicts.empty()) << plant.name;
      twice = twice || (plant.speedup == 0.5 && plant.compared_with == "once");
    }
    EXPECT_THAT(names, IsSupersetOf({"zeros", "half", "one_element", "stale", "input_changed",
                                     "once", "twice"}));
    EXPECT_TRUE(twice);
  }
}

TEST(Plants, AreInOrderSoThatWhatOneIsComparedWithIsMeasuredBefore) {
  for (const std::string_view lane : kLanes) {
    std::vector<std::string> before = {"eager"};
    for (const Plant& plant : plants(lane)) {
      if (plant.speedup != 0) {
        EXPECT_THAT(before, Contains(plant.compared_with)) << plant.name;
      }
      before.push_back(plant.name.substr(lane.size() + 1));
    }
  }
}

TEST(SelfTest, PassesWhereAllIsAsItMustBe) {
  for (const std::string_view lane : kLanes) {
    Machine machine;
    const Report report = machine.tested(lane);
    EXPECT_EQ(report.fault(), "");
    EXPECT_THAT(report.outcomes, SizeIs(plants(lane).size()));
    EXPECT_THAT(report.outcomes, Each(Field(&Outcome::as_it_must, true)));
  }
}

TEST(SelfTest, NoticesEachPlantThatIsJudgedTheOtherWayRound) {
  for (const std::string_view lane : kLanes) {
    for (const Plant& plant : plants(lane)) {
      Result other = Machine::right(plant.name);
      other.verdict = other.correct() ? Verdict::wrong_values : Verdict::passed;
      other.speedup = {1, 1, 1};
      Machine machine;
      machine.change[plant.name] = other;
      EXPECT_THAT(machine.tested(lane).fault(), HasSubstr("planted candidate " + plant.name));
    }
  }
}

TEST(SelfTest, NoticesATimeThatIsOffByTwoPercent) {
  for (const std::string name : {"vulkan/twice", "vulkan/same", "cuda/twice", "torch/twice"}) {
    for (const double factor : {0.98, 1.02}) {
      Result off = Machine::right(name);
      off.speedup.low *= factor;
      off.speedup.point *= factor;
      off.speedup.high *= factor;
      Machine machine;
      machine.change[name] = off;
      EXPECT_THAT(machine.tested(name.substr(0, name.find('/'))).fault(), HasSubstr(name));
    }
  }
}

TEST(SelfTest, AsksASoftwareDeviceForNoTimes) {
  vulkan::DeviceSnapshot device = a_gpu();
  device.type = VK_PHYSICAL_DEVICE_TYPE_CPU;
  Machine slow;
  slow.change["vulkan/twice"] = Machine::right("vulkan/once");
  EXPECT_EQ(test("vulkan", plants("vulkan"), device, slow.judge()).fault(), "");
  EXPECT_THAT(slow.tested("vulkan").fault(), HasSubstr("vulkan/twice"));
}

TEST(SelfTest, NoticesAPlantThatAnotherLaneHasRun) {
  Result other = Machine::right("cuda/right");
  other.lane = "vulkan";
  Machine machine;
  machine.change["cuda/right"] = other;
  EXPECT_THAT(machine.tested("cuda").fault(), HasSubstr("cuda/right"));
}

TEST(SelfTest, AsksAgainWhatFailsByTheMachinesMomentaryStateAndNothingElse) {
  Machine busy;
  Result failure;
  failure.message = "the runner was killed";
  int failures = 2;
  const auto judge = [&](const Question& question) {
    if (question.candidate.path == "vulkan/right" && failures-- > 0) return failure;
    return busy.judge()(question);
  };
  EXPECT_EQ(test("vulkan", plants("vulkan"), a_gpu(), judge).fault(), "");

  Machine broken;
  broken.change["vulkan/right"] = failure;
  EXPECT_EQ(broken.tested("vulkan").fault(),
            "planted candidate vulkan/right must be passed, and is harness_error: "
            "the runner was killed");

  Machine wrong;
  wrong.change["vulkan/zeros"] = Machine::right("vulkan/right");
  wrong.tested("vulkan");
  EXPECT_EQ(wrong.judged, std::ssize(plants("vulkan")));
}

TEST(SelfTest, IsPassedOnceForALaneADriverAndAProgramAndAFaultIsNotKept) {
  const testing::ScratchFolder folder;
  setenv("KBENCH_CACHE", folder.path("cache").c_str(), 1);
  Machine machine;
  const std::string program = "/proc/self/exe";
  // A pass outlives this process's memory of it: its file is what the next process reads.
  EXPECT_EQ(fault_of_lane("vulkan", a_gpu(), program, machine.judge()), "");
  const int once = machine.judged;
  EXPECT_EQ(fault_of_lane("vulkan", a_gpu(), program, machine.judge()), "");
  EXPECT_EQ(machine.judged, once);
  EXPECT_EQ(fault_of_lane("cuda", a_gpu(), program, machine.judge()), "");
  EXPECT_GT(machine.judged, once);
  vulkan::DeviceSnapshot device = a_gpu();
  device.driver = "2.0";
  machine.change["vulkan/half"] = Machine::right("vulkan/right");
  EXPECT_THAT(fault_of_lane("vulkan", device, program, machine.judge()), HasSubstr("vulkan/half"));
  const auto kept = std::distance(std::filesystem::directory_iterator(folder.path("cache")), {});
  EXPECT_EQ(kept, 3);  // The key, and two passes.
  device.driver = "3.0";
  keep_pass("vulkan", device, program);  // As `devices --check` does.
  EXPECT_EQ(fault_of_lane("vulkan", device, program, machine.judge()), "");
  unsetenv("KBENCH_CACHE");
}

class ThisMachine : public ::testing::Test {
 protected:
  void SetUp() override { KBENCH_NEED_DEVICE(); }
  /// Judges plants of the lane vulkan, of which some have another's text.
  std::string fault_with(const std::map<std::string, std::string>& texts_of) {
    client::JudgeClient judge(KBENCH_PROGRAM, "auto", false);
    std::vector<Plant> all = plants("vulkan");
    std::map<std::string, std::string> texts;
    for (const Plant& plant : all) texts[plant.name] = plant.text;
    std::erase_if(all, [&](const Plant& plant) { return !texts_of.contains(plant.name); });
    for (Plant& plant : all) plant.text = texts.at(texts_of.at(plant.name));
    return test(
               "vulkan", all, judge.snapshot(),
               [&](const Question& question) { return judge.run_untested({.question = question}); })
        .fault();
  }
};

TEST_F(ThisMachine, PassesItsSelfTestInTheLaneOfShaders) {
  client::JudgeClient judge(KBENCH_PROGRAM, "auto", false);
  EXPECT_EQ(judge.test("vulkan").fault(), "");
}

TEST_F(ThisMachine, IsNotTrustedWhereARightPlantIsWrongOrAWrongOneRight) {
  EXPECT_THAT(fault_with({{"vulkan/right", "vulkan/zeros"}}), HasSubstr("vulkan/right"));
  EXPECT_THAT(fault_with({{"vulkan/zeros", "vulkan/right"}}), HasSubstr("vulkan/zeros"));
  EXPECT_THAT(fault_with({{"vulkan/right", "vulkan/right"}, {"vulkan/half", "vulkan/half"}}),
              IsEmpty());
}

}  // namespace
}  // namespace kbench::self_test
