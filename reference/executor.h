// A run of the reference that is watched.
#pragma once

#include <functional>
#include <vector>

#include "kbench/reference.h"

namespace kbench::reference {

/// A value when it is there: each given one before the run, each result once it is computed.
using See = std::function<void(int id, const Tensor& tensor)>;

/// run_reference() in float64, with every value shown.
std::vector<Tensor> run_seen(const Graph& graph, NamedTensors given, const See& see);

}  // namespace kbench::reference
