#include "harness/measure/cuda/includes.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "kbench/text.h"

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

Included resolve_includes(const CudaSource& source) { return Resolver(source).run(); }

}  // namespace kbench::cuda
