// From YAML to a Candidate: form only, nothing that depends on the task's sizes.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>

#include "kbench/candidate.h"
#include "kbench/candidate_limits.h"
#include "kbench/candidate_source.h"
#include "kbench/text.h"
#include "libkbench/src/candidate_files.h"
#include "libkbench/src/hash.h"
#include "libkbench/src/scope.h"
#include "libkbench/src/suggest.h"
#include "libkbench/src/text.h"
#include "libkbench/src/yaml_reader.h"

namespace kbench {
namespace {

constexpr int64_t kFormatVersion = 1;
constexpr uint32_t kSpirvMagic = 0x07230203;

bool is_word(const std::string& name, std::string_view extra) {
  const auto good = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           extra.find(c) != std::string_view::npos;
  };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         name.size() <= limits::kNameBytes && std::all_of(name.begin(), name.end(), good);
}

void check_name(const YamlEntry& entry, const std::string& what, std::string_view extra) {
  if (is_word(entry.key, extra)) return;
  fail_parse(entry.at, quoted(entry.key) + " cannot name " + what + "; use at most " +
                           std::to_string(limits::kNameBytes) +
                           " letters, digits and _ and begin with a letter or _");
}

/// Reads one candidate; the reader knows the document, `files_` the folder.
class CandidateParser {
 public:
  CandidateParser(const std::string& text, const std::string& file, const std::string& folder,
                  ReadFile read)
      : yaml_(text, file), files_(folder, std::move(read)) {
    files_.count(text.size());
    candidate_.path = file;
    candidate_.folder = folder;
  }

  /// `text` once more, for the hash.
  Candidate parse(const std::string& text);

 private:
  using Constants = std::vector<std::pair<std::string, Sourced>>;

  Constants constants(const YAML::Node& node);
  Kernel kernel(const YamlEntry& entry);
  void kernel_file(const YamlFields& fields, Kernel& kernel);
  void kernel_source(const YamlFields& fields, Kernel& kernel);
  void specialization(const YAML::Node& node, Kernel& kernel);
  Temporary temporary(const YamlEntry& entry);
  std::vector<Sourced> extents(const YamlFields& fields);
  std::vector<Step> steps(const YamlEntry& entry);
  Step step(const YAML::Node& node);
  Step kernel_step(const YAML::Node& node);
  Step operator_step(const YAML::Node& node);
  PushItem push_item(const YAML::Node& node);
  Operand operand(const YAML::Node& node, const std::string& what);
  std::vector<Sourced> texts(const YAML::Node& place, const std::vector<YAML::Node>& nodes,
                             const std::string& what, size_t most);
  std::string optional_text(const YamlFields& fields, const std::string& key, size_t most);

