// Clues: what a candidate's text, its result and the evidence say of a mistake's cause. A clue is
// the words that a hint has in place of its {}; a clue that needs no words is empty. Nothing is
// returned where the mistake is not there. Words of the candidate are escaped here.
#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <set>
#include <utility>

#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/feedback/parts.h"

namespace kbench {
namespace {

using Tokens = std::vector<std::string_view>;
using Language = Kernel::Language;

constexpr size_t kNameBytes = 60;

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return has(text, part); });
}

bool has_word(std::string_view text, std::string_view word) {
  return find_word(text, word) != text.npos;
}

/// All of the candidate's code, with its includes, without comments: of a ModelNew without
/// Python's, and so without the directives of the kernels in its strings.
std::string all_code(const Facts& facts) {
  if (!facts.candidate) return "";
  std::string code;
  for (const Kernel& kernel : facts.candidate->kernels) {
    code +=
        without_comments(kernel.source, kernel.language == Language::triton ? Comments::of_python
                                                                            : Comments::of_c) +
        "\n";
  }
  for (const auto& [path, text] : facts.candidate->includes) {
    code += without_comments(text, Comments::of_c) + "\n";
  }
  if (const TorchModule* module = facts.module()) {
    code += without_comments(module->source, Comments::of_python);
  }
  return code;
}

/// Words, and each other character that is no blank by itself.
Tokens tokens_of(std::string_view text) {
  Tokens tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (is_word_character(text[i])) {
      while (end < text.size() && is_word_character(text[end])) ++end;
    }
    if (std::isspace(static_cast<unsigned char>(text[i])) == 0) {
      tokens.push_back(text.substr(i, end - i));
    }
    i = end;
  }
  return tokens;
}

std::string_view token(const Tokens& tokens, size_t at) {
  return at < tokens.size() ? tokens[at] : std::string_view();
}

/// Limits on what is read, so that no text takes long: tokens of one declaration or expression, and
/// declarations in all.
constexpr size_t kMostTokens = 400, kMostDeclarations = 200;

/// The place behind the bracket that closes the one at `open`; where none does, the last read.
size_t behind_bracket(const Tokens& tokens, size_t open) {
  const size_t last = std::min(tokens.size(), open + kMostTokens);
  int depth = 0;
  for (size_t i = open; i < last; ++i) {
    if (tokens[i] == "(" || tokens[i] == "[" || tokens[i] == "{") ++depth;
    if ((tokens[i] == ")" || tokens[i] == "]" || tokens[i] == "}") && --depth == 0) return i + 1;
  }
  return last;
}

/// Whether `name[...]` is the left side of an assignment, or what an atomic function changes.
bool is_stored_to(const Tokens& tokens, std::string_view name) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i] != name || tokens[i + 1] != "[") continue;
    if (i > 1 && tokens[i - 1] == "(" && tokens[i - 2].starts_with("atomic")) return true;
    size_t at = behind_bracket(tokens, i + 1);
    if (token(tokens, at) == ".") at += 2;
    const std::string_view first = token(tokens, at), second = token(tokens, at + 1);
    if (first == "=" && second != "=") return true;
    if (!first.empty() && has("+-*/|&^", first) && second == "=") return true;
  }
  return false;
}

/// Whether GLSL's `shared float tile[64];` is there; `layout(shared)` is another thing.
bool declares_shared(const Tokens& tokens) {
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    const bool in_layout = i > 0 && (tokens[i - 1] == "(" || tokens[i - 1] == ",");
    if (tokens[i] == "shared" && !in_layout && is_word_character(tokens[i + 1][0]) &&
        is_word_character(tokens[i + 2][0])) {
      return true;
    }
  }
  return false;
}

/// Whether the code has a function or a macro of this name: then it is none of another language.
bool defines_name(std::string_view code, std::string_view name) {
  const Tokens tokens = tokens_of(code);
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i] != name) continue;
    const std::string_view before = tokens[i - 1];
    if (before == "define") return true;
    if (tokens[i + 1] == "(" && is_word_character(before[0]) && before != "return") return true;
  }
  return false;
}

