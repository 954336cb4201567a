#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "harness/dev/device_evaluator.h"
#include "harness/dev/verbs.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/text.h"
#include "harness/measure/audit/audit.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/files.h"
#include "libkbench/core/in_words.h"
#include "libkbench/scoring/honest_errors.h"
#include "reference/faults.h"

namespace kbench::dev {
namespace {

using program::padded;

struct VerbOptions {
  program::TaskOptions tasks;
  program::SizeOptions size;
  std::string backend = "reference", out, tolerances;
  program::DeviceOptions device;
  audit::AuditOptions audit;
  std::vector<std::string> kinds;
  bool all = false;
};

std::string margin_text(double margin) {
  return std::isinf(margin) ? "inf" : program::format_number(margin, 3);
}

std::string nearest(const Certificate& certificate, VariantKind kind) {
  const auto found = certificate.kinds.find(kind);
  if (found == certificate.kinds.end() || !found->second.nearest) return "-";
  return margin_text(found->second.nearest->margin);
}

std::string in_words(const Task& task, const Certificate& certificate) {
  const std::string_view certified = certification(task, certificate);
  std::string text = certified == kCertifiedPrecision ? "certified in precision"
                     : certified == kCertifiedValues  ? "certified in values"
                     : certified == kTrivialTask      ? "trivial"
                                                      : "not certified";
  if (certificate.subset_within_noise()) text += ", a subset within noise";
  return text;
}

/// Prints one line for each task when it is done; widths are known from the tasks.
class AuditTable {
 public:
  AuditTable(const std::vector<const Task*>& tasks, const VerbOptions& options)
      : options_(options) {
    for (const Task* task : tasks) name_width_ = std::max(name_width_, task->name.size());
  }

  void print_header() const {
    std::printf(
        "Worst error over the tolerance: what is wrong must be above 1, honest at most 0.5.\n");
    std::vector<std::string> kinds;
    for (const VariantKind kind : kVariantKinds) kinds.emplace_back(name_of(kind));
    print_row("task", "name", kinds, "time", "verdict");
  }

  void print(const audit::TaskAudit& audit) const {
    const Certificate certificate = audit::certificate_of(audit);
    std::vector<std::string> margins;
    for (const VariantKind kind : kVariantKinds) margins.push_back(nearest(certificate, kind));
    print_row(to_string(audit.task->id), audit.task->name, margins,
              program::format_seconds(audit.seconds),
              options_.audit.only.empty() && options_.kinds.empty()
                  ? in_words(*audit.task, certificate)
                  : "some variants alone, no verdict");
    for (const audit::Tried& tried : audit.tried) {
      if (options_.all || audit::is_left(tried)) print(tried);
    }
    std::fflush(stdout);
  }

 private:
  static void print(const audit::Tried& tried) {
    std::printf("    %-9s %-8s %s%s%s\n", std::string(name_of(tried.kind)).c_str(),
                tried.not_tried.empty() ? margin_text(tried.margin.margin).c_str() : "-",
                tried.margin.description.c_str(), tried.identical ? " (identical)" : "",
                tried.dead != nullptr      ? " (dead)"
                : !tried.not_tried.empty() ? (": " + tried.not_tried).c_str()
                                           : "");
  }

  void print_row(const std::string& task, const std::string& name,
                 const std::vector<std::string>& kinds, const std::string& time,
                 const std::string& verdict) const {
    std::string line = padded(task, 11) + padded(name, name_width_ + 1);
    for (const std::string& each : kinds) line += padded(each, 10);
    std::printf("%s%s%s\n", line.c_str(), padded(time, 9).c_str(), verdict.c_str());
  }

  const VerbOptions& options_;
  size_t name_width_ = 4;
};

/// The file's certificates, with new ones replacing those of the same tasks; kinds that were not
/// tried are kept.
CertificateFile updated(const std::string& path, CertificateFile made) {
  if (!std::filesystem::exists(path)) return made;
  CertificateFile before = parse_certificates(read_file(path), path);
  if (before.preset != made.preset || before.dtype != made.dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                path + " has certificates of " +
                    preset_in_words(name_of(before.preset), before.dtype) + ", these are of " +
                    preset_in_words(name_of(made.preset), made.dtype));
  }
  for (Certificate& old : before.tasks) {
    const auto again = std::ranges::find(made.tasks, old.task, &Certificate::task);
    if (again == made.tasks.end()) {
      made.tasks.push_back(std::move(old));
    } else if (again->tolerance == old.tolerance) {
      again->kinds.merge(old.kinds);
    }
  }
  std::ranges::sort(made.tasks, {}, &Certificate::task);
  return made;
}

void write_certificates(const std::string& path, const CertificateFile& made) {
  const std::string text = to_json(updated(path, made));
  NewFile file(path);
  file.write(text);
  file.commit();
}

/// The device, or reference, on which the variants run.
class Place {
 public:
  explicit Place(const VerbOptions& options) {
    if (options.backend == "vulkan") {
      device_ = vulkan::Device::open({options.device.device, options.device.validate});
    }
  }