  YamlReader yaml_;
  CandidateFiles files_;
  Candidate candidate_;
  std::set<std::string> kernel_names_;
};

Candidate CandidateParser::parse(const std::string& text) {
  const auto top = yaml_.fields(yaml_.root(), "the candidate",
                                {"kbench", "task", "name", "author", "description", "constants",
                                 "kernels", "temps", "setup", "dispatch"});
  // The version first: a later format may well have other keys missing.
  const auto require = [&](const char* key) -> const YamlEntry& {
    const YamlEntry* entry = top.find(key);
    if (!entry) fail_parse(top.at(), "missing key '" + std::string(key) + "' in the candidate");
    return *entry;
  };
  const YamlEntry& version = require("kbench");
  const int64_t number = yaml_.integer(version.value, "kbench (the format's version)");
  if (number != kFormatVersion) {
    fail_parse(yaml_.at(version.value), "format version " + std::to_string(number) +
                                            " is not known; this build reads version " +
                                            std::to_string(kFormatVersion));
  }
  const Sourced task = yaml_.text(require("task").value, "task");
  candidate_.task_at = task.at;
  try {
    candidate_.task = parse_task_id(task.text);
  } catch (const Error& error) {
    fail_parse(task.at, error.message());
  }
  candidate_.name = optional_text(top, "name", limits::kNameBytes);
  candidate_.author = optional_text(top, "author", limits::kNameBytes);
  candidate_.description = optional_text(top, "description", limits::kDescriptionBytes);
  if (const auto* entry = top.find("constants")) candidate_.constants = constants(entry->value);
  if (const auto* entry = top.find("kernels")) {
    const auto items = yaml_.entries(entry->value, "kernels");
    check_count(entry->at, "kernels", items.size(), limits::kKernels);
    for (const auto& item : items) {
      candidate_.kernels.push_back(kernel(item));
      kernel_names_.insert(item.key);
    }
  }
  if (const auto* entry = top.find("temps")) {
    const auto items = yaml_.entries(entry->value, "temps");
    check_count(entry->at, "temps", items.size(), limits::kTemporaries);
    for (const auto& item : items) candidate_.temporaries.push_back(temporary(item));
  }
  if (const auto* entry = top.find("setup")) candidate_.setup = steps(*entry);
  const YamlEntry& dispatch = require("dispatch");
  candidate_.dispatch_at = dispatch.at;
  candidate_.dispatch = steps(dispatch);
  if (candidate_.dispatch.empty()) {
    fail_parse(yaml_.at(dispatch.value),
               "dispatch has no step; at least one must write the outputs");
  }

  candidate_.includes = files_.includes();
  Sha256 hash;
  hash.add(text);
  for (const auto& [name, bytes] : files_.files()) hash.add(name).add(bytes);
  candidate_.hash = hash.hex();
  return std::move(candidate_);
}

std::string CandidateParser::optional_text(const YamlFields& fields, const std::string& key,
                                           size_t most) {
  const auto* entry = fields.find(key);
  if (!entry) return "";
  const Sourced source = yaml_.text(entry->value, key);
  if (source.text.size() > most) {
    fail_parse(source.at, key + " has " + std::to_string(source.text.size()) + " bytes; at most " +
                              std::to_string(most) + " are allowed");
  }
  // Only the description may have several lines; it is not shown where lines mean something.
  if (key != "description" && shown(source.text, most) != source.text) {
    fail_parse(source.at, key + " holds a character that cannot be shown: " + quoted(source.text));
  }
  return source.text;
}

std::vector<Sourced> CandidateParser::texts(const YAML::Node& place,
                                            const std::vector<YAML::Node>& nodes,
                                            const std::string& what, size_t most) {
  check_count(yaml_.at(place), what, nodes.size(), most);
  std::vector<Sourced> result;
  for (const auto& node : nodes) result.push_back(yaml_.text(node, what));
  return result;
}

CandidateParser::Constants CandidateParser::constants(const YAML::Node& node) {
  Constants result;
  const auto entries = yaml_.entries(node, "constants");
  check_count(yaml_.at(node), "constants", entries.size(), limits::kConstants);
  for (const auto& entry : entries) {
    check_name(entry, "a constant", "");
    const auto& functions = expression_functions();
    if (std::find(functions.begin(), functions.end(), entry.key) != functions.end()) {
      fail_parse(entry.at, "constant '" + entry.key + "' has the name of a function");
    }
    if (entry.key.starts_with("KB_") || entry.key.starts_with("GL_") ||
        entry.key.starts_with("gl_") || entry.key.find("__") != std::string::npos) {
      fail_parse(entry.at, "constant '" + entry.key +
                               "': names with KB_, GL_ or gl_ in front or __ in them are reserved");
    }
    result.emplace_back(entry.key, yaml_.text(entry.value, "constant '" + entry.key + "'"));
  }
  return result;
}

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

Temporary CandidateParser::temporary(const YamlEntry& entry) {
  check_name(entry, "a temporary", ".");
  const std::string what = "temporary '" + entry.key + "'";
  const auto fields = yaml_.fields(entry.value, what, {"dtype", "shape"}, {"dtype", "shape"});
  Temporary temporary;
  temporary.name = entry.key;
  temporary.at = entry.at;
  const Sourced dtype = yaml_.text(fields.find("dtype")->value, "dtype");
  try {
    temporary.dtype = dtype_from_name(dtype.text);
  } catch (const Error& error) {
    fail_parse(dtype.at, error.message());
  }
  temporary.shape = extents(fields);
  return temporary;
}

std::vector<Sourced> CandidateParser::extents(const YamlFields& fields) {
  const YAML::Node& shape = fields.find("shape")->value;
  return texts(shape, yaml_.list(shape, "shape"), "an extent", limits::kRank);
}

std::vector<Step> CandidateParser::steps(const YamlEntry& entry) {
  std::vector<Step> result;
  const auto nodes = yaml_.list(entry.value, entry.key);
  check_count(entry.at, "steps of setup and dispatch", candidate_.setup.size() + nodes.size(),
              limits::kSteps);
  for (const auto& node : nodes) result.push_back(step(node));
  return result;
}

Step CandidateParser::step(const YAML::Node& node) {
  const auto entries = yaml_.entries(node, "a step");
  const auto has = [&](const char* key) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const YamlEntry& entry) { return entry.key == key; });
  };
  if (!has("kernel") && !has("op")) {
    fail_parse(yaml_.at(node),
               "a step needs 'kernel' (one of yours) or 'op' (a built-in operator)");
  }
  Step result = has("kernel") ? kernel_step(node) : operator_step(node);
  result.at = yaml_.at(node);
  return result;
}

