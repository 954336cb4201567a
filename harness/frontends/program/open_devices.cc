#include "harness/frontends/program/open_devices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "harness/evaluate/client/device_list.h"
#include "harness/evaluate/evaluators/devices.h"
#include "harness/evaluate/evaluators/judge_inside.h"
#include "harness/evaluate/server/served_devices.h"
#include "harness/frontends/program/terminal.h"
#include "harness/measure/vulkan/plan.h"
#include "kbench/error.h"
#include "kbench/score.h"
#include "libkbench/base/start_thread.h"
#include "libkbench/base/text.h"
#include "libkbench/base/trace.h"

namespace kbench::program {
namespace {

/// Opens all in parallel: each takes a second.
std::vector<std::optional<Error>> open_all(
    const std::vector<std::unique_ptr<JudgeProcess>>& judges) {
  std::vector<std::optional<Error>> failures(judges.size());
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < judges.size(); ++i) {
    threads.push_back(start_thread<std::jthread>([&judge = *judges[i], &failure = failures[i]] {
      try {
        JudgeInside::client(judge).snapshot();
      } catch (const Error& e) {
        failure = e;
      } catch (const std::exception& e) {
        failure = Error(ErrorCode::kInternal, e.what());
      }
    }));
  }
  threads.clear();
  return failures;
}

std::unique_ptr<JudgeProcess> judge_on(const std::string& device, bool validate) {
  auto judge = std::make_unique<JudgeProcess>(JudgeOptions{.device = device});
  if (validate) JudgeInside::expect_validation(*judge);
  return judge;
}

void require_one_kind(const std::vector<vulkan::DeviceSnapshot>& devices) {
  std::vector<Result> results;  // the results to expect
  for (const vulkan::DeviceSnapshot& device : devices) results.emplace_back().device = device.name;
  require_one_device_kind(results);
}

OpenDevices open_server(const DeviceOptions& options) {
  constexpr size_t kEach = 8, kMost = 64;
  ServerOptions server{.url = options.server, .device = options.device};
  OpenDevices opened;
  opened.snapshots = served_devices(server);
  if (options.device != "auto") {
    opened.snapshots = {vulkan::choose_device(opened.snapshots, options.device)};
  }
  require_one_kind(opened.snapshots);
  for (const vulkan::DeviceSnapshot& each : opened.snapshots) {
    server.devices.push_back(client::summary_of(each));
  }
  const size_t count = std::min(kEach * opened.snapshots.size(), kMost);
  for (size_t i = 0; i < count; ++i) opened.evaluators.push_back(std::make_unique<Server>(server));
  return opened;
}

}  // namespace

OpenDevices open_devices(const DeviceOptions& options, bool one_kind) {
  if (!options.trace.empty()) trace::begin(options.trace, "kbench");
  if (!options.server.empty()) return open_server(options);
  OpenDevices opened;
  if (options.devices.empty()) {
    auto judge = judge_on(options.device, options.validate);
    opened.snapshots = {JudgeInside::client(*judge).snapshot()};
    opened.evaluators.push_back(std::move(judge));
    return opened;
  }
  const auto all = client::list_snapshots();
  const auto chosen = evaluators::choose_devices(all, options.devices);
  std::vector<std::unique_ptr<JudgeProcess>> judges;
  for (const vulkan::DeviceSnapshot& device : chosen) {
    judges.push_back(judge_on(evaluators::selector_of(device, all), options.validate));
  }
  const auto failures = open_all(judges);
  if (std::ranges::all_of(failures, [](const auto& each) { return each.has_value(); })) {
    throw *failures.front();
  }
  for (size_t i = 0; i < judges.size(); ++i) {
    if (failures[i]) {
      warn("goes on without " + name_with_index(chosen[i]) + ": " + failures[i]->what());
      continue;
    }
    opened.snapshots.push_back(JudgeInside::client(*judges[i]).snapshot());
    opened.evaluators.push_back(std::move(judges[i]));
  }
  if (one_kind) require_one_kind(opened.snapshots);
  return opened;
}

Preset check_sizes(const std::vector<const Task*>& tasks, const SizeOptions& size,
                   const std::vector<vulkan::DeviceSnapshot>& devices,
                   const std::optional<RecordedTimes>& recorded) {
  Preset smallest = Preset::v0_1;
  for (const vulkan::DeviceSnapshot& device : devices) {
    smallest = std::min(smallest, check_sizes(tasks, size, device, recorded));
  }
  return smallest;
}

std::string name_with_index(const vulkan::DeviceSnapshot& device) {
  return "device " + std::to_string(device.index) + " (" + device.name + ")";
}

std::string names_of(const std::vector<vulkan::DeviceSnapshot>& devices) {
  std::map<std::string, int> counts;
  for (const vulkan::DeviceSnapshot& device : devices) ++counts[device.name];
  return listed(counts, [](const auto& each) {
    return (each.second > 1 ? std::to_string(each.second) + " x " : "") + each.first;
  });
}

}  // namespace kbench::program
