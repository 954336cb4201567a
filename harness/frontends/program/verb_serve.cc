#include <malloc.h>

#include <algorithm>
#include <concepts>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "harness/evaluate/evaluators/serve.h"
#include "harness/frontends/http/service.h"
#include "harness/frontends/program/open_devices.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/signals.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"

namespace kbench::program {
namespace {

struct ServeVerbOptions {
  std::string http, tokens;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
};

/// The tokens of --tokens, or of the environment.
http::Tokens tokens_of(const ServeVerbOptions& options) {
  if (!options.tokens.empty()) return http::Tokens::from_file(options.tokens);
  const char* const token = std::getenv("KBENCH_SERVE_TOKEN");
  return token != nullptr ? http::Tokens::of(token) : http::Tokens();
}

/// The highest limits that a client may ask for: what the flags say, where they are given.
Limits most_limits(const Command& app, const Limits& own) {
  Limits most = evaluators::kMostLimits;
  const auto take = [&]<class T>(std::string_view name, T& limit, const FieldWords& words) {
    const std::string flag(words.flag.substr(0, words.flag.find(' ')));
    each_field(
        [&]<class U>(std::string_view field, const U& asked) {
          if constexpr (std::same_as<T, U>) {
            if (field == name) limit = app.option(flag).given() ? asked : std::max(limit, asked);
          }
        },
        own);
  };
  each_asked_field(take, most);
  return most;
}

int run_serve(const Command& app, const ServeVerbOptions& options) {
  if (options.size.preset != "auto") options.size.fixed_preset();
  evaluators::ServeOptions serve;
  serve.defaults = question_of(options.size, options.device, options.measure);
  serve.most = most_limits(app, serve.defaults.limits);
  http::ServiceOptions service;
  if (!options.http.empty()) {
    service.address = http::address_from_text(options.http);
    service.tokens = tokens_of(options);
    service.defaults = serve.defaults;
    service.most = serve.most;
  }
  const StopSignals signals([](int) {});
  OpenDevices devices = open_devices(options.device, /*one_kind=*/false);
  Pool pool(std::move(devices.evaluators));
  if (!options.http.empty()) {
    // Threads for 256 connections would otherwise keep the freed memory of large bodies each.
    mallopt(M_ARENA_MAX, 2);
    http::Service server(pool, devices.snapshots, std::move(service));
    warn("serves at " + server.url() + " on " + names_of(devices.snapshots));
    server.run(signals.gently(), signals.at_once());
    return kDone;
  }
  evaluators::ServeClient client(pool, devices.snapshots, serve, /*in=*/0, /*out=*/1);
  if (client.serve(signals.gently(), signals.at_once()) != evaluators::ServeEnd::gone) return kDone;
  warn("standard output takes no answers any more");
  return kUsage;
}

}  // namespace

Verb add_serve(Command program) {
  auto options = std::make_shared<ServeVerbOptions>();
  const Command app = program.add_verb(
      "serve", "Evaluate what is sent as lines of JSON, or over HTTP",
      "Takes experiments as lines of JSON and answers each with a line, as they are done: on "
      "standard input and output. The flags are for what a line does not say; no line can ask for "
      "more than those of limits say. docs/serve.md has the lines. Ends with its input, when all "
      "is answered; on SIGTERM or Ctrl-C what is left is cancelled, and answered so. With --http "
      "it takes experiments of several clients, also on other machines; SIGTERM or Ctrl-C then "
      "lets those it has end, and a second one cancels them.",
      "  kbench serve --preset smoke < experiments.jsonl > results.jsonl\n"
      "  kbench serve --devices all --http 8000");
  const Command http = app.in_group("HTTP");
  const Option address =
      http.add_option("--http ADDRESS", options->http,
                      "Listen for HTTP: a port of this machine, or HOST:PORT; 0 is any free port");
  http.add_option(
          "--tokens FILE", options->tokens,
          "Who may use it: lines of an author and a token; without, one token is taken from "
          "KBENCH_SERVE_TOKEN",
          readable())
      .needs(address);
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_several_to(app);
  options->measure.add_to(app);
  return {app, [app, options] { return run_serve(app, *options); }};
}

}  // namespace kbench::program
