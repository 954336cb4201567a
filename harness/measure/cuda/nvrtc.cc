#include "harness/measure/cuda/nvrtc.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "harness/measure/cuda/messages.h"
#include "harness/measure/cuda/toolkit.h"
#include "kbench/error.h"

namespace kbench::cuda {

namespace {

constexpr size_t kMostDepth = 64;

/// Where the file name of an #include line stands in it.
struct Directive {
  bool include = false;  ///< #include or #include_next
  bool literal = false;  ///< followed by "name" or <name>
  size_t begin = 0, end = 0;
};

Directive directive_in(std::string_view line) {
  const auto skip = [&](size_t i) {
    return std::min(line.find_first_not_of(" \t\f\v", i), line.size());
  };
  Directive found;
  size_t i = skip(0);
  // The digraph for '#'.
  if (line.substr(i).starts_with("%:")) {
    i += 2;
  } else if (i < line.size() && line[i] == '#') {
    i += 1;
  } else {
    return found;
  }
  i = skip(i);
  constexpr std::string_view kWord = "include";
  // "#inc\" and the rest on the next line, or comments in between.
  const bool odd = line.find('\\', i) != std::string_view::npos && line.back() == '\\' &&
                   kWord.starts_with(line.substr(i, std::min(line.size() - 1 - i, kWord.size())));
  const bool comment = line.substr(i).starts_with("/*");
  found.include = line.substr(i).starts_with(kWord) || odd || comment;
  if (!found.include || odd || comment) return found;
  i = skip(i + kWord.size());
  if (i >= line.size() || (line[i] != '"' && line[i] != '<')) return found;
  const size_t end = line.find(line[i] == '"' ? '"' : '>', i + 1);
  if (end == std::string_view::npos) return found;
  found.literal = true;
  found.begin = i;
  found.end = end + 1;
  return found;
}

bool is_plain(std::string_view name) {
  return !name.empty() && name[0] != '/' && name.find("..") == std::string_view::npos &&
         name.find('\\') == std::string_view::npos;
}

class Resolver {
 public:
  explicit Resolver(const CudaSource& source) : source_(source) {}

  Included run() {
    result_.text = rewrite(source_.text, source_.file, source_.first_line, 0);
    return std::move(result_);
  }

 private:
  std::string rewrite(const std::string& text, const std::string& file, int first_line,
                      size_t depth) {
    std::string out;
    int number = first_line;
    for (size_t at = 0; at < text.size(); ++number) {
      const size_t end = std::min(text.find('\n', at), text.size());
      out += line(std::string_view(text).substr(at, end - at), file, number, depth);
      if (end < text.size()) out += '\n';
      at = end + 1;
    }
    return out;
  }

  std::string line(std::string_view text, const std::string& file, int number, size_t depth) {
    const Directive found = directive_in(text);
    const auto refuse = [&](const std::string& why) {
      result_.errors.push_back(
          {.severity = "error", .file = shown(file), .line = number, .message = why});
      return std::string(text);
    };
    if (!found.include) return std::string(text);
    if (!found.literal) return refuse("#include takes \"name\" or <name> here, on one line");
    const std::string name(text.substr(found.begin + 1, found.end - found.begin - 2));
    if (!is_plain(name)) return refuse("#include of '" + shown(name) + "': not a plain name");
    const auto resolved = source_.include ? source_.include(name, file) : std::nullopt;
    if (!resolved) return std::string(text);
    if (depth >= kMostDepth)
      return refuse("includes are nested too deeply at '" + shown(name) + "'");
    if (!result_.headers.contains(resolved->first)) {
      result_.headers[resolved->first];  // known, so that a file that includes itself ends
      result_.headers[resolved->first] = rewrite(resolved->second, resolved->first, 1, depth + 1);
    }
    return std::string(text.substr(0, found.begin)) + '"' + resolved->first + '"' +
           std::string(text.substr(found.end));
  }

