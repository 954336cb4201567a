#include "harness/measure/vulkan/compiler.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <shaderc/shaderc.hpp>
#include <sstream>
#include <utility>

#include "kbench/error.h"
#include "libkbench/base/compiler_messages.h"
#include "libkbench/base/text.h"

// The section into which the link of kbench puts constructors that can wait; null elsewhere.
extern "C" {
using LateConstructor = void();
[[gnu::weak]] extern LateConstructor* __start_kbench_late_init[];
[[gnu::weak]] extern LateConstructor* __stop_kbench_late_init[];
}

namespace kbench::vulkan {

namespace {

std::optional<Diagnostic> parse_one(const std::string& text) {
  size_t at = std::string::npos;
  Diagnostic diagnostic;
  size_t message = 0;
  for (const char* severity : {"error", "warning", "note"}) {
    const std::string mark = ": " + std::string(severity) + ": ";
    const size_t found = text.find(mark);
    if (found >= at) continue;
    at = found;
    diagnostic.severity = severity;
    message = found + mark.size();
  }
  if (at == std::string::npos) return std::nullopt;
  diagnostic.file = text.substr(0, at);
  diagnostic.message = text.substr(message);
  const size_t colon = diagnostic.file.rfind(':');
  if (colon != std::string::npos) {
    if (const auto line = line_number(diagnostic.file.substr(colon + 1))) {
      diagnostic.line = *line;
      diagnostic.file.resize(colon);
    }
  }
  return diagnostic;
}

}  // namespace

std::vector<Diagnostic> parse_diagnostics(const std::string& text, const std::string& file,
                                          int first_line) {
  CompilerMessages messages(file, first_line);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (auto diagnostic = parse_one(line)) {
      messages.add(*std::move(diagnostic));
    } else {
      messages.continue_with(line);
    }
  }
  return messages.finish();
}

using Include = std::optional<std::pair<std::string, std::string>>;

/// One #include as it was resolved: what a cached outcome depends on beside its source.
struct ResolvedInclude {
  std::string name, from;
  Include resolved;
};

namespace {

constexpr size_t kMaxIncludeDepth = 32;

Include resolve(const ShaderSource& source, const std::string& name, const std::string& from) {
  return source.include ? source.include(name, from) : std::nullopt;
}

/// Hands shaderc the files of ShaderSource::include and keeps note of them.
class Includer : public shaderc::CompileOptions::IncluderInterface {
 public:
  Includer(const ShaderSource& source, std::vector<ResolvedInclude>& seen)
      : source_(source), seen_(seen) {}

  shaderc_include_result* GetInclude(const char* name, shaderc_include_type, const char* from,
                                     size_t depth) override {
    auto held = std::make_unique<Held>();
    Include resolved;
    std::string refusal = "cannot open include file '" + std::string(name) + "'";
    if (depth > kMaxIncludeDepth) {
      refusal = "includes are nested too deeply at '" + std::string(name) + "'";
    } else {
      try {  // shaderc is called through C: nothing may be thrown past it
        resolved = resolve(source_, name, from);
      } catch (const std::exception& error) {
        refusal = error.what();
      }
    }
    seen_.push_back({name, from, resolved});
    // An empty name tells shaderc of a failure; the content is then the message.
    if (resolved) held->path = resolved->first;
    held->content = resolved ? resolved->second : refusal;
    held->result = {.source_name = held->path.c_str(),
                    .source_name_length = held->path.size(),
                    .content = held->content.c_str(),
                    .content_length = held->content.size(),
                    .user_data = held.get()};
    return &held.release()->result;
  }

  void ReleaseInclude(shaderc_include_result* data) override {
    delete static_cast<Held*>(data->user_data);
  }

