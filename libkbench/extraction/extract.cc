#include "kbench/extract.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kbench/candidate_limits.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/files.h"
#include "libkbench/extraction/answer_names.h"
#include "libkbench/extraction/fenced_blocks.h"
#include "libkbench/extraction/manifest_outline.h"

namespace kbench {
namespace {

constexpr const char* kManifest = "candidate.yaml";

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
/// Servers' words for an answer that was cut off at a token limit, or by a filter.
bool is_cut(std::string_view finish) {
  return is_one_of(finish, {"length", "max_tokens", "max_output_tokens", "MAX_TOKENS"});
}
bool is_filtered(std::string_view finish) {
  return is_one_of(finish, {"content_filter", "refusal", "safety", "SAFETY"});
}

struct Block {
  FencedBlock source;
  BlockName name;
  ManifestOutline outline;
  bool tagged = false;  ///< as YAML
  bool python = false;  ///< is tagged as Python
  bool manifest = false;
  bool kernel = false;
  bool model = false;  ///< defines ModelNew
};

/// "glsl" of "glsl:relu.comp" and "{.glsl", in lower case; nothing of a file's name.
std::string language_of(const FencedBlock& source) {
  std::string word = source.language.substr(0, source.language.find(':'));
  word.erase(0, word.find_first_not_of("{."));
  word = lowered(word);
  return word.find('.') == word.npos && word.find('=') == word.npos ? word : "";
}

bool says_one_of(std::string_view text, std::initializer_list<const char*> signs) {
  return std::any_of(signs.begin(), signs.end(),
                     [&](const char* sign) { return text.find(sign) != text.npos; });
}
bool looks_like_shader(std::string_view text) {
  return says_one_of(text, {"#version", "layout(", "layout (", "[numthreads"});
}
bool looks_like_triton(std::string_view text) { return says_one_of(text, {"@triton.jit"}); }
bool is_tagged_python(std::string_view language, std::string_view path) {
  return is_model_file(std::string(path)) ||
         is_one_of(language, {"python", "python3", "py", "pytorch", "torch", "triton"});
}

/// Whether a block is a kernel, by its fence's language, its file's name, or its text where these
/// are not enough: models use Python for much else, and C++ for host code.
bool is_kernel(std::string_view language, std::string_view path, std::string_view text) {
  if (is_tagged_python(language, path)) return looks_like_triton(text);
  if (has_kernel_suffix(path) ||
      is_one_of(language, {"glsl", "hlsl", "comp", "cuda", "cu", "cuda-cpp", "ptx"})) {
    return true;
  }
  if (language.empty() && looks_like_triton(text)) return true;
  return is_one_of(language, {"", "c", "cpp", "c++", "compute", "vulkan", "shader"}) &&
         (looks_like_shader(text) || says_one_of(text, {"__global__"}));
}

Block understood(FencedBlock source) {
  Block block;
  block.name = block_name(source.info, source.line_before, source.text);
  const std::string language = language_of(source);
  const bool named_yaml = has_manifest_suffix(block.name.path);
  block.tagged = is_one_of(language, {"yaml", "yml"}) ||
                 (named_yaml && language.empty() && !block.name.in_line);
  if (block.tagged || named_yaml ||
      is_one_of(language, {"", "json", "jsonc", "text", "txt", "plaintext", "plain", "kbench"})) {
    block.outline = manifest_outline(source.text);
    block.manifest = block.outline.kbench;
  }
  block.kernel = !block.manifest && is_kernel(language, block.name.path, source.text);
  block.python = is_tagged_python(language, block.name.path);
  block.model = !block.manifest && (block.python || language.empty()) && defines_model(source.text);
  block.source = std::move(source);
  return block;
}

/// Whether a block says what the candidate is.
bool begins_candidate(const Block& block) { return block.manifest || block.model; }

/// The blocks inside a block that is Markdown or untagged: a whole answer in one fence. Empty where
/// there is neither a manifest nor a ModelNew among them.
std::vector<Block> answer_inside(const Block& block) {
  if (!is_one_of(language_of(block.source), {"", "markdown", "md", "text", "txt", "plaintext"})) {
    return {};
  }
  std::vector<FencedBlock> inside = fenced_blocks(block.source.text);
  if (!inside.empty()) inside.back().closed |= block.source.closed;
  std::vector<Block> blocks;
  bool candidate = false;
  for (FencedBlock& each : inside) {
    blocks.push_back(understood(std::move(each)));
    blocks.back().source.line_before = {};  // it points into this text
    candidate |= begins_candidate(blocks.back());
  }
  return candidate ? blocks : std::vector<Block>();
}

bool belongs(const Block& block) {
  return block.manifest || block.kernel || has_include_suffix(block.name.path);
}

/// The blocks that were found, for a message: "yaml, glsl relu.comp".
std::string listing(const std::vector<Block>& blocks) {
  if (blocks.empty()) return "the answer has no fenced block";
  std::string list;
  size_t count = 0;
  for (const Block& block : blocks) {
    if (++count > 8) {
      list += " ...";
      break;
    }
    const std::string& language = block.source.language;
    const std::string& path = block.name.path;
    std::string one = language.empty() ? "untagged" : shown(language, 40);
    if (!path.empty() && path != language) one += " " + shown(path, 80);
    list += (list.empty() ? "" : ", ") + one;
  }
  return "its fenced blocks are: " + list;
}

/// Puts the parts of one answer together.
class Assembly {
 public:
  Assembly(const Answer& answer, TaskId task, const ExtractOptions& options)
      : task_(task),
        asked_(options.asked),
        cut_(is_cut(answer.finish)),
        filtered_(is_filtered(answer.finish)) {
    std::string_view text = answer.text;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const Said said = without_thoughts(text, options.thinking_tags);
    still_thinking_ = said.still_thinking;
    is_empty_ = said.text.find_first_not_of(" \t\r\n") == said.text.npos;
    for (FencedBlock& block : fenced_blocks(said.text))
      blocks_.push_back(understood(std::move(block)));
    unwrap();
  }

