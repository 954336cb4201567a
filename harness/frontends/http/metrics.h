// What the HTTP service counts, in Prometheus' text format.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "kbench/result.h"

namespace kbench::http {

/// What is true at the moment of asking.
struct Gauges {
  size_t waiting = 0, running = 0;  ///< experiments
  size_t kept = 0;                  ///< outcomes that can be asked for
  size_t devices = 0;
  uint64_t judges_restarted = 0;
};

/// Counters since the service began. Thread-safe.
class Metrics {
 public:
  void add(const Result& result);
  void add_cancelled();
  void add_failed();  ///< an experiment whose options were wrong
  void add_response(int status);
  /// Seconds from file to verdict, in the mean of the last experiments; 0 before the first.
  double recent_seconds() const;

  /// https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4.
  std::string text(const Gauges& now) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> outcomes_;  ///< by verdict, or "cancelled", "failed"
  std::map<std::string, double> stage_seconds_;
  std::map<int, uint64_t> responses_;
  double recent_seconds_ = 0;
};

}  // namespace kbench::http