Step CandidateParser::kernel_step(const YAML::Node& node) {
  const auto fields = yaml_.fields(node, "a kernel step", {"kernel", "bind", "push", "groups"},
                                   {"kernel", "groups"});
  Step step;
  const Sourced name = yaml_.text(fields.find("kernel")->value, "kernel");
  if (!kernel_names_.contains(name.text)) {
    const std::vector<std::string> known(kernel_names_.begin(), kernel_names_.end());
    fail_parse(name.at, "there is no kernel " + quoted(name.text) +
                            suggestion(name.text.substr(0, 60), known) +
                            " (kernels: " + (known.empty() ? "none" : joined(known)) + ")");
  }
  step.kernel = name.text;
  if (const auto* bind = fields.find("bind")) {
    step.bind =
        texts(bind->value, yaml_.list(bind->value, "bind"), "a buffer's name", limits::kBind);
  }
  if (const auto* push = fields.find("push")) {
    const auto items = yaml_.list(push->value, "push");
    check_count(yaml_.at(push->value), "push constants", items.size(), limits::kPush);
    for (const auto& item : items) step.push.push_back(push_item(item));
  }
  const YAML::Node& groups = fields.find("groups")->value;
  const auto counts = yaml_.list_or_one(groups);
  if (counts.empty() || counts.size() > 3) {
    fail_parse(yaml_.at(groups),
               "groups: expected 1 to 3 expressions, found " + std::to_string(counts.size()));
  }
  step.groups = texts(groups, counts, "a number of workgroups", 3);
  return step;
}

PushItem CandidateParser::push_item(const YAML::Node& node) {
  static const std::vector<std::string> kinds = {"u32", "i32", "f32", "u64", "address"};
  yaml_.fields(node, "a push constant", kinds);
  const auto entries = yaml_.entries(node, "a push constant");
  if (entries.size() != 1) {
    fail_parse(yaml_.at(node),
               "a push constant is one of " + joined(kinds) + ", as in {u32: height}");
  }
  const auto kind = std::find(kinds.begin(), kinds.end(), entries[0].key) - kinds.begin();
  return {static_cast<PushItem::Kind>(kind), yaml_.text(entries[0].value, entries[0].key)};
}

Step CandidateParser::operator_step(const YAML::Node& node) {
  const auto fields = yaml_.fields(node, "an operator step", {"op", "in", "out", "attributes"},
                                   {"op", "in", "out"});
  Step step;
  const Sourced name = yaml_.text(fields.find("op")->value, "op");
  try {
    if (find_operator(name.text).is_view) {
      fail_parse(name.at,
                 "operator '" + name.text +
                     "' only changes a shape; write {name: ..., shape: [...]} where it is used");
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    fail_parse(name.at, error.message());
  }
  step.op = name.text;
  const auto operands = [&](const char* key) {
    const YAML::Node& node = fields.find(key)->value;
    const auto items = yaml_.list_or_one(node);
    check_count(yaml_.at(node), key, items.size(), limits::kBind);
    std::vector<Operand> result;
    for (const auto& item : items) result.push_back(operand(item, key));
    return result;
  };
  step.in = operands("in");
  step.out = operands("out");
  if (const auto* attributes = fields.find("attributes")) {
    const auto entries = yaml_.entries(attributes->value, "attributes");
    check_count(attributes->at, "attributes", entries.size(), limits::kAttributes);
    for (const auto& entry : entries) {
      const std::string what = "attribute " + quoted(entry.key);
      step.attributes.push_back(
          {entry.key, texts(entry.value, yaml_.list_or_one(entry.value), what, limits::kRank),
           entry.value.IsSequence(), entry.at});
    }
  }
  return step;
}

Operand CandidateParser::operand(const YAML::Node& node, const std::string& what) {
  if (!node.IsMap()) return {yaml_.text(node, what), std::nullopt};
  const auto fields = yaml_.fields(node, "'" + what + "'", {"name", "shape"}, {"name", "shape"});
  return {yaml_.text(fields.find("name")->value, "name"), extents(fields)};
}

}  // namespace

Candidate parse_candidate(const std::string& text, const std::string& file,
                          const std::string& folder) {
  std::optional<CandidateFolder> opened;
  return CandidateParser(text, file, folder,
                         [&](const std::string& path) {
                           if (!opened) opened.emplace(folder);
                           return opened->read(path);
                         })
      .parse(text);
}

Candidate load_candidate(const std::string& manifest, const std::string& folder,
                         const ReadFile& read) {
  const std::string file = shown_path(folder, manifest);
  const Location whole{file, 0, 0};
  std::optional<std::string> text;
  try {
    text = read(plain_path(manifest));
    if (text) check_size(manifest, text->size(), limits::kManifestBytes);
  } catch (const Error& error) {
    throw Error(error.code(), whole, error.message());
  }
  if (!text) throw Error(ErrorCode::kNotFound, "there is no file " + quoted(file));
  return CandidateParser(*text, file, folder, read).parse(*text);
}

Candidate candidate_from_files(const std::string& manifest,
                               const std::map<std::string, std::string>& files) {
  return load_candidate(manifest, "", [&](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return std::nullopt;
    return found->second;
  });
}

}  // namespace kbench
