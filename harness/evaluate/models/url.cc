#include "harness/evaluate/models/url.h"

#include <curl/curl.h>

#include <memory>
#include <string_view>

#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::models {
namespace {

using Handle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

Handle parsed(const std::string& text) {
  Handle handle(curl_url(), &curl_url_cleanup);
  if (!handle) throw Error(ErrorCode::kOutOfMemory, "no memory for a URL");
  if (curl_url_set(handle.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    throw Error(ErrorCode::kInvalidArgument,
                "'" + shown(text) + "' is no URL of a server, such as http://127.0.0.1:8000/v1");
  }
  return handle;
}

/// A part of the URL; empty if it has none.
std::string part(const Handle& handle, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(handle.get(), which, &text, 0) != CURLUE_OK) return "";
  std::string result(text);
  curl_free(text);
  return result;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]" ||
         host.ends_with(".localhost");
}

}  // namespace

Url parse_url(const std::string& text) {
  const Handle handle = parsed(text);
  const std::string scheme = part(handle, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") {
    throw Error(ErrorCode::kInvalidArgument,
                "'" + shown(text) + "' is not an address of http or https");
  }
  if (!part(handle, CURLUPART_USER).empty() || !part(handle, CURLUPART_PASSWORD).empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a URL must hold no name or password; put the key into an environment variable "
                "and its name into key_env");
  }
  if (!part(handle, CURLUPART_FRAGMENT).empty()) {
    throw Error(ErrorCode::kInvalidArgument, "'" + shown(text) + "' must have no fragment ('#')");
  }
  return {part(handle, CURLUPART_URL), scheme == "https",
          is_loopback(part(handle, CURLUPART_HOST))};
}

std::string with_path(const Url& base, const std::string& path) {
  const Handle handle = parsed(base.text);
  std::string whole = part(handle, CURLUPART_PATH);
  while (whole.ends_with('/')) whole.pop_back();
  whole += path;
  curl_url_set(handle.get(), CURLUPART_PATH, whole.c_str(), 0);
  return part(handle, CURLUPART_URL);
}

}  // namespace kbench::models
