#include "harness/frontends/program/prompt_sets.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "kbench/baseline.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::program {

namespace fs = std::filesystem;

Prompts find_prompts(const std::string& name_or_folder) {
  std::error_code ignored;
  if (fs::is_directory(name_or_folder, ignored)) return Prompts::load(name_or_folder);
  if (name_or_folder.find('/') == std::string::npos) {
    try {
      return Prompts::shipped(name_or_folder);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kNotFound) throw;
    }
    std::vector<fs::path> places;
    const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
    places.push_back(self.parent_path().parent_path() / "share/kbench/prompts");
    if (const char* data = std::getenv("KBENCH_DATA"); data != nullptr && *data != '\0') {
      places.push_back(fs::path(data) / "prompts");
    }
    for (const fs::path& place : places) {
      if (fs::is_directory(place / name_or_folder, ignored)) {
        return Prompts::load((place / name_or_folder).string());
      }
    }
  }
  throw Error(ErrorCode::kNotFound, "no prompts at '" + shown(name_or_folder) +
                                        "': give a folder of templates, or default, which ships");
}

size_t characters_of(const std::vector<Message>& messages) {
  size_t characters = 0;
  for (const Message& message : messages) characters += message.text.size();
  return characters;
}

void read_roof(const std::string& file, PromptContext& context) {
  const Baseline baseline = read_baseline(file);
  context.roof_gbytes_per_s = baseline.roofline.copy_bytes_per_s / 1e9;
  context.roof_tflops = baseline.roofline.flops_per_s / 1e12;
}

}  // namespace kbench::program
