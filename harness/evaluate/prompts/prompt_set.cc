#include "harness/evaluate/prompts/prompt_set.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "harness/evaluate/prompts/examples.h"
#include "kbench/error.h"
#include "kbench/verdict.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/yaml_reader.h"

namespace kbench::prompts {
namespace {

using Files = std::map<std::string, std::string>;

constexpr const char* kManifest = "prompt.yaml";
constexpr int64_t kMostCharacters = 10'000'000;
constexpr int64_t kMostShots = 100;
/// Keys that say how the prompts are used, and such as stand beside any others.
constexpr const char* kSettings[] = {"shots",     "builtins", "code",    "reference",
                                     "precision", "device",   "evidence"};

const std::set<std::string>& outcomes() {
  static const std::set<std::string> names = [] {
    std::set<std::string> all = {"no_candidate", "wrong_task", "truncated", "refused"};
    for (int v = 0; v <= int(Verdict::harness_error); ++v) {
      all.insert(std::string(kbench::name_of(static_cast<Verdict>(v))));
    }
    return all;
  }();
  return names;
}

std::vector<Sourced> texts(const YamlReader& yaml, const YAML::Node& node,
                           const std::string& what) {
  std::vector<Sourced> all;
  for (const YAML::Node& item : yaml.list(node, what)) all.push_back(yaml.text(item, what));
  return all;
}

size_t characters(const YamlReader& yaml, const YamlEntry& entry) {
  const int64_t count = yaml.integer(entry.value, entry.key);
  if (count < 1 || count > kMostCharacters) {
    fail_parse(yaml.at(entry.value), entry.key + " is a number of characters, from 1 to " +
                                         std::to_string(kMostCharacters));
  }
  return size_t(count);
}

std::vector<std::string> with_settings(std::vector<std::string> keys) {
  keys.insert(keys.end(), std::begin(kSettings), std::end(kSettings));
  return keys;
}

/// Another file of the folder that prompt.yaml names.
const std::string& named_file(const YamlReader& yaml, const YamlEntry& entry, const Files& files) {
  const Sourced name = yaml.text(entry.value, entry.key);
  const auto found = files.find(name.text);
  if (found == files.end()) fail_parse(name.at, "there is no file " + kbench::quoted(name.text));
  return found->second;
}

PromptLanguage language_of(const YamlEntry& entry) {
  try {
    return prompt_language_from_name(entry.key);
  } catch (const Error& e) {
    fail_parse(entry.at, e.message());
  }
}

}  // namespace

PromptSet::PromptSet(Files files, const std::string& folder) {
  const auto path_of = [&](const std::string& file) { return folder + "/" + file; };
  name = folder.substr(folder.find_last_of('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
  if (!files.contains(kManifest)) {
    throw Error(ErrorCode::kNotFound, "there is no " + path_of(kManifest) +
                                          ": a folder of prompts has one (docs/prompts.md)");
  }
  Sha256 sha;
  for (const auto& [path, text] : files) sha.add(path).add(text);
  hash = sha.hex();

  const YamlReader yaml(files.at(kManifest), path_of(kManifest));
  const bool of_another =
      std::ranges::any_of(yaml.entries(yaml.root(), "a folder of prompts"),
                          [](const YamlEntry& entry) { return entry.key == "from"; });
  const YamlFields fields =
      of_another ? yaml.fields(yaml.root(), "a folder of prompts that has another's templates",
                               with_settings({"prompt", "description", "from"}), {"prompt", "from"})
                 : yaml.fields(yaml.root(), "a folder of prompts",
                               with_settings({"prompt", "description", "budget", "reference_budget",
                                              "first", "repair", "no_candidate", "candidate",
                                              "examples", "hints", "shaders", "variables"}),
                               {"prompt", "budget", "first", "repair", "no_candidate", "candidate",
                                "variables"});
  if (yaml.integer(fields.find("prompt")->value, "prompt") != 1) {
    fail_parse(yaml.at(fields.find("prompt")->value), "this kbench reads version 1 of prompts");
  }
  if (of_another) {
    const Sourced from = yaml.text(fields.find("from")->value, "from");
    const Files shipped = embedded_folder("templates/" + from.text);
    if (shipped.empty())
      fail_parse(from.at, "no prompts " + kbench::quoted(from.text) + " ship with kbench");
    if (files.size() > 1) fail_parse(from.at, "with `from` a folder of prompts has no other files");
    PromptSet base(shipped, from.text);
    base.name = name;
    base.hash = Sha256().add(hash).add(base.hash).hex();
    *this = std::move(base);
    read_settings(yaml, fields);
    return;
  }
  read_settings(yaml, fields);
  budget = characters(yaml, *fields.find("budget"));
  reference_budget = 24000;
  if (const YamlEntry* entry = fields.find("reference_budget")) {
    reference_budget = characters(yaml, *entry);
  }

  std::map<std::string, Location> declared;
  std::set<std::string> known;
  for (const Sourced& one : texts(yaml, fields.find("variables")->value, "variables")) {
    if (!known_values().contains(one.text)) {
      fail_parse(one.at, "unknown value " + kbench::quoted(one.text) +
                             suggestion(one.text, {known_values().begin(), known_values().end()}));
    }
    if (!declared.try_emplace(one.text, one.at).second) {
      fail_parse(one.at, kbench::quoted(one.text) + " is listed twice");
    }
    known.insert(one.text);
  }

  std::set<std::string> used;
  const Template::Partial partial = [&](const std::string& part) -> std::optional<std::string> {
    const auto found = files.find(part + ".mustache");
    if (found == files.end()) return std::nullopt;
    return found->second;
  };
  const auto parts_of = [&](const YAML::Node& node, const std::string& what) {
    std::vector<std::string> parts;
    for (const Sourced& part : texts(yaml, node, what)) {
      const auto text = partial(part.text);
      if (!text) fail_parse(part.at, "there is no file " + kbench::quoted(part.text + ".mustache"));
      if (!templates_.contains(part.text)) {
        templates_.emplace(
            part.text, Template(*text, path_of(part.text + ".mustache"), known, partial, &used));
      }
      parts.push_back(part.text);
    }
    if (parts.empty()) fail_parse(yaml.at(node), what + " needs at least one part");
    return parts;
  };
  for (const YAML::Node& node : yaml.list(fields.find("first")->value, "first")) {
    const YamlFields message = yaml.fields(node, "a message", {"role", "parts"}, {"role", "parts"});
    const Sourced role = yaml.text(message.find("role")->value, "a role");
    if (role.text != "system" && role.text != "user") {
      fail_parse(role.at, "a role is system or user, not " + kbench::quoted(role.text));
    }
    first.push_back({role.text == "system" ? Role::system : Role::user,
                     parts_of(message.find("parts")->value, "parts")});
  }
  if (first.empty() || first.back().role != Role::user) {
    fail_parse(yaml.at(fields.find("first")->value),
               "the last message of first must be the user's");
  }
  repair = parts_of(fields.find("repair")->value, "repair");
  no_candidate = parts_of(fields.find("no_candidate")->value, "no_candidate");
  candidate = parts_of(fields.find("candidate")->value, "candidate");
  for (const std::string& value : used) {
    knows_languages = knows_languages || value.starts_with("language.");
  }
  knows_torch = used.contains("language.torch");
  for (const auto& [value, at] : declared) {
    if (!used.contains(value)) fail_parse(at, "no template uses " + kbench::quoted(value));
  }

  if (const YamlEntry* entry = fields.find("examples")) {
    const std::string& text = named_file(yaml, *entry, files);
    read_examples(YamlReader(text, path_of(entry->value.as<std::string>())));
  }
  if (const YamlEntry* entry = fields.find("hints")) {
    const std::string& text = named_file(yaml, *entry, files);
    read_hints(YamlReader(text, path_of(entry->value.as<std::string>())));
  }
  if (const YamlEntry* entry = fields.find("shaders")) {
    const std::string& text = named_file(yaml, *entry, files);
    const YamlReader table(text, path_of(entry->value.as<std::string>()));
    for (const YamlEntry& op : table.entries(table.root(), "the shaders")) {
      try {
        find_operator(op.key);
      } catch (const Error& e) {
        fail_parse(op.at, e.message());
      }
      for (const Sourced& file : texts(table, op.value, "shaders")) {
        shaders[op.key].push_back(file.text);
      }
    }
  }
}

void PromptSet::read_settings(const YamlReader& yaml, const YamlFields& fields) {
  if (const YamlEntry* entry = fields.find("shots")) {
    const int64_t shots = yaml.integer(entry->value, "shots");
    if (shots < 0 || shots > kMostShots) {
      fail_parse(yaml.at(entry->value),
                 "shots is a number from 0 to " + std::to_string(kMostShots));
    }
    settings.shots = int(shots);
  }
  if (const YamlEntry* entry = fields.find("builtins")) {
    const Sourced builtins = yaml.text(entry->value, "builtins");
    try {
      settings.builtins = builtins_from_name(builtins.text);
    } catch (const Error& e) {
      fail_parse(builtins.at, e.message());
    }
  }
  const auto read = [&](const char* key, bool& value) {
    if (const YamlEntry* entry = fields.find(key)) value = yaml.boolean(entry->value, key);
  };
  read("code", settings.code);
  read("reference", settings.reference);
  read("precision", settings.precision);
  read("device", settings.device);
  read("evidence", settings.evidence);
}

/// A list is for GLSL; a map has a list for each language.
void PromptSet::read_examples(const YamlReader& table) {
  const auto read = [&](const YAML::Node& list, PromptLanguage language) {
    for (const Sourced& path : texts(table, list, "the examples")) {
      try {
        examples[language].push_back(load_example(path.text));
      } catch (const Error& e) {
        fail_parse(path.at, e.message());
      }
    }
  };
  if (table.root().IsSequence()) return read(table.root(), PromptLanguage::glsl);
  for (const YamlEntry& entry : table.entries(table.root(), "the examples")) {
    read(entry.value, language_of(entry));
  }
}

void PromptSet::read_hints(const YamlReader& table) {
  const auto read = [&](const YamlEntry& hint, Hints& to) {
    if (!outcomes().contains(hint.key)) {
      fail_parse(hint.at, kbench::quoted(hint.key) + " is no verdict and no outcome" +
                              suggestion(hint.key, {outcomes().begin(), outcomes().end()}));
    }
    to[hint.key] = table.text(hint.value, "a hint").text;
  };
  for (const YamlEntry& hint : table.entries(table.root(), "the hints")) {
    if (!hint.value.IsMap()) {
      read(hint, hints);
      continue;
    }
    Hints& own = own_hints[language_of(hint)];
    for (const YamlEntry& one : table.entries(hint.value, "the hints of a language")) {
      read(one, own);
    }
  }
}

bool PromptSet::knows(PromptLanguage language) const {
  if (language == PromptLanguage::glsl) return true;
  return answer_form_of(language) == AnswerForm::model ? knows_torch : knows_languages;
}

std::vector<const Example*> PromptSet::examples_for(const Task& task,
                                                    const PromptContext& context) const {
  std::vector<const Example*> chosen;
  const auto found = examples.find(context.language);
  if (found == examples.end()) return chosen;
  for (const Example& example : found->second) {
    if (int(chosen.size()) >= context.shots) break;
    if (example.candidate.task == task.id || !is_for(example.candidate, context.dtype)) continue;
    chosen.push_back(&example);
  }
  return chosen;
}

std::string PromptSet::hint_for(const std::string& outcome, PromptLanguage language) const {
  if (const auto own = own_hints.find(language); own != own_hints.end()) {
    if (const auto hint = own->second.find(outcome); hint != own->second.end()) return hint->second;
  }
  const auto hint = hints.find(outcome);
  return hint == hints.end() ? "" : hint->second;
}

std::string PromptSet::render(const std::vector<std::string>& parts,
                              const nlohmann::json& values) const {
  std::string text;
  for (const std::string& part : parts) {
    std::string one = templates_.at(part).render(values);
    const size_t first = one.find_first_not_of(" \n");
    if (first == std::string::npos) continue;
    one.erase(one.find_last_not_of(" \n") + 1);
    one.erase(0, one.find_first_not_of('\n'));
    text += (text.empty() ? "" : "\n\n") + one;
  }
  return text;
}

}  // namespace kbench::prompts
