// Values that vary from pass to pass, as short exact expressions: "64 + 32*i", "96 * 2**i", "[64,
// 256, 512][i]". Long or repeated ones are defined as a letter.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libkbench/listing/program.h"

namespace kbench::listing {

/// The loops around the line that is being printed, with the letters defined in each.
class Series {
 public:
  /// `taken`: names that must not be used.
  explicit Series(std::set<std::string> taken) : taken_(std::move(taken)) {}

  /// Enters a loop of at most `most` passes; returns the name of its pass number.
  std::string open(int64_t most);
  /// Leaves the loop; returns its definitions in order: "A = 64 + 32*i".
  std::vector<std::string> close();

  /// `values`: one for each run of the line; at[run]: its passes of the open loops.
  std::string number(const std::vector<Passes>& at, const std::vector<int64_t>& values);
  /// The same for texts; the part that varies is in braces: "layers.{i}.weight".
  std::string name(const std::vector<Passes>& at, const std::vector<std::string>& names);

 private:
  struct Definition {
    std::string letter;
    std::vector<int64_t> values;  ///< by pass; empty for other kinds
    std::string text;
  };
  struct Scope {
    std::string index;
    int64_t most = 0;
    std::vector<Definition> definitions;
  };

  std::string fresh(const char* letters);
  std::string by_pass(size_t depth, const std::map<int, int64_t>& values);
  std::string define(size_t depth, const std::string& text,
                     const std::vector<int64_t>& values = {});
  std::string indices(size_t depth) const;  ///< "[i][j]"
  std::string part(const std::vector<Passes>& at, const std::vector<std::string>& parts);

  std::vector<Scope> scopes_;
  std::set<std::string> taken_;
};

}  // namespace kbench::listing
