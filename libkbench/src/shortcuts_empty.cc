#include "libkbench/src/shortcut_rules.h"
namespace kbench {
void shorten_reductions(const Graph&, int, const AddMutant&) {}
void shorten_statistics(const Graph&, int, const AddMutant&) {}
void shorten_products(const Graph&, int, const AddMutant&) {}
void shorten_steps(const Graph&, int, const AddMutant&) {}
void round_operands(const Graph&, int, const AddMutant&) {}
void round_results(const Graph&, int, const AddMutant&) {}
void reorder_sums(const Graph&, int, const AddMutant&) {}
void other_formulas(const Graph&, int, const AddMutant&) {}
}  // namespace kbench
