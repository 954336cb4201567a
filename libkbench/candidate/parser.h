// From YAML to a Candidate: form only, nothing that depends on the task's sizes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/candidate_source.h"
#include "libkbench/candidate/files.h"
#include "libkbench/candidate/yaml_reader.h"

namespace kbench {

/// Throws kParse unless the key is a name: letters, digits, _ and the `extra` characters, no digit
/// first. `what` says what it would name.
void check_name(const YamlEntry& entry, const std::string& what, std::string_view extra);
/// The same for a constant that expressions use; its name must not be a function's either.
void check_constant_name(const YamlEntry& entry, const std::string& what);

/// Reads one candidate.
class CandidateParser {
 public:
  CandidateParser(const std::string& text, const std::string& file, const std::string& folder,
                  ReadFile read)
      : yaml_(text, file), files_(folder, std::move(read)) {
    files_.count(text.size());
    candidate_.path = file;
    candidate_.folder = folder;
  }

  /// `text` is the constructor's, once more for the hash.
  Candidate parse(const std::string& text);

  // A task's file has steps in the same language: built-in operators alone, those that only change
  // a shape among them, operands {name: ..., repeat: ...}.
  std::vector<Step> task_steps(const YAML::Node& node);
  std::vector<Repeat> task_repeats(const YamlEntry& entry);
  /// Those of the key `shape`.
  std::vector<Sourced> extents(const YamlFields& fields);
  /// What is wrong with the file so far; parse() throws it at its end.
  FileErrors& errors() { return errors_; }

 private:
  using Constants = std::vector<std::pair<std::string, Sourced>>;

  const YamlEntry& required(const YamlFields& top, const char* key);
  void task(const YamlEntry& entry);
  void dtypes(const YamlEntry& entry);
  void requirements(const YamlEntry& entry);
  void torch_module(const YamlFields& top, const YamlEntry& entry);
  void kernels_and_steps(const YamlFields& top);
  Constants constants(const YAML::Node& node);
  Constants defines(const YAML::Node& node);
  Kernel kernel(const YamlEntry& entry);
  void kernel_file(const YamlFields& fields, Kernel& kernel);
  void kernel_source(const YamlFields& fields, Kernel& kernel);
  void kernel_keys(const YamlFields& fields, const Kernel& kernel);
  Kernel::Language language(const YamlFields& fields);
  void specialization(const YAML::Node& node, Kernel& kernel);
  std::vector<UniformBlock> uniforms(const YamlEntry& entry);
  UniformField uniform_field(const YAML::Node& node, const std::string& name, const Location& at);
  Temporary temporary(const YamlEntry& entry);
  DataBuffer data_buffer(const YamlEntry& entry);
  std::vector<Step> steps(const YamlEntry& entry);
  void add_steps(const YAML::Node& node, std::vector<Repeat> repeats, std::vector<Step>& steps);
  void add_repeats(const YamlEntry& entry, std::vector<Repeat>& repeats);
  Step step(const YAML::Node& node);
  Step kernel_step(const YAML::Node& node);
  Step operator_step(const YAML::Node& node);
  void shader_launch(const YamlFields& fields, Kernel::Language language, Step& step);
  void cuda_launch(const YamlFields& fields, Kernel::Language language, Step& step);
  std::vector<Sourced> extent3(const YamlEntry& entry, const std::string& what);
  PushItem push_item(const YAML::Node& node);
  PushItem argument(const YAML::Node& node);
  void add_operands(const YAML::Node& node, const std::string& what,
                    std::vector<Operand>& operands);
  std::vector<Sourced> texts(const YAML::Node& place, const std::vector<YAML::Node>& nodes,
                             const std::string& what, size_t most);
  std::string optional_text(const YamlFields& fields, const std::string& key, size_t most);

  YamlReader yaml_;
  CandidateReader files_;
  FileErrors errors_;
  Candidate candidate_;
  std::map<std::string, std::optional<Kernel::Language>> kernel_languages_;  ///< unset: not known
  size_t repeat_groups_ = 0;
  bool of_task_ = false;  ///< reads a task's file
};

}  // namespace kbench
