#include <filesystem>
#include <regex>
#include <sstream>

#include "harness/evaluate/sanitize/sanitize.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench::sanitize {
namespace {

constexpr std::string_view kMark = "=========";

/// "at k(int *)+0x40 in f.cu:6", in older releases "at 0x40 in f.cu:6:k(int *)"; without file and
/// line where they are not known.
bool read_place(const std::string& line, SanitizerFinding& finding) {
  static const std::regex place(R"(\bat (?:0x[0-9a-f]+ in (?:(.+?):(\d+):)?(.+?)(?: \[|$)|)"
                                R"((.+?)\+0x[0-9a-f]+(?: in (.+?):(\d+))?(?:[\s[]|$)))");
  std::smatch found;  // Of each two groups one is empty.
  if (!std::regex_search(line, found, place)) return false;
  finding.kernel = shown(found[3].str() + found[4].str());
  finding.file = shown(std::filesystem::path(found[1].str() + found[5].str()).filename().string());
  read_number(found[2].str() + found[6].str(), finding.line);
  return true;
}

}  // namespace

CheckerReport read_report(std::string_view checker, const std::string& printed) {
  static const std::regex summary(R"((?:ERROR|RACECHECK) SUMMARY: .*?(\d+) errors?\b)");
  static const std::regex warning("^(warn|info)", std::regex::icase);
  // What differs from run to run.
  static const std::regex differs(R"(^error: |\+0x[0-9a-f]+|0x[0-9a-f]+ in | \[\d+ hazards?\])",
                                  std::regex::icase);
  CheckerReport report;
  std::istringstream lines(printed);
  std::string heading;  ///< of a block in which no place has been read; empty: none is to be read
  bool in_finding = false;  ///< the block is the last finding's
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kMark)) {
      if (!line.empty()) report.last_words = shown(line);
      continue;
    }
    const size_t begin = std::min(line.find_first_not_of(' ', kMark.size()), line.size());
    const std::string text = line.substr(begin), words = std::regex_replace(text, differs, "");
    std::smatch found;
    if (std::regex_search(text, found, summary)) {
      read_number(found[1].str(), report.errors.emplace());
    } else if (in_finding && text.find(" access at ") != text.npos && text.starts_with("and ")) {
      report.findings.back().text += " " + words;  // The other access of a race.
    }
    const bool of_checker = text.starts_with("Error: ") || text.starts_with("Internal ");
    if (of_checker && report.last_words.empty()) report.last_words = shown(text);
    if (begin <= kMark.size() + 1) {
      heading = std::regex_search(text, warning) ? "" : words;
      in_finding = false;
    }
    SanitizerFinding made{std::string(checker), "", "", 0, heading};
    if (heading.empty() || !read_place(text, made)) continue;
    report.findings.push_back(std::move(made));
    heading.clear();
    in_finding = true;
  }
  const auto of = [](const SanitizerFinding& f) { return std::tie(f.kernel, f.line, f.text); };
  std::ranges::stable_sort(report.findings, {}, of);
  const auto same = std::ranges::unique(report.findings, {}, of);
  report.findings.erase(same.begin(), same.end());
  return report;
}

}  // namespace kbench::sanitize
