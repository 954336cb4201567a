// Operators that move elements: each output element is one input element or zero, at no
// floating-point cost.
#include <algorithm>
#include <numeric>

#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

/// Moves floats, and sometimes indices.
Array something(Dice& dice, Shape shape) {
  if (dice.between(0, 3) == 0) return dice.integers(std::move(shape), 1 << 20, DType::i64);
  return dice.normal(std::move(shape));
}

int64_t draw_axis(Dice& dice, const Shape& shape) {
  return dice.between(0, static_cast<int64_t>(shape.size()) - 1);
}

/// y of the given shape with y[index] = x[source(index)], or 0 where source returns {}.
template <class Source>
Answer gather(const Array& x, Shape shape, Source source) {
  Answer answer{{Array(std::move(shape), x.dtype)}, 0};
  for_each_index(answer.outputs[0].shape, [&](const Index& i) {
    const Index from = source(i);
    if (from.size() == x.shape.size()) answer.outputs[0].at(i) = x.at(from);
  });
  return answer;
}

/// Drops every element whose index along the axis does not arrive anywhere, and counts the rest.
template <class Keep>
int64_t count(int64_t extent, Keep keep) {
  int64_t kept = 0;
  for (int64_t i = 0; i < extent; ++i) kept += keep(i) ? 1 : 0;
  return kept;
}

const Index kNowhere = {-1, -1, -1, -1, -1, -1, -1, -1, -1};  // of no array's rank

Definition reshape() {
  Definition d;
  d.op = "reshape";
  d.draw = [](Dice& dice) {
    const Array x = something(dice, dice.shape(1, 4));
    // Neighbouring extents joined, ones put in, and one extent left open.
    Shape shape;
    for (int64_t extent : x.shape) {
      if (!shape.empty() && dice.coin()) {
        shape.back() *= extent;
      } else {
        shape.push_back(extent);
      }
    }
    if (dice.coin()) shape.insert(shape.begin() + draw_axis(dice, shape), 1);
    if (dice.coin()) shape[static_cast<size_t>(draw_axis(dice, shape))] = -1;
    return Sample{{x}, {{"shape", shape}}};
  };
  d.work_out = [](const OperatorCall& call, const std::vector<Array>& in) {
    Shape shape = call.attributes.list("shape");
    for (int64_t& extent : shape) {
      if (extent != -1) continue;
      extent = 0;  // the number of times the rest fits into the input
      int64_t rest = 1;
      for (int64_t other : shape) rest *= other == 0 ? 1 : other;
      for (int64_t left = static_cast<int64_t>(in[0].values.size()); left >= rest; left -= rest) {
        ++extent;
      }
    }
    Answer answer{{Array(shape, in[0].dtype)}, 0};
    answer.outputs[0].values = in[0].values;
    return answer;
  };
  return d;
}

