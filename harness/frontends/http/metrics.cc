#include "harness/frontends/http/metrics.h"

#include <sstream>

#include "kbench/version.h"

namespace kbench::http {
namespace {

/// Writes the lines of one metric: its help, its type and its values by label.
class Lines {
 public:
  explicit Lines(std::ostringstream& out) : out_(out) {}

  void begin(const char* name, const char* type, const char* help) {
    name_ = name;
    out_ << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
  }
  template <class Value>
  void value(const Value& value, const std::string& label = {}) {
    out_ << name_ << (label.empty() ? "" : "{" + label + "}") << ' ' << value << '\n';
  }

 private:
  std::ostringstream& out_;
  const char* name_ = "";
};

std::string label(const char* name, const std::string& value) {
  return std::string(name) + "=\"" + value + "\"";
}

}  // namespace

void Metrics::add(const Result& result) {
  constexpr double kShare = 0.1;  // of the newest in the mean
  const std::lock_guard lock(mutex_);
  ++outcomes_[std::string(name_of(result.verdict))];
  for (const auto& [stage, seconds] : result.stage_s) stage_seconds_[stage] += seconds;
  recent_seconds_ = recent_seconds_ == 0 ? result.wall_s
                                         : (1 - kShare) * recent_seconds_ + kShare * result.wall_s;
}

void Metrics::add_cancelled() {
  const std::lock_guard lock(mutex_);
  ++outcomes_["cancelled"];
}

void Metrics::add_failed() {
  const std::lock_guard lock(mutex_);
  ++outcomes_["failed"];
}

void Metrics::add_response(int status) {
  const std::lock_guard lock(mutex_);
  ++responses_[status];
}

double Metrics::recent_seconds() const {
  const std::lock_guard lock(mutex_);
  return recent_seconds_;
}

std::string Metrics::text(const Gauges& now) const {
  std::ostringstream out;
  out.precision(15);
  Lines lines(out);
  lines.begin("kbench_build_info", "gauge", "The version that serves.");
  lines.value(1, label("version", version()));
  lines.begin("kbench_experiments_waiting", "gauge", "Experiments that wait for a device.");
  lines.value(now.waiting);
  lines.begin("kbench_experiments_running", "gauge", "Experiments that a device has.");
  lines.value(now.running);
  lines.begin("kbench_experiments_kept", "gauge", "Outcomes that can still be asked for.");
  lines.value(now.kept);
  lines.begin("kbench_devices", "gauge", "Devices in use.");
  lines.value(now.devices);
  lines.begin("kbench_judges_restarted_total", "counter",
              "Judge processes started in place of one that had ended.");
  lines.value(now.judges_restarted);
  const std::lock_guard lock(mutex_);
  lines.begin("kbench_experiments_total", "counter",
              "Experiments that ended, by verdict, or cancelled, or failed for wrong options.");
  for (const auto& [outcome, count] : outcomes_) lines.value(count, label("outcome", outcome));
  lines.begin("kbench_stage_seconds_total", "counter", "Seconds in each stage of evaluations.");
  for (const auto& [stage, seconds] : stage_seconds_) lines.value(seconds, label("stage", stage));
  lines.begin("kbench_http_responses_total", "counter", "Answers by their HTTP status.");
  for (const auto& [status, count] : responses_) {
    lines.value(count, label("status", std::to_string(status)));
  }
  return out.str();
}

}  // namespace kbench::http