  Extraction result() {
    if (filtered_) {
      return ended(Outcome::refused, "the model or its server declined to answer");
    }
    if (cut_ && still_thinking_) {
      return ended(Outcome::truncated, "the token limit was reached before the thoughts had ended");
    }
    const bool unclosed = !blocks_.empty() && !blocks_.back().source.closed;
    if (unclosed && cut_) {
      // Whole blocks may belong to an earlier draft, and drafts are not mixed.
      // ModelNew stands at a file's end.
      const bool of_model =
          blocks_.back().model || (asked_ == AnswerForm::model && blocks_.back().python);
      if (belongs(blocks_.back()) || of_model) {
        return ended(Outcome::truncated,
                     "the token limit was reached inside the last block; " + listing(blocks_));
      }
      blocks_.pop_back();
    }
    const std::optional<size_t> chosen = chosen_block();
    if (!chosen) return without_candidate();
    const Block& block = blocks_[*chosen];
    if (block.model) return take_model(block) ? judged(block) : without_task();
    const size_t end = end_of_answer(*chosen);
    take(block, end);
    join(block, end);
    return judged(block);
  }

 private:
  static Extraction ended(Outcome outcome, std::string explanation) {
    Extraction extraction;
    extraction.outcome = outcome;
    extraction.explanation = std::move(explanation);
    return extraction;
  }
  Extraction without_candidate() const {
    const std::string no_manifest = "no ```yaml block has a top-level 'kbench:'";
    const std::string no_model = "no ```python block defines a class ModelNew";
    const std::string lacks = !asked_ ? "no candidate: " + no_manifest + ", and " + no_model
                              : *asked_ == AnswerForm::model ? "no ModelNew: " + no_model
                                                             : "no manifest: " + no_manifest;
    const std::string missing =
        lacks + "; " + (is_empty_ ? std::string("the answer is empty") : listing(blocks_));
    return cut_ ? ended(Outcome::truncated,
                        "the token limit was reached before there was a candidate: " + missing)
                : ended(Outcome::no_candidate, missing);
  }

  static Extraction without_task() {
    return ended(Outcome::no_candidate,
                 "ModelNew does not say which task it is for: write a line '# task: level1/19' "
                 "into its block");
  }

  /// Unwraps an answer that is inside one fence, unless there is a candidate outside.
  void unwrap() {
    std::vector<Block> all;
    bool found = false;
    for (const Block& block : blocks_) {
      const std::vector<Block> inside = answer_inside(block);
      if (inside.empty() && begins_candidate(block)) return;
      if (inside.empty()) {
        all.push_back(block);
      } else {
        all.insert(all.end(), inside.begin(), inside.end());
        found = true;
      }
    }
    if (!found) return;
    overlook("wrapped_answer");
    blocks_ = std::move(all);
  }

