#include "harness/worker/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "harness/worker/protocol.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "kbench/result.h"

namespace kbench::worker {
namespace {

void answer(const std::string& kind, const std::string& text) {
  const std::string line = kind + " " + text + "\n";
  for (size_t written = 0; written < line.size();) {
    const ssize_t n = write(kAnswerDescriptor, line.data() + written, line.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(3);  // Nobody listens any more.
    written += static_cast<size_t>(n);
  }
}

}  // namespace

int run_worker() {
  std::string line;
  if (fcntl(kAnswerDescriptor, F_GETFD) < 0 || !std::getline(std::cin, line)) {
    std::fputs("kbench: 'worker' is for kbench's own use; see kbench --help\n", stderr);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  try {
    Job job = job_from_json(line);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != job.parent) _exit(3);  // It died before the line above.
    job.options.on_stage = [](const char* stage) { answer("stage", stage); };
    answer("result", to_json(evaluate_in_process(job.candidate_file, job.options)));
  } catch (const Error& e) {
    answer("error", to_json(e));
  } catch (const std::exception& e) {
    answer("error", to_json(Error(ErrorCode::kInternal, e.what())));
  }
  std::fflush(nullptr);
  // Whatever is left to be torn down may hang after a device was lost.
  _exit(0);
}

}  // namespace kbench::worker
