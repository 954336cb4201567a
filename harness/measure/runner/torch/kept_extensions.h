// C++ and CUDA extensions of a ModelNew, kept from run to run once they are compiled.
#pragma once

#include <string>

#include "harness/measure/process/own_folder.h"

namespace kbench::runner {

/// The libraries that one source made in its folder of extensions, where nvcc may take a minute for
/// them. A source finds its own libraries only, and what was made before any of its code ran on a
/// device: it learns nothing from earlier runs. Nothing here throws: on any fault nothing is kept
/// or found.
class KeptExtensions {
 public:
  /// `folder`: of the user's cache; empty: none are kept. `subject`: all that the libraries depend
  /// on, the source and what compiles it.
  KeptExtensions(const std::string& folder, std::string subject);

  /// Copies them into the folder of extensions `to`. False if there are none.
  bool put_into(const std::string& to) const;
  /// Keeps the libraries (*.so) in the folders of `from`, and what says which calls made them.
  void keep(const std::string& from) const;

 private:
  process::OwnFolder folder_;
  std::string subject_, name_;
};

}  // namespace kbench::runner