  /// The last manifest, else the last ModelNew; but none for another task where there is one for
  /// the task asked for. A ModelNew beside a manifest may be one of its files.
  std::optional<size_t> chosen_block() const {
    std::optional<size_t> own, own_model, other, other_model;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      if (!begins_candidate(block)) continue;
      const bool is_own = !other_task(block);
      (block.manifest ? is_own ? own : other : is_own ? own_model : other_model) = i;
    }
    for (const auto& chosen : {own, own_model, other, other_model}) {
      if (chosen) return chosen;
    }
    return std::nullopt;
  }

  /// The index of the first block of an example for another task that follows the answer. The
  /// example begins with its manifest, or with its first file where files come before manifests.
  size_t end_of_answer(size_t manifest) const {
    size_t other = manifest + 1;
    while (other < blocks_.size() && !(blocks_[other].manifest && other_task(blocks_[other]))) {
      ++other;
    }
    if (other == blocks_.size()) return other;
    std::map<std::string_view, std::vector<size_t>> places;  // of files, in order
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (!blocks_[i].manifest) places[blocks_[i].name.path].push_back(i);
    }
    const auto stands = [&](const std::string& file, size_t begin, size_t end) {
      const auto found = places.find(safe_name(file).path);
      if (found == places.end()) return false;
      const auto at = std::ranges::lower_bound(found->second, begin);
      return at != found->second.end() && *at < end;
    };
    const auto before = [&](const std::string& file) { return stands(file, 0, manifest); };
    const auto between = [&](const std::string& file) { return stands(file, manifest, other); };
    const auto behind = [&](const std::string& file) {
      return stands(file, other, blocks_.size());
    };
    const std::vector<std::string>& files = blocks_[manifest].outline.files;
    const std::vector<std::string>& others = blocks_[other].outline.files;
    const bool files_first = std::ranges::all_of(files, before) &&
                             std::ranges::any_of(others, between) &&
                             std::ranges::none_of(others, behind);
    return files_first ? manifest + 1 : other;
  }

  void overlook(const char* what) { leniencies_.insert(what); }
  void note_name(const Block& block) {
    if (block.name.in_line) overlook("inline_name");
    if (block.name.unsafe) overlook("unsafe_name");
    if (!block.source.closed) overlook("unclosed_fence");
  }

