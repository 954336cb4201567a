#include "harness/evaluate/prompts/embedded_files.h"

namespace kbench::prompts {

std::map<std::string, std::string> embedded_folder(const std::string& folder) {
  const std::string prefix = folder + "/";
  std::map<std::string, std::string> files;
  for (const EmbeddedFile* file = kEmbeddedFiles; file->path != nullptr; ++file) {
    const std::string path = file->path;
    if (path.starts_with(prefix)) files[path.substr(prefix.size())] = file->text;
  }
  return files;
}

}  // namespace kbench::prompts
