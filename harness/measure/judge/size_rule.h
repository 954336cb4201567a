// Whether a candidate that was right at a preset's sizes is wrong at others, or is written for its
// own sizes alone. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kbench/result.h"
#include "kbench/variables.h"

namespace kbench::judge {

/// Which shape variables and sizes occur in a candidate's files.
class SizeUse {
 public:
  /// `files`: path -> bytes, `manifest` among them.
  /// `module`: it is a ModelNew, whose tensors bring their sizes along.
  SizeUse(const std::map<std::string, std::string>& files, const std::string& manifest,
          bool module = false);

  /// An expression of the manifest names it, or a kernel its macro. The sizes of a candidate that
  /// names none of them stand in it as numbers, or in the lengths of its buffers. A ModelNew reads
  /// all of them.
  bool reads(const std::string& variable) const;
  /// The number stands in a file, so that it may stand for the variable; or a module of SPIR-V or
  /// PTX hides what does.
  bool may_hold(int64_t value) const;

 private:
  std::set<std::string> words_;  ///< of all files: names and numbers
  std::set<std::string> in_manifest_;
  bool hidden_ = false;
  bool reads_all_;
};

/// Runs a candidate that has passed at sets of sizes drawn in secret, by `values_at`, until `late`.
/// What is no fault of the candidate's counts as not tried. Unset where nothing was tried.
std::optional<HoldsAt> try_drawn_sizes(const std::vector<Variables>& sizes,
                                       const std::function<Result(const Variables&)>& values_at,
                                       const std::function<bool()>& late);

/// Makes a result that passed, and of which holds_at says that it is not right everywhere, a
/// failure: not_general.
void require_general(Result& result);

/// Of a set of sizes, those that the candidate reads.
Variables read_of(Variables sizes, const SizeUse& use);

/// "N=67, batch_size=3".
std::string sizes_text(const Variables& sizes);

/// Runs a candidate whose `result` has passed at each of the sets of `sizes`, as far as it reads
/// them, by `values_at`. Where one is wrong there and nothing says that it is written for its own
/// sizes, `result` becomes that failure, which names the sizes; else it gets a note that says what
/// it is tied to.
void look_at_other_sizes(Result& result, const std::vector<Variables>& sizes, const SizeUse& use,
                         const std::function<Result(const Variables&)>& values_at);

}  // namespace kbench::judge
