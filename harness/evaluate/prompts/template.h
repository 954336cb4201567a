// Mustache templates, read strictly: an unknown tag is an error, and values are inserted literally,
// neither escaped nor read as templates.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

namespace kbench::prompts {

class Template {
 public:
  /// The text of the partial NAME ({{> NAME}}) and its file.
  using Partial = std::function<std::optional<std::string>(const std::string& name)>;

  /// Throws kParse with file and line: an unclosed tag or section, a name not in `known`, a missing
  /// partial, or one that includes itself. Names are dotted paths; inside {{#device}}, "name" means
  /// "device.name". `used` receives every path that is read.
  Template(const std::string& text, const std::string& file, const std::set<std::string>& known,
           const Partial& partial, std::set<std::string>* used);

  /// `values`: an object of objects, lists of objects, strings and booleans. Throws kInternal if
  /// the engine fails.
  std::string render(const nlohmann::json& values) const;

 private:
  std::string text_;  ///< with partials inserted
};

}  // namespace kbench::prompts