  const CudaSource& source_;
  Included result_;
};

}  // namespace

// Declarations of nvrtc.h, which is not there where kbench is built.
using Program = struct NvrtcProgram*;
constexpr int kOutOfMemory = 1;
constexpr int kCompilation = 6;
constexpr int kNameExpression = 8;  // NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION and behind
constexpr int kFirstVersion = 11;

struct NvrtcCalls {
  int (*version)(int*, int*) = nullptr;
  const char* (*error)(int) = nullptr;
  int (*archs_count)(int*) = nullptr;
  int (*archs)(int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*add_name)(Program, const char*) = nullptr;
  int (*lowered_name)(Program, const char*, const char**) = nullptr;

  bool fill(const Library& from) {
    return from.get("nvrtcVersion", version) && from.get("nvrtcGetErrorString", error) &&
           from.get("nvrtcGetNumSupportedArchs", archs_count) &&
           from.get("nvrtcGetSupportedArchs", archs) && from.get("nvrtcCreateProgram", create) &&
           from.get("nvrtcDestroyProgram", destroy) && from.get("nvrtcCompileProgram", compile) &&
           from.get("nvrtcGetPTXSize", ptx_size) && from.get("nvrtcGetPTX", ptx) &&
           from.get("nvrtcGetProgramLogSize", log_size) && from.get("nvrtcGetProgramLog", log) &&
           from.get("nvrtcAddNameExpression", add_name) &&
           from.get("nvrtcGetLoweredName", lowered_name);
  }
};

static std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  for (const std::string& text : texts) result.push_back(text.c_str());
  return result;
}

std::string ComputeCapability::architecture() const {
  return "sm_" + std::to_string(major) + std::to_string(minor) + (major >= 9 ? "a" : "");
}

std::string ComputeCapability::virtual_architecture() const {
  return "compute_" + architecture().substr(3);
}

struct Nvrtc::State {
  Library library;
  NvrtcCalls calls;
  int major = 0, minor = 0;
  std::vector<int> architectures;  // 90 for sm_90
  std::vector<std::string> include;

  explicit State(const std::vector<std::string>& names) : library(names) {}

  void check(int result, const char* call) const {
    if (result == kSuccess) return;
    const char* text = calls.error(result);
    throw Error(result == kOutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kInternal,
                std::string(call) + " gave " + (text ? text : std::to_string(result)));
  }
  std::vector<std::string> options(const CudaSource& source, const std::string& architecture) const;
  std::string log_of(Program program) const;
};

Nvrtc::Nvrtc(const Toolkit& toolkit, const ToolkitPlaces& places)
    : state_(std::make_unique<State>(toolkit.nvrtc.empty() ? nvrtc_names()
                                                           : std::vector{toolkit.nvrtc})) {
  State& s = *state_;
  if (!s.library.there()) {
    throw Error(ErrorCode::kUnsupported,
                "CUDA C++ takes NVIDIA's NVRTC (libnvrtc.so), which is not on this machine (looked "
                "in: " +
                    searched(places) + "; " + s.library.reason() + ")");
  }
  if (!s.calls.fill(s.library) || s.calls.version(&s.major, &s.minor) != kSuccess ||
      s.major < kFirstVersion) {
    throw Error(ErrorCode::kUnsupported,
                "'" + s.library.name() + "' is no NVRTC of version 11 or later");
  }
  int count = 0;
  s.check(s.calls.archs_count(&count), "nvrtcGetNumSupportedArchs");
  s.architectures.resize(static_cast<size_t>(std::max(count, 0)));
  if (count > 0) s.check(s.calls.archs(s.architectures.data()), "nvrtcGetSupportedArchs");
  s.include = toolkit.include;
}

Nvrtc::~Nvrtc() = default;

std::string Nvrtc::version() const {
  return std::to_string(state_->major) + "." + std::to_string(state_->minor);
}
const std::string& Nvrtc::library() const { return state_->library.name(); }
bool Nvrtc::has_headers() const { return !state_->include.empty(); }

/// Macros with parameters are put before the text: NVRTC documents --define-macro for names alone.
static bool has_parameters(const std::string& macro) {
  return macro.find('(') != std::string::npos;
}

static std::string with_macros(const CudaSource& source, const std::string& text) {
  std::string lines;
  for (const auto& [name, value] : source.macros) {
    if (has_parameters(name)) lines += "#define " + name + " " + value + "\n";
  }
  return lines.empty() ? text : lines + "#line 1\n" + text;
}

