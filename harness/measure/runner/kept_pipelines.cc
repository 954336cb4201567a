#include "harness/measure/runner/kept_pipelines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <utility>

#include "harness/measure/vulkan/pipeline.h"
#include "libkbench/base/files.h"

namespace kbench::runner {
namespace {

using Clock = std::chrono::steady_clock;

/// Of the files' names; the folder has a key, too.
constexpr const char* kPrefix = "pipeline-";
/// Drivers take up to a second for a large kernel, and several where all processors compile. A mark
/// that is older is of a process that has ended.
constexpr std::chrono::seconds kLongest(20);

/// Beside a pipeline's file while a process compiles it.
std::string mark_of(const std::string& name) {
  return pipelines_path() + "/" + kPrefix + name + ".compiling";
}

/// Whether this process is to compile it: no other does.
bool set_mark(const std::string& name) {
  return UniqueFd(open(mark_of(name).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600))
      .open();
}

bool is_marked(const std::string& name) {
  const UniqueFd mark(open(mark_of(name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  return mark.open() && fstat(mark.get(), &status) == 0 &&
         std::time(nullptr) - status.st_mtime <= kLongest.count();
}

/// What is kept under that name; empty where this process is to compile it. Waits while another
/// one does.
std::string find(const process::OwnFolder& folder, const std::string& subject,
                 const std::string& name, bool writes) {
  constexpr std::chrono::milliseconds kLook(3);
  const auto start = Clock::now();
  for (;;) {
    if (std::string bytes = folder.kept(kPrefix + name, subject); !bytes.empty()) return bytes;
    if (writes && set_mark(name)) {
      // It may have been kept just before the mark was set.
      std::string bytes = folder.kept(kPrefix + name, subject);
      if (!bytes.empty()) unlink(mark_of(name).c_str());
      return bytes;
    }
    if (!is_marked(name) || Clock::now() - start > kLongest) return "";
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

std::string pipelines_path() {
  const std::string cache = process::cache_folder();
  return cache.empty() ? "" : cache + "/pipelines";
}

process::OwnFolder pipelines_folder() { return process::OwnFolder(pipelines_path()); }

void share_pipelines(vulkan::Device& device, const process::OwnFolder& folder, bool writes) {
  if (!folder.there() || device.snapshot().software()) return;
  const std::string subject = device.snapshot().name + ' ' + device.snapshot().driver;
  vulkan::KeptPipelines kept;
  kept.find = [=](const std::string& name) { return find(folder, subject, name, writes); };
  if (writes) {
    kept.keep = [=](const std::string& name, const std::string& bytes) {
      if (!bytes.empty()) folder.keep(kPrefix + name, subject, bytes);
      unlink(mark_of(name).c_str());
    };
  }
  device.pipelines().use(std::move(kept));
}

void drop_old_pipelines() {
  constexpr uint64_t kMostBytes = uint64_t{512} << 20;
  pipelines_folder().keep_at_most(kPrefix, kMostBytes);
}

}  // namespace kbench::runner
