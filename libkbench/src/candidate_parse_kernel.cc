// A candidate's kernels: where their code is and how it is compiled.
#include <cstring>
#include <filesystem>
#include <set>

#include "kbench/candidate_limits.h"
#include "libkbench/src/candidate_parser.h"
#include "libkbench/src/text.h"

namespace kbench {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;

}  // namespace

Kernel CandidateParser::kernel(const YamlEntry& entry) {
  check_name(entry, "a kernel", "-.");
  const std::string what = "kernel '" + entry.key + "'";
  const auto fields = yaml_.fields(entry.value, what,
                                   {"file", "source", "language", "entry", "constants",
                                    "specialization", "optimize", "subgroup_size"});
  Kernel kernel;
  kernel.name = entry.key;
  kernel.at = entry.at;
  if ((fields.find("file") == nullptr) == (fields.find("source") == nullptr)) {
    fail_parse(entry.at, what + " needs either 'file' or 'source'");
  }
  if (const auto* name = fields.find("entry")) {
    kernel.entry = optional_text(fields, "entry", limits::kNameBytes);
    if (kernel.entry.empty()) fail_parse(yaml_.at(name->value), "entry is empty");
  }
  if (const auto* item = fields.find("constants")) kernel.constants = constants(item->value);
  if (const auto* item = fields.find("specialization")) specialization(item->value, kernel);
  if (const auto* item = fields.find("optimize")) {
    kernel.optimize = yaml_.boolean(item->value, "optimize");
  }
  if (const auto* item = fields.find("subgroup_size")) {
    kernel.subgroup_size = yaml_.text(item->value, "subgroup_size");
  }
  if (fields.find("file")) {
    kernel_file(fields, kernel);
  } else {
    kernel_source(fields, kernel);
  }
  if (kernel.language == Kernel::Language::glsl && kernel.entry != "main") {
    fail_parse(yaml_.at(fields.find("entry")->value), "a GLSL shader's entry point is always main");
  }
  if (kernel.language == Kernel::Language::spirv) {
    for (const char* key : {"constants", "optimize"}) {
      if (const auto* item = fields.find(key)) {
        fail_parse(item->at, "'" + item->key + "' has no effect on SPIR-V" +
                                 (item->key == "constants" ? "; use 'specialization'" : ""));
      }
    }
  }
  return kernel;
}

void CandidateParser::kernel_file(const YamlFields& fields, Kernel& kernel) {
  if (const auto* language = fields.find("language")) {
    fail_parse(language->at,
               "'language' belongs to 'source'; a file's language follows from its name");
  }
  const Sourced path = yaml_.text(fields.find("file")->value, "file");
  const std::string extension = std::filesystem::path(path.text).extension().string();
  if (extension == ".spv") {
    kernel.language = Kernel::Language::spirv;
  } else if (extension == ".hlsl") {
    kernel.language = Kernel::Language::hlsl;
  } else if (extension != ".comp" && extension != ".glsl") {
    fail_parse(path.at, "file " + quoted(path.text) +
                            ": the name must end in .comp or .glsl (GLSL), .hlsl or .spv");
  }
  const std::string& bytes = files_.read(path.text, path.at);
  const std::string relative = std::filesystem::path(path.text).lexically_normal().string();
  kernel.file = shown_path(candidate_.folder, relative);
  if (kernel.language != Kernel::Language::spirv) {
    kernel.source = bytes;
    files_.read_includes(bytes, relative, {kernel.file, 1, 1});
    return;
  }
  kernel.spirv.resize(bytes.size() / 4);
  std::memcpy(kernel.spirv.data(), bytes.data(), kernel.spirv.size() * 4);
  if (bytes.size() % 4 != 0 || kernel.spirv.empty() || kernel.spirv[0] != kSpirvMagic) {
    fail_parse(path.at, "file " + quoted(path.text) + " is not a little-endian SPIR-V module");
  }
}

void CandidateParser::kernel_source(const YamlFields& fields, Kernel& kernel) {
  if (const auto* language = fields.find("language")) {
    const Sourced name = yaml_.text(language->value, "language");
    if (name.text == "hlsl") {
      kernel.language = Kernel::Language::hlsl;
    } else if (name.text != "glsl") {
      fail_parse(name.at, "unknown language " + quoted(name.text) + " (allowed: glsl, hlsl)");
    }
  }
  const Sourced source = yaml_.block(fields.find("source")->value, "source");
  kernel.file = candidate_.path;
  kernel.source = source.text;
  kernel.first_line = source.at.line;
  files_.read_includes(source.text, "", source.at);
}

void CandidateParser::specialization(const YAML::Node& node, Kernel& kernel) {
  const auto entries = yaml_.entries(node, "specialization");
  check_count(yaml_.at(node), "specialization", entries.size(), limits::kSpecialization);
  std::set<uint32_t> known;
  for (const auto& entry : entries) {
    const bool digits = !entry.key.empty() && entry.key.size() <= 9 &&
                        entry.key.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) {
      fail_parse(entry.at,
                 "specialization: expected a constant's number, found " + quoted(entry.key));
    }
    const auto id = static_cast<uint32_t>(std::stoul(entry.key));
    if (!known.insert(id).second) {
      fail_parse(entry.at, "specialization constant " + std::to_string(id) + " twice");
    }
    kernel.specialization.emplace_back(
        id, yaml_.text(entry.value, "specialization constant " + entry.key));
  }
}

}  // namespace kbench