/// A buffer as a kernel declares it, and the one that a step gives it there.
struct DeclaredBuffer {
  size_t step = 0;
  std::string kernel, place;  ///< "relu"; "binding 1", "parameter 2"
  std::string name, type;     ///< "y", "float16_t"
  bool stored = false;        ///< the kernel's text stores to it
  const BufferSlot* given = nullptr;
};

struct Declaration {
  size_t index;
  std::string_view name, type;
};

/// `layout(binding = 1) readonly buffer Y { float y[]; };` in GLSL.
std::vector<Declaration> glsl_buffers(const Tokens& tokens) {
  std::vector<Declaration> found;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i] != "layout" || tokens[i + 1] != "(") continue;
    if (found.size() >= kMostDeclarations) break;
    const size_t behind = behind_bracket(tokens, i + 1);
    size_t binding = 0;
    bool numbered = false, other_set = false;
    for (size_t k = i; k < behind; ++k) {
      if (token(tokens, k + 1) != "=") continue;
      if (tokens[k] == "binding") numbered = read_number(token(tokens, k + 2), binding);
      if (tokens[k] == "set") other_set = token(tokens, k + 2) != "0";
    }
    bool buffer = false;
    size_t at = behind;
    const size_t last = std::min(tokens.size(), behind + kMostTokens);
    for (; at < last && tokens[at] != "{" && tokens[at] != ";"; ++at) {
      buffer = buffer || tokens[at] == "buffer";
    }
    if (!numbered || other_set || !buffer || token(tokens, at) != "{") continue;
    static const std::set<std::string_view> kQualifiers = {"readonly", "writeonly", "restrict",
                                                           "coherent", "volatile"};
    do ++at;
    while (kQualifiers.contains(token(tokens, at)));
    if (token(tokens, at + 2) != "[") continue;  // It has other members before its array.
    found.push_back({binding, tokens[at + 1], tokens[at]});
  }
  return found;
}

/// The pointers among the parameters of `__global__ void k(const float* x, float* y, int n)`.
std::vector<Declaration> cuda_pointers(const Tokens& tokens, std::string_view entry) {
  std::vector<Declaration> found;
  int kernels = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != "__global__") continue;
    ++kernels;
    const size_t last = std::min(tokens.size(), i + kMostTokens);
    size_t open = i + 1;
    while (open < last && tokens[open] != "(") ++open;
    if (token(tokens, open - 1) == "__launch_bounds__") {
      open = behind_bracket(tokens, open);
      while (open < last && tokens[open] != "(") ++open;
    }
    const bool is_entry = token(tokens, open - 1) == entry;
    if (kernels > 1 && !is_entry) continue;
    found.clear();
    const size_t end = behind_bracket(tokens, open);
    size_t index = 0, from = open + 1;
    for (size_t at = from; at < end; ++at) {
      if (tokens[at] != "," && at + 1 != end) continue;
      const Tokens words(tokens.begin() + static_cast<std::ptrdiff_t>(from),
                         tokens.begin() + static_cast<std::ptrdiff_t>(at));
      from = at + 1;
      static const std::set<std::string_view> kQualifiers = {"const", "volatile", "__restrict__",
                                                             "__grid_constant__"};
      const auto type = std::ranges::find_if(
          words, [](std::string_view word) { return !kQualifiers.contains(word); });
      if (std::ranges::count(words, "*") == 1 && type != words.end()) {
        found.push_back({index, words.back(), *type});
      }
      ++index;
    }
    if (is_entry) break;
  }
  if (kernels > 1 && entry.empty()) found.clear();  // Which of them it is is not known.
  return found;
}

