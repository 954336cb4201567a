// The suite's tables, one a file of a level's folder. A task is an entry in exactly one of them.
#pragma once

#include <vector>

#include "kbench/task.h"

namespace kbench::levels {

using Tasks = std::vector<Task>;

Tasks level1_activations();
Tasks level1_attention();
Tasks level1_convolutions();
Tasks level1_losses();
Tasks level1_matmuls();
Tasks level1_norms();
Tasks level1_pooling();
Tasks level1_reductions();
Tasks level2_convolutions();
Tasks level2_gemms();
Tasks level3_convnets();
Tasks level3_mlps();

}  // namespace kbench::levels
