#include <memory>
#include <nlohmann/json.hpp>

#include "harness/evaluate/client/device_list.h"
#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/self_test/self_test.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "harness/measure/runner/languages.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/runner/resolved.h"
#include "harness/measure/vulkan/features.h"
#include "harness/measure/vulkan/instance.h"
#include "harness/measure/vulkan/plan.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "libkbench/base/json_text.h"

namespace kbench::program {
namespace {

nlohmann::ordered_json as_json(const std::vector<runner::LanguageSupport>& languages) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const runner::LanguageSupport& each : languages) {
    nlohmann::ordered_json one = {
        {"name", each.name}, {"usable", each.usable}, {"detail", each.detail}};
    if (each.python) {
      nlohmann::ordered_json& python = one["python"];
      python = {{"program", each.python->program}, {"version", each.python->version}};
      python["cuda"] = nullptr;
      if (!each.python->cuda.empty()) python["cuda"] = each.python->cuda;
    }
    list.push_back(std::move(one));
  }
  return list;
}

/// "Device 0 takes GLSL, HLSL, SPIR-V; not CUDA C++: why".
std::string as_text(int device, const std::vector<runner::LanguageSupport>& languages) {
  std::string takes, not_taken;
  for (const runner::LanguageSupport& each : languages) {
    if (each.usable) {
      takes += (takes.empty() ? "" : ", ") + each.name;
      if (each.detail != "Vulkan 1.2") takes += " (" + each.detail + ")";
    } else {
      not_taken += "\n  not " + each.name + ": " + each.detail;
    }
  }
  return "Device " + std::to_string(device) + " takes " + takes + not_taken + "\n";
}

/// The optional features that plan_device() enables, by their Vulkan names.
std::vector<std::pair<std::string, bool>> features_of(const vulkan::DevicePlan& plan) {
  std::vector<std::pair<std::string, bool>> features = {
      {"shaderFloat64", plan.float64},
      {"shaderFloat16", plan.float16},
      {"shaderInt16", plan.int16},
      {"shaderInt8", plan.int8},
      {"storageBuffer16BitAccess", plan.storage_16bit},
      {"storageBuffer8BitAccess", plan.storage_8bit},
      {"scalarBlockLayout", plan.scalar_layout},
      {"vulkanMemoryModel", plan.memory_model},
      {"vulkanMemoryModelDeviceScope", plan.memory_model_device_scope},
      {"subgroupSizeControl", plan.subgroup_size_control},
      {"computeFullSubgroups", plan.full_subgroups},
      {"cooperativeMatrix", plan.cooperative_matrix},
      {"cooperativeMatrixNV", plan.cooperative_matrix_nv},
      {"shaderBFloat16CooperativeMatrix", plan.bfloat16_matrices}};
  for (size_t i = 0; i < vulkan::kFloatAtomics.size(); ++i) {
    features.emplace_back(vulkan::kFloatAtomics[i].feature, plan.float_atomics >> i & 1);
  }
  return features;
}

/// The device's limits, by their names in expressions, and its features.
std::string limits_text(const vulkan::DeviceSnapshot& snapshot) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, number] : runner::device_numbers(snapshot)) {
    rows.push_back({"  " + name, std::to_string(number)});
  }
  std::string has, lacks;
  for (const auto& [name, there] : features_of(vulkan::plan_device(snapshot))) {
    std::string& list = there ? has : lacks;
    list += (list.empty() ? "" : ", ") + name;
  }
  return format_table(rows) + "  features: " + has + "\n" +
         (lacks.empty() ? "" : "  without: " + lacks + "\n");
}

int run_devices(bool json, bool limits) {
  const std::vector<vulkan::DeviceSnapshot> snapshots = client::list_snapshots();
  std::vector<DeviceSummary> devices;
  for (const vulkan::DeviceSnapshot& each : snapshots) devices.push_back(client::summary_of(each));
  if (json) {
    nlohmann::ordered_json document = nlohmann::ordered_json::array();
    for (size_t i = 0; i < devices.size(); ++i) {
      const DeviceSummary& device = devices[i];
      nlohmann::ordered_json features = nlohmann::ordered_json::object();
      if (device.usable) {
        for (const auto& [name, there] : features_of(vulkan::plan_device(snapshots[i]))) {
          features[name] = there;
        }
      }
      document.push_back({{"index", device.index},
                          {"name", device.name},
                          {"type", device.type},
                          {"driver", device.driver},
                          {"api_version", device.api_version},
                          {"memory_bytes", device.memory_bytes},
                          {"usable", device.usable},
                          {"reason", device.reason},
                          {"limits", runner::device_numbers(snapshots[i])},
                          {"features", std::move(features)},
                          {"languages", as_json(runner::languages_of(snapshots[i]))}});
    }
    say(json_text(document, 2) + "\n");
    return kDone;
  }
  if (devices.empty()) {
    const std::string absent = vulkan::absent_drivers();
    if (!absent.empty()) throw Error(ErrorCode::kNotFound, "no Vulkan device: " + absent);
    throw Error(
        ErrorCode::kNotFound,
        "no Vulkan device: install a driver (Debian's mesa-vulkan-drivers has one that runs "
        "on the CPU), or point VK_DRIVER_FILES at its .json");
  }
  std::vector<std::vector<std::string>> rows = {
      {"index", "name", "type", "memory", "Vulkan", "driver", "usable"}};
  for (const DeviceSummary& device : devices) {
    rows.push_back({std::to_string(device.index), device.name, device.type,
                    format_bytes(double(device.memory_bytes)), device.api_version, device.driver,
                    device.usable ? "yes" : "no: " + device.reason});
  }
  say(format_table(rows));
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].usable) continue;
    say(as_text(devices[i].index, runner::languages_of(snapshots[i])));
    if (limits) say(limits_text(snapshots[i]));
  }
  return kDone;
}

