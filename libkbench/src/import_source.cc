#include "libkbench/src/import_source.h"

#include <algorithm>
#include <array>
#include <set>

#include "kbench/text.h"

namespace kbench::importing {
namespace {

/// Headers that a compiler for the device alone has; the others are PyTorch's and the host's.
constexpr std::array kDeviceHeaders = {
    "cuda_fp16.h",     "cuda_bf16.h",      "cuda_fp8.h",     "mma.h",
    "cuda_pipeline.h", "math_constants.h", "vector_types.h", "cuda_pipeline_primitives.h"};

/// What those other headers gave to device code, each where a word of it is used.
struct Given {
  const char* word;
  const char* text;
};
constexpr std::array kGiven = {
    Given{"FLT_MAX", "#define FLT_MAX 3.402823466e+38f\n"},
    Given{"FLT_MIN", "#define FLT_MIN 1.175494351e-38f\n"},
    Given{"FLT_EPSILON", "#define FLT_EPSILON 1.192092896e-07f\n"},
    Given{"DBL_MAX", "#define DBL_MAX 1.7976931348623158e+308\n"},
    Given{"INFINITY", "#define INFINITY __int_as_float(0x7f800000)\n"},
    Given{"HUGE_VALF", "#define HUGE_VALF __int_as_float(0x7f800000)\n"},
    Given{"NAN", "#define NAN __int_as_float(0x7fffffff)\n"},
    Given{"INT_MAX", "#define INT_MAX 2147483647\n"},
    Given{"INT_MIN", "#define INT_MIN (-2147483647 - 1)\n"},
    Given{"UINT_MAX", "#define UINT_MAX 4294967295u\n"},
    Given{"M_PI", "#define M_PI 3.14159265358979323846\n"},
    Given{"M_PI_2", "#define M_PI_2 1.57079632679489661923\n"},
    Given{"M_SQRT2", "#define M_SQRT2 1.41421356237309504880\n"},
    Given{"M_SQRT1_2", "#define M_SQRT1_2 0.70710678118654752440\n"},
    Given{"M_2_SQRTPI", "#define M_2_SQRTPI 1.12837916709551257390\n"},
    Given{"M_2_PI", "#define M_2_PI 0.63661977236758134308\n"},
    Given{"M_E", "#define M_E 2.71828182845904523536\n"},
    Given{"M_LOG2E", "#define M_LOG2E 1.44269504088896340736\n"},
    Given{"M_LN2", "#define M_LN2 0.69314718055994530942\n"},
    Given{"int8_t", "typedef signed char int8_t;\n"},
    Given{"uint8_t", "typedef unsigned char uint8_t;\n"},
    Given{"int16_t", "typedef short int16_t;\n"},
    Given{"uint16_t", "typedef unsigned short uint16_t;\n"},
    Given{"int32_t", "typedef int int32_t;\n"},
    Given{"uint32_t", "typedef unsigned int uint32_t;\n"},
    Given{"int64_t", "typedef long int64_t;\n"},
    Given{"uint64_t", "typedef unsigned long uint64_t;\n"},
    Given{"uintptr_t", "typedef unsigned long uintptr_t;\n"},
    Given{"CUDART_INF_F", "#include \"math_constants.h\"\n"},
};

/// Parts of <cub/cub.cuh>, which as a whole is for the host too.
constexpr std::array kCub = {
    Given{"BlockReduce", "#include <cub/block/block_reduce.cuh>\n"},
    Given{"BlockScan", "#include <cub/block/block_scan.cuh>\n"},
    Given{"BlockLoad", "#include <cub/block/block_load.cuh>\n"},
    Given{"BlockStore", "#include <cub/block/block_store.cuh>\n"},
    Given{"BlockRadixSort", "#include <cub/block/block_radix_sort.cuh>\n"},
    Given{"WarpReduce", "#include <cub/warp/warp_reduce.cuh>\n"},
    Given{"WarpScan", "#include <cub/warp/warp_scan.cuh>\n"},
};

/// Of <algorithm>, <limits> and <cmath>, as far as device code uses them.
constexpr const char* kStandard =
    "namespace std {\n"
    "template <class T> __device__ inline T max(T a, T b) { return a < b ? b : a; }\n"
    "template <class T> __device__ inline T min(T a, T b) { return b < a ? b : a; }\n"
    "__device__ inline float exp(float x) { return expf(x); }\n"
    "__device__ inline float log(float x) { return logf(x); }\n"
    "__device__ inline float sqrt(float x) { return sqrtf(x); }\n"
    "__device__ inline float tanh(float x) { return tanhf(x); }\n"
    "__device__ inline float pow(float x, float y) { return powf(x, y); }\n"
    "__device__ inline float abs(float x) { return fabsf(x); }\n"
    "__device__ inline float fabs(float x) { return fabsf(x); }\n"
    "__device__ inline float fmax(float x, float y) { return fmaxf(x, y); }\n"
    "__device__ inline float fmin(float x, float y) { return fminf(x, y); }\n"
    "__device__ inline float erf(float x) { return erff(x); }\n"
    "template <class T> struct numeric_limits;\n"
    "template <> struct numeric_limits<float> {\n"
    "  __device__ static constexpr float max() { return 3.402823466e+38f; }\n"
    "  __device__ static constexpr float lowest() { return -3.402823466e+38f; }\n"
    "  __device__ static constexpr float min() { return 1.175494351e-38f; }\n"
    "  __device__ static constexpr float epsilon() { return 1.192092896e-07f; }\n"
    "  __device__ static float infinity() { return __int_as_float(0x7f800000); }\n"
    "  __device__ static float quiet_NaN() { return __int_as_float(0x7fffffff); }\n"
    "};\n"
    "}\n";

bool host_word(const Token& t) {
  if (t.kind == Token::Kind::sign) return t.text == "<<<";
  if (t.kind != Token::Kind::name) return false;
  static const std::set<std::string, std::less<>> kWords = {"torch",
                                                            "at",
                                                            "c10",
                                                            "Tensor",
                                                            "TORCH_CHECK",
                                                            "vector",
                                                            "tuple",
                                                            "string",
                                                            "pybind11",
                                                            "py",
                                                            "cudaStream_t",
                                                            "cudaError_t",
                                                            "cublasHandle_t",
                                                            "AT_DISPATCH_FLOATING_TYPES",
                                                            "iostream"};
  return kWords.contains(t.text) ||
         (t.text.starts_with("cuda") && t.text.size() > 4 && t.text[4] >= 'A' && t.text[4] <= 'Z');
}

class Splitter {
 public:
  Splitter(const std::string& source, int line, bool is_device)
      : source_(source), tokens_(cpp_tokens(source, line)), is_device_(is_device) {}

