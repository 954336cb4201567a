#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/audit/audit.h"
#include "harness/program/help.h"
#include "harness/program/options.h"
#include "harness/program/progress.h"
#include "harness/program/text.h"
#include "harness/program/verbs.h"
#include "harness/vulkan/device.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/text.h"

namespace kbench::program {
namespace {

using nlohmann::ordered_json;

struct VerbOptions {
  TaskOptions tasks;
  std::string preset = "smoke", backend = "reference", only;
  std::vector<std::string> kinds;
  DeviceOptions device;
  audit::AuditOptions audit;
  bool json = false, all = false;
};

std::string margin_text(double margin) {
  return std::isinf(margin) ? "inf" : format_number(margin, 3);
}

ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json("inf");
}

ordered_json tried_json(const audit::Tried& tried) {
  ordered_json entry = {{"kind", std::string(to_string(tried.kind))},
                        {"rule", tried.margin.rule},
                        {"description", tried.margin.description}};
  if (!tried.not_tried.empty()) {
    entry["not_tried"] = tried.not_tried;
  } else {
    entry["margin"] = number(tried.margin.margin);
    entry["share"] = tried.beyond_share;
  }
  if (tried.identical) entry["identical"] = true;
  if (tried.dead != nullptr) entry["dead"] = tried.dead->proof;
  return entry;
}

std::string nearest(const Certificate& certificate, Variant::Kind kind) {
  const auto found = certificate.kinds.find(kind);
  if (found == certificate.kinds.end() || !found->second.nearest) return "-";
  return margin_text(found->second.nearest->margin);
}

void print_audit(const audit::TaskAudit& audit, const VerbOptions& options) {
  const Certificate certificate = audit::certificate_of(audit);
  std::printf("%-10s %-40s null %-8s mutant %-8s precision %-8s honest %-8s %s\n",
              to_string(audit.task->id).c_str(), audit.task->name.c_str(),
              nearest(certificate, Variant::Kind::null).c_str(),
              nearest(certificate, Variant::Kind::mutant).c_str(),
              nearest(certificate, Variant::Kind::precision).c_str(),
              nearest(certificate, Variant::Kind::honest).c_str(),
              format_seconds(audit.seconds).c_str());
  for (const audit::Tried& tried : audit.tried) {
    const bool honest = tried.kind == Variant::Kind::honest;
    const bool left = tried.not_tried.empty() && tried.dead == nullptr &&
                      (honest ? tried.margin.margin > 0.5 : tried.margin.margin <= 1);
    if (!left && !options.all) continue;
    std::printf("    %-9s %-8s %s%s%s\n", std::string(to_string(tried.kind)).c_str(),
                tried.not_tried.empty() ? margin_text(tried.margin.margin).c_str() : "-",
                tried.margin.description.c_str(), tried.identical ? " (identical)" : "",
                tried.dead != nullptr      ? " (dead)"
                : !tried.not_tried.empty() ? (": " + tried.not_tried).c_str()
                                           : "");
  }
}

int run_audit(const VerbOptions& options) {
  const auto selected = options.tasks.select();
  const Preset preset = preset_from_name(options.preset);
  std::unique_ptr<vulkan::Device> device;
  if (options.backend == "vulkan") {
    device = vulkan::Device::open({options.device.device, options.device.validate});
  }
  std::vector<audit::TaskAudit> audits;
  ordered_json document = ordered_json::array();
  {
    Progress progress(stderr, selected.size());
    for (const Task* task : selected) {
      progress.begin(to_string(task->id));
      const auto graph = build_graph(*task, preset);
      const auto bench = device ? audit::make_device_bench(*device, *task, *graph)
                                : audit::make_host_bench(*task, *graph);
      const audit::TaskAudit audit = audit::audit_task(*task, *graph, *bench, options.audit);
      if (options.json) {
        ordered_json entry = {{"task", to_string(task->id)},
                              {"name", task->name},
                              {"tolerance", task->tolerance.relative},
                              {"seconds", audit.seconds},
                              {"variants", ordered_json::array()}};
        for (const audit::Tried& tried : audit.tried) {
          entry["variants"].push_back(tried_json(tried));
        }
        document.push_back(std::move(entry));
      } else {
        print_audit(audit, options);
        std::fflush(stdout);
      }
      progress.advance();
    }
  }
  if (options.json) {
    std::printf("%s\n",
                document.dump(1, ' ', false, ordered_json::error_handler_t::replace).c_str());
  }
  return kDone;
}

}  // namespace

Verb add_audit(CLI::App& program) {
  auto options = std::make_shared<VerbOptions>();
  CLI::App* app =
      add_verb(program, "audit", "Hold the tasks' checks against shortcuts",
               "Runs each task with a part of its work left out, on fewer bits, or not at all, and "
               "in other\n"
               "honest orders, and says by how much each fails or passes the task's check.",
               "  kbench audit --task level1/23\n"
               "  kbench audit --preset v0.1 --backend vulkan");
  app->add_option("--preset", options->preset, "Sizes: smoke, v0 or v0.1")->capture_default_str();
  app->add_option("--backend", options->backend, "reference (on the CPU), or vulkan")
      ->check(CLI::IsMember({"reference", "vulkan"}))
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Computation");
  app->add_option("--only", options->audit.only, "Only variants whose description holds this");
  app->add_option("--draws", options->audit.draws, "Draws of inputs")->check(CLI::Range(1, 100));
  app->add_option("--most-calls", options->audit.variants.most_calls,
                  "Of an operator called more often, so many calls are tried one by one (0: all)")
      ->check(CLI::NonNegativeNumber);
  options->tasks.add_to(*app);
  options->device.add_to(*app);
  app->add_flag("--all", options->all, "Every variant, not only those that are left");
  app->add_flag("--json", options->json, "Every variant as JSON on standard output")
      ->group("Output");
  return {app, [options] { return run_audit(*options); }};
}

}  // namespace kbench::program