 private:
  struct Held {
    std::string path, content;
    shaderc_include_result result{};
  };
  const ShaderSource& source_;
  std::vector<ResolvedInclude>& seen_;
};

/// Everything an outcome depends on except what includes resolve to.
std::string cache_key(const ShaderSource& source) {
  std::string key;
  const auto add = [&key](const std::string& field) {
    key += std::to_string(field.size()) + ":" + field;
  };
  add(source.text);
  add(source.file);
  add(source.entry);
  for (const auto& [name, value] : source.macros) {
    add(name);
    add(value);
  }
  add(std::to_string(source.first_line));
  add(source.language == ShaderSource::Language::hlsl ? "hlsl" : "glsl");
  add(source.optimize ? "optimized" : "plain");
  add(source.hlsl_16bit_types ? "16" : "32");
  return key;
}

/// HLSL's front end only warns of a missing entry point and does not name it: makes it an error.
bool name_missing_entry(const ShaderSource& source, std::vector<Diagnostic>& diagnostics) {
  if (source.language != ShaderSource::Language::hlsl) return false;
  for (Diagnostic& each : diagnostics) {
    if (each.message.find("Entry point not found") == std::string::npos) continue;
    each.severity = "error";
    each.message = "has no entry point '" + shown(source.entry, 100) +
                   "'; 'entry' names the function behind [numthreads(...)]";
    return true;
  }
  return false;
}

// --- the #version of a GLSL shader ---------------------------------------------------------------
//
// Checked before compiling: for a version that glslang has no built-in functions for, it prints
// those of other versions.

/// The version of a shader that has no #version.
constexpr int kDefaultGlslVersion = 450;

struct GlslVersion {
  bool stated = false;  ///< the text begins with #version
  int line = 1;         ///< of the directive, or of what is wrong
  std::string error;    ///< what is wrong; empty where nothing is
};

constexpr int kFirstDesktop = 420, kFirstEs = 310;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// What follows "#version" on a line; nothing on another line.
std::optional<std::string_view> directive(std::string_view line) {
  const auto skip = [&line] {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  };
  skip();
  if (!line.starts_with('#')) return std::nullopt;
  line.remove_prefix(1);
  skip();
  constexpr std::string_view kWord = "version";
  if (!line.starts_with(kWord)) return std::nullopt;
  line.remove_prefix(kWord.size());
  if (!line.empty() && !is_blank(line.front())) return std::nullopt;
  skip();
  return line;
}

std::string fault_of(std::string_view stated) {
  int number = 0;
  const auto [end, error] = std::from_chars(stated.data(), stated.data() + stated.size(), number);
  if (error != std::errc()) return "#version is followed by no number; write #version 450";
  const std::string_view profile(end, static_cast<size_t>(stated.data() + stated.size() - end));
  const bool es = profile.find("es") != std::string_view::npos;
  if (number >= (es ? kFirstEs : kFirstDesktop)) return "";
  return "#version " + std::to_string(number) + (es ? " es" : "") +
         " has no compute shaders: they need 420 or later, or 310 es; write #version 450";
}

/// Finds the directive. Wrong are one that is not the first thing in the text, one without a
/// number, and versions without compute shaders.
GlslVersion read_glsl_version(std::string_view text) {
  const std::string plain = without_comments(std::string(text), Comments::of_c);
  GlslVersion found;
  bool first = true;
  int line = 1;
  for (size_t at = 0; at <= plain.size(); ++line) {
    const size_t end = std::min(plain.find('\n', at), plain.size());
    const std::string_view here = std::string_view(plain).substr(at, end - at);
    at = end + 1;
    if (const auto stated = directive(here)) {
      found.line = line;
      found.stated = true;
      found.error = first ? fault_of(*stated)
                          : "#version has to come first: nothing but comments may stand before it";
      return found;
    }
    const bool blank = here.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
    if (!blank) first = false;
  }
  return found;
}

/// glslang makes a table of built-in functions at the first compile of each GLSL version and frees
/// all with the process's last compiler. This one is never destroyed, so that they stay. Without
/// `used` the optimizer drops the pointer, and LeakSanitizer reports the compiler.
void keep_tables() { [[gnu::used]] static const auto* const kKept = new shaderc::Compiler; }

/// Runs the constructors that the link of kbench took out of its start; elsewhere there are none.
void run_late_constructors() {
  [[maybe_unused]] static const bool kDone = [] {
    for (auto each = __start_kbench_late_init; each < __stop_kbench_late_init; ++each) (*each)();
    return true;
  }();
}

}  // namespace

struct ShaderCompiler::State {
  struct Cached {
    std::vector<ResolvedInclude> includes;
    CompileOutcome outcome;