/// Why no candidate of the lane can be judged on the device; empty: one can.
std::string why_without(std::string_view lane, const vulkan::DeviceSnapshot& device) {
  if (lane == "vulkan") return "";
  const std::string language = lane == "cuda" ? "CUDA C++" : "PyTorch";
  for (const runner::LanguageSupport& each : runner::languages_of(device)) {
    if (each.name == language && !each.usable) return each.detail;
  }
  return "";
}

/// Judges the planted candidates of each lane that the device has.
int check(const std::string& device, bool json) {
  client::JudgeClient judge("", device, /*validate=*/false);
  const vulkan::DeviceSnapshot& snapshot = judge.snapshot();
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows = {{"planted candidate", "must be", "is", ""}};
  std::string text;
  bool failed = false;
  for (const std::string_view lane : self_test::kLanes) {
    if (const std::string why = why_without(lane, snapshot); !why.empty()) {
      text += "Not checked, lane " + std::string(lane) + ": " + why + "\n";
      continue;
    }
    const self_test::Report report = judge.test(lane);
    for (const self_test::Outcome& each : report.outcomes) {
      rows.push_back({each.plant, each.must_be, each.is, each.as_it_must ? "" : "WRONG"});
      document.push_back({{"device", snapshot.name},
                          {"plant", each.plant},
                          {"must_be", each.must_be},
                          {"is", each.is},
                          {"as_it_must", each.as_it_must}});
    }
    const std::string fault = report.fault();
    failed = failed || !fault.empty();
    text += "Lane " + std::string(lane) + ", " + format_seconds(report.seconds) + ": " +
            (fault.empty() ? "as it must be" : "no verdict counts here: " + fault) + "\n";
  }
  say(json ? json_text(document, 2) + "\n"
           : snapshot.name + ", " + snapshot.driver + "\n" + format_table(rows) + text);
  return failed ? kFailed : kDone;
}

/// What is otherwise made when it is first needed.
int prepare() {
  constexpr double kSeconds = 600;
  const std::string missing = runner::PythonHelper().prepare_bridge(kSeconds);
  if (!missing.empty()) {
    throw Error(
        ErrorCode::kUnsupported,
        "extensions of a ModelNew are compiled with PyTorch's own headers here: " + missing);
  }
  say("Extensions of a ModelNew are compiled with kbench's headers.\n");
  return kDone;
}

}  // namespace

Verb add_devices(Command program) {
  auto json = std::make_shared<bool>(false), limits = std::make_shared<bool>(false),
       ahead = std::make_shared<bool>(false);
  auto checked = std::make_shared<std::string>();
  const Command app =
      program.add_verb("devices", "The Vulkan devices of this machine",
                       "Lists the Vulkan devices of this machine, why one cannot be used where "
                       "that is so, and which languages candidates may be written in on each "
                       "(for Triton and PyTorch also whose python3 it is), and why not in others. "
                       "What stands under index or name (a part "
                       "of it is enough) goes to --device of the other verbs.",
                       "  kbench devices\n"
                       "  kbench devices --check auto\n"
                       "  kbench --device 0\n"
                       "  kbench --device cpu");
  const Command output = app.in_group("Output");
  output.add_flag("--limits", *limits,
                  "Limits, by the names that expressions have for them, and features");
  output.add_flag("--json", *json, "A JSON list on standard output");
  const Option check_device = app.in_group("Self-test")
                                  .add_option("--check DEVICE", *checked,
                                              "Judge planted candidates there, right ones and "
                                              "wrong ones, in each lane that the device has, "
                                              "and show whether each ends as it must; exit code 1 "
                                              "where one does not. By itself that is "
                                              "done once for a device, driver and kbench, and "
                                              "where it fails no verdict of the lane counts");
  app.in_group("Preparing")
      .add_flag("--prepare", *ahead,
                "Make what else is made when a ModelNew with an extension is first judged, in half "
                "a minute");
  return {app, [json, limits, ahead, checked, check_device] {
            if (check_device.given()) return check(*checked, *json);
            return *ahead ? prepare() : run_devices(*json, *limits);
          }};
}

}  // namespace kbench::program