  CudaSource split() {
    items("");
    if (is_device_) result_.device = head() + device_;
    return std::move(result_);
  }

 private:
  const Token& now() const { return tokens_[i_]; }
  bool done() const { return now().kind == Token::Kind::end; }
  std::vector<Token> between(size_t from, size_t to) const {
    return {tokens_.begin() + static_cast<std::ptrdiff_t>(from),
            tokens_.begin() + static_cast<std::ptrdiff_t>(to)};
  }
  /// The token behind the bracket that closes the one at k.
  size_t behind(size_t k) const {
    int open = 0;
    for (; tokens_[k].kind != Token::Kind::end; ++k) {
      const Token& t = tokens_[k];
      open += t.is("{") || t.is("(") || t.is("[");
      open -= t.is("}") || t.is(")") || t.is("]");
      if (open == 0) return k + 1;
    }
    stop(ImportObstacle::syntax, tokens_[k].line, "a bracket that is not closed in the C++");
  }
  void keep(size_t to) {
    device_ += source_.substr(kept_, tokens_[to - 1].end - kept_) + "\n";
    for (size_t k = i_; k < to; ++k) {
      if (tokens_[k].kind == Token::Kind::name) words_.insert(tokens_[k].text);
    }
    for (size_t k = i_; k + 1 < to; ++k) {
      standard_ = standard_ || (tokens_[k].is("std") && tokens_[k + 1].is("::"));
    }
    drop(to);
  }
  void drop(size_t to) {
    i_ = to;
    kept_ = to > 0 ? tokens_[to - 1].end : 0;
  }

