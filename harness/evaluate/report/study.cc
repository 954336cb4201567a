#include "harness/evaluate/report/study.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/score.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"

namespace kbench::report {
namespace {

namespace fs = std::filesystem;

/// What a run was asked to do.
struct Asked {
  std::vector<TaskId> tasks;
  int samples = 0;
  DType dtype = DType::f32;
  std::string preset, device;
  Roofline roofline;  ///< of the device
};

[[noreturn]] void fail_at(const std::string& path, const YAML::Mark& mark, const std::string& why) {
  throw Error(ErrorCode::kParse, Location{path, mark.line + 1, mark.column + 1}, shown(why));
}

/// What is read of run.yaml, which may be absent.
Asked read_settings(const std::string& path) {
  Asked asked;
  if (!fs::exists(path)) return asked;
  try {
    const YAML::Node settings = YAML::Load(read_file(path));
    if (!settings.IsMap()) return asked;
    const YAML::Node tasks = settings["tasks"], samples = settings["samples"],
                     dtype = settings["dtype"];
    if (tasks && tasks.IsSequence()) {
      for (const YAML::Node& task : tasks) {
        try {
          asked.tasks.push_back(parse_task_id(task.Scalar()));
        } catch (const Error& e) {
          fail_at(path, task.Mark(), e.message());
        }
      }
    }
    if (samples) {
      const std::string text = samples.IsScalar() ? samples.Scalar() : "";
      const char* end = text.data() + text.size();
      const auto read = std::from_chars(text.data(), end, asked.samples);
      if (read.ec != std::errc() || read.ptr != end || asked.samples < 0) {
        fail_at(path, samples.Mark(), "'samples' is no number of samples");
      }
    }
    if (dtype) {
      try {
        asked.dtype = task_dtype_from_name(dtype.Scalar());
      } catch (const Error& e) {
        fail_at(path, dtype.Mark(), e.message());
      }
    }
    asked.preset = settings["preset"].as<std::string>("");
    asked.device = settings["device"].as<std::string>("");
    asked.roofline.copy_bytes_per_s = 1e9 * settings["roof_gbytes_per_s"].as<double>(0);
    asked.roofline.flops_per_s = 1e12 * settings["roof_tflops"].as<double>(0);
  } catch (const YAML::Exception& e) {
    fail_at(path, e.mark, "not valid YAML: " + e.msg);
  }
  return asked;
}

Attempt attempt_of(const Result& r) {
  Attempt a;
  a.model = r.set;
  a.task = r.task;
  a.outcome = r.verdict == Verdict::missing ? Outcome::no_candidate : Outcome::candidate;
  a.candidate = r.candidate;
  a.candidate_hash = r.candidate_hash;
  a.verdict = r.verdict;
  a.preset = r.preset;
  a.device = r.device;
  a.speedup = r.speedup;
  if (r.correct() && r.holds_at) a.general = r.holds_at->everywhere();
  return a;
}

/// Whether the first such field of a results line begins with this value. `field` includes its
/// quotes, so it cannot occur inside a JSON string.
bool says(std::string_view line, std::string_view field, std::string_view wanted = "true") {
  const size_t at = line.find(field);
  if (at == line.npos) return false;
  const size_t value = line.find_first_not_of(" \t", at + field.size());
  return value != line.npos && line.substr(value).starts_with(wanted);
}

/// What must agree between shards of one file: by set, how it was measured.
struct Shard {
  std::map<std::string, std::set<std::string>> settings;
  std::set<std::pair<std::string, TaskId>> tasks;

  explicit Shard(const std::vector<Result>& results) {
    for (const Result& r : results) {
      tasks.emplace(r.set, r.task);
      std::set<std::string>& of_set = settings[r.set];
      if (r.verdict == Verdict::missing) continue;  // not measured
      std::string how = baseline_kind(r) + '\n';
      for (const std::string* part : {&r.preset, &r.device, &r.driver, &r.settings, &r.version}) {
        how += *part + '\n';
      }
      of_set.insert(how);
    }
  }
  bool shares_set(const Shard& other) const {
    return std::ranges::any_of(
        settings, [&](const auto& entry) { return other.settings.contains(entry.first); });
  }
  bool shares_task(const Shard& other) const {
    return std::ranges::any_of(tasks, [&](const auto& task) { return other.tasks.contains(task); });
  }
  bool agrees(const Shard& other) const {
    return std::ranges::all_of(settings, [&](const auto& entry) {
      const auto found = other.settings.find(entry.first);
      if (found == other.settings.end()) return true;
      std::set<std::string> all = entry.second;
      all.insert(found->second.begin(), found->second.end());
      return all.size() <= 1;
    });
  }
  void add(const Shard& other) {
    for (const auto& [set, how] : other.settings) settings[set].insert(how.begin(), how.end());
    tasks.insert(other.tasks.begin(), other.tasks.end());
  }
};

/// Maps the model numbers of one source.
class Names {
 public:
  Names(AttemptSet& set, std::string prefix) : set_(set), prefix_(std::move(prefix)) {}

