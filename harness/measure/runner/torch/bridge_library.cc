#include "harness/measure/runner/torch/bridge_library.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/measure/process/own_folder.h"
#include "harness/measure/runner/torch/torch_host.h"
#include "libkbench/base/hash.h"

namespace kbench::runner {
namespace {

using Json = nlohmann::json;

constexpr const char* kBridgePrefix = "bridge-";
constexpr const char* kElf =
    "\x7f"
    "ELF";

std::string resolved_path(const std::string& path) {
  std::error_code error;
  const auto found = std::filesystem::canonical(path, error);
  return error ? path : found.string();
}

/// Of what was kept or answered: a library, or JSON that says why there is none.
BridgeLibrary library_in(std::string answer) {
  if (answer.starts_with(kElf)) return {std::move(answer), ""};
  const Json said = Json::parse(answer, nullptr, /*allow_exceptions=*/false);
  return {"", said.is_object() ? said.value("missing", "it cannot be made") : "it cannot be made"};
}

/// Where a library is kept: by all that it depends on.
struct KeptPlace {
  explicit KeptPlace(const PythonInterpreter& python) {
    const Json made_from = {std::string(make_bridge_script()),
                            extension_headers(),
                            python.version,
                            python.cuda,
                            python.program,
                            resolved_path(python.program),
                            resolved_path("/usr/bin/c++")};
    subject = made_from.dump();
    name = kBridgePrefix + Sha256().add(subject).hex();
  }
  std::string subject, name;
  process::OwnFolder folder{process::cache_folder()};
};

}  // namespace

BridgeLibrary kept_bridge(const PythonInterpreter& python) {
  const KeptPlace place(python);
  std::string kept = place.folder.kept(place.name, place.subject);
  return kept.empty() ? BridgeLibrary() : library_in(std::move(kept));
}

BridgeLibrary made_bridge(const PythonInterpreter& python, double seconds, const RunPython& run) {
  if (BridgeLibrary kept = kept_bridge(python); !kept.bytes.empty() || !kept.missing.empty()) {
    return kept;
  }
  const KeptPlace place(python);
  const Json answer = run({{"package", "torch"},
                           {"script", std::string(make_bridge_script())},
                           {"input", Json(extension_headers()).dump()},
                           {"files", Json::object()},
                           {"seconds", seconds},
                           {"for_torch", false},
                           {"meanwhile", false},
                           {"whose", "the extensions' library's"},
                           {"architecture", ""}});
  if (!answer.contains("answer")) return {"", answer.value("message", "it cannot be made")};
  std::string made = answer.at("answer").get<std::string>();
  const Json said = Json::parse(made, nullptr, /*allow_exceptions=*/false);
  if (made.starts_with(kElf) || (said.is_object() && said.value("for_good", false))) {
    place.folder.forget_stale(kBridgePrefix, place.name);
    place.folder.keep(place.name, place.subject, made);
  }
  return library_in(std::move(made));
}

}  // namespace kbench::runner
