#include "libkbench/task_file/extents.h"

#include <charconv>
#include <optional>

namespace kbench::written {
namespace {

std::optional<int64_t> literal_of(const Expression& e) {
  int64_t value = 0;
  const char* end = e.text.data() + e.text.size();
  const auto [read, error] = std::from_chars(e.text.data(), end, value);
  if (error != std::errc() || read != end) return std::nullopt;
  return value;
}

Expression product(const Expression& a, const Expression& b) {
  const auto x = literal_of(a), y = literal_of(b);
  if (x && y) return literal(*x * *y);
  if (x == 1) return b;
  return y == 1 ? a : y ? combined(b, '*', a) : combined(a, '*', b);
}

Expression quotient(const Expression& a, const Expression& b) {
  return literal_of(b) == 1 ? a : combined(a, '/', b);
}

/// A sum whose plain numbers are added up.
class Sum {
 public:
  Sum& add(const Expression& e) {
    if (const auto value = literal_of(e)) return add(*value);
    more_.push_back(e);
    return *this;
  }
  Sum& subtract(const Expression& e) {
    if (const auto value = literal_of(e)) return add(-*value);
    less_.push_back(e);
    return *this;
  }
  Sum& add(int64_t number) {
    number_ += number;
    return *this;
  }
  Expression expression() const {
    Expression sum = more_.empty() ? literal(number_) : more_[0];
    for (size_t i = 1; i < more_.size(); ++i) sum = combined(sum, '+', more_[i]);
    for (const Expression& e : less_) sum = combined(sum, '-', e);
    if (more_.empty() || number_ == 0) return sum;
    return combined(sum, number_ < 0 ? '-' : '+', literal(number_ < 0 ? -number_ : number_));
  }

 private:
  std::vector<Expression> more_, less_;
  int64_t number_ = 0;
};

/// What a window's options are in one dimension.
struct Window {
  Expression in, kernel, stride, padding, dilation, output_padding;
};

/// How far the window's last element is from its first.
Expression reach(const Window& window) {
  const auto dilation = literal_of(window.dilation);
  if (dilation == 1) return Sum().add(window.kernel).add(-1).expression();
  return product(window.dilation, Sum().add(window.kernel).add(-1).expression());
}

/// (in + 2 * padding - reach - 1) / stride + 1.
Expression output_of(const Window& window) {
  const bool side_by_side = window.kernel.text == window.stride.text &&
                            literal_of(window.dilation) == 1 && literal_of(window.padding) == 0;
  if (side_by_side) return quotient(window.in, window.stride);
  const Expression two = literal(int64_t{2});
  Sum sum;
  sum.add(window.in).add(product(two, window.padding)).add(-1);
  if (literal_of(window.dilation) == 1) {
    sum.subtract(window.kernel).add(1);
  } else {
    sum.subtract(reach(window));
  }
  if (const auto stride = literal_of(window.stride)) {
    return quotient(sum.add(*stride).expression(), window.stride);
  }
  return Sum().add(quotient(sum.expression(), window.stride)).add(1).expression();
}

/// (in - 1) * stride - 2 * padding + reach + output_padding + 1.
Expression transposed_output_of(const Window& window) {
  const Expression two = literal(int64_t{2});
  Sum sum;
  if (const auto stride = literal_of(window.stride)) {
    sum.add(product(window.stride, window.in)).add(-*stride);
  } else {
    sum.add(product(Sum().add(window.in).add(-1).expression(), window.stride));
  }
  if (literal_of(window.dilation) == 1) {
    sum.add(window.kernel);
  } else {
    sum.add(reach(window)).add(1);
  }
  return sum.add(window.output_padding).subtract(product(two, window.padding)).expression();
}

class Learning {
 public:
  Learning(const PatternEntry& entry, Fit& fit) : entry_(entry), fit_(fit) {}

  void learn() {
    const std::string& op = entry_.words.head;
    const bool convolution = op.starts_with("conv"), transposed = op.starts_with("conv_transpose");
    if (convolution) fan_in(transposed);
    const bool pool = op.starts_with("max_pool") || op.starts_with("avg_pool");
    if (convolution || pool) windows(convolution, transposed);
    if (op == "reshape") products();
  }

 private:
  /// A column of the graphs' entries: value(entry) is a number, or nothing where it has none.
  template <class F>
  Column column(const F& value) const {
    Column result(entry_.at.size());
    for (size_t g = 0; g < result.size(); ++g) {
      if (entry_.at[g] == nullptr) continue;
      if (const std::optional<int64_t> number = value(*entry_.at[g])) result[g] = *number;
    }
    return result;
  }

