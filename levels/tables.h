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
Tasks level1_scans();
Tasks level1_transposed_convolutions();
Tasks level2_gemm_norms();
Tasks level2_gemms();
Tasks level2_image_convolutions();
Tasks level2_image_transposed_convolutions();
Tasks level2_volume_convolutions();
Tasks level2_volume_transposed_convolutions();
Tasks level3_aggregation();
Tasks level3_convnets();
Tasks level3_densenets();
Tasks level3_inception();
Tasks level3_mlps();
Tasks level3_mobilenets();
Tasks level3_recurrent();
Tasks level3_resnets();
Tasks level3_shufflenets();
Tasks level3_squeezenets();
Tasks level3_state_space();
Tasks level3_swin();
Tasks level3_transformers();
Tasks level3_vgg();

}  // namespace kbench::levels
