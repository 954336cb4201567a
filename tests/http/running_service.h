// An HTTP service on a free port of this machine, with judges that tests hold back.
#pragma once

#include <httplib.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "harness/frontends/http/service.h"
#include "kbench/pool.h"
#include "tests/evaluators/fake_evaluator.h"

namespace kbench::http::testing {

using nlohmann::json;

class RunningService {
 public:
  explicit RunningService(ServiceOptions options = {}, int devices = 1);
  ~RunningService();

  /// Its judges wait here.
  evaluators::testing::Gate gate;
  evaluators::testing::Asked asked;

  httplib::Client client(const std::string& token = {}) const;
  std::string url() const { return service_->url(); }
  int port() const;
  void stop() { stop_.request_stop(); }
  void stop_at_once() { at_once_.request_stop(); }
  /// Returns once the service has ended.
  void join() { thread_.join(); }

 private:
  std::vector<vulkan::DeviceSnapshot> snapshots_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Service> service_;
  std::stop_source stop_, at_once_;
  std::jthread thread_;
};

/// The body of a request for a candidate called `name`, with further members.
std::string request(const std::string& name, json more = json::object());
json body_of(const httplib::Result& result);

}  // namespace kbench::http::testing
