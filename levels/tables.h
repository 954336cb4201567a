// The suite's tables, one a file of a level's folder. A task is an entry in exactly one of them.
#pragma once

#include <span>
#include <string_view>
#include <utility>
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

// Files that this build carries as text.

/// levels/certificates/FILE, "smoke.json" or "smoke.f16.json"; empty where there is none.
std::string_view certificate_text(std::string_view file);
/// levels/tolerances/FILE, "f16.json"; empty where there is none.
std::string_view tolerance_text(std::string_view file);
/// levels/sizes/FILE, "train.json" or "init_inputs.json"; empty where there is none.
std::string_view size_text(std::string_view file);

// --- the known rewritings: levels/algebra/*.yaml, and results.jsonl with what was measured of them
/// File name and text of each.
std::span<const std::pair<std::string_view, std::string_view>> algebra_candidates();
/// Results, one a line.
std::string_view algebra_results();

}  // namespace kbench::levels