  /// The manifest and every named file; from `end` on only those that are still missing.
  void take(const Block& manifest, size_t end) {
    const auto manifests = std::count_if(blocks_.begin(), blocks_.end(),
                                         [](const Block& block) { return block.manifest; });
    if (manifests > 1) overlook("several_manifests");
    if (!manifest.tagged) overlook("untagged_manifest");
    if (!manifest.source.closed) overlook("unclosed_fence");
    files_[kManifest] = manifest.source.text;

    const size_t slash = manifest.name.path.rfind('/');
    const std::string folder =
        slash == std::string::npos ? "" : manifest.name.path.substr(0, slash + 1);
    std::set<std::string> asked;
    for (const std::string& file : manifest.outline.files) asked.insert(safe_name(file).path);
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      std::string path = block.name.path;
      if (block.manifest || path.empty()) continue;
      const bool in_folder = !folder.empty() && path.starts_with(folder) && !asked.contains(path);
      if (in_folder) path.erase(0, folder.size());
      if (path.empty() || path == kManifest || !(belongs(block) || asked.contains(path))) continue;
      if (i >= end && (!asked.contains(path) || files_.contains(path))) continue;
      if (in_folder) overlook("folder_name");
      note_name(block);
      if (!files_.insert_or_assign(path, block.source.text).second) overlook("repeated_name");
    }
  }

  /// A ModelNew by itself is a whole candidate: its task is the one asked for, where it names no
  /// other. False if neither is known.
  bool take_model(const Block& model) {
    const TaskId task = stated_task_of(model).value_or(task_);
    if (task == TaskId{}) return false;
    if (std::ranges::count_if(blocks_, &Block::model) > 1) overlook("several_models");
    if (!model.python) overlook("untagged_model");
    if (!model.source.closed) overlook("unclosed_fence");
    files_ = model_candidate(task, model.source.text);
    return true;
  }

  /// If one kernel has no name and one name has no kernel, they are matched.
  void join(const Block& manifest, size_t end) {
    for (const std::string& file : manifest.outline.files) {
      const BlockName name = safe_name(file);
      if (!files_.contains(name.path)) missing_.insert(file);
    }
    const bool model = missing_.size() == 1 && is_model_file(*missing_.begin());
    std::set<std::string_view> unnamed;
    const Block* last = nullptr;
    for (size_t i = 0; i < end; ++i) {
      const Block& block = blocks_[i];
      if (!(block.kernel || (model && block.model)) || !block.name.path.empty()) continue;
      unnamed.insert(block.source.text);
      last = &block;
    }
    if (missing_.size() != 1 || unnamed.size() != 1) return;
    const BlockName name = safe_name(*missing_.begin());
    if (name.path.empty() || name.unsafe || !has_kernel_suffix(name.path)) return;
    files_[name.path] = last->source.text;
    if (!last->source.closed) overlook("unclosed_fence");
    overlook("joined_name");
    missing_.clear();
  }

  Extraction judged(const Block& chosen) {
    if (cut_ && !missing_.empty()) {
      return ended(Outcome::truncated,
                   "the token limit was reached before there was a block for " + missing());
    }
    size_t bytes = 0;
    for (const auto& [path, text] : files_) {
      bytes += text.size();
      const size_t most = path == kManifest ? limits::kManifestBytes : limits::kFileBytes;
      if (text.size() > most) {
        return ended(Outcome::no_candidate, shown(path) + " is larger than the " +
                                                std::to_string(most) + " bytes it may have");
      }
    }
    if (files_.size() > limits::kFiles + 1 || bytes > limits::kCandidateBytes) {
      return ended(Outcome::no_candidate, "the candidate is larger than " +
                                              std::to_string(limits::kFiles) +
                                              " files beside its manifest and " +
                                              std::to_string(limits::kCandidateBytes) + " bytes");
    }
    if (const std::string why = why_not_in_one_folder(files_); !why.empty()) {
      return ended(Outcome::no_candidate, "the files cannot be written: " + why);
    }
    Extraction found;
    found.outcome = Outcome::candidate;
    found.explanation = shown(listed(files_, [](const auto& file) { return file.first; }), 400);
    if (!missing_.empty()) found.explanation += "; no block is named " + missing();
    if (const auto other = other_task(chosen)) {
      found.outcome = Outcome::wrong_task;
      found.explanation = "the candidate is for " + to_string(*other) + ", and " +
                          to_string(task_) + " was asked for";
    }
    found.files = std::move(files_);
    found.leniencies.assign(leniencies_.begin(), leniencies_.end());
    return found;
  }

  std::string missing() const {
    return shown(listed(missing_, [](const std::string& name) { return shown(name, 80); }), 400);
  }

  /// The task that a manifest or the comment in a ModelNew names. A malformed one of a manifest is
  /// reported where the candidate is read; that of a comment is one that is not there.
  static std::optional<TaskId> stated_task_of(const Block& block) {
    try {
      if (block.model) return stated_task(block.source.text, /*name=*/"");
      if (block.outline.task) return task_id_of(*block.outline.task);
    } catch (const Error&) {
    }
    return std::nullopt;
  }

  /// The block's task where it is another than the one asked for.
  std::optional<TaskId> other_task(const Block& block) const {
    const std::optional<TaskId> named = stated_task_of(block);
    return task_ != TaskId{} && named && *named != task_ ? named : std::nullopt;
  }

  TaskId task_;
  std::optional<AnswerForm> asked_;
  bool cut_, filtered_;
  bool still_thinking_ = false, is_empty_ = false;
  std::vector<Block> blocks_;
  std::map<std::string, std::string> files_;
  std::set<std::string> leniencies_, missing_;
};

}  // namespace

Extraction extract(const Answer& answer, TaskId task, const ExtractOptions& options) {
  Extraction extraction;
  if (answer.finish == "context_length") {
    extraction.outcome = Outcome::too_long;
    extraction.explanation = "the prompt is longer than the model's context";
  } else {
    extraction = Assembly(answer, task, options).result();
  }
  extraction.asked = options.asked;
  return extraction;
}

}  // namespace kbench