/// The buffers of the first steps, as far as the kernels' declarations of them can be read.
std::vector<DeclaredBuffer> declared_buffers(const Facts& facts) {
  std::vector<DeclaredBuffer> all;
  if (!facts.resolved) return all;
  constexpr size_t kMostSteps = 32;
  std::set<size_t> seen;
  for (const ResolvedStep& step : facts.resolved->dispatch) {
    if (step.kernel < 0 || seen.size() >= kMostSteps || !seen.insert(step.step).second) continue;
    const Kernel& kernel = *facts.resolved->kernels[static_cast<size_t>(step.kernel)].kernel;
    const bool cuda = kernel.language == Language::cuda;
    if (!cuda && kernel.language != Language::glsl) continue;
    const std::string code = without_comments(kernel.source, Comments::of_c);
    const Tokens tokens = tokens_of(code);
    std::vector<int> buffers = step.bind;
    if (cuda) {
      buffers.clear();
      for (const ResolvedArgument& argument : step.arguments) buffers.push_back(argument.buffer);
    }
    for (const Declaration& each :
         cuda ? cuda_pointers(tokens, kernel.entry) : glsl_buffers(tokens)) {
      if (each.index >= buffers.size() || buffers[each.index] < 0) continue;
      if (all.size() >= kMostDeclarations) return all;
      all.push_back({step.step, shown(kernel.name, kNameBytes),
                     cuda ? "parameter " + std::to_string(each.index + 1)
                          : "binding " + std::to_string(each.index),
                     std::string(each.name), std::string(each.type),
                     is_stored_to(tokens, each.name),
                     &facts.resolved->buffers[static_cast<size_t>(buffers[each.index])]});
    }
  }
  return all;
}

struct ElementType {
  const char* name;
  int bytes;
  bool real;
};
/// Vectors stand with the type of their elements.
constexpr ElementType kElementTypes[] = {
    {"float", 4, true},          {"vec2", 4, true},       {"vec3", 4, true},
    {"vec4", 4, true},           {"float2", 4, true},     {"float4", 4, true},
    {"double", 8, true},         {"dvec2", 8, true},      {"double2", 8, true},
    {"float16_t", 2, true},      {"f16vec2", 2, true},    {"f16vec4", 2, true},
    {"half", 2, true},           {"__half", 2, true},     {"half2", 2, true},
    {"__half2", 2, true},        {"bfloat16_t", 2, true}, {"__nv_bfloat16", 2, true},
    {"__nv_bfloat162", 2, true}, {"int", 4, false},       {"uint", 4, false},
};

std::string described(const DeclaredBuffer& each) {
  return "kernel " + each.kernel + " has " + shown(each.type, kNameBytes) + " " +
         shown(each.name, kNameBytes) + "[] at " + each.place + ", and its step gives it " +
         shown(each.given->name, kNameBytes) + ", whose elements are " +
         std::string(name_of(each.given->type.dtype));
}

bool is_task_input(const BufferSlot& slot) {
  return slot.kind == BufferSlot::Kind::input || slot.kind == BufferSlot::Kind::parameter;
}

/// The lines of the files that errors are about.
std::vector<std::string> lines_with_errors(const Facts& facts) {
  std::vector<std::string> lines;
  for (const Diagnostic& each : facts.result.diagnostics) {
    if (each.severity != "error") continue;
    lines.push_back(without_comments(source_line(facts, each.file, each.line), Comments::of_c));
  }
  return lines;
}

}  // namespace

Clue warned_of_barrier(const Facts& facts) {
  for (const Diagnostic& each : facts.result.diagnostics) {
    if (each.severity != "warning" || !has(each.message, "a barrier that may be skipped")) {
      continue;
    }
    const size_t folder = each.file.rfind('/');  // npos + 1 is 0
    return shown(each.file.substr(folder + 1), kNameBytes) + ":" + std::to_string(each.line);
  }
  return std::nullopt;
}

Clue shares_without_barrier(const Facts& facts) {
  const std::string code = all_code(facts);
  const bool cuda = has_word(code, "__shared__");
  const bool shared = cuda || has_word(code, "groupshared") ||
                      (!facts.module() && declares_shared(tokens_of(code)));
  const bool waits = has_any(
      facts.module() ? facts.module()->source : code,
      {"barrier", "Barrier", "__sync", ".sync", "cooperative_groups", "cuda::", "cub::", "asm"});
  if (!shared || waits) return std::nullopt;
  return cuda                            ? "__syncthreads()"
         : has_word(code, "groupshared") ? "GroupMemoryBarrierWithGroupSync()"
                                         : "barrier()";
}

Clue races(const Facts& facts) { return facts.evidence.racing > 0 ? Clue("") : std::nullopt; }

