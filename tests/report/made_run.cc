#include "tests/report/made_run.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "kbench/attempt.h"
#include "kbench/exchange.h"
#include "kbench/result.h"
#include "kbench/task.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::testing {
namespace {

namespace fs = std::filesystem;

/// SplitMix64 (Steele et al. 2014).
class Dice {
 public:
  double unit() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return double((z ^ (z >> 31)) >> 11) / double(uint64_t{1} << 53);
  }

 private:
  uint64_t state_ = 1;
};

std::string hex(uint64_t value) {
  char text[72];
  std::snprintf(text, sizeof text, "%016llx%048d", static_cast<unsigned long long>(value), 0);
  return text;
}

class Maker {
 public:
  Maker(const std::string& folder, const MadeRun& made)
      : folder_(folder),
        made_(made),
        attempts_((fs::create_directories(folder), folder + "/attempts.jsonl")) {
    const size_t stride = std::max<size_t>(1, tasks().size() / size_t(made.tasks));
    for (size_t i = 0; i < tasks().size() && tasks_.size() < size_t(made.tasks); i += stride) {
      tasks_.push_back(&tasks()[i]);
    }
    if (made.texts) results_.open(folder + "/results.jsonl");
  }

  int run() {
    write_settings();
    if (made_.side_by_side) {
      for (size_t t = 0; t < tasks_.size(); ++t) {
        for (int sample = 1; sample <= made_.samples; ++sample) {
          for (size_t m = 0; m < made_.models.size(); ++m) chain(m, t, sample);
        }
      }
    } else {
      for (size_t m = 0; m < made_.models.size(); ++m) {
        for (size_t t = 0; t < tasks_.size(); ++t) {
          for (int sample = 1; sample <= made_.samples; ++sample) chain(m, t, sample);
        }
      }
    }
    write_confirmations();
    return count_;
  }

 private:
  void write_settings() {
    std::ofstream file(folder_ + "/run.yaml");
    file << "samples: " << made_.samples << "\nattempts: " << made_.attempts
         << "\ndevice: llvmpipe (made up)\nroof_gbytes_per_s: 100\nroof_tflops: 10\ntasks:\n";
    for (const Task* task : tasks_) file << "  - " << to_string(task->id) << "\n";
  }

  void chain(size_t m, size_t t, int sample) {
    const Task& task = *tasks_[t];
    // How easy this task is for this model, between 0 and 1.
    const double skill = 0.75 / (1 + 0.6 * double(m)) * (1.2 - double(t) / double(tasks_.size()));
    std::string feedback;
    for (int number = 1; number <= made_.attempts; ++number) {
      Attempt a = attempt(m, task, sample, number, skill);
      attempts_ << to_json(a) << '\n';
      ++count_;
      if (made_.texts) feedback = write_texts(a, feedback);
      if (a.correct()) {
        auto& best = best_[{a.model, task.id}];
        if (a.speedup.point > best.speedup.point) best = a;
        break;
      }
    }
  }

  Attempt attempt(size_t m, const Task& task, int sample, int number, double skill) {
    Attempt a;
    a.model = made_.models[m];
    a.task = task.id;
    a.sample = sample;
    a.attempt = number;
    a.parent = number - 1;
    a.preset = "smoke";
    a.device = "llvmpipe (made up)";
    a.prompt_hash = hex(uint64_t(task.id.draw_word()) * 100 + (number > 1 ? uint64_t(count_) : 0));
    a.usage.input = 1500 + 900 * number;
    if (m != 2) a.usage.output = 400 + int64_t(2000 * dice_.unit());  // the third does not say
    a.cost = 1e-6 * double(*a.usage.input + a.usage.output.value_or(0));
    a.seconds = 3 + 20 * dice_.unit();
    const double luck = dice_.unit();
    if (luck > 0.995) return a;  // unanswered
    a.outcome = Outcome::candidate;
    if (luck > 0.94) {
      a.outcome = luck > 0.97 ? Outcome::no_candidate : Outcome::truncated;
      return a;
    }
    a.candidate_hash = hex(uint64_t(count_) + 1);
    a.candidate = "candidates/" + run_folder_name(a.model) + "/" + run_file_name(task.id) + "/s" +
                  (sample < 10 ? "0" : "") + std::to_string(sample) + "/a" + std::to_string(number);
    if (luck < skill * (0.5 + 0.2 * number)) {
      const double speedup = std::exp(1.1 * (dice_.unit() + dice_.unit()) - 0.8);
      a.verdict = Verdict::passed;
      a.speedup = {speedup * 0.97, speedup, speedup * 1.03};
      if (luck < 0.05) a.leniencies = {"unclosed_fence"};
      return a;
    }
    constexpr Verdict kFailures[] = {Verdict::compile_error,     Verdict::compile_error,
                                     Verdict::invalid_candidate, Verdict::wrong_values,
                                     Verdict::wrong_values,      Verdict::partly_written,
                                     Verdict::timeout,           Verdict::not_finite};
    a.verdict = kFailures[size_t(dice_.unit() * std::size(kFailures))];
    return a;
  }

