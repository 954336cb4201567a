#include <utility>

#include "harness/evaluate/queue/queue_judge.h"
#include "kbench/error.h"

namespace kbench::queue {
namespace {

class ClientJudge : public QueueJudge {
 public:
  ClientJudge(const std::string& program, const std::string& device, bool validate)
      : client_(program, device, validate) {}

  Result run(const client::EvaluateRequest& request,
             const std::function<void(const char*)>& on_stage,
             const std::stop_token& stop) override {
    return client_.run(request, on_stage, nullptr, stop);
  }
  std::string trouble() override { return trouble_with(client_); }
  const vulkan::DeviceSnapshot& snapshot() override { return client_.snapshot(); }
  uint64_t restarts() const override { return client_.restarts(); }

 private:
  client::JudgeClient client_;
};

}  // namespace

std::string trouble_with(client::JudgeClient& client) {
  std::string why;
  constexpr int kTries = 2;  // A driver may need a moment after one of its processes was lost.
  for (int attempt = 1; attempt <= kTries; ++attempt) {
    try {
      client.make_ready();
      return "";
    } catch (const std::exception& e) {
      why = e.what();
    }
  }
  return why;
}

std::unique_ptr<QueueJudge> judge_of(const std::string& program, const std::string& device,
                                     bool validate) {
  return std::make_unique<ClientJudge>(program, device, validate);
}

}  // namespace kbench::queue
