#include <nlohmann/json.hpp>

#include "kbench/openai_model.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"

namespace kbench {

std::string_view name_of(ModelEvent::Kind kind) {
  return name_in<ModelEvent::Kind::model_lost>(
      {"retry", "wait", "parameter", "connections", "insecure", "given_up", "model_lost"}, kind);
}

std::string to_json(const ModelEvent& event) {
  nlohmann::ordered_json json = {{"event", std::string(name_of(event.kind))},
                                 {"model", event.model}};
  if (!event.purpose.empty()) json["purpose"] = event.purpose;
  json["text"] = event.text;
  if (event.seconds > 0) json["seconds"] = event.seconds;
  if (event.status > 0) json["status"] = event.status;
  return json_text(json);
}

}  // namespace kbench
