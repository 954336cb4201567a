// C++ and CUDA extensions of a ModelNew, kept from run to run once they are compiled.
#pragma once

#include <string>
#include <string_view>

#include "harness/measure/process/own_folder.h"

namespace kbench::runner {

/// Writes a new file in a folder that candidates write to. False if it cannot be written, or the
/// name is taken.
bool write_file_in(int folder, const std::string& name, std::string_view bytes);

/// The libraries that one source made in its folder of extensions, where nvcc may take a minute for
/// them. A source finds its own libraries only, and what was made before any of its code ran on a
/// device: it learns nothing from earlier runs. All sources together have 512 MiB, and those used
/// longest ago go first. On any fault nothing is kept or found.
///
/// Candidates write to the folders of extensions, so these are given as descriptors: nothing in
/// them is reached through a link.
class KeptExtensions {
 public:
  /// `folder`: of the user's cache; empty: none are kept. `subject`: all that the libraries depend
  /// on, the source and what compiles it.
  KeptExtensions(const std::string& folder, std::string subject);

  /// Copies them into the folder of extensions, in which none of their names may be taken. What was
  /// said when they were made; empty if there are none.
  std::string put_into(int folder) const;
  /// Keeps the libraries (*.so) in the folder's folders, what says which calls made them and which
  /// failed, and what was said.
  void keep(int folder, const std::string& said) const;

 private:
  process::OwnFolder folder_;
  std::string subject_, name_;
};

}  // namespace kbench::runner
