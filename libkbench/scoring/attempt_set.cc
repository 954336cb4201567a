#include <tbb/parallel_sort.h>

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "kbench/attempt.h"

namespace kbench {
namespace {

auto chain_key(const AttemptRow& row) { return std::tie(row.model, row.task, row.sample); }

bool same_attempt(const AttemptRow& a, const AttemptRow& b) {
  return chain_key(a) == chain_key(b) && a.attempt == b.attempt;
}

/// The chains whose member has that value; they are sorted by it. (Not std::ranges::equal_range:
/// clang 14 takes no subrange of libstdc++ 12's.)
template <typename T>
std::span<const Chain> equal_part(std::span<const Chain> chains, const T& value, T Chain::*member) {
  const auto from = std::ranges::lower_bound(chains, value, {}, member);
  return {from, std::ranges::upper_bound(from, chains.end(), value, {}, member)};
}

/// Sorts by chain and attempt, stably. Rows are large: their keys are sorted, and each row is
/// moved once.
void put_in_order(std::vector<AttemptRow>& rows) {
  struct Key {
    uint32_t model;
    TaskId task;
    int sample, attempt;
    size_t index;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    keys[i] = {rows[i].model, rows[i].task, rows[i].sample, rows[i].attempt, i};
  }
  if (std::ranges::is_sorted(keys)) return;
  tbb::parallel_sort(keys);
  std::vector<AttemptRow> sorted;
  sorted.reserve(rows.size());
  for (const Key& key : keys) sorted.push_back(rows[key.index]);
  rows = std::move(sorted);
}

/// Keeps one record of each attempt: the last that is finished, else the last.
void keep_one_of_each(std::vector<AttemptRow>& rows) {
  size_t kept = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (kept > 0 && same_attempt(rows[kept - 1], rows[i])) {
      if (!rows[i].unfinished() || rows[kept - 1].unfinished()) rows[kept - 1] = rows[i];
    } else {
      rows[kept++] = rows[i];
    }
  }
  rows.resize(kept);
}

}  // namespace

bool AttemptRow::unfinished() const {
  if (outcome == Outcome::unanswered) return true;
  if (outcome != Outcome::candidate) return false;
  return !verdict || is_infrastructure_fault(*verdict);
}

uint64_t candidate_key(std::string_view hash) {
  if (hash.empty()) return 0;
  uint64_t key = 0xcbf29ce484222325u;  // FNV-1a
  for (const char letter : hash) key = (key ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return key == 0 ? 1 : key;
}

void Confirmations::add(const Result& result) {
  if (is_infrastructure_fault(result.verdict)) return;
  speedups_[{result.task, candidate_key(result.candidate_hash)}] =
      result.correct() ? result.speedup : Interval{};
}

std::optional<Interval> Confirmations::find(TaskId task, uint64_t candidate) const {
  const auto found = speedups_.find({task, candidate});
  if (found == speedups_.end()) return std::nullopt;
  return found->second;
}

AttemptSet::AttemptSet(std::span<const Attempt> attempts) {
  for (const Attempt& attempt : attempts) add(attempt);
  finish();
}

uint32_t AttemptSet::number_of(const std::string& model) {
  const auto [entry, is_new] = numbers_.emplace(model, static_cast<uint32_t>(models_.size()));
  if (is_new) models_.push_back(model);
  return entry->second;
}

void AttemptSet::add(const Attempt& a) { add(a, number_of(a.model)); }

void AttemptSet::add(const Attempt& a, uint32_t model, int64_t place) {
  AttemptRow& row = rows_.emplace_back();
  row.model = model;
  row.task = a.task;
  row.sample = a.sample;
  row.attempt = a.attempt;
  row.outcome = a.outcome;
  row.verdict = a.verdict;
  row.lenient = !a.leniencies.empty();
  row.operator_steps = a.operator_steps;
  row.general = a.general;
  row.candidate = candidate_key(a.candidate_hash);
  row.speedup = a.speedup;
  row.usage = a.usage;
  row.cost = a.cost;
  row.seconds = a.seconds;
  row.place = place;
}

void AttemptSet::rename(uint32_t model, const std::string& name) {
  numbers_.erase(models_.at(model));
  models_[model] = name;
  numbers_[name] = model;
}

void AttemptSet::finish() {
  put_in_order(rows_);
  keep_one_of_each(rows_);
  chains_.clear();
  longest_chain_ = 0;
  for (size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
    const AttemptRow& first = rows_[begin];
    while (end < rows_.size() && chain_key(rows_[end]) == chain_key(first)) ++end;
    chains_.push_back(
        {first.model, first.task, first.sample, std::span(rows_).subspan(begin, end - begin)});
    longest_chain_ = std::max(longest_chain_, rows_[end - 1].attempt);
  }
}

std::optional<uint32_t> AttemptSet::find_model(std::string_view name) const {
  const auto found = numbers_.find(std::string(name));
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::span<const Chain> AttemptSet::chains(uint32_t model) const {
  return equal_part(chains_, model, &Chain::model);
}

std::span<const Chain> AttemptSet::chains(uint32_t model, TaskId task) const {
  return equal_part(chains(model), task, &Chain::task);
}

}  // namespace kbench
