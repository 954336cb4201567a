// Which approximate functions PTX computes with.
#pragma once

#include <string>

#include "harness/measure/cuda/ptx.h"

namespace kbench::cuda {

/// "tanh.approx.f32, ex2.approx.ftz.f32": instructions of the special function unit and short
/// divisions, in the order of the text, each once; empty where there are none. Ordinary float32
/// functions are made of some as well (expf of ex2.approx, rsqrtf of rsqrt.approx): those count
/// only where the module flushes small numbers to zero in its ordinary arithmetic, as
/// --use_fast_math has it.
std::string approximate_functions(const PtxModule& module);

}  // namespace kbench::cuda
