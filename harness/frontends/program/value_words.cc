#include "harness/frontends/program/value_words.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

#include "harness/evaluate/client/device_list.h"
#include "harness/frontends/program/candidate_sets.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/text.h"
#include "libkbench/base/enum_names.h"

namespace kbench::program {
namespace {

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Levels first ("level1/"), then the tasks of one ("level1/19", "1/19"), and names from their
/// first letter on; files of tasks of one's own.
void add_tasks(const std::string& begun, ValueWords& values) {
  values.paths = Paths::files;
  const bool short_form = !begun.empty() && std::isdigit(static_cast<unsigned char>(begun[0]));
  const bool level_known = begun.find('/') != begun.npos;
  std::map<std::string, std::vector<const Task*>> tasks_of;
  for (const Task& task : tasks()) {
    const std::string level = (short_form ? "" : "level") + std::to_string(task.id.level) + "/";
    if (level_known) {
      values.words.push_back({level + std::to_string(task.id.number), task.name});
    } else if (values.words.empty() || values.words.back().text != level) {
      values.words.push_back({level});
    }
    tasks_of[in_lower_case(task.name)].push_back(&task);
  }
  if (begun.empty() || level_known) return;
  for (const auto& [name, named] : tasks_of) {
    if (named.size() == 1) values.words.push_back({name, to_string(named.front()->id)});
  }
}

void add_devices(const std::string& begun, ValueWords& values) {
  constexpr double kSeconds = 3;
  constexpr size_t kLikeUuid = 2;  // what is shorter is an index, or any device's
  values.words.push_back({"auto", "the best there is"});
  std::vector<vulkan::DeviceSnapshot> devices;
  try {
    devices = client::list_snapshots("", kSeconds);
  } catch (const Error&) {
  }
  if (std::ranges::any_of(devices, &vulkan::DeviceSnapshot::software)) {
    values.words.push_back({"cpu", "the software device"});
  }
  for (const vulkan::DeviceSnapshot& device : devices) {
    values.words.push_back({std::to_string(device.index), shown(device.name)});
    if (begun.size() < kLikeUuid) continue;
    values.words.push_back({vulkan::to_string(device.device_uuid), shown(device.name)});
  }
}

void add_levels(const std::string&, ValueWords& values) {
  for (const Task& task : tasks()) {
    const std::string level = std::to_string(task.id.level);
    if (values.words.empty() || values.words.back().text != level) values.words.push_back({level});
  }
}

void add_presets(const std::string&, ValueWords& values) {
  for (const std::string& name : names_to(Preset::v0_1)) values.words.push_back({name});
}

void add_sets(const std::string&, ValueWords& values) {
  for (const std::string& folder : shipped_sets()) {
    values.words.push_back(
        {std::filesystem::path(folder).filename().string(), "ships with kbench"});
  }
}

void add_files(const std::string&, ValueWords& values) { values.paths = Paths::files; }

void add_folders(const std::string&, ValueWords& values) {
  values.paths = std::max(values.paths, Paths::folders);
}

/// What the types' words stand for. Those that are not here are for people: N, NAME, VAR=N.
const std::map<std::string_view, void (*)(const std::string& begun, ValueWords& values)> kTypes = {
    {"ANSWER", add_files}, {"CANDIDATE", add_files}, {"DEVICE", add_devices},
    {"DIR", add_folders},  {"FILE", add_files},      {"LEVEL", add_levels},
    {"PATH", add_files},   {"PRESET", add_presets},  {"RUN", add_folders},
    {"SET", add_sets},     {"TASK", add_tasks}};

}  // namespace

ValueWords words_of_type(const std::string& type, const std::string& begun) {
  ValueWords values;
  std::istringstream alternatives(type);
  for (std::string each; std::getline(alternatives, each, '|');) {
    if (const auto known = kTypes.find(each); known != kTypes.end()) {
      known->second(begun, values);
      continue;
    }
    // The words themselves are in small letters: "all", and "faster:" of "faster:P".
    const auto end = std::ranges::find_if(each, [](unsigned char c) { return std::isupper(c); });
    if (end != each.begin()) values.words.push_back({std::string(each.begin(), end)});
  }
  return values;
}

}  // namespace kbench::program