  CertificateFile file(Preset preset, DType dtype) const {
    CertificateFile file = audit::new_certificates(preset, dtype);
    if (device_) {
      file.device = device_->snapshot().name;
      file.driver = device_->snapshot().driver;
    }
    return file;
  }
  std::unique_ptr<audit::VariantEvaluator> evaluator(const Task& task, const Graph& graph) {
    return device_ ? make_device_evaluator(*device_, task, graph)
                   : audit::make_host_evaluator(task, graph);
  }

 private:
  std::unique_ptr<vulkan::Device> device_;
};

/// The variant and where it ran: "matmul with its result stored in float16, at v0.1".
std::string place_of(const Margin& margin, Preset preset) {
  return margin.description + ", at " + std::string(name_of(preset));
}

/// What the honest variants of a task of halves were off by.
HonestError honest_error_of(const audit::TaskAudit& audit, const Graph& graph, Preset preset) {
  int64_t fewest = 0;  // of outputs that are halves; 0: none is
  for (const int id : graph.outputs()) {
    const TensorType type = graph.stored_type(id);
    if (!is_half(type.dtype)) continue;
    fewest = fewest == 0 ? type.elements() : std::min(fewest, type.elements());
  }
  HonestError error;
  error.elements = std::max<int64_t>(fewest, 1);
  for (const audit::Tried& tried : audit.tried) {
    if (tried.kind != VariantKind::honest || !tried.not_tried.empty()) continue;
    const bool rounded_once = tried.margin.rule == audit::kPlainRule;
    // The right values of a trivial task may be all zero: what is near them is then not defined.
    if (!audit.task->trivial.empty() && !rounded_once) continue;
    if (std::isinf(tried.deviation.worst) || std::isinf(tried.deviation.rms)) {
      // Values between operators may leave the type's range where those of the task do not.
      if (!rounded_once) continue;
      error.undefined = "its result is not finite in the type at " + std::string(name_of(preset));
      return error;
    }
    merge(error, {.relative = tried.deviation.worst,
                  .rms = tried.deviation.rms,
                  .elements = error.elements,
                  .relative_of = place_of(tried.margin, preset),
                  .rms_of = place_of(tried.margin, preset),
                  .undefined = {}});
  }
  // So that another device's order of sums, and the file's three digits, stay below it.
  constexpr double kMore = 1.02;
  error.relative *= kMore;
  error.rms *= kMore;
  return error;
}

/// Brings a file of honest errors up to date: the larger of what it has and what was found.
void write_tolerances(const std::string& path, DType half, TaskId task, const HonestError& found) {
  HonestErrors errors;
  if (std::filesystem::exists(path)) {
    errors = parse_honest_errors(read_file(path), path, half);
  }
  const auto [known, is_new] = errors.try_emplace(task, found);
  if (!is_new) merge(known->second, found);
  NewFile file(path);
  file.write(to_json(errors, half));
  file.commit();
}

/// A certificate file needs whole kinds, and all kinds for a task whose tolerance is new.
void expect_whole(const VerbOptions& options, DType dtype,
                  const std::vector<const Task*>& selected) {
  if (options.out.empty()) return;
  if (!options.audit.only.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "--out is of whole certificates; with --only there are none");
  }
  for (const Task* task : selected) {
    if (task->id.own.empty()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                "certificates of " + to_string(task->id) +
                    " stand beside its file: kbench task certify FILE");
  }
  if (options.kinds.empty()) return;
  std::map<TaskId, double> known;
  if (std::filesystem::exists(options.out)) {
    for (const Certificate& each : parse_certificates(read_file(options.out), options.out).tasks) {
      known[each.task] = each.tolerance;
    }
  }
  for (const Task* task : selected) {
    const auto found = known.find(task->id);
    if (found != known.end() && found->second == bounds_of(*task, dtype).relative) continue;
    throw Error(ErrorCode::kInvalidArgument,
                options.out + " has no certificate of " + to_string(task->id) +
                    " at its tolerance, which --kinds could add to: leave --kinds out");
  }
}

