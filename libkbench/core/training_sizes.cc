#include "libkbench/core/training_sizes.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kbench/error.h"
#include "libkbench/core/operator_kinds.h"
#include "libkbench/core/size_search.h"

namespace kbench {
namespace {

// What an H200 does, through Vulkan.
constexpr double kBytesPerSecond = 4e12, kFlopsPerSecond = 60e12, kLaunchSeconds = 4e-6;

/// A run takes so long at least: its launches and what its times vary by are a few percent then. No
/// size is halved once it takes no longer than kFewSeconds.
constexpr double kLeastSeconds = 100e-6, kFewSeconds = 200e-6;
/// What is computed takes so many times as long as launching it, or as many times as at v0.1.
constexpr double kWorkToLaunches = 2.5;
/// A size whose half spares less time stays, as the number of a classifier's classes.
constexpr double kWorthwhile = 0.95;
/// A batch of rows keeps one for each of the device's cores. One of larger samples keeps two, so
/// that a kernel that ignores the batch is wrong.
constexpr int64_t kLeastRows = 256, kLeastBatch = 2;
/// No other size becomes smaller: the tiles of most kernels fit into it.
constexpr int64_t kLeastSize = 32;
/// What can be computed side by side, where there is as much: elements of the largest output (the
/// second number where it has fewer than the first), and statistics of a norm.
constexpr int64_t kManyOutputs = 100'000, kFewOutputs = 512, kLeastStatistics = 256;

struct Expected {
  double work = 0, launches = 0;  ///< seconds
  double seconds() const { return work + launches; }
  double ratio() const { return work / launches; }
};

/// Of each operator as one kernel that reads and writes its tensors once.
Expected expected(const Graph& graph) {
  Expected sum;
  for (const Graph::Node& node : graph.nodes()) {
    const OperatorCall& call = node.call;
    if (call.op->is_view) continue;
    double bytes = 0, launches = 1;
    for (const auto* ids : {&node.inputs, &node.outputs}) {
      for (const int id : *ids) bytes += static_cast<double>(graph.stored_type(id).bytes());
    }
    if (is_recurrent(*call.op)) {  // One a step and layer.
      const bool batch_first = call.attributes.flag("batch_first");
      launches = static_cast<double>(call.inputs[0].shape.at(batch_first ? 1 : 0) *
                                     call.attributes.integer("layers"));
    }
    sum.work += std::max(bytes / kBytesPerSecond, call.op->flops(call) / kFlopsPerSecond);
    sum.launches += launches * kLaunchSeconds;
  }
  return sum;
}

/// How much of a task can be computed side by side.
struct Width {
  int64_t outputs = 0;                    ///< elements of the largest
  int64_t statistics = kLeastStatistics;  ///< of the norm that has fewest
  explicit Width(const Graph& graph) {
    for (const int id : graph.outputs()) {
      outputs = std::max(outputs, graph.value(id).type.elements());
    }
    for (const Graph::Node& node : graph.nodes()) {
      if (!is_norm(*node.call.op)) continue;
      statistics = std::min(statistics, node.call.inputs[0].elements() / terms_of_statistics(node));
    }
  }
};

/// What a size is of: the number of samples, other extents of inputs alone, or parameters, too. In
/// the order in which they are halved.
enum class Role { batch, data, model };

/// A variable; the elements of a list change together.
struct Size {
  std::string name;
  VariableValue own;
  Role role;
};

int64_t largest(const VariableValue& value) {
  const auto* list = std::get_if<std::vector<int64_t>>(&value);
  return list == nullptr ? std::get<int64_t>(value) : std::ranges::max(*list);
}

int64_t smallest(const VariableValue& value) {
  const auto* list = std::get_if<std::vector<int64_t>>(&value);
  if (list == nullptr) return std::get<int64_t>(value);
  return list->empty() ? 0 : std::ranges::min(*list);
}

/// Odd where v0.1's is, else a multiple of the same power of two, up to 16: kernels that take four
/// or sixteen values at a time may count on it, and others must not.
int64_t half(int64_t value, int64_t own) {
  if (own % 2 == 1) return value / 2 | 1;
  int64_t step = 1;
  while (step < 16 && own % (2 * step) == 0) step *= 2;
  return (value / 2 + step - 1) / step * step;
}

VariableValue half(const VariableValue& value, const Size& size) {
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    return size.role == Role::batch ? *whole / 2 : half(*whole, std::get<int64_t>(size.own));
  }
  auto list = std::get<std::vector<int64_t>>(value);
  const auto& own = std::get<std::vector<int64_t>>(size.own);
  for (size_t i = 0; i < list.size(); ++i) list[i] = half(list[i], own[i]);
  return list;
}

bool is_given(const Graph::ValueInfo& value) {
  return value.kind == Graph::Kind::parameter || value.kind == Graph::Kind::constant;
}

/// Whether only the first extent differs, or none where it may be so.
bool differs_in_first(const Shape& a, const Shape& b, bool may_be_same) {
  if (a.size() != b.size()) return false;
  if (a == b) return may_be_same;
  return std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

/// By the graph at another value of the variable.
Role role_of(const Graph& own, const Graph& other) {
  const auto pairs_hold = [&](auto holds) {
    return std::equal(own.values().begin(), own.values().end(), other.values().begin(),
                      other.values().end(), holds);
  };
  const bool model = !pairs_hold(
      [](const auto& a, const auto& b) { return !is_given(a) || a.type.shape == b.type.shape; });
  if (model) return Role::model;
  bool batch = true;
  for (const int id : own.values_of(Graph::Kind::input)) {
    batch = batch && differs_in_first(own.value(id).type.shape, other.value(id).type.shape, false);
  }
  for (const int id : own.outputs()) {
    const Shape& shape = own.value(id).type.shape;
    batch = batch && differs_in_first(shape, other.value(id).type.shape, shape.empty());
  }
  return batch ? Role::batch : Role::data;
}

class Halving {
 public:
  explicit Halving(const Task& task)
      : task_(task), own_(build_graph(task, Preset::v0_1)), own_width_(*own_) {
    const Expected there = expected(*own_);
    seconds_ = there.seconds();
    least_ratio_ = 0.99 * std::min(there.ratio(), kWorkToLaunches);
    for (const int id : own_->values_of(Graph::Kind::input)) {
      rows_ = rows_ && own_->value(id).type.shape.size() <= 2;
    }
    find_sizes();
  }

  Variables run() {
    while (seconds_ > kFewSeconds &&
           (halve_one(/*keep_width=*/true) || halve_one(/*keep_width=*/false))) {
    }
    return chosen_;
  }

 private:
  const VariableValue& now(const Size& size) const {
    const auto chosen = chosen_.find(size.name);
    return chosen == chosen_.end() ? size.own : chosen->second;
  }

  int64_t least(const Size& size) const {
    if (size.role != Role::batch) return kLeastSize;
    return rows_ ? kLeastRows : kLeastBatch;
  }

  int64_t least_outputs() const {
    return std::min(own_width_.outputs,
                    own_width_.outputs < kManyOutputs ? kFewOutputs : kManyOutputs);
  }

  /// Null where the sizes do not go together, or make another task.
  std::unique_ptr<Graph> built(const Variables& chosen) const {
    try {
      auto graph = build_graph(task_, Preset::v0_1, chosen);
      return same_computation(*own_, *graph) ? std::move(graph) : nullptr;
    } catch (const Error&) {
      return nullptr;
    }
  }

  void find_sizes() {
    for (const VariableSpec& spec : task_.variables) {
      const bool read = own_->variables_read().contains(spec.name);
      if (!spec.follows.empty() || !spec.differs() || !read) continue;
      const VariableValue& own = spec.v0_1;
      if (std::holds_alternative<double>(own) || smallest(own) < 2) continue;
      Size size{spec.name, own, Role::batch};
      const auto other = built({{spec.name, half(own, size)}});
      size.role = other ? role_of(*own_, *other) : Role::data;
      sizes_.push_back(std::move(size));
    }
  }

  /// Halves the first size that may be; false where none may.
  bool halve_one(bool keep_width) {
    std::vector<const Size*> order;
    for (const Size& size : sizes_) order.push_back(&size);
    std::ranges::stable_sort(order, [&](const Size* a, const Size* b) {
      return a->role != b->role ? a->role < b->role : largest(now(*a)) > largest(now(*b));
    });
    for (const Size* size : order) {
      Variables tried = chosen_;
      tried[size->name] = half(now(*size), *size);
      if (accept(*size, tried, keep_width)) return true;
      // Where it cannot be by itself, with another that has to be equal.
      for (const Size* other : order) {
        if (other == size || largest(now(*other)) != largest(now(*size))) continue;
        Variables both = tried;
        both[other->name] = half(now(*other), *other);
        if (accept(*size, both, keep_width)) return true;
      }
    }
    return false;
  }

  bool accept(const Size& size, const Variables& tried, bool keep_width) {
    const VariableValue& value = tried.at(size.name);
    if (smallest(value) < least(size) || largest(value) >= largest(now(size))) return false;
    const auto graph = built(tried);
    if (!graph) return false;
    const Expected there = expected(*graph);
    if (there.seconds() < kLeastSeconds || there.ratio() < least_ratio_) return false;
    if (there.seconds() > kWorthwhile * seconds_) return false;
    const Width width(*graph);
    if (keep_width &&
        (width.outputs < least_outputs() || width.statistics < own_width_.statistics)) {
      return false;
    }
    chosen_ = tried;
    seconds_ = there.seconds();
    return true;
  }

  const Task& task_;
  std::unique_ptr<Graph> own_;  ///< at v0.1
  Width own_width_;
  double seconds_;  ///< of a run at the sizes chosen
  double least_ratio_;
  bool rows_ = true;  ///< no input has more than two dimensions
  std::vector<Size> sizes_;
  Variables chosen_;
};

}  // namespace

Variables training_sizes(const Task& task) { return Halving(task).run(); }

}  // namespace kbench