  uint32_t number_of(const std::string& model) {
    const auto [entry, is_new] = numbers_.try_emplace(model);
    if (is_new) entry->second = set_.number_of(prefix_ + model);
    return entry->second;
  }

 private:
  AttemptSet& set_;
  std::string prefix_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

/// Reads the sources in order; until the end, models of source i are called "i/NAME".
class Reader {
 public:
  Reader(Study& study, const std::string& dtype, const std::string& preset) : study_(study) {
    dtypes_.wanted = dtype;
    presets_.wanted = preset;
  }

  void read(const std::string& path) {
    std::error_code error;
    const bool is_run = fs::is_directory(path, error);
    if (!is_run && !fs::exists(path, error)) {
      throw Error(ErrorCode::kNotFound, "there is no run and no file of results at " + shown(path));
    }
    std::vector<Result> results;
    if (!is_run) results = results_of(path);
    const size_t source = is_run ? new_source(path, is_run) : source_of(path, Shard(results));
    Names& names = names_.at(source);
    const std::string run_preset = is_run ? note_settings(path) : "";
    const auto take = [&](const Attempt& attempt, int64_t place) {
      const uint32_t model = names.number_of(attempt.model);
      study_.attempts.add(attempt, model, place);
      if (!attempt.device.empty()) devices_.insert(attempt.device);
      if (!is_run || run_preset.empty()) presets_.note(attempt.preset, path);
      ++study_.recorded_attempts;
      if (attempt.task != last_task_) note_task(attempt.task, path);
    };
    if (is_run) {
      read_run(path, take);
    }
    ResultSamples samples;
    for (const Result& result : results) {
      study_.software_device |= result.software_device;
      busy_ += result.busy ? 1 : 0;
      untried_ += result.correct() && result.certificate == kUntried ? 1 : 0;
      dtypes_.note(std::string(name_of(result.dtype)), path);
      note_roofline(result.device, {1e9 * result.roof_gbytes_per_s, 1e12 * result.roof_tflops});
      Attempt attempt = attempt_of(result);
      const auto [sample, number] = samples.of(result);
      attempt.sample = sample;
      attempt.attempt = number;
      take(attempt, 0);
    }
  }

  void finish(const std::vector<TaskId>& tasks) {
    if (study_.recorded_attempts == 0) {
      throw Error(ErrorCode::kNotFound, "there is nothing to report: no attempt, no result");
    }
    std::set<TaskId> wanted(tasks.begin(), tasks.end());
    if (tasks.empty()) {
      wanted = asked_;
      if (!all_asked_ || wanted.empty()) wanted.insert(occurring_.begin(), occurring_.end());
    }
    study_.scope.tasks.assign(wanted.begin(), wanted.end());
    study_.scope.samples = samples_.size() == 1 ? *samples_.begin() : 0;
    study_.device = listed(devices_, std::identity());
    study_.preset = presets_.one();
    study_.dtype = task_dtype_from_name(dtypes_.one());
    name_participants();
    study_.attempts.finish();
    add_missing();
    note_busy();
    note_untried();
  }

 private:
  size_t new_source(const std::string& path, bool is_run) {
    const size_t source = study_.sources.size();
    study_.sources.push_back({path, is_run});
    names_.emplace_back(study_.attempts, std::to_string(source) + "/");
    return source;
  }

  /// A property that a report has one value of: those there are, each with a path where it is.
  struct OneOf {
    const char *name, *flag;
    std::string wanted = {};  ///< empty: the one there is
    std::map<std::string, std::string> places = {};