Clue adds_in_place(const Facts& facts) {
  const std::string code = all_code(facts);
  if (has(code, "atomic")) return std::nullopt;
  const Tokens tokens = tokens_of(code);
  for (const DeclaredBuffer& each : declared_buffers(facts)) {
    if (is_task_input(*each.given)) continue;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i] != each.name || tokens[i + 1] != "[") continue;
      const size_t behind = behind_bracket(tokens, i + 1);
      if (token(tokens, behind) == "+" && token(tokens, behind + 1) == "=") {
        return shown(each.name, kNameBytes) + "[...] += ...";
      }
    }
  }
  return std::nullopt;
}

Clue stores_where_an_input_is(const Facts& facts) {
  const std::vector<DeclaredBuffer> all = declared_buffers(facts);
  for (const DeclaredBuffer& each : all) {
    if (!each.stored || !is_task_input(*each.given)) continue;
    for (const DeclaredBuffer& other : all) {
      if (other.step != each.step || other.stored || is_task_input(*other.given)) continue;
      return "kernel " + each.kernel + " stores to " + shown(each.name, kNameBytes) + "[], " +
             each.place + ", and its step gives " + shown(each.given->name, kNameBytes) +
             " there; " + shown(other.given->name, kNameBytes) + " is given at " + other.place +
             ", where nothing is stored";
    }
  }
  return std::nullopt;
}

Clue stores_to_an_input(const Facts& facts) {
  if (stores_where_an_input_is(facts)) return std::nullopt;
  for (const DeclaredBuffer& each : declared_buffers(facts)) {
    if (!each.stored || !is_task_input(*each.given)) continue;
    return "kernel " + each.kernel + " stores to " + shown(each.name, kNameBytes) + "[], " +
           each.place + ", and its step gives " + shown(each.given->name, kNameBytes) + " there";
  }
  return std::nullopt;
}

Clue names_are_crossed(const Facts& facts) {
  const std::vector<DeclaredBuffer> all = declared_buffers(facts);
  for (const DeclaredBuffer& a : all) {
    for (const DeclaredBuffer& b : all) {
      // Two temporaries may change places from step to step.
      if (a.step != b.step || a.given->kind == BufferSlot::Kind::temporary) continue;
      if (lowered(a.name) == lowered(a.given->name)) continue;
      if (lowered(a.name) != lowered(b.given->name) || lowered(b.name) != lowered(a.given->name)) {
        continue;
      }
      return "kernel " + a.kernel + " calls " + a.place + " " + shown(a.name, kNameBytes) +
             " and " + b.place + " " + shown(b.name, kNameBytes) + ", and its step gives " +
             shown(a.given->name, kNameBytes) + " and " + shown(b.given->name, kNameBytes);
    }
  }
  return std::nullopt;
}

Clue another_element_type(const Facts& facts) {
  for (const DeclaredBuffer& each : declared_buffers(facts)) {
    const auto type = std::ranges::find_if(
        kElementTypes, [&](const ElementType& known) { return known.name == each.type; });
    if (type == std::end(kElementTypes)) continue;
    const DType dtype = each.given->type.dtype;
    const bool real = dtype == DType::f32 || dtype == DType::f64 || is_half(dtype);
    const auto bytes = static_cast<int>(size_of(dtype));
    // Integers over floats are mostly meant: their bits are read, or two halves as one word.
    const bool other =
        real ? type->real && type->bytes != bytes : dtype == DType::i64 && type->bytes < bytes;
    if (other) return described(each);
  }
  return std::nullopt;
}

