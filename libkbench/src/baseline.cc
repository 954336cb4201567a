// Baselines as values and as files.
#include "kbench/baseline.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "kbench/error.h"
#include "kbench/score.h"

namespace kbench {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

Json from_variables(const Variables& variables) {
  Json json = Json::object();
  for (const auto& [name, value] : variables) {
    std::visit([&, &key = name](const auto& v) { json[key] = v; }, value);
  }
  return json;
}

Json from_entry(const BaselineEntry& entry) {
  Json json = {{"task", to_string(entry.task)},
               {"name", entry.name},
               {"variables", from_variables(entry.variables)},
               {"flops", entry.flops},
               {"least_bytes", entry.least_bytes},
               {"eager_bytes", entry.eager_bytes},
               {"launches", entry.launches}};
  if (!entry.timed()) {
    json["error"] = entry.error;
    return json;
  }
  json["passes"] = entry.times.passes;
  json["median_ms"] = entry.times.median_ms;
  json["mean_ms"] = entry.times.mean_ms;
  json["min_ms"] = entry.times.min_ms;
  json["max_ms"] = entry.times.max_ms;
  json["std_ms"] = entry.times.std_ms;
  return json;
}

}  // namespace

PassTimes summarize_passes(std::span<const double> milliseconds) {
  PassTimes times;
  if (milliseconds.empty()) return times;
  const auto n = static_cast<double>(milliseconds.size());
  times.passes = static_cast<int>(milliseconds.size());
  times.median_ms = median({milliseconds.begin(), milliseconds.end()});
  const auto [least, most] = std::minmax_element(milliseconds.begin(), milliseconds.end());
  times.min_ms = *least;
  times.max_ms = *most;
  for (const double ms : milliseconds) times.mean_ms += ms / n;
  double variance = 0;
  for (const double ms : milliseconds) {
    variance += (ms - times.mean_ms) * (ms - times.mean_ms) / n;
  }
  times.std_ms = std::sqrt(variance);
  return times;
}

std::string to_json(const Baseline& baseline) {
  Json json = {{"kbench_baseline", 1},
               {"version", baseline.version},
               {"device", baseline.device},
               {"driver", baseline.driver},
               {"software_device", baseline.software_device},
               {"preset", baseline.preset},
               {"date", baseline.date},
               {"method", baseline.method},
               {"tasks", Json::array()}};
  for (const BaselineEntry& entry : baseline.tasks) json["tasks"].push_back(from_entry(entry));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_baseline(const std::string& path, const Baseline& baseline) {
  // A pipe or a device is written to as it is; only a file can be replaced.
  const bool replace = !fs::exists(path) || fs::is_regular_file(path);
  const std::string next = replace ? path + ".next" : path;
  const auto fail = [&] {
    const std::string why = std::generic_category().message(errno);
    if (replace) std::remove(next.c_str());
    throw Error(ErrorCode::kIo, "cannot write " + path + ": " + why);
  };
  {
    std::ofstream file(next, std::ios::binary | std::ios::trunc);
    file << to_json(baseline);
    file.close();
    if (!file) fail();
  }
  if (replace && std::rename(next.c_str(), path.c_str()) != 0) fail();
}

}  // namespace kbench
