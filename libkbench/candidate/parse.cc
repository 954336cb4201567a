// A candidate's file as a whole, its constants and temporaries; and where the text comes from.
#include <algorithm>
#include <cctype>
#include <optional>

#include "kbench/candidate_limits.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/parser.h"
#include "libkbench/candidate/symbol_table.h"

namespace kbench {
namespace {

constexpr int64_t kFormatVersion = 1;

bool is_word(const std::string& name, std::string_view extra) {
  const auto good = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           extra.find(c) != std::string_view::npos;
  };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         name.size() <= limits::kNameBytes && std::all_of(name.begin(), name.end(), good);
}

}  // namespace

void check_name(const YamlEntry& entry, const std::string& what, std::string_view extra) {
  if (is_word(entry.key, extra)) return;
  fail_parse(entry.at, quoted(entry.key) + " cannot name " + what + "; use at most " +
                           std::to_string(limits::kNameBytes) +
                           " letters, digits and _ and begin with a letter or _");
}

void check_constant_name(const YamlEntry& entry, const std::string& what) {
  check_name(entry, "a " + what, "");
  const auto& functions = expression_functions();
  if (std::find(functions.begin(), functions.end(), entry.key) == functions.end()) return;
  fail_parse(entry.at, what + " '" + entry.key + "' has the name of a function");
}

const YamlEntry& CandidateParser::required(const YamlFields& top, const char* key) {
  const YamlEntry* entry = top.find(key);
  if (!entry) fail_parse(top.at(), "missing key '" + std::string(key) + "' in the candidate");
  return *entry;
}

Candidate CandidateParser::parse(const std::string& text) {
  const auto top = yaml_.fields(
      yaml_.root(), "the candidate",
      {"kbench", "task", "dtype", "name", "author", "description", "requires", "constants",
       "defines", "kernels", "temps", "data", "setup", "dispatch", "torch"},
      {}, errors_);
  // The version is checked first: a later format may have other keys.
  const YamlEntry& version = required(top, "kbench");
  const int64_t number = yaml_.integer(version.value, "kbench (the format's version)");
  if (number != kFormatVersion) {
    fail_parse(yaml_.at(version.value), "format version " + std::to_string(number) +
                                            " is not known; this build reads version " +
                                            std::to_string(kFormatVersion));
  }
  errors_.keep([&] { task(required(top, "task")); });
  if (const auto* entry = top.find("dtype")) errors_.keep([&] { dtypes(*entry); });
  const auto text_of = [&](const char* key, size_t most, std::string& value) {
    errors_.keep([&] { value = optional_text(top, key, most); });
  };
  text_of("name", limits::kNameBytes, candidate_.name);
  text_of("author", limits::kNameBytes, candidate_.author);
  text_of("description", limits::kDescriptionBytes, candidate_.description);
  if (const auto* entry = top.find("requires")) errors_.keep([&] { requirements(*entry); });
  if (const auto* entry = top.find("torch")) {
    errors_.keep([&] { torch_module(top, *entry); });
  } else {
    kernels_and_steps(top);
  }
  errors_.throw_all();
  candidate_.includes = files_.includes();
  Sha256 hash;
  hash.add(text);
  for (const auto& [name, bytes] : files_.files()) hash.add(name).add(bytes);
  candidate_.hash = hash.hex();
  return std::move(candidate_);
}

void CandidateParser::task(const YamlEntry& entry) {
  const Sourced task = yaml_.text(entry.value, "task");
  candidate_.task_at = task.at;
  try {
    candidate_.task = task_id_of(task.text);
  } catch (const Error& error) {
    fail_parse(task.at, error.message());
  }
}

void CandidateParser::requirements(const YamlEntry& entry) {
  candidate_.requirements =
      texts(entry.value, yaml_.list_or_one(entry.value), "requires", limits::kRequirements);
  for (const Sourced& each : candidate_.requirements) {
    if (shown(each.text) == each.text) continue;
    fail_parse(each.at, "a requirement is too long, or holds a character that cannot be shown: " +
                            quoted(each.text));
  }
}

/// One of a task's types, or a list of them.
void CandidateParser::dtypes(const YamlEntry& entry) {
  candidate_.dtype_at = yaml_.at(entry.value);
  const auto given =
      texts(entry.value, yaml_.list_or_one(entry.value), "dtype", std::size(kTaskDTypes));
  if (given.empty()) fail_parse(candidate_.dtype_at, "dtype is empty; leave it out for any");
  for (const Sourced& each : given) {
    DType dtype = DType::f32;
    try {
      dtype = task_dtype_from_name(each.text);
    } catch (const Error& error) {
      fail_parse(each.at, error.message());
    }
    if (std::ranges::count(candidate_.dtypes, dtype) > 0) {
      fail_parse(each.at, "dtype " + each.text + " twice");
    }
    candidate_.dtypes.push_back(dtype);
  }
}

