// The pictures of a report.
#pragma once

#include <vector>

#include "harness/evaluate/report/analysis.h"
#include "harness/evaluate/report/chart.h"
#include "harness/evaluate/report/svg_plot.h"

namespace kbench::report {

/// fast_p against p; pass@k, correct by attempt and the swarm where there is more than one k,
/// attempt, model. At most eight models are drawn, the first.
std::vector<Chart> charts(const Analysis& analysis);

/// The best candidates' speedups of a model, task by task; without points where there are none.
Plot speedup_plot(const Study& study, const ModelReport& model);

}  // namespace kbench::report
