#include "harness/measure/runner/protocol.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "libkbench/core/variables_json.h"

namespace kbench {

// The fields of every message and value, once, for writing and for reading.
namespace runner {
namespace {

using Json = nlohmann::json;

struct Writer {
  Json json = Json::object();
  template <class T>
  void operator()(const char* name, const T& value);
};

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {
    if (!json_.is_object()) throw Error(ErrorCode::kParse, "a value that is not an object");
  }
  template <class T>
  void operator()(const char* name, T& value);

 private:
  const Json& json_;
};

// clang-format off
template <class V> void visit(V& v, auto& m, Open*) { v("cuda", m.cuda); }
template <class V> void visit(V& v, auto& m, Opened*) {
  v("device_uuid", m.device_uuid); v("lock", m.lock);
}
template <class V> void visit(V& v, auto& m, Load*) { v("manifest", m.manifest); v("folder", m.folder); }
template <class V> void visit(V& v, auto& m, ReadFile*) { v("path", m.path); }
template <class V> void visit(V& v, auto& m, Loaded*) { v("task", m.task); v("hash", m.hash); v("needs_cuda", m.needs_cuda);
  v("needs_python", m.needs_python);
}
template <class V> void visit(V& v, auto& m, TaskAt*) {
  v("task", m.task); v("preset", m.preset); v("variables", m.variables);
}
template <class V> void visit(V& v, auto& m, Build*) { v("at", m.at); v("seconds", m.seconds); }
template <class V> void visit(V& v, auto& m, Prepare*) {
  v("at", m.at); v("seed", m.seed); v("kept", m.kept);
  v("verified", m.verified); v("cache_folder", m.cache_folder); v("cache_subject", m.cache_subject);
}
template <class V> void visit(V& v, auto& m, Wanted*) {
  v("name", m.name); v("dtype", m.dtype); v("bytes", m.bytes); v("setup", m.setup);
  v("words", m.words);
}
template <class V> void visit(V& v, auto& m, Diagnostic*) {
  v("severity", m.severity); v("file", m.file); v("line", m.line); v("column", m.column);
  v("message", m.message);
}
template <class V> void visit(V& v, auto& m, Built*) {
  v("wanted", m.wanted); v("kernels", m.kernels);
  v("has_setup", m.has_setup); v("asks_lengths", m.asks_lengths);
  v("float16_kernel", m.float16_kernel); v("approximations", m.approximations);
  v("compile_s", m.compile_s); v("diagnostics", m.diagnostics); v("tunable", m.tunable);
  v("lane", m.lane);
}
template <class V> void visit(V& v, auto& m, Tunable*) {
  v("kernel", m.kernel); v("configs", m.configs);
}
template <class V> void visit(V& v, auto& m, Select*) { v("configs", m.configs); }
template <class V> void visit(V&, auto&, Selected*) {}
template <class V> void visit(V& v, auto& m, Place*) {
  v("slab", m.slab); v("offset", m.offset); v("bytes", m.bytes);
}
template <class V> void visit(V& v, auto& m, Attach::Slab*) {
  v("bytes", m.bytes); v("memory_type", m.memory_type); v("read_only", m.read_only);
}
template <class V> void visit(V& v, auto& m, Attach*) {
  v("slabs", m.slabs); v("given", m.given); v("outputs", m.outputs); v("wanted", m.wanted); v("more", m.more);
}
template <class V> void visit(V&, auto&, Attached*) {}
template <class V> void visit(V& v, auto& m, Run*) {
  v("setup", m.setup); v("exact", m.exact); v("empty", m.empty); v("seconds", m.seconds);
}
template <class V> void visit(V& v, auto& m, Ran*) { v("flush_ns", m.flush_ns); v("run_ns", m.run_ns); }
template <class V> void visit(V& v, auto& m, Profile*) { v("seconds", m.seconds); }
template <class V> void visit(V& v, auto& m, Profiled*) { v("step_ns", m.step_ns); }
template <class V> void visit(V& v, auto& m, Refused*) {
  v("verdict", m.verdict); v("message", m.message); v("diagnostics", m.diagnostics);
  v("size", m.size);
}
template <class V> void visit(V& v, auto& m, Failed*) { v("code", m.code); v("message", m.message); }
// clang-format on

template <class T>
concept Plain = std::same_as<T, bool> || std::same_as<T, double> || std::same_as<T, std::string>;

template <class T>
Json to_value(const T& value) {
  if constexpr (Plain<T> || std::integral<T>) {
    return value;
  } else if constexpr (std::same_as<T, TaskId>) {
    return to_string(value);
  } else if constexpr (std::same_as<T, DType> || std::same_as<T, Verdict>) {
    return std::string(name_of(value));
  } else if constexpr (std::same_as<T, ErrorCode>) {
    return static_cast<int>(value);
  } else if constexpr (std::same_as<T, Variables>) {
    return variables_json<Json>(value);
  } else if constexpr (requires { value.begin(); }) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(to_value(item));
    return list;
  } else {
    Writer writer;
    visit(writer, value, static_cast<T*>(nullptr));
    return std::move(writer.json);
  }
}

template <class T>
void from_value(const Json& json, const char* name, T& value) {
  const auto require = [&](bool holds) {
    if (!holds) throw Error(ErrorCode::kParse, std::string("a bad '") + name + "'");
  };
  if constexpr (std::same_as<T, bool>) {
    require(json.is_boolean());
    value = json.get<bool>();
  } else if constexpr (std::same_as<T, double>) {
    require(json.is_number());
    value = json.get<double>();
    require(std::isfinite(value));
  } else if constexpr (std::same_as<T, std::string>) {
    require(json.is_string());
    value = json.get<std::string>();
  } else if constexpr (std::same_as<T, uint64_t>) {
    require(json.is_number_unsigned());
    value = json.get<uint64_t>();
  } else if constexpr (std::integral<T>) {
    require(json.is_number_integer() &&
            (!json.is_number_unsigned() || std::in_range<T>(json.get<uint64_t>())) &&
            std::in_range<T>(json.get<int64_t>()));
    value = json.get<T>();
  } else if constexpr (std::same_as<T, TaskId>) {
    require(json.is_string());
    value = parse_task_id(json.get<std::string>());
  } else if constexpr (std::same_as<T, DType>) {
    require(json.is_string());
    value = dtype_from_name(json.get<std::string>());
  } else if constexpr (std::same_as<T, Verdict>) {
    require(json.is_string());
    value = verdict_from_name(json.get<std::string>());
  } else if constexpr (std::same_as<T, ErrorCode>) {
    int code = 0;
    from_value(json, name, code);
    require(code >= 0 && code <= static_cast<int>(ErrorCode::kInternal));
    value = static_cast<ErrorCode>(code);
  } else if constexpr (std::same_as<T, Variables>) {
    require(json.is_object());
    value = variables_from_json(json, [&](const std::string&, const char*) { require(false); });
  } else if constexpr (requires { value.emplace_back(); }) {
    require(json.is_array());
    value.clear();
    for (const Json& item : json) from_value(item, name, value.emplace_back());
  } else {
    Reader reader(json);
    visit(reader, value, static_cast<T*>(nullptr));
  }
}

template <class T>
void Writer::operator()(const char* name, const T& value) {
  json[name] = to_value(value);
}

template <class T>
void Reader::operator()(const char* name, T& value) {
  const auto found = json_.find(name);
  if (found == json_.end()) throw Error(ErrorCode::kParse, std::string("no '") + name + "'");
  from_value(*found, name, value);
}

}  // namespace