    bool holds_for(const ShaderSource& source) const {
      for (const ResolvedInclude& include : includes) {
        if (resolve(source, include.name, include.from) != include.resolved) return false;
      }
      return true;
    }
  };
  shaderc::Compiler compiler;
  std::map<std::string, Cached> cache;
};

ShaderCompiler::ShaderCompiler() {
  run_late_constructors();
  keep_tables();
  state_ = std::make_unique<State>();
  if (!state_->compiler.IsValid()) {
    throw Error(ErrorCode::kInternal, "shaderc could not be initialized");
  }
}

ShaderCompiler::~ShaderCompiler() = default;

CompileOutcome ShaderCompiler::compile(const ShaderSource& source) {
  const std::string key = cache_key(source);
  const auto known = state_->cache.find(key);
  if (known != state_->cache.end() && known->second.holds_for(source)) {
    return known->second.outcome;
  }
  State::Cached& cached = state_->cache[key] = {};
  const std::string file = source.file.empty() ? "shader" : source.file;
  GlslVersion version;
  if (source.language == ShaderSource::Language::glsl) version = read_glsl_version(source.text);
  if (!version.error.empty()) {
    cached.outcome.diagnostics = {{.severity = "error",
                                   .file = file,
                                   .line = source.first_line + version.line - 1,
                                   .message = version.error}};
    return cached.outcome;
  }

  shaderc::CompileOptions options;
  options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
  // The optimizer drops names of members: it runs below, when they have been read.
  options.SetOptimizationLevel(shaderc_optimization_level_zero);
  // Resources without a binding get the lowest that is free, in the order of declaration.
  options.SetAutoBindUniforms(true);
  options.SetSourceLanguage(source.language == ShaderSource::Language::hlsl
                                ? shaderc_source_language_hlsl
                                : shaderc_source_language_glsl);
  if (source.language == ShaderSource::Language::hlsl) {
    // The HLSL front end declares storage buffers in a way that SPIR-V 1.4 no longer allows.
    options.SetTargetSpirv(shaderc_spirv_version_1_3);
    options.SetHlsl16BitTypes(source.hlsl_16bit_types);
  }
  options.SetIncluder(std::make_unique<Includer>(source, cached.includes));
  for (const auto& [name, value] : source.macros) options.AddMacroDefinition(name, value);

  if (source.language == ShaderSource::Language::glsl && !version.stated) {
    options.SetForcedVersionProfile(kDefaultGlslVersion, shaderc_profile_core);
  }
  const shaderc::SpvCompilationResult result = state_->compiler.CompileGlslToSpv(
      source.text.data(), source.text.size(), shaderc_compute_shader, file.c_str(),
      source.entry.c_str(), options);
  CompileOutcome& outcome = cached.outcome;
  outcome.diagnostics = parse_diagnostics(result.GetErrorMessage(), file, source.first_line);
  const bool lacks_entry = name_missing_entry(source, outcome.diagnostics);
  if (result.GetCompilationStatus() == shaderc_compilation_status_success) {
    outcome.spirv.assign(result.cbegin(), result.cend());
    try {
      outcome.named = reflect_spirv(outcome.spirv);
      if (source.optimize) outcome.spirv = optimize_spirv(outcome.spirv);
    } catch (const Error& error) {
      outcome.spirv.clear();
      outcome.diagnostics.push_back(
          {.severity = "error", .file = file, .message = error.message()});
    }
    if (lacks_entry) outcome.spirv.clear();
  } else if (lacks_entry) {  // name_missing_entry() has said so
  } else if (outcome.diagnostics.empty()) {
    outcome.diagnostics.push_back(
        {.severity = "error", .file = file, .message = "shaderc failed without a message"});
  }
  return outcome;
}

std::optional<std::string> embedded_shader(const std::string& name) {
  for (const EmbeddedShader* shader = kEmbeddedShaders; shader->name; ++shader) {
    if (name == shader->name) return shader->text;
  }
  return std::nullopt;
}

std::optional<std::pair<std::string, std::string>> embedded_include(const std::string& name,
                                                                    const std::string&) {
  std::optional<std::string> text = embedded_shader(name);
  if (!text) return std::nullopt;
  return std::pair(name, std::move(*text));
}

}  // namespace kbench::vulkan
