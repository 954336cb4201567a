#include "libkbench/candidate/starter_windows.h"

#include <variant>

namespace kbench {
namespace {

using Strings = std::vector<std::string>;

/// A list attribute's value for a dimension; one value holds for all.
int64_t option(const OperatorCall& call, const char* name, size_t d, int64_t otherwise) {
  const AttributeValue* given = call.attributes.find(name);
  if (given == nullptr) return otherwise;
  const auto& list = std::get<std::vector<int64_t>>(*given);
  return list.size() == 1 ? list[0] : list[d];
}

std::string numbered(const char* name, size_t d) { return name + ("_" + std::to_string(d)); }

/// Defines for every dimension d the constants IN_d, KERNEL_d, STRIDE_d, PADDING_d, DILATION_d, and
/// OUT_d, which follows from them.
void give_windows(KernelText& k, const OperatorCall& call, const Shape& kernel, bool transposed) {
  const Shape& x = call.inputs[0].shape;
  for (size_t d = 0; d < kernel.size(); ++d) {
    const auto name = [&](const char* stem) { return numbered(stem, d); };
    k.size(name("IN"), x[2 + d]);
    k.size(name("KERNEL"), kernel[d]);
    k.size(name("STRIDE"), option(call, "stride", d, 1));
    k.size(name("PADDING"), option(call, "padding", d, 0));
    k.size(name("DILATION"), option(call, "dilation", d, 1));
    const std::string span = name("DILATION") + " * (" + name("KERNEL") + " - 1)";
    if (transposed) {
      k.size(name("MORE"), option(call, "output_padding", d, 0));
      k.derived(name("OUT"), "(" + name("IN") + " - 1) * " + name("STRIDE") + " - 2 * " +
                                 name("PADDING") + " + " + span + " + " + name("MORE") + " + 1");
    } else {
      k.derived(name("OUT"), "(" + name("IN") + " + 2 * " + name("PADDING") + " - " + span +
                                 " - 1) / " + name("STRIDE") + " + 1");
    }
  }
}

/// "((n * A + b) * IN_0 + at_0) * IN_1 + at_1".
std::string within(const std::string& plane, const char* extent, const char* at, size_t dims) {
  std::string text = plane;
  for (size_t d = 0; d < dims; ++d) {
    text = "(" + text + ") * " + numbered(extent, d) + " + " + numbered(at, d);
  }
  return text;
}

/// Statements that split output index i: o_d along each dimension d, the rest as `plane`.
void take_apart(KernelText& k, size_t dims) {
  k.index("plane", "i");
  for (size_t d = dims; d-- > 0;) {
    k.index(numbered("o", d), "plane % " + numbered("OUT", d));
    k.set("plane", k.quotient("plane", numbered("OUT", d)));
  }
}

/// Opens a loop over the taps of each dimension and an `if` that the position p_d that a tap reads
/// is inside the input; returns the number of end() calls that close them.
size_t open_taps(KernelText& k, size_t dims) {
  for (size_t d = 0; d < dims; ++d) {
    const auto name = [&](const char* stem) { return numbered(stem, d); };
    k.loop(name("u"), name("KERNEL"));
    k.index(name("p"), name("o") + " * " + name("STRIDE") + " + " + name("u") + " * " +
                           name("DILATION") + " - " + name("PADDING"));
    k.when(k.both(name("p") + " >= 0", name("p") + " < " + name("IN")));
  }
  return 2 * dims;
}

/// The taps of a transposed convolution that reach output o_d, and from which input p_d.
size_t open_transposed_taps(KernelText& k, size_t dims) {
  for (size_t d = 0; d < dims; ++d) {
    const auto name = [&](const char* stem) { return numbered(stem, d); };
    k.loop(name("u"), name("KERNEL"));
    k.index(name("s"),
            name("o") + " + " + name("PADDING") + " - " + name("u") + " * " + name("DILATION"));
    k.index(name("p"), k.quotient(name("s"), name("STRIDE")));
    k.when(
        k.both(k.both(name("s") + " >= 0", name("p") + " * " + name("STRIDE") + " == " + name("s")),
               name("p") + " < " + name("IN")));
  }
  return 2 * dims;
}

void close(KernelText& k, size_t ends) {
  for (size_t i = 0; i < ends; ++i) k.end();
}

std::string outputs_of(KernelText& k, const std::string& planes, size_t dims) {
  std::string text = planes;
  for (size_t d = 0; d < dims; ++d) text += " * " + numbered("OUT", d);
  return k.derived("COUNT", text);
}

void give_buffers(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  const char* const names[] = {"x", "weight", "bias"};
  for (size_t i = 0; i < call.inputs.size(); ++i) k.buffers.push_back({names[i], buffers[i]});
  k.buffers.push_back({"y", buffers.back(), DType::f32, true});
}

}  // namespace

std::string write_pool(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  give_buffers(k, call, buffers);
  const Shape& x = call.inputs[0].shape;
  const size_t dims = x.size() - 2;
  Shape kernel;
  for (size_t d = 0; d < dims; ++d) kernel.push_back(option(call, "kernel", d, 1));
  k.size("PLANES", x[0] * x[1]);
  give_windows(k, call, kernel, false);
  const bool largest = call.op->name.starts_with("max");
  const std::string count = outputs_of(k, "PLANES", dims);
  take_apart(k, dims);
  k.number("result", k.literal(largest ? "-3.4e38" : "0.0"));
  const size_t ends = open_taps(k, dims);
  const std::string v = k.load("x", within("plane", "IN", "p", dims));
  k.set("result", largest ? k.call("max", "result", v) : "result + " + v);
  close(k, ends);
  std::string taps;
  for (size_t d = 0; d < dims; ++d) taps += (d > 0 ? " * " : "") + numbered("KERNEL", d);
  k.store("y", "i", largest ? "result" : "result / (" + k.as_float(taps) + ")");
  return count;
}

std::string write_convolution(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  give_buffers(k, call, buffers);
  const bool transposed = call.op->name.starts_with("conv_transpose");
  const Shape &x = call.inputs[0].shape, &weight = call.inputs[1].shape;
  const size_t dims = x.size() - 2;
  k.size("BATCH", x[0]);
  k.size("IN_CHANNELS", x[1]);
  k.size(transposed ? "OUT_PART" : "OUT_CHANNELS", weight[transposed ? 1 : 0]);
  k.size("PARTS", call.attributes.integer("groups"));
  give_windows(k, call, Shape(weight.begin() + 2, weight.end()), transposed);
  if (transposed) k.derived("OUT_CHANNELS", "OUT_PART * PARTS");
  k.derived("IN_PART", "IN_CHANNELS / PARTS");
  if (!transposed) k.derived("OUT_PART", "OUT_CHANNELS / PARTS");
  const std::string count = outputs_of(k, "BATCH * OUT_CHANNELS", dims);
  take_apart(k, dims);
  k.index("channel", "plane % OUT_CHANNELS");
  k.index("image", k.quotient("plane", "OUT_CHANNELS"));
  k.index("first", k.quotient("channel", "OUT_PART") + " * IN_PART");
  k.number("sum", call.inputs.size() > 2 ? k.load("bias", "channel") : k.literal("0.0"));
  k.loop("c", "IN_PART");
  const size_t ends = (transposed ? open_transposed_taps(k, dims) : open_taps(k, dims)) + 1;
  const char* const filter =
      transposed ? "(first + c) * OUT_PART + channel % OUT_PART" : "channel * IN_PART + c";
  k.set("sum", "sum + " + k.load("x", within("image * IN_CHANNELS + first + c", "IN", "p", dims)) +
                   " * " + k.load("weight", within(filter, "KERNEL", "u", dims)));
  close(k, ends);
  k.store("y", "i", "sum");
  return count;
}

}  // namespace kbench