  std::string head() const {
    std::string text;
    for (const Given& given : kGiven) {
      if (words_.contains(given.word) && !defined_.contains(given.word)) text += given.text;
    }
    for (const Given& given : kCub) {
      if (cub_ && words_.contains(given.word)) text += given.text;
    }
    return text + (standard_ ? kStandard : "");
  }

  void items(const std::string& scope);
  void directive();
  void item(const std::string& scope);
  void bindings(size_t from, size_t to);
  void kernel(size_t to, size_t name, size_t open, const std::string& scope);
  std::vector<TemplateParameter> templates(size_t from, size_t to) const;

  const std::string& source_;
  std::vector<Token> tokens_;
  bool is_device_;
  size_t i_ = 0;
  size_t kept_ = 0;  ///< the byte that the next kept item begins at
  int depth_ = 0;
  std::string device_;
  std::set<std::string, std::less<>> words_, defined_;
  bool standard_ = false;
  bool cub_ = false;  ///< <cub/cub.cuh> is included
  CudaSource result_;
};

void Splitter::items(const std::string& scope) {
  if (++depth_ > kDeepest) stop(ImportObstacle::limits, now().line, "too deeply nested");
  while (!done() && !now().is("}")) {
    if (now().kind == Token::Kind::directive) {
      directive();
    } else if (now().is(";")) {
      drop(i_ + 1);
    } else if (now().is("namespace") ||
               (now().is("extern") && tokens_[i_ + 1].kind == Token::Kind::text &&
                tokens_[i_ + 2].is("{"))) {
      // The names of an unnamed namespace and of extern "C" are the surrounding one's.
      size_t k = i_ + 1;
      std::string name;
      while (!tokens_[k].is("{") && !tokens_[k].is("=") && tokens_[k].kind != Token::Kind::end) {
        if (tokens_[k].kind != Token::Kind::text) name += tokens_[k].text;
        ++k;
      }
      if (tokens_[k].is("=") || tokens_[k].kind == Token::Kind::end) {  // an alias
        while (!tokens_[k].is(";") && tokens_[k].kind != Token::Kind::end) ++k;
        keep(std::min(k + 1, tokens_.size() - 1));
        continue;
      }
      if (!name.empty()) device_ += "namespace " + name + " {\n";
      drop(k + 1);
      items(name.empty() ? scope : scope + name + "::");
      if (now().is("}")) drop(i_ + 1);
      if (!name.empty()) device_ += "}\n";
    } else {
      item(scope);
    }
  }
  if (depth_ == 1 && !done()) {
    stop(ImportObstacle::syntax, now().line, "a '}' too many in the C++");
  }
  --depth_;
}

void Splitter::directive() {
  const std::string& text = now().text;
  const size_t hash = text.find_first_not_of("# \t");
  const std::string rest = hash == std::string::npos ? "" : text.substr(hash);
  if (rest.starts_with("include")) {
    const size_t open = rest.find_first_of("<\""), close = rest.find_first_of(">\"", open + 1);
    const std::string name = open == std::string::npos || close == std::string::npos
                                 ? ""
                                 : rest.substr(open + 1, close - open - 1);
    const bool device =
        std::find(kDeviceHeaders.begin(), kDeviceHeaders.end(), name) != kDeviceHeaders.end() ||
        name.starts_with("cooperative_groups") || name.starts_with("cub/") ||
        name.starts_with("cuda/");
    cub_ = cub_ || name == "cub/cub.cuh";
    if (!device || name == "cub/cub.cuh") return drop(i_ + 1);
  } else if (rest.starts_with("define")) {
    std::vector<Token> tokens = cpp_tokens(rest.substr(6), now().line);
    if (tokens.size() > 2 && tokens[0].kind == Token::Kind::name &&
        !(tokens[1].is("(") && tokens[1].begin == tokens[0].end)) {
      result_.macros[tokens[0].text] = {tokens.begin() + 1, tokens.end()};
    }
    if (!tokens.empty()) defined_.insert(tokens[0].text);
    const bool host = std::any_of(tokens.begin(), tokens.end(), host_word);
    for (const Token& t : tokens) {
      if (!host && t.kind == Token::Kind::name) words_.insert(t.text);
    }
    if (host) return drop(i_ + 1);
  }
  const std::string line = source_.substr(now().begin, now().end - now().begin);
  device_ += line + "\n";
  drop(i_ + 1);
}

/// m.def("forward", &relu_forward, "doc")
void Splitter::bindings(size_t from, size_t to) {
  for (size_t k = from; k + 5 < to; ++k) {
    if (!tokens_[k].is("def") || !tokens_[k + 1].is("(") ||
        tokens_[k + 2].kind != Token::Kind::text || !tokens_[k + 3].is(",")) {
      continue;
    }
    size_t name = k + 4;
    while (tokens_[name].is("&") || tokens_[name].is("::") || tokens_[name + 1].is("::")) ++name;
    if (tokens_[name].kind == Token::Kind::name) {
      result_.bound[tokens_[k + 2].text] = tokens_[name].text;
    }
  }
}

std::vector<TemplateParameter> Splitter::templates(size_t from, size_t to) const {
  std::vector<TemplateParameter> found;
  TemplateParameter part;
  bool fallback = false, any = false;
  int open = 0;
  const auto finish = [&] {
    if (any) found.push_back(part);
    part = {};
    fallback = any = false;
  };
  for (size_t k = from; k < to; ++k) {
    const Token& t = tokens_[k];
    open += t.is("<") || t.is("(");
    open -= t.is(">") || t.is(")");
    if (t.is(",") && open == 0) {
      finish();
    } else if (t.is("=")) {
      fallback = true;
    } else if (fallback) {
      part.fallback += t.text;
    } else if (t.is("typename") || t.is("class")) {
      part.is_type = any = true;
    } else if (t.kind == Token::Kind::name) {
      part.name = t.text;
      any = true;
    }
  }
  finish();
  return found;
}

void Splitter::kernel(size_t to, size_t name, size_t open, const std::string& scope) {
  KernelSignature k;
  k.name = scope + tokens_[name].text;
  k.line = tokens_[name].line;
  if (tokens_[i_].is("template")) {
    size_t close = i_ + 1;
    int depth = 0;
    for (; close < to; ++close) {
      depth += tokens_[close].is("<");
      depth -= tokens_[close].is(">");
      if (depth == 0) break;
    }
    k.templates = templates(i_ + 2, close);
  }
  k.parameters = parse_cpp_parameters(between(open + 1, behind(open) - 1));
  result_.kernels[tokens_[name].text] = std::move(k);
}

void Splitter::item(const std::string& scope) {
  // Where it ends, and what kind of thing it is.
  size_t k = i_, open = 0, name = 0, body = 0;
  bool type = false, equals = false, global = false, device = false;
  if (tokens_[k].is("template") && tokens_[k + 1].is("<")) {  // its "=" and "class" are its own
    int depth = 0;
    for (++k; tokens_[k].kind != Token::Kind::end; ++k) {
      depth += tokens_[k].is("<");
      depth -= tokens_[k].is(">");
      if (depth == 0) break;
    }
    if (tokens_[k].kind != Token::Kind::end) ++k;
  }
  while (true) {
    const Token& t = tokens_[k];
    if (t.kind == Token::Kind::end) break;
    if (t.kind == Token::Kind::directive) {
      ++k;
      continue;
    }
    type = type || ((t.is("struct") || t.is("class") || t.is("enum") || t.is("union")) &&
                    open == 0 && !(k > 0 && (tokens_[k - 1].is("<") || tokens_[k - 1].is(","))));
    equals = equals || t.is("=");
    global = global || t.is("__global__");
    device = device || t.is("__device__") || t.is("__constant__");
    if (t.is("(")) {
      const bool attribute =
          k > i_ && (tokens_[k - 1].is("__launch_bounds__") || tokens_[k - 1].is("__align__") ||
                     tokens_[k - 1].is("alignas") || tokens_[k - 1].is("__attribute__") ||
                     tokens_[k - 1].is("__cluster_dims__"));
      if (open == 0 && !attribute && !equals && k > i_ &&
          tokens_[k - 1].kind == Token::Kind::name) {
        open = k;
        name = k - 1;
      }
      k = behind(k);
      continue;
    }
    if (t.is("[")) {
      k = behind(k);
      continue;
    }
    if (t.is("{")) {
      const size_t close = behind(k);
      if (open > 0 && !equals && !type) {
        body = k;
        k = close;
        break;
      }
      k = close;
      continue;
    }
    if (t.is("}")) break;
    ++k;
    if (t.is(";")) break;
  }
  const size_t to = k;
  if (to <= i_) return drop(i_ + 1);
  const Token& first = now();
  const bool is_host = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(i_),
                                   tokens_.begin() + static_cast<std::ptrdiff_t>(to), host_word);
  if (name > 0 && (tokens_[name].text.starts_with("PYBIND11_MODULE") ||
                   tokens_[name].text.starts_with("TORCH_LIBRARY"))) {
    if (body) bindings(body, to);
    return drop(to);
  }
  if (global || device) {
    if (global && name > 0) kernel(to, name, open, scope);
    for (size_t n = i_; n + 1 < to; ++n) {
      const std::string& word = tokens_[n].text;
      if (tokens_[n + 1].is("::") && (word == "torch" || word == "at" || word == "c10") &&
          is_device_) {
        stop(ImportObstacle::device_code, tokens_[n].line,
             "device code uses " + word + "::" + shown(tokens_[n + 2].text, 40));
      }
    }
    if (!is_device_) return drop(to);
    return keep(to);
  }
  if (body > 0) {
    auto f = std::make_shared<Function>();
    f->name = tokens_[name].text;
    f->cpp = true;
    f->line = tokens_[name].line;
    try {
      if (first.is("template")) {
        size_t close = i_ + 1;
        while (close < name && !tokens_[close].is(">")) ++close;
        for (const auto& t : templates(i_ + 2, close)) f->template_types.push_back(t.name);
      }
      for (size_t n = i_; n < name; ++n) f->result += tokens_[n].text;
      f->parameters = parse_cpp_parameters(between(open + 1, behind(open) - 1));
      f->body = parse_cpp_body(between(body + 1, to - 1));
      result_.functions[f->name].push_back(f);
    } catch (const NotFollowed& why) {
      result_.unread.emplace(f->name, why);
    }
    return is_host || !is_device_ ? drop(to) : keep(to);
  }
  if (first.is("using") && tokens_[i_ + 1].is("namespace")) {
    const bool ours = tokens_[i_ + 2].is("nvcuda") || tokens_[i_ + 2].is("cooperative_groups") ||
                      tokens_[i_ + 2].is("cg") || tokens_[i_ + 2].is("cub");
    return ours ? keep(to) : drop(to);
  }
  if (!type && !first.is("template") && !first.is("using") && !first.is("typedef") && open == 0) {
    try {
      const Block read = parse_cpp_body(between(i_, to));
      result_.constants.insert(result_.constants.end(), read.begin(), read.end());
    } catch (const NotFollowed&) {  // a constant nobody asks for
    }
  }
  if (is_host || !is_device_ || (open > 0 && !type && !equals)) return drop(to);  // a prototype
  keep(to);
}

}  // namespace

CudaSource take_apart(const std::string& source, int line, bool is_device) {
  return Splitter(source, line, is_device).split();
}

}  // namespace kbench::importing
