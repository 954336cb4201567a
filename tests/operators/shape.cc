// Operators that move elements: each output element is one input element or zero, at no
// floating-point cost.
#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

using Inputs = std::vector<Array>;

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

const Index kNowhere = {-1, -1, -1, -1, -1, -1, -1, -1, -1};  // of no array's rank

size_t axis_of(const OperatorCall& call) {
  return static_cast<size_t>(call.attributes.integer("axis"));
}

Answer reshape(const OperatorCall& call, const Inputs& in) {
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
}

Answer permute(const OperatorCall& call, const Inputs& in) {
  const auto& axes = call.attributes.list("axes");
  Shape shape;
  for (int64_t axis : axes) shape.push_back(in[0].shape.at(static_cast<size_t>(axis)));
  return gather(in[0], shape, [&](const Index& i) {
    Index from(i.size());
    for (size_t k = 0; k < i.size(); ++k) from[static_cast<size_t>(axes[k])] = i[k];
    return from;
  });
}

Answer slice(const OperatorCall& call, const Inputs& in) {
  const size_t axis = axis_of(call);
  const int64_t start = call.attributes.integer("start"), stop = call.attributes.integer("stop"),
                step = call.attributes.integer("step");
  Shape shape = in[0].shape;
  int64_t kept = 0;
  for (int64_t i = 0; i < shape.at(axis); ++i) {
    kept += i >= start && i < stop && (i - start) % step == 0 ? 1 : 0;
  }
  shape[axis] = kept;
  return gather(in[0], shape, [&](Index i) {
    i[axis] = start + i[axis] * step;
    return i;
  });
}

Answer cat(const OperatorCall& call, const Inputs& in) {
  const size_t axis = axis_of(call);
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
}

Answer pad(const OperatorCall& call, const Inputs& in) {
  const size_t axis = axis_of(call);
  const int64_t before = call.attributes.integer("before"), extent = in[0].shape.at(axis);
  Shape shape = in[0].shape;
  shape.at(axis) = before + extent + call.attributes.integer("after");
  return gather(in[0], shape, [&](Index i) {
    i[axis] -= before;
    return i[axis] < 0 || i[axis] >= extent ? kNowhere : i;
  });
}

/// Every element at another place along its axis.
template <class Place>
Answer moved(const OperatorCall& call, const Array& x, Place place) {
  const size_t axis = axis_of(call);
  Answer answer{{Array(x.shape, x.dtype)}, 0};
  for_each_index(x.shape, [&](Index i) {
    const double v = x.at(i);
    i[axis] = place(i[axis], x.shape.at(axis));
    answer.outputs[0].at(i) = v;
  });
  return answer;
}

Answer flip(const OperatorCall& call, const Inputs& in) {
  return moved(call, in[0], [](int64_t i, int64_t extent) { return extent - 1 - i; });
}

/// One step at a time round the dimension.
Answer roll(const OperatorCall& call, const Inputs& in) {
  return moved(call, in[0], [&](int64_t i, int64_t extent) {
    for (int64_t shift = call.attributes.integer("shift"); shift != 0;
         shift += shift > 0 ? -1 : 1) {
      i += shift > 0 ? 1 : -1;
      if (i == extent) i = 0;
      if (i < 0) i = extent - 1;
    }
    return i;
  });
}

Answer expand(const OperatorCall& call, const Inputs& in) {
  const Shape& from = in[0].shape;
  return gather(in[0], call.attributes.list("shape"), [&](const Index& i) {
    Index source(i.end() - static_cast<int64_t>(from.size()), i.end());
    for (size_t k = 0; k < from.size(); ++k) source[k] = from[k] == 1 ? 0 : source[k];
    return source;
  });
}

/// triu and tril: `keep` compares row and column.
Definition triangle(const char* op, bool (*keep)(int64_t row, int64_t column)) {
  return {op, [keep](const OperatorCall&, const Inputs& in) {
            return gather(in[0], in[0].shape, [&](const Index& i) {
              return keep(i[i.size() - 2], i[i.size() - 1]) ? i : kNowhere;
            });
          }};
}

Answer index_rows(const OperatorCall&, const Inputs& in) {
  Shape shape = in[1].shape;
  shape.push_back(in[0].shape.at(1));
  return gather(in[0], shape, [&](Index i) {
    const int64_t column = i.back();
    i.pop_back();
    return Index{static_cast<int64_t>(in[1].at(i)), column};
  });
}

Answer gather_last(const OperatorCall&, const Inputs& in) {
  return gather(in[0], in[1].shape, [&](Index i) {
    i.back() = static_cast<int64_t>(in[1].at(i));
    return i;
  });
}

}  // namespace

std::vector<Definition> shape_definitions() {
  return {
      {"reshape", reshape},
      {"permute", permute},
      {"slice", slice},
      {"cat", cat},
      {"pad", pad},
      {"roll", roll},
      {"flip", flip},
      {"expand", expand},
      triangle("triu", [](int64_t row, int64_t column) { return column >= row; }),
      triangle("tril", [](int64_t row, int64_t column) { return column <= row; }),
      {"index_rows", index_rows},
      {"gather", gather_last},
  };
}

}  // namespace kbench::definitions
