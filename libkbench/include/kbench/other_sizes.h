// Further sizes of a task, at which a candidate that is right in general is right too.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kbench/task.h"

namespace kbench {

/// Values to set in place of the task's own: at most two sets, the same for a task every time.
/// Changed are integer variables in which the presets differ and which change nothing but extents:
/// a candidate's file serves all presets, so it is written for any value of these. New values are
/// larger, one or more of them above 64 where that costs little: multiples of four and not of eight
/// where the preset's are multiples of four, so that kernels which take four values at a time are
/// right at them, too; and a kernel of one invocation a row has no more rounds of loops than
/// llvmpipe runs, 65,535. Fewer sets, or none, where the task allows no more or is much work at the
/// preset already.
std::vector<Variables> other_sizes(const TaskAt& at, std::span<const Task> suite = tasks());

/// How many of a candidate's requirements do not hold with these values of all variables.
using SizesAllowed = std::function<int(const Variables& all)>;

/// Up to `count` different sets of values, drawn from `seed`, at which every tensor of the task may
/// be smaller or larger: primes, odd numbers, even ones that four does not divide, multiples of
/// four, one, numbers beyond 64. Changed are the same variables as above; each set is as little
/// work. Sets with a requirement that does not hold (`allowed`, which may be empty) are left out.
/// Fewer sets, or none, where the task allows no more.
std::vector<Variables> drawn_sizes(const TaskAt& at, uint64_t seed, int count,
                                   const SizesAllowed& allowed = {},
                                   std::span<const Task> suite = tasks());

}  // namespace kbench
