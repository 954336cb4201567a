#include <nlohmann/json.hpp>

#include "kbench/openai_model.h"
#include "libkbench/base/json_text.h"

namespace kbench {

std::string_view name_of(ModelEvent::Kind kind) {
  switch (kind) {
    case ModelEvent::Kind::retry:
      return "retry";
    case ModelEvent::Kind::wait:
      return "wait";
    case ModelEvent::Kind::parameter:
      return "parameter";
    case ModelEvent::Kind::connections:
      return "connections";
    case ModelEvent::Kind::insecure:
      return "insecure";
    case ModelEvent::Kind::given_up:
      return "given_up";
    case ModelEvent::Kind::model_lost:
      return "model_lost";
  }
  return "retry";
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