    bool takes(std::string_view value) const {
      return wanted.empty() || value.empty() || value == wanted;
    }
    void note(const std::string& value, const std::string& path) {
      if (!value.empty()) places.try_emplace(value, path);
    }
    /// The settings of a run, whose results cannot be chosen among.
    void note_run(const std::string& value, const std::string& path) {
      if (!takes(value)) {
        throw Error(ErrorCode::kInvalidArgument, shown(path) + " is a run of " + name + " " +
                                                     value + ", and " + flag + " asks for " +
                                                     wanted);
      }
      note(value, path);
    }
    std::string one() const {
      if (places.size() > 1) {
        const auto place = [](const auto& at) {
          return shown(at.first) + " (" + shown(at.second) + ")";
        };
        throw Error(ErrorCode::kInvalidArgument, std::string("a report is of one ") + name +
                                                     ", and these are of " + listed(places, place) +
                                                     "; choose by " + flag);
      }
      return places.empty() ? wanted : places.begin()->first;
    }
  };

  /// Those of the dtype and the preset asked for.
  std::vector<Result> results_of(const std::string& path) const {
    const std::vector<ResultLine> lines = read_result_lines(path);
    require_known_tasks(lines);
    std::vector<Result> results;
    for (const ResultLine& line : lines) results.push_back(line.result);
    std::erase_if(results, [&](const Result& r) {
      return !dtypes_.takes(name_of(r.dtype)) || !presets_.takes(r.preset);
    });
    return results;
  }

  /// Attempts name tasks as results do.
  void note_task(const TaskId& task, const std::string& path) {
    const bool names_none = task.level == 0 && task.number == 0;
    if (!names_none && lookup_task(task) == nullptr) {
      throw Error(ErrorCode::kParse, shown(path) + " has an attempt at " + to_string(task) +
                                         "; there is no such task");
    }
    occurring_.insert(last_task_ = task);
  }

  void note_roofline(const std::string& device, const Roofline& roofline) {
    if (!(roofline.copy_bytes_per_s > 0) && !(roofline.flops_per_s > 0)) return;
    Roofline& best = study_.rooflines[device];
    best.copy_bytes_per_s = std::max(best.copy_bytes_per_s, roofline.copy_bytes_per_s);
    best.flops_per_s = std::max(best.flops_per_s, roofline.flops_per_s);
  }

  /// The source of which a results file is a shard, or a new one.
  size_t source_of(const std::string& path, const Shard& shard) {
    for (auto& [source, other] : shards_) {
      if (!shard.shares_set(other)) continue;
      if (shard.agrees(other) && !shard.shares_task(other)) {
        other.add(shard);
        study_.sources[source].more.push_back(path);
        return source;
      }
      study_.notes.push_back(
          shown(study_.sources[source].path) + " and " + shown(path) +
          " hold results of one candidate set that " +
          (shard.agrees(other) ? "are of the same tasks"
                               : "differ in device, driver, baseline, settings or version") +
          ": they count as two models, and a task that only one of them has as failed by the "
          "other; name tasks by --task, or report on each file by itself");
    }
    const size_t source = new_source(path, /*is_run=*/false);
    shards_.emplace(source, shard);
    return source;
  }

  /// Returns the preset of a run, empty where its settings have none.
  std::string note_settings(const std::string& path) {
    const Asked asked = read_settings(path + "/run.yaml");
    dtypes_.note_run(std::string(name_of(asked.dtype)), path);
    presets_.note_run(asked.preset, path);
    note_roofline(asked.device, asked.roofline);
    asked_.insert(asked.tasks.begin(), asked.tasks.end());
    all_asked_ &= !asked.tasks.empty();
    samples_.insert(asked.samples);
    return asked.preset;
  }

  template <class Take>
  void read_run(const std::string& path, Take take) {
    const std::string attempts = path + "/attempts.jsonl";
    if (!fs::exists(attempts)) {
      throw Error(ErrorCode::kNotFound, path + " is no run: it holds no attempts.jsonl");
    }
    read_attempts(attempts, take);
    for (const Result& again : read_results(path + "/confirmed.jsonl")) {
      study_.confirmations.add(again);
      study_.software_device |= again.software_device;
    }
    note_results(path + "/results.jsonl");
  }

  /// What is in results and not in attempts.
  void note_results(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    for (std::string line; std::getline(file, line);) {
      study_.software_device |= says(line, "\"software_device\":");
      busy_ += says(line, "\"busy\":") ? 1 : 0;
      const bool untried =
          says(line, "\"verdict\":", "\"passed\"") && says(line, "\"certificate\":", "\"untried\"");
      untried_ += untried ? 1 : 0;
    }
  }

