#include "harness/measure/runner/kept_pipelines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

#include "harness/measure/vulkan/pipeline.h"
#include "libkbench/base/files.h"

namespace kbench::runner {
namespace {

/// Of the files' names; the folder has a key, too.
constexpr const char* kPrefix = "pipeline-";
/// Drivers take up to a second for a large kernel, and several where all processors compile. A mark
/// that is older is of a process that has ended.
constexpr std::chrono::seconds kLongest(20);

}  // namespace

/// The file that stands beside a pipeline's while a process compiles it.
std::string PipelineFiles::mark_of(const std::string& name) const {
  return path_ + "/" + kPrefix + name + ".compiling";
}

/// Whether this process is to compile it: no other does.
bool PipelineFiles::set_mark(const std::string& name) const {
  const std::string mark = mark_of(name);
  return UniqueFd(open(mark.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)).open();
}

bool PipelineFiles::is_marked(const std::string& name) const {
  const UniqueFd mark(open(mark_of(name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  return mark.open() && fstat(mark.get(), &status) == 0 &&
         std::time(nullptr) - status.st_mtime <= kLongest.count();
}

std::string PipelineFiles::find(const std::string& name, const std::string& subject,
                                Use use) const {
  constexpr std::chrono::milliseconds kLook(3);
  const std::string file = kPrefix + name;
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    if (std::string bytes = folder_.kept(file, subject); !bytes.empty()) return bytes;
    if (use == Use::write && set_mark(name)) {
      // It may have been kept just before the mark was set.
      std::string bytes = folder_.kept(file, subject);
      if (!bytes.empty()) unlink(mark_of(name).c_str());
      return bytes;
    }
    if (!is_marked(name) || std::chrono::steady_clock::now() - start > kLongest) return "";
    std::this_thread::sleep_for(kLook);
  }
}

void PipelineFiles::keep(const std::string& name, const std::string& subject,
                         const std::string& bytes) const {
  if (!bytes.empty()) folder_.keep(kPrefix + name, subject, bytes);
  unlink(mark_of(name).c_str());
}

void PipelineFiles::drop_old() const {
  constexpr uint64_t kMostBytes = uint64_t{512} << 20;
  folder_.keep_at_most(kPrefix, kMostBytes);
}

PipelineFiles pipeline_files() {
  const std::string cache = process::cache_folder();
  return PipelineFiles(cache.empty() ? "" : cache + "/pipelines");
}

void share_pipelines(vulkan::Device& device, const PipelineFiles& files, PipelineFiles::Use use) {
  if (!files.there() || device.snapshot().software()) return;
  const std::string subject = device.snapshot().name + ' ' + device.snapshot().driver;
  vulkan::KeptPipelines kept;
  kept.find = [=](const std::string& name) { return files.find(name, subject, use); };
  if (use == PipelineFiles::Use::write) {
    kept.keep = [=](const std::string& name, const std::string& bytes) {
      files.keep(name, subject, bytes);
    };
  }
  device.pipelines().use(std::move(kept));
}

}  // namespace kbench::runner