Definition permute() {
  Definition d;
  d.op = "permute";
  d.draw = [](Dice& dice) {
    const Array x = something(dice, dice.shape(0, 4));
    std::vector<int64_t> axes(x.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    for (size_t i = axes.size(); i > 1; --i) {
      std::swap(axes[i - 1],
                axes[static_cast<size_t>(dice.between(0, static_cast<int64_t>(i) - 1))]);
    }
    return Sample{{x}, {{"axes", axes}}};
  };
  d.work_out = [](const OperatorCall& call, const std::vector<Array>& in) {
    const auto& axes = call.attributes.list("axes");
    Shape shape;
    for (int64_t axis : axes) shape.push_back(in[0].shape.at(static_cast<size_t>(axis)));
    return gather(in[0], shape, [&](const Index& i) {
      Index from(i.size());
      for (size_t k = 0; k < i.size(); ++k) from[static_cast<size_t>(axes[k])] = i[k];
      return from;
    });
  };
  return d;
}

Definition slice() {
  Definition d;
  d.op = "slice";
  d.draw = [](Dice& dice) {
    const Array x = something(dice, dice.shape(1, 4));
    const int64_t axis = draw_axis(dice, x.shape), extent = x.shape[static_cast<size_t>(axis)];
    const int64_t start = dice.between(0, extent - 1);
    return Sample{{x},
                  {{"axis", axis},
                   {"start", start},
                   {"stop", dice.between(start + 1, extent)},
                   {"step", dice.between(1, 4)}}};
  };
  d.work_out = [](const OperatorCall& call, const std::vector<Array>& in) {
    const auto axis = static_cast<size_t>(call.attributes.integer("axis"));
    const int64_t start = call.attributes.integer("start"), stop = call.attributes.integer("stop"),
                  step = call.attributes.integer("step");
    Shape shape = in[0].shape;
    shape.at(axis) = count(shape.at(axis), [&](int64_t i) {
      return i >= start && i < stop && (i - start) % step == 0;
    });
    return gather(in[0], shape, [&](Index i) {
      i[axis] = start + i[axis] * step;
      return i;
    });
  };
  return d;
}

Definition cat() {
  Definition d;
  d.op = "cat";
  d.draw = [](Dice& dice) {
    const Array first = something(dice, dice.shape(1, 4));
    const int64_t axis = draw_axis(dice, first.shape);
    Sample sample{{first}, {{"axis", axis}}};
    for (int64_t more = dice.between(0, 3); more > 0; --more) {
      Shape shape = first.shape;
      shape[static_cast<size_t>(axis)] = dice.extent();
      sample.inputs.push_back(first.dtype == DType::i64 ? dice.integers(shape, 1 << 20, DType::i64)
                                                        : dice.normal(shape));
    }
    return sample;
  };
  d.work_out = [](const OperatorCall& call, const std::vector<Array>& in) {
    const auto axis = static_cast<size_t>(call.attributes.integer("axis"));
    Shape shape = in[0].shape;
    shape.at(axis) = 0;
    for (const Array& part : in) shape.at(axis) += part.shape.at(axis);
    Answer answer{{Array(shape, in[0].dtype)}, 0};
    int64_t at = 0;
    for (const Array& part : in) {
      for_each_index(part.shape, [&](Index i) {
        const double v = part.at(i);
        i[axis] += at;
        answer.outputs[0].at(i) = v;
      });
      at += part.shape.at(axis);
    }
    return answer;
  };
  return d;
}

Definition pad() {
  Definition d;
  d.op = "pad";
  d.draw = [](Dice& dice) {
    const Array x = dice.normal(dice.shape(1, 4));
    return Sample{{x},
                  {{"axis", draw_axis(dice, x.shape)},
                   {"before", dice.between(0, 4)},
                   {"after", dice.between(0, 4)}}};
  };
  d.work_out = [](const OperatorCall& call, const std::vector<Array>& in) {
    const auto axis = static_cast<size_t>(call.attributes.integer("axis"));
    const int64_t before = call.attributes.integer("before"), extent = in[0].shape.at(axis);
    Shape shape = in[0].shape;
    shape.at(axis) = before + extent + call.attributes.integer("after");
    return gather(in[0], shape, [&](Index i) {
      i[axis] -= before;
      return i[axis] < 0 || i[axis] >= extent ? kNowhere : i;
    });
  };
  return d;
}

/// An operator that gives every element another place along its axis.
template <class Place>
Definition moved_along_axis(const char* op, bool shifts, Place place) {
  Definition d;
  d.op = op;
  d.draw = [shifts](Dice& dice) {
    const Array x = something(dice, dice.shape(1, 4));
    Sample sample{{x}, {{"axis", draw_axis(dice, x.shape)}}};
    if (shifts) sample.attributes.set("shift", dice.between(-30, 30));
    return sample;
  };
  d.work_out = [place](const OperatorCall& call, const std::vector<Array>& in) {
    const auto axis = static_cast<size_t>(call.attributes.integer("axis"));
    Answer answer{{Array(in[0].shape, in[0].dtype)}, 0};
    for_each_index(in[0].shape, [&](Index i) {
      const double v = in[0].at(i);
      i[axis] = place(call, i[axis], in[0].shape.at(axis));
      answer.outputs[0].at(i) = v;
    });
    return answer;
  };
  return d;
}

/// One step at a time round the dimension.
int64_t rolled(const OperatorCall& call, int64_t i, int64_t extent) {
  for (int64_t shift = call.attributes.integer("shift"); shift != 0; shift += shift > 0 ? -1 : 1) {
    i += shift > 0 ? 1 : -1;
    if (i == extent) i = 0;
    if (i < 0) i = extent - 1;
  }
  return i;
}

Definition expand() {
  Definition d;
  d.op = "expand";
  d.draw = [](Dice& dice) {
    const Shape to = dice.shape(1, 4);
    Shape from(to.begin() + dice.between(0, static_cast<int64_t>(to.size())), to.end());
    for (int64_t& extent : from) extent = dice.coin() ? 1 : extent;
    return Sample{{something(dice, from)}, {{"shape", to}}};
  };
  d.work_out = [](const OperatorCall& call, const std::vector<Array>& in) {
    const Shape& from = in[0].shape;
    return gather(in[0], call.attributes.list("shape"), [&](const Index& i) {
      Index source(i.end() - static_cast<int64_t>(from.size()), i.end());
      for (size_t k = 0; k < from.size(); ++k) source[k] = from[k] == 1 ? 0 : source[k];
      return source;
    });
  };
  return d;
}

/// triu and tril: `keep` compares row and column.
Definition triangle(const char* op, bool (*keep)(int64_t row, int64_t column)) {
  Definition d;
  d.op = op;
  d.draw = [](Dice& dice) { return Sample{{dice.normal(dice.shape(2, 4))}, {}}; };
  d.work_out = [keep](const OperatorCall&, const std::vector<Array>& in) {
    return gather(in[0], in[0].shape, [&](const Index& i) {
      return keep(i[i.size() - 2], i[i.size() - 1]) ? i : kNowhere;
    });
  };
  return d;
}

Definition index_rows() {
  Definition d;
  d.op = "index_rows";
  d.draw = [](Dice& dice) {
    const Array table = dice.normal(dice.shape(2, 2));
    const int64_t rows = table.shape[0];
    return Sample{{table, dice.integers(dice.shape(0, 3), rows, DType::i64)}, {}};
  };
  d.work_out = [](const OperatorCall&, const std::vector<Array>& in) {
    Shape shape = in[1].shape;
    shape.push_back(in[0].shape.at(1));
    return gather(in[0], shape, [&](Index i) {
      const int64_t column = i.back();
      i.pop_back();
      return Index{static_cast<int64_t>(in[1].at(i)), column};
    });
  };
  return d;
}

}  // namespace

std::vector<Definition> shape_definitions() {
  return {
      reshape(),
      permute(),
      slice(),
      cat(),
      pad(),
      moved_along_axis("roll", true, rolled),
      moved_along_axis("flip", false,
                       [](const OperatorCall&, int64_t i, int64_t n) { return n - 1 - i; }),
      expand(),
      triangle("triu", [](int64_t row, int64_t column) { return column >= row; }),
      triangle("tril", [](int64_t row, int64_t column) { return column <= row; }),
      index_rows(),
  };
}

}  // namespace kbench::definitions
