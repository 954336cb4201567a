#include "tests/http/running_service.h"

#include <utility>

namespace kbench::http::testing {

RunningService::RunningService(ServiceOptions options, int devices) {
  std::vector<std::unique_ptr<Evaluator>> judges;
  for (int i = 0; i < devices; ++i) {
    auto judge = std::make_unique<evaluators::testing::FakeEvaluator>("Fake", asked);
    judge->on_run = [this](const evaluators::testing::Request&, const std::stop_token& stop) {
      gate.pass(stop);
    };
    snapshots_.emplace_back().name = "Fake";
    snapshots_.back().index = i;
    judges.push_back(std::move(judge));
  }
  pool_ = std::make_unique<Pool>(std::move(judges));
  service_ = std::make_unique<Service>(*pool_, snapshots_, std::move(options));
  thread_ = std::jthread([this] { service_->run(stop_.get_token(), at_once_.get_token()); });
}

RunningService::~RunningService() {
  stop();
  stop_at_once();
  if (thread_.joinable()) thread_.join();
  service_.reset();
}

int RunningService::port() const {
  const std::string at = url();
  return std::stoi(at.substr(at.rfind(':') + 1));
}

httplib::Client RunningService::client(const std::string& token) const {
  httplib::Client client("127.0.0.1", port());
  client.set_read_timeout(120);
  if (!token.empty()) client.set_default_headers({{"Authorization", "Bearer " + token}});
  return client;
}

std::string request(const std::string& name, json more) {
  more["files"] = {{"candidate.yaml", "kbench: 1\ntask: level1/19\n"}};
  more["name"] = name;
  return more.dump();
}

json body_of(const httplib::Result& result) {
  return result ? json::parse(result->body, nullptr, false) : json();
}

}  // namespace kbench::http::testing
