#include "harness/evaluate/self_test/self_test.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <utility>

#include "harness/evaluate/self_test/plants.h"
#include "kbench/score.h"

namespace kbench::self_test {
namespace {

/// A device that was slow or busy for a moment is asked again.
constexpr int kTries = 3;
/// How far beside its interval a speedup may lie: what two launches cost more than one.
constexpr double kSlack = 0.01;

/// The rest of the line that begins with "# KEY: "; empty where there is none.
std::string head(const std::string& text, const std::string& key) {
  const std::string begin = "# " + key + ": ";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with("#");) {
    if (line.starts_with(begin)) return line.substr(begin.size());
  }
  return "";
}

Plant plant_of(const std::string& path, const std::string& text) {
  Plant plant;
  const size_t slash = path.rfind('/');
  plant.name = path.substr(0, path.rfind('.'));
  plant.file = path.substr(slash + 1);
  plant.text = text;
  std::istringstream verdicts(head(text, "verdict"));
  for (std::string word; verdicts >> word;) {
    if (word != "|") plant.verdicts.insert(verdict_from_name(word));
  }
  plant.large = head(text, "sizes") == "large";
  std::istringstream speedup(head(text, "speedup"));
  std::string of;
  speedup >> plant.speedup >> of >> plant.compared_with;
  return plant;
}

/// So many elements that the device's caches hold a small part of them, and that all tensors of the
/// task are a small part of its memory. A module's are fewer, as several calls are timed as one
/// run.
int64_t large_elements(std::string_view plant, const vulkan::DeviceSnapshot& device) {
  constexpr int64_t kSoftware = int64_t{1} << 20, kMost = int64_t{1} << 28,
                    kOfModule = int64_t{1} << 25;
  if (device.software()) return kSoftware;
  int64_t elements = plant.starts_with("torch/") ? kOfModule : kMost;
  while (static_cast<uint64_t>(elements) > device.device_local_bytes / 64) elements /= 2;
  return elements;
}

Question question_of(const Plant& plant, const vulkan::DeviceSnapshot& device) {
  Question question;
  question.candidate = CandidateSource({{plant.file, plant.text}}, plant.name);
  question.candidate.manifest = plant.file;
  question.candidate.author = "the self-test";
  question.preset = name_of(Preset::smoke);
  question.rule.other_sizes = OtherSizes::none;
  if (plant.large) {
    constexpr int64_t kRows = 1024;
    question.overrides = {{"batch_size", kRows},
                          {"dim", large_elements(plant.name, device) / kRows}};
  } else {
    question.plan = SamplingPlan::look();
  }
  return question;
}

std::string in_words(const std::set<Verdict>& verdicts) {
  std::string text;
  for (const Verdict verdict : verdicts) {
    text += (text.empty() ? "" : " or ") + std::string(name_of(verdict));
  }
  return text;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

std::string_view lane_of(const Result& result) {
  return result.lane == "torch-captured" ? "torch" : std::string_view(result.lane);
}

std::vector<Plant> plants(std::string_view lane) {
  std::vector<Plant> all;
  for (const EmbeddedFile* file = kPlants; file->path != nullptr; ++file) {
    const std::string path = std::string(file->path).substr(sizeof "plants/" - 1);
    if (path.starts_with(std::string(lane) + "/")) all.push_back(plant_of(path, file->text));
  }
  // What one is compared with is judged before it.
  std::ranges::stable_sort(all, {}, [](const Plant& plant) { return plant.speedup != 0; });
  return all;
}

std::string Report::fault() const {
  const auto wrong = std::ranges::find(outcomes, false, &Outcome::as_it_must);
  if (wrong == outcomes.end()) return "";
  return "planted candidate " + wrong->plant + " must be " + wrong->must_be + ", and is " +
         wrong->is;
}

Report test(std::string_view lane, const std::vector<Plant>& plants,
            const vulkan::DeviceSnapshot& device, const Judge& judge) {
  const auto start = std::chrono::steady_clock::now();
  Report report;
  report.lane = lane;
  std::map<std::string, Interval> measured = {{"eager", {1, 1, 1}}};
  const auto try_once = [&](const Plant& plant, Outcome& outcome) {
    const Result result = judge(question_of(plant, device));
    outcome.must_be = in_words(plant.verdicts);
    outcome.is = name_of(result.verdict);
    if (!plant.verdicts.contains(result.verdict) || lane_of(result) != lane) {
      if (!result.message.empty()) outcome.is += ": " + result.message;
      return is_infrastructure_fault(result.verdict);
    }
    const std::string name = plant.name.substr(lane.size() + 1);
    measured[name] = result.speedup;
    outcome.as_it_must = true;
    if (plant.speedup == 0) return false;
    const Interval speedup = ratio_of(result.speedup, measured[plant.compared_with]);
    outcome.must_be = number(plant.speedup) + " times as fast as " + plant.compared_with;
    outcome.is =
        number(speedup.point) + " [" + number(speedup.low) + ", " + number(speedup.high) + "]";
    outcome.as_it_must =
        speedup.low * (1 - kSlack) <= plant.speedup && plant.speedup <= speedup.high * (1 + kSlack);
    return !outcome.as_it_must;
  };
  for (const Plant& plant : plants) {
    if (plant.speedup != 0 && device.software()) continue;  // Its times rank nothing.
    Outcome outcome{.plant = plant.name, .must_be = {}, .is = {}};
    for (int tries = 1; try_once(plant, outcome) && tries < kTries; ++tries) {
    }
    report.outcomes.push_back(std::move(outcome));
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace kbench::self_test
