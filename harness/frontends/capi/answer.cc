#include "harness/frontends/capi/answer.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "harness/evaluate/client/device_json.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "kbench/version.h"
#include "libkbench/base/json_text.h"

namespace kbench::capi {
namespace {

/// Both enums list the codes in the same order; KBENCH_OK comes first.
kbench_status status_of(ErrorCode code) {
  static_assert(static_cast<int>(ErrorCode::kInvalidArgument) + 1 == KBENCH_INVALID_ARGUMENT &&
                static_cast<int>(ErrorCode::kUnsupported) + 1 == KBENCH_UNSUPPORTED &&
                static_cast<int>(ErrorCode::kInternal) + 1 == KBENCH_INTERNAL);
  return static_cast<kbench_status>(static_cast<int>(code) + 1);
}

/// The caller frees it; null if there is no memory.
char* copied(const json& value) {
  const std::string text = json_text(value);
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

kbench_status fail(char** out, kbench_status status, const std::string& message,
                   const Location& location = {}) noexcept {
  try {
    json value = {{"code", kbench_status_name(status)}, {"message", message}};
    if (!location.file.empty()) {
      value["file"] = location.file;
      value["line"] = location.line;
      value["column"] = location.column;
    }
    *out = copied(value);
  } catch (...) {  // no memory for a message: the status says it
  }
  return status;
}

}  // namespace

CallRequest::CallRequest(const char* text)
    : json_(parse_json(text != nullptr ? text : "{}", "the request")) {}

CallRequest::CallRequest(const char* text, std::initializer_list<std::string_view> members)
    : CallRequest(text) {
  expect_only(field(), members);
}

kbench_status answer(char** out, const std::function<json()>& call) {
  if (out == nullptr) return KBENCH_INVALID_ARGUMENT;
  *out = nullptr;
  try {
    *out = copied(call());
    return *out != nullptr ? KBENCH_OK : KBENCH_OUT_OF_MEMORY;
  } catch (const Cancelled& e) {
    return fail(out, KBENCH_CANCELLED, e.message());
  } catch (const Error& e) {
    return fail(out, status_of(e.code()), e.message(), e.location());
  } catch (const std::bad_alloc&) {
    return fail(out, KBENCH_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return fail(out, KBENCH_INTERNAL, e.what());
  } catch (...) {
    return fail(out, KBENCH_INTERNAL, "an exception of an unknown type");
  }
}

}  // namespace kbench::capi

extern "C" {

const char* kbench_status_name(kbench_status status) {
  if (status == KBENCH_OK) return "ok";
  if (status == KBENCH_CANCELLED) return "cancelled";
  if (status < KBENCH_OK || status > KBENCH_CANCELLED) return "internal";
  return name_of(static_cast<kbench::ErrorCode>(status - 1)).data();  // a literal
}

const char* kbench_version(void) {
  static const std::string version(kbench::version());
  return version.c_str();
}

void kbench_free(char* answer) { std::free(answer); }

}  // extern "C"