Clue lacks_extension(const Facts& facts) {
  struct Needing {
    const char* word;
    const char* extension;
    const char* also;  ///< another that has it too
  };
  constexpr Needing kNeeding[] = {
      {"float16_t", "GL_EXT_shader_explicit_arithmetic_types_float16",
       "GL_EXT_shader_16bit_storage"},
      {"f16vec2", "GL_EXT_shader_explicit_arithmetic_types_float16", "GL_EXT_shader_16bit_storage"},
      {"f16vec4", "GL_EXT_shader_explicit_arithmetic_types_float16", "GL_EXT_shader_16bit_storage"},
      {"int16_t", "GL_EXT_shader_explicit_arithmetic_types_int16", "GL_EXT_shader_16bit_storage"},
      {"uint16_t", "GL_EXT_shader_explicit_arithmetic_types_int16", "GL_EXT_shader_16bit_storage"},
      {"int8_t", "GL_EXT_shader_explicit_arithmetic_types_int8", "GL_EXT_shader_8bit_storage"},
      {"uint8_t", "GL_EXT_shader_explicit_arithmetic_types_int8", "GL_EXT_shader_8bit_storage"},
      {"int64_t", "GL_EXT_shader_explicit_arithmetic_types_int64", "GL_ARB_gpu_shader_int64"},
      {"uint64_t", "GL_EXT_shader_explicit_arithmetic_types_int64", "GL_ARB_gpu_shader_int64"},
      {"buffer_reference", "GL_EXT_buffer_reference", "GL_EXT_buffer_reference2"},
      {"subgroupAdd", "GL_KHR_shader_subgroup_arithmetic", ""},
      {"subgroupMax", "GL_KHR_shader_subgroup_arithmetic", ""},
      {"subgroupMin", "GL_KHR_shader_subgroup_arithmetic", ""},
      {"subgroupShuffle", "GL_KHR_shader_subgroup_shuffle", ""},
      {"subgroupShuffleXor", "GL_KHR_shader_subgroup_shuffle", ""},
      {"subgroupBroadcast", "GL_KHR_shader_subgroup_ballot", ""},
  };
  const std::string code = all_code(facts);
  for (const std::string& line : lines_with_errors(facts)) {
    for (const Needing& each : kNeeding) {
      // The last two extensions bring many types at once.
      const bool there =
          has_word(code, each.extension) || (*each.also != '\0' && has_word(code, each.also)) ||
          has_word(code, "GL_EXT_shader_explicit_arithmetic_types") || has(code, "gpu_shader");
      if (there || !has_word(line, each.word) || defines_name(code, each.word)) continue;
      return std::string(each.word) + " needs `#extension " + each.extension + " : require`";
    }
  }
  return std::nullopt;
}

Clue speaks_cuda(const Facts& facts) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"float2", "vec2"},
      {"float3", "vec3"},
      {"float4", "vec4"},
      {"int4", "ivec4"},
      {"uint4", "uvec4"},
      {"make_float4", "vec4"},
      {"__half", "float16_t, with its extension"},
      {"rsqrtf", "inversesqrt"},
      {"rsqrt", "inversesqrt"},
      {"sqrtf", "sqrt"},
      {"expf", "exp"},
      {"__expf", "exp"},
      {"logf", "log"},
      {"tanhf", "tanh"},
      {"powf", "pow"},
      {"fabsf", "abs"},
      {"fabs", "abs"},
      {"fmaxf", "max"},
      {"fmax", "max"},
      {"fminf", "min"},
      {"fmin", "min"},
      {"fmaf", "fma"},
      {"atan2", "atan(y, x)"},
      {"lerp", "mix"},
      {"saturate", "clamp(x, 0.0, 1.0)"},
      {"__syncthreads", "barrier()"},
      {"GroupMemoryBarrierWithGroupSync", "barrier()"},
      {"threadIdx", "gl_LocalInvocationID"},
      {"blockIdx", "gl_WorkGroupID"},
      {"blockDim", "gl_WorkGroupSize"},
      {"gridDim", "gl_NumWorkGroups"},
      {"__shared__", "shared"},
      {"static_cast", "a constructor, as in float(x)"}};
  const std::string code = all_code(facts);
  for (const std::string& line : lines_with_errors(facts)) {
    for (const auto& [theirs, ours] : kNames) {
      if (!has_word(line, theirs) || defines_name(code, theirs)) continue;
      return std::string(theirs) + " is " + ours;
    }
  }
  return std::nullopt;
}