  void append(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::app) << text;
  }

  /// Returns the feedback on it.
  std::string write_texts(const Attempt& a, const std::string& last_feedback) {
    std::vector<Message> prompt = {
        {Role::system, "You write compute shaders."},
        {Role::user, "The task " + to_string(a.task) + ".\n" + kHostile}};
    if (!last_feedback.empty()) prompt.push_back({Role::user, last_feedback});
    const std::string path =
        folder_ + "/prompts/" + a.prompt_hash.substr(0, 2) + "/" + a.prompt_hash + ".json";
    if (!fs::exists(path)) append(path, messages_json(prompt) + "\n");
    const std::string shader =
        "#version 450\n// " + std::string(kHostile) + "\nvoid main() {\n  y[0] = 1.0;\n}\n";
    Exchange exchange{.model = a.model,
                      .task = a.task,
                      .sample = a.sample,
                      .attempt = a.attempt,
                      .prompt_hash = a.prompt_hash};
    exchange.answer.text = "Here it is.\n```glsl\n" + shader + "```\n";
    exchange.answer.reasoning = "First I think.";
    exchange.answer.finish = "stop";
    append(folder_ + "/transcripts/" + run_folder_name(a.model) + "/" + run_file_name(a.task) +
               ".jsonl",
           to_json(exchange) + "\n");
    if (a.candidate.empty()) return "There was no candidate in your answer.";
    append(folder_ + "/" + a.candidate + "/candidate.yaml",
           "kbench: 1\ntask: " + to_string(a.task) + "\n");
    append(folder_ + "/" + a.candidate + "/main.comp", shader);
    const std::string feedback = "The verdict was " + std::string(name_of(*a.verdict)) + ".";
    append(folder_ + "/" + a.candidate + "/feedback.txt", feedback);
    Result r = result_of(a);
    if (!a.correct()) {
      r.message = "main.comp:3: it is wrong " + std::string(kHostile);
      r.diagnostics = {{"error", "main.comp", 3, 7, "undeclared identifier"}};
    }
    results_ << to_json(r) << '\n';
    return feedback;
  }

  static Result result_of(const Attempt& a) {
    Result r;
    r.set = a.model;
    r.candidate = a.candidate;
    r.candidate_hash = a.candidate_hash;
    r.task = a.task;
    r.preset = a.preset;
    r.device = a.device;
    r.software_device = true;
    r.verdict = *a.verdict;
    r.speedup = a.speedup;
    r.samples = a.correct() ? 24 : 0;
    r.candidate_ms = 0.5;
    r.baseline_ms = 0.5 * a.speedup.point;
    if (!a.correct()) return r;
    r.gbytes_per_s = 20 * a.speedup.point;
    r.tflops = 0.02 * a.task.number * a.speedup.point;
    return r;
  }

  void write_confirmations() {
    if (!made_.confirm) return;
    std::ofstream file(folder_ + "/confirmed.jsonl");
    size_t number = 0;
    for (const auto& [key, best] : best_) {
      Result r = result_of(best);
      if (++number % 7 == 0) r.verdict = Verdict::wrong_values;
      const double again = best.speedup.point * 0.96;
      r.speedup = {again * 0.97, again, again * 1.03};
      file << to_json(r) << '\n';
    }
  }

  std::string folder_;
  const MadeRun& made_;
  std::vector<const Task*> tasks_;
  std::ofstream attempts_, results_;
  std::map<std::pair<std::string, TaskId>, Attempt> best_;
  Dice dice_;
  int count_ = 0;
};

}  // namespace

int make_run(const std::string& folder, const MadeRun& made) { return Maker(folder, made).run(); }

}  // namespace kbench::testing
