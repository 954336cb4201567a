// Whether a candidate that was right at a preset's sizes is wrong at others, or is written for its
// own sizes alone. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kbench/result.h"
#include "kbench/variables.h"

namespace kbench::judge {

/// Which sizes a candidate takes from its task's variables.
class SizeUse {
 public:
  /// `files`: path -> bytes. `module`: it is a ModelNew, whose tensors bring their sizes along.
  SizeUse(const std::map<std::string, std::string>& files, bool module = false);

  /// Its files name the variable, or its macro, and hold its value nowhere as a number, which might
  /// stand for the variable. A module of SPIR-V or PTX hides which numbers it holds.
  bool takes(const std::string& variable, const VariableValue& value) const;

  /// False only where its files name none of these variables, and nothing by which a kernel learns
  /// sizes without naming them (a built-in operator, the length of a buffer).
  bool can_depend_on(const Variables& sizes) const;

 private:
  std::set<std::string> words_;  ///< of all files: names and numbers
  bool module_;
  bool hidden_ = false;
};

/// Runs a candidate that has passed at sets of sizes drawn in secret, by `values_at`, until `late`.
/// What is no fault of the candidate's counts as not tried. Unset where nothing was tried.
std::optional<HoldsAt> try_drawn_sizes(const std::vector<Variables>& sizes,
                                       const std::function<Result(const Variables&)>& values_at,
                                       const std::function<bool()>& late);

/// Times a candidate that has passed at each of the sets, by `measured_at`, and fills
/// Result::workloads. Where it is wrong at one, or cannot depend on them, which is not tried, the
/// result becomes `not_general`; a size where something fails that is no fault of its own is left
/// out with a note.
void time_at_sizes(const std::vector<Variables>& sizes, const SizeUse& use,
                   const std::function<Result(const Variables&)>& measured_at, Result& result);

/// Makes a result that passed, and of which holds_at says that it is not right everywhere, a
/// failure: not_general.
void require_general(Result& result);

/// "N=67, batch_size=3".
std::string sizes_text(const Variables& sizes);

/// Runs a candidate whose `result` has passed at each of the sets of `sizes`, by `values_at`. Where
/// it is wrong there, and wrong with those alone that it takes from variables, `result` becomes
/// that failure, which names the sizes; else it gets a note that says what it is tied to.
void look_at_other_sizes(Result& result, const std::vector<Variables>& sizes, const SizeUse& use,
                         const std::function<Result(const Variables&)>& values_at);

}  // namespace kbench::judge
