// Kinds of operators that rules on graphs tell apart.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "kbench/ops.h"

namespace kbench {

bool is_one_of(const std::string& name, std::initializer_list<const char*> names);
bool is_convolution(const Operator& op);  ///< conv1d and so on, conv_transpose1d and so on
/// The extents of a convolution's window.
Shape convolution_window(const OperatorCall& call);
bool is_product(const Operator& op);    ///< linear, matmul, a convolution
bool is_recurrent(const Operator& op);  ///< lstm, gru
bool is_norm(const Operator& op);       ///< batch_norm, instance_norm, group_norm, layer_norm
/// How many elements each of a norm's statistics is over.
int64_t terms_of_statistics(const Graph::Node& node);

}  // namespace kbench
