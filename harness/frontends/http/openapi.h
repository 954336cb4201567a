// The HTTP service's description, as it stands in openapi.json.
#pragma once

namespace kbench::http {

const char* openapi_text();

}  // namespace kbench::http
