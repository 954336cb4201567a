#include <memory>

#include "harness/evaluate/queue/serve.h"
#include "harness/frontends/program/open_devices.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/signals.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"

namespace kbench::program {
namespace {

struct ServeVerbOptions {
  std::string socket;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
};

int run_serve(const ServeVerbOptions& options) {
  if (options.size.preset != "auto") options.size.fixed_preset();
  queue::ServeOptions serve;
  serve.defaults = evaluate_options(options.size, options.device, options.measure);
  std::optional<queue::ServeSocket> socket;  // opened before the device
  if (!options.socket.empty()) socket.emplace(options.socket);
  const StopSignals signals([](int) {});
  OpenDevices devices = open_devices(options.device, serve.defaults);
  queue::Queue queue(std::move(devices.judges));
  if (socket) {
    warn("serves at " + options.socket + " on " + names_of(devices.snapshots));
    queue::serve_socket(*socket, queue, devices.snapshots, serve, signals.gently(),
                        signals.at_once());
    return kDone;
  }
  queue::ServeClient client(queue, devices.snapshots, serve, /*in=*/0, /*out=*/1);
  if (client.serve(signals.gently(), signals.at_once()) != queue::ServeEnd::gone) return kDone;
  warn("standard output takes no answers any more");
  return kUsage;
}

}  // namespace

Verb add_serve(Command program) {
  auto options = std::make_shared<ServeVerbOptions>();
  const Command app = program.add_verb(
      "serve", "Evaluate what is sent as lines of JSON",
      "Takes experiments as lines of JSON and answers each with a line, as they are done: on "
      "standard input and output, or for several clients on a Unix socket. The flags are for what "
      "a line does not say. docs/serve.md has the lines. Ends with its input, when all is "
      "answered; on SIGTERM or Ctrl-C what is left is cancelled, and answered so.",
      "  kbench serve --preset smoke < experiments.jsonl > results.jsonl\n"
      "  kbench serve --devices all --socket /run/user/1000/kbench");
  app.in_group("Lines").add_option("--socket PATH", options->socket, "Listen at a Unix socket");
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_several_to(app);
  options->measure.add_to(app);
  return {app, [options] { return run_serve(*options); }};
}

}  // namespace kbench::program
