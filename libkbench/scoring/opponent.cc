#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "kbench/error.h"
#include "kbench/question.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

constexpr std::array<std::string_view, 5> kWays = {
    "torch", "torch.compile", "torch.compile:reduce-overhead", "torch.compile:max-autotune",
    "torch.compile:max-autotune-no-cudagraphs"};
constexpr std::string_view kEager = "eager", kBest = "best", kBestOf = "best:", kTf32 = "+tf32";
/// What "best" alone chooses among.
constexpr size_t kUsualWays = 2;

bool is_best_of_usual(const std::vector<std::string>& ways) {
  return std::ranges::equal(ways, pytorch_ways().first(kUsualWays));
}

}  // namespace

std::string_view name_of(OtherSizes sizes) {
  return name_in<OtherSizes::require>({"none", "note", "require"}, sizes);
}

OtherSizes other_sizes_from_name(std::string_view name) {
  if (const auto sizes = value_named(name, OtherSizes::require)) return *sizes;
  throw Error(ErrorCode::kInvalidArgument,
              "unknown other sizes '" + shown(name) + "'; known: none, note, require");
}

std::string_view name_of(Sanitize sanitize) {
  return name_in<Sanitize::fail>({"off", "label", "fail"}, sanitize);
}

Sanitize sanitize_from_name(std::string_view name) {
  if (const auto sanitize = value_named(name, Sanitize::fail)) return *sanitize;
  throw Error(ErrorCode::kInvalidArgument,
              "unknown way to sanitize '" + shown(name) + "'; known: off, label, fail");
}

std::span<const std::string_view> pytorch_ways() { return kWays; }

std::string name_of(const Opponent& opponent) {
  const std::vector<std::string>& ways = opponent.ways;
  if (ways.empty()) return std::string(kEager);
  if (opponent.tf32) return name_of(Opponent{.ways = ways}) + std::string(kTf32);
  if (ways.size() == 1) return ways.front();
  if (is_best_of_usual(ways)) return std::string(kBest);
  std::string name(kBestOf);
  for (const std::string& way : ways) name += (way == ways.front() ? "" : ",") + way;
  return name;
}

Opponent opponent_from_name(std::string_view name) {
  if (name == kEager) return {};
  Opponent opponent{.tf32 = name.ends_with(kTf32)};
  if (opponent.tf32) name.remove_suffix(kTf32.size());
  std::vector<std::string_view> asked;
  if (name == kBest) {
    asked.assign(kWays.begin(), kWays.begin() + kUsualWays);
  } else {
    const bool several = name.starts_with(kBestOf);
    std::string_view left = several ? name.substr(kBestOf.size()) : name;
    for (size_t comma; several && (comma = left.find(',')) != left.npos;) {
      asked.push_back(left.substr(0, comma));
      left.remove_prefix(comma + 1);
    }
    asked.push_back(left);
  }
  for (const std::string_view way : asked) {
    if (std::ranges::find(kWays, way) != kWays.end()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                "there is no opponent " + quoted(std::string(way)) + ": eager, " +
                    listed(kWays, std::identity()) +
                    ", best, or best:A,B,...: the fastest of them; with TF32 " +
                    "torch+tf32 and so on");
  }
  for (const std::string_view way : kWays) {
    if (std::ranges::find(asked, way) != asked.end()) opponent.ways.emplace_back(way);
  }
  return opponent;
}

}  // namespace kbench