/// A module computes the whole task: there is nothing else beside it.
void CandidateParser::torch_module(const YamlFields& top, const YamlEntry& entry) {
  for (const char* key :
       {"constants", "defines", "kernels", "temps", "data", "setup", "dispatch"}) {
    if (const auto* other = top.find(key)) {
      fail_parse(other->at,
                 "'" + std::string(key) + "' beside 'torch', which is all of a candidate");
    }
  }
  const auto fields = yaml_.fields(entry.value, "torch", {"file", "source"});
  const auto* file = fields.find("file");
  const auto* source = fields.find("source");
  if ((file == nullptr) == (source == nullptr)) {
    fail_parse(entry.at, "torch needs either 'file' or 'source'");
  }
  TorchModule module;
  module.at = entry.at;
  if (file != nullptr) {
    const Sourced name = yaml_.text(file->value, "file");
    module.source = files_.read(name.text, name.at);
    module.file = shown_path(candidate_.folder, plain_path(name.text));
  } else {
    module.source = yaml_.block(source->value, "source").text;
    module.file = candidate_.path;
  }
  candidate_.torch = std::move(module);
}

void CandidateParser::kernels_and_steps(const YamlFields& top) {
  if (const auto* entry = top.find("constants")) {
    errors_.keep([&] { candidate_.constants = constants(entry->value); });
  }
  if (const auto* entry = top.find("defines")) {
    errors_.keep([&] { candidate_.defines = defines(entry->value); });
  }
  const auto for_each = [&](const char* key, size_t most, auto add) {
    const YamlEntry* entry = top.find(key);
    if (!entry) return;
    errors_.keep([&] {
      const auto items = yaml_.entries(entry->value, key);
      check_count(entry->at, key, items.size(), most);
      for (const YamlEntry& item : items) errors_.keep([&] { add(item); });
    });
  };
  for_each("kernels", limits::kKernels, [&](const YamlEntry& item) {
    kernel_languages_.emplace(item.key, std::nullopt);
    candidate_.kernels.push_back(kernel(item));
    kernel_languages_[item.key] = candidate_.kernels.back().language;
  });
  for_each("temps", limits::kTemporaries,
           [&](const YamlEntry& item) { candidate_.temporaries.push_back(temporary(item)); });
  for_each("data", limits::kDataBuffers,
           [&](const YamlEntry& item) { candidate_.data.push_back(data_buffer(item)); });
  if (const auto* entry = top.find("setup")) {
    errors_.keep([&] { candidate_.setup = steps(*entry); });
  }
  errors_.keep([&] {
    const YamlEntry& dispatch = required(top, "dispatch");
    candidate_.dispatch_at = dispatch.at;
    candidate_.dispatch = steps(dispatch);
    if (dispatch.value.size() == 0) {
      fail_parse(yaml_.at(dispatch.value),
                 "dispatch has no step; at least one must write the outputs");
    }
  });
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
  // Only the description may have several lines.
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
    check_constant_name(entry, "constant");
    if (entry.key.starts_with("KB_") || entry.key.starts_with("GL_") ||
        entry.key.starts_with("gl_") || entry.key.find("__") != std::string::npos) {
      fail_parse(entry.at, "constant '" + entry.key +
                               "': names with KB_, GL_ or gl_ in front or __ in them are reserved");
    }
    result.emplace_back(entry.key, yaml_.text(entry.value, "constant '" + entry.key + "'"));
  }
  return result;
}

Temporary CandidateParser::temporary(const YamlEntry& entry) {
  check_name(entry, "a temporary", ".");
  const std::string what = "temporary '" + entry.key + "'";
  const auto fields =
      yaml_.fields(entry.value, what, {"dtype", "shape"}, {"dtype", "shape"}, errors_);
  Temporary temporary;
  temporary.name = entry.key;
  temporary.at = entry.at;
  const Sourced dtype = yaml_.text(fields, "dtype");
  try {
    if (dtype.text != "real") temporary.dtype = dtype_from_name(dtype.text);
  } catch (const Error& error) {
    fail_parse(dtype.at, error.message() + "; or real: what the task stores floats in");
  }
  temporary.shape = extents(fields);
  return temporary;
}

std::vector<Sourced> CandidateParser::extents(const YamlFields& fields) {
  const YAML::Node& shape = fields.find("shape")->value;
  // A name in place of a list may be a list variable.
  const bool name = shape.IsScalar() && is_word(shape.Scalar(), "");
  return texts(shape, name ? yaml_.list_or_one(shape) : yaml_.list(shape, "shape"), "an extent",
               limits::kRank);
}

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
  if (is_model_file(manifest)) return load_model(*text, file);
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
