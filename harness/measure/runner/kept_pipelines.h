// Compiled pipelines of kbench's own shaders, shared by its processes and kept from run to run.
#pragma once

#include <string>

#include "harness/measure/process/own_folder.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::runner {

/// Files of what a driver compiled, in one folder, for all processes of a user. Nothing here
/// throws. Any thread.
class PipelineFiles {
 public:
  enum class Use { read, write };
  /// None where the path is empty. The folder is made if it is missing.
  explicit PipelineFiles(std::string path) : path_(std::move(path)), folder_(path_) {}

  bool there() const { return folder_.there(); }
  const std::string& path() const { return path_; }

  /// What is kept under that name for that subject. Waits while another process compiles it, for
  /// twenty seconds at most. Empty: the caller compiles it, and where it writes, others wait until
  /// it calls keep().
  std::string find(const std::string& name, const std::string& subject, Use use) const;
  /// Once after a find() to write that found nothing; no bytes: there is nothing to keep.
  void keep(const std::string& name, const std::string& subject, const std::string& bytes) const;
  /// Removes those that were used longest ago, where they take more than 512 MiB.
  void drop_old() const;

 private:
  std::string mark_of(const std::string& name) const;
  bool set_mark(const std::string& name) const;
  bool is_marked(const std::string& name) const;

  std::string path_;
  process::OwnFolder folder_;
};

/// In "pipelines" of process::cache_folder(). They hold no secret: a process that is locked in may
/// read them.
PipelineFiles pipeline_files();

/// Lets device.pipelines(), which are kbench's own, be found there and, to write, be kept there.
/// Never a candidate's pipelines: its next run would compile faster. Does nothing on a software
/// device, whose driver has nothing to keep.
void share_pipelines(vulkan::Device& device, const PipelineFiles& files, PipelineFiles::Use use);

}  // namespace kbench::runner
