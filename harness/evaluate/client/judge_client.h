// The client's end of a judge: a process that is started again when it ends.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "harness/evaluate/self_test/self_test.h"
#include "harness/measure/judge_protocol/findings.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/process/child_process.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/result.h"
#include "libkbench/base/files.h"

namespace kbench::client {

/// Lines to and from a kbench process that answers on descriptor 3.
class LineProcess {
 public:
  /// Throws kNotFound, kIo.
  LineProcess(const std::string& program, const std::vector<std::string>& arguments);
  ~LineProcess() { process::end_in_background(std::move(process_)); }

  /// Does not wait: what the process does not take at once is sent while read_line() waits. Lost if
  /// the process has ended.
  void send_line(const std::string& line);
  /// The next whole line, split into its kind and the rest; nothing after `wait` or at the end.
  /// Throws kParse for a line that is too long.
  std::optional<std::pair<std::string, std::string>> read_line(std::chrono::milliseconds wait);
  /// No more lines can come.
  bool ended() const { return !answers_.open(); }
  process::ChildProcess& process() { return *process_; }

 private:
  void send_some();

  UniqueFd input_, answers_;
  std::string unsent_;
  size_t sent_ = 0;  ///< of it
  std::string text_;
  std::unique_ptr<process::ChildProcess> process_;
};

/// Not thread-safe.
class JudgeClient {
 public:
  /// The judge is started when it is first needed. `program` as program_path() takes it.
  /// `validate`: whether questions will ask for the validation layer, with which another judge is
  /// started.
  JudgeClient(std::string program, std::string device, bool validate);

  /// The device. Throws what is wrong with it: kNotFound, kUnsupported, kDeviceLost; kTimeout when
  /// the driver does not answer.
  const vulkan::DeviceSnapshot& snapshot();
  /// Starts a judge unless one is running. Returns "", or why it does not start.
  std::string trouble();
  /// Questions will ask for the validation layer: before the judge is started.
  void expect_validation() { validate_ = true; }
  /// Throws only for what is wrong with the question, what the observer throws, StillCompiling
  /// where the request lets it, and Cancelled; all other failures are results. `findings` receives
  /// the details that the request asks for. When `stop` is requested the judge is told; if it does
  /// not answer within a second, as when its driver hangs, it is killed, and the next run starts
  /// another. The first verdict of a lane waits for its self-test (self_test.h); where that has
  /// found a fault, each verdict of the lane is a harness_error that says which. With
  /// Rule::sanitize what has run is run again under compute-sanitizer.
  Result run(const judge::EvaluateRequest& request, const Observer& observer = {},
             judge::Findings* findings = nullptr, const std::stop_token& stop = {});
  /// The same, whatever the self-test finds.
  Result run_untested(const judge::EvaluateRequest& request, const Observer& observer = {},
                      judge::Findings* findings = nullptr, const std::stop_token& stop = {});
  /// The lane's self-test, whether or not it was done before. Throws as run() does.
  self_test::Report test(std::string_view lane);
  /// How often a judge was started in place of one that had ended. Any thread may ask.
  uint64_t restarts() const { return std::max<uint64_t>(starts_, 1) - 1; }

 private:
  struct Outcome;
  class Conversation;
  void start(const std::stop_token& stop = {});
  Outcome run_once(const judge::EvaluateRequest& request, const Observer& observer,
                   const std::stop_token& stop);
  void expect_tested(const Observer& observer, const std::stop_token& stop, Result& result);

  std::string program_, device_;
  bool validate_;
  std::unique_ptr<LineProcess> judge_;
  std::atomic<uint64_t> starts_ = 0;
  std::optional<vulkan::DeviceSnapshot> snapshot_;
  std::map<std::string, std::string, std::less<>> tested_;  ///< lane -> fault, or empty
};

}  // namespace kbench::client