  Column extent(Shape Extents::*shape, size_t i) const {
    return column([&](const Entry& entry) -> std::optional<int64_t> {
      const Shape& extents = entry.extents.*shape;
      if (i >= extents.size()) return std::nullopt;
      return extents[i];
    });
  }

  std::optional<Expression> expression(const Column& numbers) { return fit_.find(numbers); }

  /// Element i of an attribute that is a list; `otherwise` where the operator has none.
  std::optional<Expression> option(const std::string& name, size_t i, int64_t otherwise) {
    const std::string begin = name + ": [";
    bool has = false;
    const Column numbers = column([&](const Entry& entry) -> std::optional<int64_t> {
      for (const Text& text : entry.texts) {
        if (text.words[0] != begin || i >= text.numbers.size()) continue;
        has = true;
        return std::get<int64_t>(text.numbers[i]);
      }
      return std::nullopt;
    });
    return has ? expression(numbers) : literal(otherwise);
  }

  void windows(bool convolution, bool transposed) {
    const size_t rank = entry_.at.empty() ? 0 : entry_.words.extents.out.size();
    for (size_t axis = 2; axis < rank; ++axis) {
      const size_t i = axis - 2;
      const auto in = expression(extent(&Extents::in, axis));
      const auto kernel =
          convolution ? expression(extent(&Extents::second, axis)) : option("kernel", i, 1);
      const auto stride = option("stride", i, 1), padding = option("padding", i, 0),
                 dilation = option("dilation", i, 1),
                 output_padding = option("output_padding", i, 0);
      if (!in || !kernel || !stride || !padding || !dilation || !output_padding) continue;
      const Window window{*in, *kernel, *stride, *padding, *dilation, *output_padding};
      fit_.learn(extent(&Extents::out, axis),
                 transposed ? transposed_output_of(window) : output_of(window));
    }
  }

  void fan_in(bool transposed) {
    const size_t rank = entry_.words.extents.second.size();
    std::optional<Expression> all = expression(extent(&Extents::second, transposed ? 0 : 1));
    std::optional<Expression> by = literal(int64_t{1});
    for (size_t axis = 2; axis < rank; ++axis) {
      const auto kernel = expression(extent(&Extents::second, axis)),
                 stride = option("stride", axis - 2, 1);
      if (!all || !by || !kernel || !stride) return;
      all = product(*all, *kernel);
      if (transposed) by = product(*by, *stride);
    }
    if (transposed) {
      const auto groups = expression(column([&](const Entry& entry) -> std::optional<int64_t> {
        for (const Text& text : entry.texts) {
          if (text.words[0] == "groups: ") return std::get<int64_t>(text.numbers[0]);
        }
        return 1;
      }));
      if (!groups || !by) return;
      by = product(*by, *groups);
    }
    if (!all || !by) return;
    fit_.learn(column([](const Entry& entry) { return std::optional(entry.extents.fan_in); }),
               quotient(*all, *by));
  }

  /// Extents of a new shape that are products of the old one's.
  void products() {
    const size_t rank = entry_.words.extents.in.size();
    for (size_t i = 0; i < entry_.words.extents.out.size(); ++i) {
      const Column target = extent(&Extents::out, i);
      if (fit_.find(target, Fit::Effort::little)) continue;
      for (size_t from = 0; from < rank; ++from) {
        for (size_t to = from + 1; to <= rank; ++to) {
          const Column range = column([&](const Entry& entry) -> std::optional<int64_t> {
            int64_t all = 1;
            for (size_t k = from; k < std::min(to, entry.extents.in.size()); ++k) {
              all *= entry.extents.in[k];
            }
            return all;
          });
          if (range == target && learn_product(target, from, to)) {
            from = rank;
            break;
          }
        }
      }
    }
  }

  bool learn_product(const Column& target, size_t from, size_t to) {
    Expression all = literal(int64_t{1});
    for (size_t k = from; k < to; ++k) {
      const auto factor = expression(extent(&Extents::in, k));
      if (!factor) return false;
      all = product(all, *factor);
    }
    return fit_.learn(target, all);
  }

  const PatternEntry& entry_;
  Fit& fit_;
};

}  // namespace

void learn_extents(const PatternEntry& entry, Fit& fit) { Learning(entry, fit).learn(); }

}  // namespace kbench::written
