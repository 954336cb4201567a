#include "harness/measure/judge/candidate_build.h"

#include <vulkan/vulkan.h>

#include <filesystem>
#include <utility>

#include "harness/measure/judge/failure_verdict.h"
#include "harness/measure/trial/experiment.h"
#include "kbench/candidate_limits.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/task_file.h"
#include "libkbench/candidate/files.h"

namespace kbench::judge {
namespace {

/// For reading and parsing, which takes milliseconds within the limits on sizes.
constexpr double kLoadSeconds = 20;
/// What the judge waits beyond the compile limit, which the runner enforces itself.
constexpr double kCompileAnswerSeconds = 2;

}  // namespace

CandidateBuild::CandidateBuild(std::unique_ptr<RunnerProcess> runner,
                               const EvaluateRequest& request,
                               const vulkan::DeviceSnapshot& snapshot, const SlabStore& store,
                               NeedsHistory& history)
    : runner_(std::move(runner)),
      request_(request),
      snapshot_(snapshot),
      store_(store),
      history_(history) {
  runner_->set_host_bytes(request.question.limits.host_bytes);
  trial::describe_device(experiment_, snapshot, request.question);
  const CandidateSource& candidate = request.question.candidate;
  const bool nameless = candidate.files && candidate.path.empty();
  const std::filesystem::path path =
      std::filesystem::path(nameless ? candidate.manifest : candidate.path).lexically_normal();
  experiment_.candidate = shown(path.filename().string());
  experiment_.set = path.has_parent_path() ? shown(path.parent_path().filename().string()) : "";
}

bool CandidateBuild::answers(const EvaluateRequest& request) const {
  return same_question(request, request_);
}

void CandidateBuild::begin(const std::function<void()>& before_build) {
  if (std::exchange(begun_, true)) return;
  try {
    if (!loaded_ && !load()) return;
    identify();
    if (before_build) before_build();
    const Question& asked = request_.question;
    runner_->send(runner::Build{key_, compile_seconds(), asked.rule.full_headers, asked.check});
  } catch (const RunnerFailure& failure) {
    failure_ = failure;
  } catch (const Error& error) {
    error_ = error;
  }
}

double CandidateBuild::compile_seconds() const {
  return compile_limit(request_.question.limits, kind()).seconds;
}

std::optional<runner::Loaded> CandidateBuild::load_in_runner() {
  const CandidateSource& source = request_.question.candidate;
  CandidatePlace place{"", source.manifest};
  std::optional<CandidateFolder> folder;
  files_.clear();
  if (source.files) {
    runner_->set_files([&](const std::string& path) -> std::optional<std::string> {
      const auto found = source.files->find(path);
      if (found == source.files->end()) return std::nullopt;
      check_size(path, found->second.size(), limits::kFileBytes);
      return files_[path] = found->second;
    });
  } else {
    place = candidate_place(source.path);
    try {
      folder.emplace(place.folder);
    } catch (const Error& e) {
      refused_ = runner::Refused{Verdict::invalid_candidate, e.what(), {}};
      return std::nullopt;
    }
    runner_->set_files([&](const std::string& path) {
      auto bytes = folder->read(path);
      if (bytes) files_[path] = *bytes;
      return bytes;
    });
  }
  manifest_ = place.manifest;
  runner_->send(runner::Load{place.manifest, place.folder, own_task_files()});
  runner::Refused refused;
  auto loaded = runner_->receive<runner::Loaded>(kLoadSeconds, refused);
  runner_->set_files({});
  if (!loaded) refused_ = std::move(refused);
  return loaded;
}

bool CandidateBuild::load() {
  auto loaded = load_in_runner();
  if (!loaded) return false;
  using runner::RunnerKind;
  // On a device without CUDA the runner that is there says so.
  const bool no_cuda = loaded->kind == RunnerKind::cuda && !snapshot_.makes_cuda_ready();
  const RunnerKind kind = no_cuda ? RunnerKind::vulkan : loaded->kind;
  history_.note(request_.question.candidate, {kind, loaded->needs_python});
  if (runner_->kind() != kind || (loaded->needs_python && runner_->served() > 0)) {
    // The first runner has parsed this candidate, so it is not given another author's: it ends.
    runner_ = runner_->another(kind);
    runner_->begin_open();
    runner_->wait_open(vulkan::to_string(snapshot_.device_uuid));
    runner_->set_host_bytes(request_.question.limits.host_bytes);
    loaded = load_in_runner();
    if (!loaded) return false;
  }
  experiment_.task = key_.task = loaded->task;
  experiment_.candidate_hash = loaded->hash;
  experiment_.made_for.clear();
  for (const std::string& each : loaded->made_for) experiment_.made_for.push_back(shown(each));
  needs_python_ = loaded->needs_python;
  return loaded_ = true;
}

void CandidateBuild::ask_other(const EvaluateRequest& request) {
  loaded_ = false;
  ask_again(request);
}

void CandidateBuild::ask_again(const EvaluateRequest& request) {
  request_ = request;
  begun_ = false;
  runner_->release();  // On a software device it stands still since its last run.
}

CandidateSource CandidateBuild::read_source() const {
  CandidateSource source(files_, request_.question.candidate.path);
  source.manifest = manifest_;
  source.author = request_.question.candidate.author;
  return source;
}

void CandidateBuild::identify() {
  const Task& task = find_task(key_.task);
  const Task* const tasks[] = {&task};
  const Question& asked = request_.question;
  const Preset preset =
      trial::choose_preset(asked.preset, tasks, asked.overrides, asked.dtype, snapshot_);
  key_ = task_at(task.id, preset, asked.overrides, asked.dtype);
  graph_ = build_graph(key_);
  trial::identify(experiment_, key_, *graph_, snapshot_, asked);
}

void CandidateBuild::attach(const TaskMemory& task_memory) {
  if (attached_to(task_memory)) return;
  Attachment attachment(runner_->imported(), store_);
  task_memory.place(attachment, true, task_memory.outputs());
  attachment.message.more = true;
  attached_ = task_memory.serial();
  runner_->attach(attachment);
}

void CandidateBuild::release_memory() {
  if (runner_->holds_dropped(store_)) attached_ = 0;
  runner_->release_memory(store_);
}

void CandidateBuild::begin_release() {
  attached_ = 0;
  runner_->begin_release(store_);
}

bool CandidateBuild::loaded(runner::Refused& refused, const std::function<void()>& before_build) {
  begin(before_build);
  if (failure_) throw *failure_;
  if (error_) throw *error_;
  if (refused_) refused = *refused_;
  return !refused_;
}

bool CandidateBuild::built(runner::Built& built, runner::Refused& refused) {
  if (!loaded(refused)) return false;
  auto answer = runner_->receive<runner::Built>(compile_seconds() + kCompileAnswerSeconds, refused);
  runner_->python_opened();
  if (answer) built = *std::move(answer);
  return answer.has_value();
}

}  // namespace kbench::judge
