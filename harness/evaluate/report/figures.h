// The charts of a report.
#pragma once

#include <vector>

#include "harness/evaluate/report/analysis.h"
#include "harness/evaluate/report/chart.h"
#include "harness/evaluate/report/svg_plot.h"

namespace kbench::report {

/// fast_p against p; pass@k, correct by attempt and the swarm, if there is more than one k,
/// attempt, model. The first eight models are drawn.
std::vector<Chart> charts(const Analysis& analysis);

/// The speedups of a model's best candidates, by task; without points if there are none.
Plot speedup_plot(const Study& study, const ModelReport& model);

}  // namespace kbench::report
