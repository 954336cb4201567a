#include "harness/frontends/program/variables_json.h"

#include <nlohmann/json.hpp>

namespace kbench::program {

nlohmann::ordered_json to_json(const Variables& variables) {
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  for (const auto& [name, value] : variables) {
    std::visit([&, &key = name](const auto& held) { document[key] = held; }, value);
  }
  return document;
}

}  // namespace kbench::program
