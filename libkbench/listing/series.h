// Values that vary from pass to pass, as short exact expressions: "64 + 32*i", "96 * 2**i", "[64,
// 256, 512][i]". Long or repeated ones are defined as a letter.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kbench::listing {

/// What varies in the loop that is being printed, with the letters defined in it.
class Series {
 public:
  /// `taken`: names that must not be used.
  explicit Series(std::set<std::string> taken) : taken_(std::move(taken)) {}

  /// Enters a loop of so many passes; returns the name of its pass number.
  std::string open(int times);
  /// Leaves the loop; returns its definitions in order: "A = 64 + 32*i".
  std::vector<std::string> close();

  /// `values`: one for each run of the line; at[run]: its pass.
  std::string number(const std::vector<int>& at, const std::vector<int64_t>& values);
  /// The same for texts; the part that varies is in braces: "layers.{i}.weight".
  std::string name(const std::vector<int>& at, const std::vector<std::string>& names);

 private:
  struct Definition {
    std::string letter, text;
    std::vector<int64_t> values;  ///< by pass; empty for texts
  };

  std::string fresh(const char* letters);
  std::string define(const std::string& text, const std::vector<int64_t>& values = {});
  std::string part(const std::vector<int>& at, const std::vector<std::string>& parts);

  std::string index_;
  int times_ = 1;
  std::vector<Definition> definitions_;
  std::set<std::string> taken_;
};

}  // namespace kbench::listing
