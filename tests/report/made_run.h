// A run's folder as `kbench generate` leaves it, made up: models that differ in what they can do.
#pragma once

#include <string>
#include <vector>

namespace kbench::testing {

struct MadeRun {
  std::vector<std::string> models = {"coder-7b", "<b>bold</b> & \"quoted\"", "small"};
  int tasks = 24;  ///< of the suite, spread over its levels
  int samples = 4, attempts = 3;
  bool texts = true;    ///< transcripts, prompts, candidates and results too
  bool confirm = true;  ///< winners measured again
  /// As several models at once leave it: a sample of each in turn. Else one after the other.
  bool side_by_side = false;
};

/// Makes the folder. The same text each time. Returns the number of attempts.
int make_run(const std::string& folder, const MadeRun& made);

/// What the texts hold to break out of a page.
inline constexpr const char* kHostile =
    "</script><script>document.documentElement.dataset.broken='yes'</script>"
    "<img src=x onerror=\"document.documentElement.dataset.broken='yes'\">\u2028";

}  // namespace kbench::testing
