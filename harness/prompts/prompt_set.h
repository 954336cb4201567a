// A folder of templates, read and checked.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/prompts/examples.h"
#include "harness/prompts/template.h"
#include "harness/prompts/values.h"
#include "kbench/model.h"

namespace kbench::prompts {

/// What prompt.yaml says, with everything that it names. docs/prompts.md describes the folder.
class PromptSet {
 public:
  /// `files`: path in the folder -> text; `folder` is shown in messages. Throws kParse with file
  /// and line, kNotFound.
  PromptSet(std::map<std::string, std::string> files, const std::string& folder);

  struct Part {
    Role role = Role::user;
    std::vector<std::string> names;
  };

  std::string name, hash;
  size_t budget = 0;            ///< characters of a first prompt
  size_t reference_budget = 0;  ///< characters of shaders
  std::vector<Part> first;
  std::vector<std::string> repair, no_candidate, candidate;
  std::vector<Example> examples;
  std::map<std::string, std::string> hints;  ///< by verdict or outcome
  ShaderTable shaders;

  /// The parts one after the other, those left out that come out empty.
  std::string render(const std::vector<std::string>& parts, const nlohmann::json& values) const;

 private:
  std::map<std::string, Template> templates_;
};

}  // namespace kbench::prompts
