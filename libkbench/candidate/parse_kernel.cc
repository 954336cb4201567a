// A candidate's kernels: where their code is and how it is compiled.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <vector>

#include "kbench/candidate_limits.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/parser.h"

namespace kbench {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;

using Language = Kernel::Language;

/// All that parsing needs to know of a language.
struct LanguageEntry {
  Language language;
  const char* word;                     ///< as `language` names it
  const char* shown;                    ///< as messages do
  std::vector<const char*> extensions;  ///< of a file's name
  std::vector<const char*> keys;        ///< of a kernel, beside file, source, language
};

const std::vector<LanguageEntry>& languages() {
  static const std::vector<LanguageEntry> all = {
      {Language::glsl,
       "glsl",
       "GLSL",
       {".comp", ".glsl"},
       {"entry", "constants", "defines", "specialization"}},
      {Language::hlsl,
       "hlsl",
       "HLSL",
       {".hlsl", ".compute", ".cginc", ".fx"},
       {"entry", "constants", "defines", "specialization"}},
      {Language::spirv, "spirv", "SPIR-V", {".spv"}, {"entry", "specialization"}},
      {Language::cuda, "cuda", "CUDA C++", {".cu"}, {"entry", "constants", "defines"}},
      {Language::ptx, "ptx", "PTX", {".ptx"}, {"entry"}},
      {Language::triton,
       "triton",
       "Triton",
       {".py"},
       {"entry", "constants", "num_warps", "num_stages"}},
  };
  return all;
}

/// SPIR-V is binary, and cannot be given as `source`.
Language language_named(const Sourced& name, bool of_file) {
  std::string allowed;
  for (const LanguageEntry& each : languages()) {
    if (each.language == Language::spirv && !of_file) continue;
    if (name.text == each.word) return each.language;
    allowed += (allowed.empty() ? "" : ", ") + std::string(each.word);
  }
  fail_parse(name.at, "unknown language " + quoted(name.text) + " (allowed: " + allowed + ")");
}

const LanguageEntry& entry_of(Language language) {
  return languages()[static_cast<size_t>(language)];
}

}  // namespace

bool is_cuda(Kernel::Language language) {
  return language == Language::cuda || language == Language::ptx || language == Language::triton;
}

std::string name_of(Kernel::Language language) { return entry_of(language).shown; }

Kernel CandidateParser::kernel(const YamlEntry& entry) {
  check_name(entry, "a kernel", "-.");
  const std::string what = "kernel '" + entry.key + "'";
  const auto fields = yaml_.fields(entry.value, what,
                                   {"file", "source", "language", "entry", "constants", "defines",
                                    "specialization", "num_warps", "num_stages"},
                                   {}, errors_);
  Kernel kernel;
  kernel.name = entry.key;
  kernel.at = entry.at;
  if ((fields.find("file") == nullptr) == (fields.find("source") == nullptr)) {
    fail_parse(entry.at, what + " needs either 'file' or 'source'");
  }
  kernel.language = language(fields);
  const bool any_entry = is_cuda(kernel.language) || kernel.language == Language::spirv;
  if (any_entry) kernel.entry.clear();
  if (const auto* name = fields.find("entry")) {
    const bool template_name = kernel.language == Language::cuda;
    kernel.entry =
        optional_text(fields, "entry", template_name ? limits::kEntryBytes : limits::kNameBytes);
    if (kernel.entry.empty()) fail_parse(yaml_.at(name->value), "entry is empty");
  }
  if (const auto* item = fields.find("constants")) kernel.constants = constants(item->value);
  if (const auto* item = fields.find("defines")) kernel.defines = defines(item->value);
  if (const auto* item = fields.find("specialization")) specialization(item->value, kernel);
  kernel.num_warps = yaml_.text_if_any(fields, "num_warps");
  kernel.num_stages = yaml_.text_if_any(fields, "num_stages");
  if (fields.find("file")) {
    kernel_file(fields, kernel);
  } else {
    kernel_source(fields, kernel);
  }
  kernel_keys(fields, kernel);
  return kernel;
}

/// Refuses keys that belong to another language.
void CandidateParser::kernel_keys(const YamlFields& fields, const Kernel& kernel) {
  if (kernel.language == Language::glsl && kernel.entry != "main") {
    fail_parse(yaml_.at(fields.find("entry")->value), "a GLSL shader's entry point is always main");
  }
  const LanguageEntry& language = entry_of(kernel.language);
  for (const LanguageEntry& other : languages()) {
    for (const char* key : other.keys) {
      const auto* item = fields.find(key);
      const auto same = [&](const char* own) { return std::strcmp(own, key) == 0; };
      if (!item || std::any_of(language.keys.begin(), language.keys.end(), same)) continue;
      const bool hint = kernel.language == Language::spirv &&
                        (item->key == "constants" || item->key == "defines");
      fail_parse(item->at, "'" + item->key + "' has no effect on " + language.shown +
                               (hint ? "; use 'specialization'" : ""));
    }
  }
}

Kernel::Language CandidateParser::language(const YamlFields& fields) {
  const auto* word = fields.find("language");
  if (const auto* file = fields.find("file")) {
    if (word) return language_named(yaml_.text(word->value, "language"), /*of_file=*/true);
    const Sourced path = yaml_.text(file->value, "file");
    const std::string extension = std::filesystem::path(path.text).extension().string();
    for (const LanguageEntry& each : languages()) {
      for (const char* known : each.extensions) {
        if (extension == known) return each.language;
      }
    }
    fail_parse(path.at,
               "file " + quoted(path.text) +
                   ": the name must end in .comp or .glsl (GLSL), .hlsl, .spv, .cu (CUDA C++), "
                   ".ptx or .py (Triton), .compute, .cginc or .fx (HLSL); or say its 'language'");
  }
  if (!word) return Language::glsl;
  return language_named(yaml_.text(word->value, "language"), /*of_file=*/false);
}

void CandidateParser::kernel_file(const YamlFields& fields, Kernel& kernel) {
  const Sourced path = yaml_.text(fields, "file");
  const std::string& bytes = files_.read(path.text, path.at);
  const std::string relative = std::filesystem::path(path.text).lexically_normal().string();
  kernel.file = shown_path(candidate_.folder, relative);
  if (kernel.language != Language::spirv) {
    kernel.source = bytes;
    const bool includes = kernel.language != Language::ptx && kernel.language != Language::triton;
    if (includes) files_.read_includes(bytes, relative, {kernel.file, 1, 1});
    return;
  }
  kernel.spirv.resize(bytes.size() / 4);
  std::memcpy(kernel.spirv.data(), bytes.data(), kernel.spirv.size() * 4);
  if (bytes.size() % 4 != 0 || kernel.spirv.empty() || kernel.spirv[0] != kSpirvMagic) {
    fail_parse(path.at, "file " + quoted(path.text) + " is not a little-endian SPIR-V module");
  }
}

void CandidateParser::kernel_source(const YamlFields& fields, Kernel& kernel) {
  const Sourced source = yaml_.block(fields.find("source")->value, "source");
  if (source.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    fail_parse(yaml_.at(fields.find("source")->value), "source is empty");
  }
  kernel.file = candidate_.path;
  kernel.source = source.text;
  kernel.first_line = source.at.line;
  const bool includes = kernel.language != Language::ptx && kernel.language != Language::triton;
  if (includes) files_.read_includes(source.text, "", source.at);
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
