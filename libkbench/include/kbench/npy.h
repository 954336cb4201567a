// NumPy's .npy files (format version 1.0), for handing tensors to other programs.
#pragma once

#include <string>

#include "kbench/tensor.h"

namespace kbench {

/// Writes f32, f64, i64, u8 or bool. Throws kIo with the path.
void write_npy(const std::string& path, const Tensor& tensor);
/// Reads what write_npy writes (little-endian, C order). Throws kIo or kParse with the path.
Tensor read_npy(const std::string& path);

}  // namespace kbench
