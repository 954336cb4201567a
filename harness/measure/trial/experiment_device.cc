// The part of an experiment's identity that a client without a device fills in.
#include <sstream>

#include "harness/measure/trial/experiment.h"
#include "kbench/version.h"
#include "libkbench/core/own_tasks.h"

namespace kbench::trial {

void describe_device(Experiment& experiment, const vulkan::DeviceSnapshot& snapshot,
                     const EvaluateOptions& options) {
  experiment.device = snapshot.name;
  experiment.driver = snapshot.driver;
  experiment.device_uuid = vulkan::to_string(snapshot.device_uuid);
  experiment.software_device = snapshot.software();
  experiment.settings = settings_text(options);
  if (!experiment.task.own.empty()) {  // Another file of that name is another task.
    experiment.settings += " task=" + meaning_text(experiment.task.meaning);
  }
  experiment.version = version();
}

std::string settings_text(const EvaluateOptions& options) {
  std::ostringstream text;
  text << "tolerance=" << name_of(options.tolerance) << " precision=" << options.plan.precision
       << " max_seconds=" << options.plan.max_seconds << " samples=" << options.plan.min_samples
       << ".." << options.plan.max_samples;
  if (options.validate) text << " validate";
  if (options.seed) text << " seed=" << *options.seed;
  if (!options.other_sizes) text << " own sizes alone";
  if (options.general) text << " general";
  return text.str();
}

}  // namespace kbench::trial
