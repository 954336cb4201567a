// `kbench serve --http`: experiments over HTTP (docs/serve.md, openapi.json).
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/frontends/http/experiments.h"
#include "harness/frontends/http/tokens.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/evaluate.h"
#include "kbench/pool.h"

namespace kbench::http {

/// "127.0.0.1:8000", "[::1]:8000", "localhost:8000", or a port alone, which is on 127.0.0.1; port
/// 0 is any free one.
struct Address {
  std::string host = "127.0.0.1";
  int port = 0;
  bool loopback() const;
};
Address address_from_text(const std::string& text);  ///< throws kInvalidArgument

struct ServiceOptions {
  Address address;
  Tokens tokens;                          ///< empty: none is needed; loopback addresses alone
  Question defaults = {};                 ///< for what an experiment does not say
  Limits most = evaluators::kMostLimits;  ///< that one may ask for
  ExperimentLimits experiments = {};
  size_t most_body_bytes = size_t{48} << 20;
  double body_seconds = 60;       ///< for a request's body to arrive
  size_t most_connections = 256;  ///< more wait to be accepted
  double collect_seconds = 10;    ///< for clients to fetch what ended while the service drains
};

class Service {
 public:
  /// Listens from here on. Throws kInvalidArgument for an address that is not loopback without
  /// tokens, and kIo where it cannot be listened at.
  Service(Pool& pool, const std::vector<vulkan::DeviceSnapshot>& devices, ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;

  std::string url() const;  ///< "http://127.0.0.1:8000"
  /// Serves until `stop` is requested. Then takes no experiment any more, ends those it has, and
  /// lets clients fetch what they wait for; `at_once` cancels what is left.
  void run(const std::stop_token& stop, const std::stop_token& at_once = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// The OpenAPI description that the service gives at /openapi.json.
std::string openapi_json();

const char* openapi_text();

}  // namespace kbench::http
