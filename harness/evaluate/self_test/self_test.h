// A machine's self-test: planted candidates, right ones and wrong ones, whose verdicts and times
// are known before. No verdict of a lane counts on a machine where one of its plants is judged
// otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/question.h"
#include "kbench/result.h"
#include "kbench/verdict.h"

namespace kbench::self_test {

/// What launches a candidate, as Result::lane has it; "torch" stands for "torch-captured", too.
inline constexpr std::string_view kLanes[] = {"vulkan", "cuda", "torch"};
std::string_view lane_of(const Result& result);  ///< empty where the candidate was not built

/// A candidate of the folder plants/, whose first lines say how it must end.
struct Plant {
  std::string name;            ///< "vulkan/zeros"
  std::string file, text;      ///< "zeros.yaml", and what stands in it
  std::set<Verdict> verdicts;  ///< its verdict must be one of these
  bool large = false;          ///< it is timed, at sizes that keep the device busy
  double speedup = 0;          ///< its interval must contain this; 0: any will do
  std::string compared_with;   ///< of `speedup`: "eager", or another plant of the lane
};
/// Those of a lane, in the order in which they are judged.
std::vector<Plant> plants(std::string_view lane);

/// What became of a plant.
struct Outcome {
  std::string plant;
  std::string must_be, is;  ///< in words: "wrong_values or all_zero", "passed"
  bool as_it_must = false;
};
struct Report {
  std::string lane;
  std::vector<Outcome> outcomes;
  double seconds = 0;
  /// The first plant that was not judged as it must be; empty: all were. In a sentence.
  std::string fault() const;
};

/// Judges a question on the machine that is tested. What it throws, test() throws.
using Judge = std::function<Result(const Question&)>;

/// Judges the plants of a lane. A time or a failure that may be the machine's momentary state is
/// tried three times.
Report test(std::string_view lane, const std::vector<Plant>& plants,
            const vulkan::DeviceSnapshot& device, const Judge& judge);

/// Why no verdict of the lane counts on this machine; empty: they count. Tests the lane unless that
/// was done for this device, driver and program: a pass is kept, signed, in the cache folder, and
/// a failure until this process ends. `program`: the file that judges. Any thread; others that ask
/// meanwhile wait.
std::string fault_of_lane(std::string_view lane, const vulkan::DeviceSnapshot& device,
                          const std::string& program, const Judge& judge);
/// Keeps a pass of test() for later processes.
void keep_pass(std::string_view lane, const vulkan::DeviceSnapshot& device,
               const std::string& program);

}  // namespace kbench::self_test
