#include "harness/frontends/program/benchmark_out.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <string_view>

namespace kbench::program {
namespace {

constexpr std::string_view kFlag = "--benchmark_out=";

}  // namespace

BenchmarkOut::BenchmarkOut(std::vector<std::string>& flags) {
  std::string* given = nullptr;
  for (std::string& flag : flags) {
    if (flag.starts_with(kFlag)) given = &flag;  // the last flag counts
  }
  if (given == nullptr || given->size() == kFlag.size()) return;
  path_ = given->substr(kFlag.size());
  file_.emplace(path_);
  memory_ = UniqueFd(memfd_create("benchmark_out", MFD_CLOEXEC));
  if (!memory_.open()) throw_io("write", path_);
  *given = std::string(kFlag) + "/proc/self/fd/" + std::to_string(memory_.get());
}

void BenchmarkOut::commit() {
  if (!file_) return;
  const std::string text = read_file("/proc/self/fd/" + std::to_string(memory_.get()));
  rlimit limit = {};
  // The file size limit also applies to the memory file; at the limit it is incomplete.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && text.size() >= limit.rlim_cur) {
    throw_io("write", path_, EFBIG);
  }
  file_->write(text);
  file_->commit();
  file_.reset();
}

}  // namespace kbench::program
