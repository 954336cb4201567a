// Templates in Mustache's language, read strictly: a tag that means nothing is an error, and a
// value is put in as it is, never read as a template and never escaped.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

namespace kbench::prompts {

class Template {
 public:
  /// The text of the partial NAME ({{> NAME}}), with the file that it stands in.
  using Partial = std::function<std::optional<std::string>(const std::string& name)>;

  /// Throws kParse with file and line: a tag or section that is not closed, a name that is none of
  /// `known`, a partial that is not there or includes itself. Names are dotted paths; inside
  /// {{#device}}, "name" is found as "device.name". `used` gets every path that is read.
  Template(const std::string& text, const std::string& file, const std::set<std::string>& known,
           const Partial& partial, std::set<std::string>* used);

  /// Values: an object of objects, lists of objects, texts and truth values. Throws kInternal where
  /// the engine refuses.
  std::string render(const nlohmann::json& values) const;

 private:
  std::string text_;  ///< partials put in
};

}  // namespace kbench::prompts
