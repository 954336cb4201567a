#include <nlohmann/json.hpp>

#include "harness/frontends/http/service.h"
#include "kbench/result.h"
#include "kbench/version.h"

namespace kbench::http {

std::string openapi_json() {
  auto document = nlohmann::ordered_json::parse(openapi_text());
  document["info"]["version"] = version();
  document["components"]["schemas"]["Result"] = nlohmann::ordered_json::parse(result_json_schema());
  return document.dump(2);
}

}  // namespace kbench::http