std::vector<std::string> Nvrtc::State::options(const CudaSource& source,
                                               const std::string& architecture) const {
  std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--std=c++17",
                                      "-default-device"};
  if (major >= 12) options[1] = "--std=c++20";
  if (source.line_info) options.push_back("--generate-line-info");
  // With a cache on disk one candidate could prepare the next, and messages would not come again.
  if (major > 12 || (major == 12 && minor >= 9)) options.push_back("--no-cache");
  for (const std::string& folder : include) options.push_back("--include-path=" + folder);
  for (const auto& [name, value] : source.macros) {
    if (has_parameters(name)) continue;
    options.push_back("--define-macro=" + name + "=" + value);
  }
  return options;
}

std::string Nvrtc::State::log_of(Program program) const {
  size_t size = 0;
  check(calls.log_size(program, &size), "nvrtcGetProgramLogSize");
  std::string log(size, '\0');
  if (size > 0) check(calls.log(program, log.data()), "nvrtcGetProgramLog");
  log.resize(std::min(log.find('\0'), log.size()));
  return log;
}

CudaOutcome Nvrtc::compile(const CudaSource& source, const ComputeCapability& device) const {
  const State& s = *state_;
  const int number = device.major * 10 + device.minor;
  if (std::find(s.architectures.begin(), s.architectures.end(), number) == s.architectures.end()) {
    throw Error(ErrorCode::kUnsupported, "NVRTC " + version() + " does not compile for sm_" +
                                             std::to_string(number) + ", which the device is");
  }
  CudaOutcome outcome;
  Included included = resolve_includes(source);
  if (!included.errors.empty()) {
    outcome.diagnostics = std::move(included.errors);
    return outcome;
  }
  std::vector<std::string> names, texts;
  for (auto& [name, text] : included.headers) {
    names.push_back(name);
    texts.push_back(std::move(text));
  }
  Program made = nullptr;
  const std::string file = source.file.empty() ? "kernel.cu" : source.file;
  const std::string place =
      source.line_info ? "#line " + std::to_string(source.first_line) + " \"" + file + "\"\n" : "";
  const std::string text = with_macros(source, place + included.text);
  s.check(s.calls.create(&made, text.c_str(), file.c_str(), static_cast<int>(names.size()),
                         pointers(texts).data(), pointers(names).data()),
          "nvrtcCreateProgram");
  const auto destroy = [&s](Program program) { s.calls.destroy(&program); };
  const std::unique_ptr<NvrtcProgram, decltype(destroy)> program(made, destroy);
  if (!source.entry.empty()) {
    s.check(s.calls.add_name(program.get(), source.entry.c_str()), "nvrtcAddNameExpression");
  }
  const std::vector<std::string> options = s.options(source, device.virtual_architecture());
  const int result =
      s.calls.compile(program.get(), static_cast<int>(options.size()), pointers(options).data());
  outcome.diagnostics = parse_nvrtc_log(s.log_of(program.get()), file, source.first_line);
  if (result == kCompilation || result >= kNameExpression) {
    if (outcome.diagnostics.empty()) {
      outcome.diagnostics.push_back(
          {.severity = "error", .file = file, .message = "NVRTC failed without a message"});
    }
    return outcome;
  }
  s.check(result, "nvrtcCompileProgram");
  size_t size = 0;
  s.check(s.calls.ptx_size(program.get(), &size), "nvrtcGetPTXSize");
  outcome.ptx.resize(size);
  s.check(s.calls.ptx(program.get(), outcome.ptx.data()), "nvrtcGetPTX");
  outcome.ptx.resize(std::min(outcome.ptx.find('\0'), outcome.ptx.size()));
  if (!source.entry.empty()) {
    const char* lowered = nullptr;
    s.check(s.calls.lowered_name(program.get(), source.entry.c_str(), &lowered),
            "nvrtcGetLoweredName");
    outcome.entry = lowered ? lowered : "";
  }
  return outcome;
}

Included resolve_includes(const CudaSource& source) { return Resolver(source).run(); }

}  // namespace kbench::cuda