  void note_busy() {
    if (busy_ == 0) return;
    study_.notes.push_back(std::to_string(busy_) + (busy_ == 1 ? " result was" : " results were") +
                           " measured while other processes kept the processors busy: those "
                           "speedups may be off");
  }

  void note_untried() {
    if (untried_ == 0) return;
    study_.notes.push_back(std::to_string(untried_) +
                           (untried_ == 1 ? " result passed" : " results passed") +
                           " at sizes without a certificate: no shortcut was held against the "
                           "task's check there");
  }

  void name_participants() {
    std::map<std::string, int> occurrences;
    std::map<uint32_t, bool> answered;
    for (const AttemptRow& row : study_.attempts.rows()) {
      answered[row.model] |= row.outcome != Outcome::unanswered;
    }
    std::vector<std::string> silent;
    for (const auto& [model, any] : answered) {
      const std::string& prefixed = study_.attempts.models()[model];
      const size_t slash = prefixed.find('/');
      if (!any) {
        silent.push_back(shown(prefixed.substr(slash + 1)));
        continue;
      }
      Participant& one = study_.participants.emplace_back();
      one.model = model;
      one.recorded = prefixed.substr(slash + 1);
      one.source = std::stoul(prefixed.substr(0, slash));
      ++occurrences[one.recorded];
    }
    for (Participant& one : study_.participants) {
      one.name = one.recorded;
      if (occurrences[one.recorded] > 1) {
        const fs::path path = fs::path(study_.sources[one.source].path).lexically_normal();
        const std::string file = (path.has_filename() ? path : path.parent_path()).filename();
        one.name = file + "/" + one.recorded;
        // Two runs whose folders have the same name: adds their position.
        while (study_.attempts.find_model(one.name)) one.name += "'";
      }
      study_.attempts.rename(one.model, one.name);
    }
    if (silent.empty()) return;
    if (study_.participants.empty()) {
      throw Error(ErrorCode::kNotFound,
                  "there is nothing to report: no answer of " + listed(silent, std::identity()));
    }
    study_.notes.push_back("never answered, and in no table: " + listed(silent, std::identity()));
  }

  /// A set without a result for a task counts as failed there.
  void add_missing() {
    bool added = false;
    for (const Participant& one : study_.participants) {
      if (study_.sources[one.source].is_run) continue;
      for (const TaskId& task : study_.scope.tasks) {
        if (!study_.attempts.chains(one.model, task).empty()) continue;
        Attempt none;
        none.model = one.name;
        none.task = task;
        none.outcome = Outcome::no_candidate;
        none.verdict = Verdict::missing;
        study_.attempts.add(none);
        added = true;
      }
    }
    if (added) study_.attempts.finish();
  }

  Study& study_;
  std::vector<Names> names_;        ///< by source
  std::map<size_t, Shard> shards_;  ///< for sources that are files
  std::set<TaskId> asked_, occurring_;
  bool all_asked_ = true;
  std::set<int> samples_;
  std::set<std::string> devices_;
  OneOf dtypes_ = {"dtype", "--dtype"}, presets_ = {"preset", "--preset"};
  int64_t busy_ = 0;     ///< results on a busy device
  int64_t untried_ = 0;  ///< results that passed without a certificate
  TaskId last_task_ = {};
};

}  // namespace

ResultSamples::Place ResultSamples::of(const Result& result) {
  const fs::path folder = fs::path(result.candidate).parent_path();
  const std::string attempt = folder.filename(), sample = folder.parent_path().filename();
  Place place;
  if (sample.starts_with('s') && attempt.starts_with('a') &&
      read_number(std::string_view(sample).substr(1), place.sample) &&
      read_number(std::string_view(attempt).substr(1), place.attempt) && place.sample > 0 &&
      place.attempt > 0) {
    return place;
  }
  if (result.candidate.empty()) return {};
  std::vector<std::string>& seen = candidates_[{result.set, result.task}];
  const auto found = std::ranges::find(seen, result.candidate);
  place = {static_cast<int>(found - seen.begin()) + 1, 1};
  if (found == seen.end()) seen.push_back(result.candidate);
  return place;
}

std::vector<std::string> Source::paths() const {
  std::vector<std::string> all = {path};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Study read_study(const std::vector<std::string>& paths, const std::vector<TaskId>& tasks,
                 const std::string& dtype, const std::string& preset) {
  Study study;
  Reader reader(study, dtype, preset);
  for (const std::string& path : paths) reader.read(path);
  reader.finish(tasks);
  return study;
}

}  // namespace kbench::report