int run_audit(VerbOptions options) {
  const Preset preset = options.size.fixed_preset();
  const DType dtype = options.size.dtype();
  if (!(options.out + options.tolerances).empty() && !options.size.assignments.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "certificates and tolerances are kept for the sizes of presets: leave --set out, "
                "or --out and --tolerances");
  }
  if (!options.tolerances.empty() && !is_half(dtype)) {
    throw Error(ErrorCode::kInvalidArgument,
                "--tolerances is of halves: give --dtype f16 or bf16; float32's stand beside the "
                "tasks in levels/");
  }
  auto selected = options.tasks.select();
  // --tolerances finds out which tasks are defined: none is left out by an earlier file.
  if (options.tolerances.empty()) program::leave_out_undefined(selected, dtype);
  expect_whole(options, dtype, selected);
  if (!options.kinds.empty()) {
    options.audit.kinds.clear();
    for (const std::string& name : options.kinds) {
      options.audit.kinds.push_back(value_named(name, VariantKind::honest).value());
    }
  }
  Place place(options);
  CertificateFile file = place.file(preset, dtype);
  bool left = false;
  const AuditTable table(selected, options);
  table.print_header();
  program::Progress progress(stderr, selected.size());
  for (const Task* task : selected) {
    progress.begin(to_string(task->id));
    const auto graph = build_graph(options.size.at(*task));
    if (const auto fault = reference::not_a_number(*task); !fault.empty()) {
      left = true;
      std::printf("%s  not audited, as its right values are no numbers: %s\n",
                  to_string(task->id).c_str(), fault.c_str());
      progress.advance();
      continue;
    }
    const auto evaluator = place.evaluator(*task, *graph);
    const audit::TaskAudit audit = audit::audit_task(*task, *graph, *evaluator, options.audit);
    file.tasks.push_back(audit::certificate_of(audit));
    const std::string_view certified = certification(*task, file.tasks.back());
    left = left || certified == kNotCertified || certified == kCertifiedValues;
    table.print(audit);
    progress.advance();
    if (!options.out.empty()) write_certificates(options.out, file);
    if (!options.tolerances.empty()) {
      write_tolerances(options.tolerances, dtype, task->id, honest_error_of(audit, *graph, preset));
    }
  }
  return left ? program::kFailed : program::kDone;
}

}  // namespace

program::Verb add_audit(program::Command program) {
  auto options = std::make_shared<VerbOptions>();
  const program::Command app = program.add_verb(
      "audit", "Test the tasks' own checks with shortcuts",
      "Runs each task with a part of its work left out, in fewer bits, or not at all, and in other "
      "honest orders and formulas, and says by how much each fails or passes the task's check: its "
      "worst error over the tolerance. What passes and should not is listed, and so is what is "
      "honest and needs more than half of the tolerance; exit code 1 when there is any. "
      "Certificates (docs/certificate.md) are made with --out.",
      "  kbench-dev audit --task level1/23 --all\n"
      "  kbench-dev audit --preset v0.1 --backend vulkan --out levels/certificates/v0.1.json\n"
      "  kbench-dev audit --task level1/40 --preset v0.1 --dtype bf16 --set batch_size=1\n"
      "  kbench-dev audit --dtype f16 --kinds honest --tolerances levels/tolerances/f16.json");
  options->size.add_to(app, /*with_auto=*/false, std::string(name_of(Preset::smoke)));
  const program::Command computation = app.in_group("Computation");
  computation.add_setting(
      "--backend NAME", options->backend,
      "reference (on the CPU, held to float64), or vulkan (the eager baseline's "
      "kernels, held to themselves)",
      program::member_of({"reference", "vulkan"}));
  computation.add_option("--only TEXT", options->audit.only,
                         "Only variants whose description holds this");
  computation
      .add_option("--kinds KIND,...", options->kinds,
                  "Only null, mutant, subset, precision or honest variants (default: all); --out "
                  "keeps the others that the file has",
                  program::member_of(names_to(VariantKind::honest)))
      .comma_separated();
  options->tasks.add_to(app);
  options->device.add_to(app);
  const program::Command output = app.in_group("Output");
  output.add_flag("--all", options->all, "Every variant, not only those that are left");
  output.add_option("--out FILE", options->out,
                    "Certificates: a file that is written, or brought up to date for these tasks");
  output.add_option("--tolerances FILE", options->tolerances,
                    "Honest errors in halves, which their tolerances are twice of: a file that is "
                    "written, or whose errors are raised where these are larger");
  return {app, [options] { return run_audit(*options); }};
}

}  // namespace kbench::dev
