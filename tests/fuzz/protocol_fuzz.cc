// Lines of the protocol between processes.
#include "harness/measure/judge_protocol/findings.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  const std::string line = fuzz::text_of(data, size);
  fuzz::succeeds([&] {
    const std::string once = to_json(judge::request_from_json(line));
    fuzz::promise(to_json(judge::request_from_json(once)) == once,
                  "a request survives its own line");
  });
  fuzz::succeeds([&] {
    const std::string once = judge::to_json(judge::error_from_json(line));
    fuzz::promise(judge::to_json(judge::error_from_json(once)) == once,
                  "an error survives its own line");
  });
  fuzz::succeeds([&] {
    const std::string once = judge::to_json(judge::snapshots_from_json(line));
    fuzz::promise(judge::to_json(judge::snapshots_from_json(once)) == once,
                  "devices survive their own line");
  });
  fuzz::succeeds([&] { judge::snapshot_from_json(line); });
  fuzz::succeeds([&] {
    const std::string once = judge::to_json(judge::inspection_from_json(line));
    fuzz::promise(judge::to_json(judge::inspection_from_json(once)) == once,
                  "an inspection survives its own line");
  });
  fuzz::succeeds([&] { judge::to_json(judge::step_times_from_json(line)); });
  return 0;
}
