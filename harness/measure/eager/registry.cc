#include "harness/measure/eager/registry.h"

#include <map>

namespace kbench::eager {
namespace {

using Table = std::map<std::string, PlanFunction, std::less<>>;

Table make_table() {
  Table table;
  for (const auto* family : {&elementwise_kernels(), &reduction_kernels(), &matmul_kernels(),
                             &convolution_kernels(), &pooling_kernels(), &norm_kernels(),
                             &loss_kernels(), &shape_kernels(), &recurrent_kernels()}) {
    for (const EagerKernel& kernel : *family) table.emplace(kernel.name, kernel.plan);
  }
  return table;
}

}  // namespace

PlanFunction find_plan(std::string_view name) {
  static const Table table = make_table();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace kbench::eager