template <class M>
std::string encode(const M& message) {
  return to_value(message).dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class M>
M decode(std::string_view payload) {
  const Json json = Json::parse(payload, nullptr, /*allow_exceptions=*/false);
  M message;
  try {
    from_value(json, "message", message);
  } catch (const Error& e) {
    throw Error(ErrorCode::kParse, "a malformed message between judge and runner: " + e.message());
  }
  return message;
}

/// A file's bytes need not be text: a flag, an error's code, then bytes or message as they are.
template <>
std::string encode(const File& file) {
  std::string text;
  text += file.refused ? 'r' : file.found ? 'f' : 'n';
  text += static_cast<char>(file.code);
  return text + (file.refused ? file.message : file.bytes);
}

template <>
File decode(std::string_view payload) {
  const auto last = static_cast<char>(ErrorCode::kInternal);
  if (payload.size() < 2 || payload[1] < 0 || payload[1] > last) {
    throw Error(ErrorCode::kParse, "a malformed file between judge and runner");
  }
  File file;
  file.refused = payload[0] == 'r';
  file.found = payload[0] == 'f';
  file.code = static_cast<ErrorCode>(payload[1]);
  (file.refused ? file.message : file.bytes) = payload.substr(2);
  return file;
}

#define KBENCH_MESSAGE(M)                \
  template std::string encode(const M&); \
  template M decode(std::string_view);
KBENCH_MESSAGE(Open)
KBENCH_MESSAGE(Opened)
KBENCH_MESSAGE(Load)
KBENCH_MESSAGE(ReadFile)
KBENCH_MESSAGE(Loaded)
KBENCH_MESSAGE(Build)
KBENCH_MESSAGE(Prepare)
KBENCH_MESSAGE(Built)
KBENCH_MESSAGE(Attach)
KBENCH_MESSAGE(Attached)
KBENCH_MESSAGE(Run)
KBENCH_MESSAGE(Ran)
KBENCH_MESSAGE(Profile)
KBENCH_MESSAGE(Profiled)
KBENCH_MESSAGE(Select)
KBENCH_MESSAGE(Selected)
KBENCH_MESSAGE(Refused)
KBENCH_MESSAGE(Failed)
#undef KBENCH_MESSAGE

}  // namespace runner
}  // namespace kbench