Clue names_a_variable(const Facts& facts) {
  if (!facts.graph) return std::nullopt;
  for (const Diagnostic& each : facts.result.diagnostics) {
    if (each.severity != "error") continue;
    for (const std::string_view word : words_in(each.message)) {
      const std::string name(word);
      if (!has_any(each.message, {"'" + name + "'", "\"" + name + "\""})) continue;
      for (const auto& [variable, value] : facts.graph->variables()) {
        if (lowered(name) == lowered(variable)) return "KB_" + variable;
      }
    }
  }
  return std::nullopt;
}

Clue writes_halves(const Facts& facts) {
  if (is_half(facts.result.dtype)) return std::nullopt;
  const std::string code = all_code(facts);
  for (const char* word : {".half()", "autocast", "torch.float16", "torch.bfloat16", ".bfloat16()",
                           "tl.float16", "tl.bfloat16", "__half", "float16_t"}) {
    if (has(code, word)) return word;
  }
  return std::nullopt;
}

Clue dots_in_tf32(const Facts& facts) {
  if (is_half(facts.result.dtype)) return std::nullopt;
  const std::string code = all_code(facts);
  const bool dots = has(code, "tl.dot(") && !has(code, "ieee");
  return dots || has(code, "allow_tf32") ? Clue("") : std::nullopt;
}

Clue works_in_place(const Facts& facts) {
  const std::string code = all_code(facts);
  for (const char* name : {"relu_", "add_", "mul_", "sub_", "div_", "clamp_", "sigmoid_", "tanh_",
                           "exp_", "masked_fill_", "copy_", "zero_", "fill_"}) {
    if (has_word(code, name)) return std::string(name) + "()";
  }
  for (const char* argument : {"inplace=True", " out=", "(out="}) {
    if (has(code, argument)) return std::string(trimmed(argument));
  }
  return std::nullopt;
}

Clue masks_nothing(const Facts& facts) {
  const std::string code = all_code(facts);
  const bool triton = has_any(code, {"tl.store(", "tl.load("});
  const bool tests = has_any(code, {"mask", "boundary_check", "descriptor"});
  return triton && !tests ? Clue("") : std::nullopt;
}

Clue reads_what_it_did_not_write(const Facts& facts) {
  const bool seen = has_any(facts.evidence.pattern, {"memory that is read before it is written",
                                                     "not the same in two runs"}) ||
                    has_any(facts.result.message, {"what it had not written held"});
  return seen && facts.evidence.racing == 0 ? Clue("") : std::nullopt;
}

Clue repeats_its_first_output(const Facts& facts) {
  return facts.evidence.repeats_first ? Clue("") : std::nullopt;
}

Clue is_wrong_on_other_inputs(const Facts& facts) {
  const Evidence& seen = facts.evidence;
  return seen.wrong_on_other_inputs && !seen.repeats_first ? Clue("") : std::nullopt;
}

/// At most one element in a hundred, or a single one.
Clue few_are_wrong(const Facts& facts) {
  constexpr int64_t kFew = 100;
  const Evidence& seen = facts.evidence;
  const bool few = seen.wrong > 0 && seen.wrong <= std::max<int64_t>(1, seen.elements / kFew);
  return few ? Clue("") : std::nullopt;
}

Clue launches_too_few(const Facts& facts) {
  if (!facts.resolved) return std::nullopt;
  const std::vector<DeclaredBuffer> all = declared_buffers(facts);
  for (const ResolvedStep& step : facts.resolved->dispatch) {
    if (step.kernel < 0) continue;
    const ResolvedKernel& kernel = facts.resolved->kernels[static_cast<size_t>(step.kernel)];
    if (kernel.kernel->language == Language::triton) continue;
    const auto invocations = invocations_of(step, workgroup_of(step, kernel));
    if (!invocations) continue;
    double elements = 0;
    for (const DeclaredBuffer& each : all) {
      if (each.stored && each.given->kind == BufferSlot::Kind::output && each.step == step.step) {
        elements = static_cast<double>(each.given->type.elements());
      }
    }
    // A kernel whose invocations store several elements launches far fewer.
    if (*invocations < elements && 2 * *invocations > elements) {
      return short_number(*invocations) + " invocations for " + short_number(elements) +
             " elements";
    }
  }
  return std::nullopt;
}

}  // namespace kbench
