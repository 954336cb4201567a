// A result with something in every field.
#pragma once

#include <limits>

#include "kbench/result.h"

namespace kbench::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline Result example() {
  Result r;
  r.set = "mine";
  r.candidate = "level1/19.yaml";
  r.candidate_hash = "ab12";
  r.task = {1, 19};
  r.task_name = "ReLU";
  r.preset = "smoke";
  r.variables = {{"batch_size", int64_t{16}},
                 {"slope", 2.0},
                 {"tiny", 0.1},
                 {"shape", std::vector<int64_t>{16, 1, 1}}};
  r.device = "llvmpipe";
  r.driver = "Mesa 22.3.6";
  r.device_uuid = "00112233-4455-6677-8899-aabbccddeeff";
  r.software_device = true;
  r.baseline = "eager";
  r.settings = "tolerance=kbench";
  r.version = "0.1.0";
  r.verdict = Verdict::compile_error;
  r.message = "relu.comp:3: \"quoted\"\nsecond line";
  r.diagnostics = {{"error", "relu.comp", 3, 7, "undeclared"}, {"note", "", 0, 0, ""}};
  r.tuning = {{"relu", {{"num_warps 4, BLOCK 64", 0.5}, {"num_warps 8, BLOCK 64", 0.25}}, 1}};
  r.lane = "cuda";
  r.samples = 17;
  r.speedup = {0, 1.0 / 3, kInf};
  r.candidate_ms = 0.1 + 0.2;
  r.baseline_ms = 5e-324;
  r.setup_ms = 1.5;
  r.max_error = kInf;
  r.gbytes_per_s = 1e300;
  r.tflops = 0.25;
  r.roof_gbytes_per_s = 4000;
  r.roof_tflops = 60.5;
  r.busy = true;
  r.compile_s = 0.75;
  r.wall_s = 2;
  r.made_for = {"dim % 4 == 0"};
  r.own_kernels = 0.75;
  r.library_calls = {"matmul", "copy"};
  r.holds_at =
      HoldsAt{6, 4, WrongAt{{{"dim", int64_t{67}}}, Verdict::out_of_bounds, "past its end"}};
  r.workloads =
      Workloads{{{{{"dim", int64_t{63}}}, {0.5, 1, kInf}, 0.2, 0.1}}, {0.5, 1, 2}, {0, 1, 2}};
  r.stage_s = {{"compile", 0.5}, {"sample", 0.1 + 0.2}};
  return r;
}

}  // namespace kbench::testing
