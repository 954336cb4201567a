// A folder of prompt templates, read and checked.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/evaluate/prompts/examples.h"
#include "harness/evaluate/prompts/template.h"
#include "harness/evaluate/prompts/values.h"
#include "kbench/model.h"
#include "kbench/prompts.h"
#include "libkbench/candidate/yaml_reader.h"

namespace kbench::prompts {

/// The contents of prompt.yaml and of the files that it names (docs/prompts.md).
class PromptSet {
 public:
  /// `files`: path in the folder -> text. `folder` is shown in messages. Throws kParse with file
  /// and line, kNotFound.
  PromptSet(std::map<std::string, std::string> files, const std::string& folder);

  struct Part {
    Role role = Role::user;
    std::vector<std::string> names;
  };

  std::string name, hash;
  PromptSettings settings;
  size_t budget = 0;            ///< most characters of a first prompt
  size_t reference_budget = 0;  ///< most characters of shaders
  std::vector<Part> first;
  std::vector<std::string> repair, no_candidate, candidate;
  std::map<PromptLanguage, std::vector<Example>> examples;  ///< the best first
  using Hints = std::map<std::string, std::string>;         ///< key: verdict or outcome
  Hints hints;
  std::map<PromptLanguage, Hints> own_hints;  ///< replace the hints above
  ShaderTable shaders;
  bool knows_languages = false;  ///< a template depends on the language
  bool knows_torch = false;      ///< a template depends on whether it is PyTorch

  /// Whether the templates can ask in it.
  bool knows(PromptLanguage language) const;
  /// The examples to show: as many as asked for, except the task's own.
  std::vector<const Example*> examples_for(const Task& task, const PromptContext& context) const;
  /// Empty if there is none.
  std::string hint_for(const std::string& outcome, PromptLanguage language) const;

  /// Renders the parts in order; those that come out empty are left out.
  std::string render(const std::vector<std::string>& parts, const nlohmann::json& values) const;

 private:
  void read_settings(const YamlReader& yaml, const YamlFields& fields);
  void read_examples(const YamlReader& table);
  void read_hints(const YamlReader& table);
  std::map<std::string, Template> templates_;
};

}  // namespace kbench::prompts
