#include "libkbench/candidate/starter_operators.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "libkbench/candidate/starter_windows.h"
#include "libkbench/core/dimensions.h"

namespace kbench {
namespace {

using Strings = std::vector<std::string>;

int64_t product(const Shape& shape, size_t from, size_t to) {
  int64_t result = 1;
  for (size_t i = from; i < to; ++i) result *= shape[i];
  return result;
}

int64_t elements(const Shape& shape) { return product(shape, 0, shape.size()); }

void give(KernelText& k, const OperatorCall& call, const Strings& names, const Strings& buffers) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    k.buffers.push_back({names[i], buffers[i], call.inputs[i].dtype, false});
  }
  const DType dtype = call.outputs.empty() ? DType::f32 : call.outputs[0].dtype;
  k.buffers.push_back({"y", buffers.back(), dtype, true});
}

// --- elementwise ---------------------------------------------------------------------------------

/// y of the float `v`.
using Formula = std::function<std::string(KernelText&, const OperatorCall&)>;

std::string tanh_of(KernelText& k, const std::string& x) {
  return k.literal("1.0") + " - " + k.literal("2.0") + " / (" +
         k.call("exp", k.literal("2.0") + " * (" + x + ")") + " + " + k.literal("1.0") + ")";
}

std::string softplus_of(KernelText& k) {
  return k.either_value("v > " + k.literal("20.0"), "v",
                        k.call("log", k.literal("1.0") + " + " + k.call("exp", "v")));
}

/// v / 6 + 1 / 2 between 0 and 1.
std::string hard_gate(KernelText& k) {
  const std::string line = "v / " + k.literal("6.0") + " + " + k.literal("0.5");
  return k.call("min", k.call("max", line, k.literal("0.0")), k.literal("1.0"));
}

Formula of_value(const std::string& sign) {
  return [sign](KernelText& k, const OperatorCall& call) {
    return "v " + sign + " " + k.real("VALUE", call.attributes.real("value"));
  };
}

Formula function(const std::string& name) {
  return [name](KernelText& k, const OperatorCall&) { return k.call(name, "v"); };
}

const std::map<std::string, Formula>& unary_formulas() {
  using K = KernelText;
  using C = OperatorCall;
  static const std::map<std::string, Formula> formulas = {
      {"relu", [](K& k, const C&) { return k.call("max", "v", k.literal("0.0")); }},
      {"leaky_relu",
       [](K& k, const C& c) {
         const std::string slope = k.real("SLOPE", c.attributes.real("slope"));
         return k.either_value("v > " + k.literal("0.0"), "v", slope + " * v");
       }},
      {"sigmoid",
       [](K& k, const C&) {
         return k.literal("1.0") + " / (" + k.literal("1.0") + " + " + k.call("exp", "-v") + ")";
       }},
      {"gelu",
       [](K& k, const C&) {
         return k.literal("0.5") + " * v * (" + k.literal("1.0") + " + " +
                k.call("erf", "v * " + k.literal("0.7071067811865476")) + ")";
       }},
      {"tanh", [](K& k, const C&) { return tanh_of(k, "v"); }},
      {"selu",
       [](K& k, const C&) {
         return k.literal("1.0507009873554805") + " * " +
                k.either_value("v > " + k.literal("0.0"), "v",
                               k.literal("1.6732632423543772") + " * (" + k.call("exp", "v") +
                                   " - " + k.literal("1.0") + ")");
       }},
      {"elu",
       [](K& k, const C& c) {
         const std::string alpha = k.real("ALPHA", c.attributes.real("alpha"));
         return k.either_value(
             "v > " + k.literal("0.0"), "v",
             alpha + " * (" + k.call("exp", "v") + " - " + k.literal("1.0") + ")");
       }},
      {"softplus", [](K& k, const C&) { return softplus_of(k); }},
      {"mish", [](K& k, const C&) { return "v * (" + tanh_of(k, softplus_of(k)) + ")"; }},
      {"hardsigmoid", [](K& k, const C&) { return hard_gate(k); }},
      {"hardswish", [](K& k, const C&) { return "v * " + hard_gate(k); }},
      {"exp", function("exp")},
      {"log", function("log")},
      {"sin", function("sin")},
      {"cos", function("cos")},
      {"abs", function("abs")},
      {"sqrt", function("sqrt")},
      {"neg", [](K&, const C&) { return std::string("-v"); }},
      {"square", [](K&, const C&) { return std::string("v * v"); }},
      {"clamp",
       [](K& k, const C& c) {
         const std::string low = k.real("LOW", c.attributes.real("lo"));
         const std::string high = k.real("HIGH", c.attributes.real("hi"));
         return k.call("min", k.call("max", "v", low), high);
       }},
      {"clamp_min",
       [](K& k, const C& c) {
         return k.call("max", "v", k.real("VALUE", c.attributes.real("value")));
       }},
      {"clamp_max",
       [](K& k, const C& c) {
         return k.call("min", "v", k.real("VALUE", c.attributes.real("value")));
       }},
      {"add_scalar", of_value("+")},
      {"sub_scalar", of_value("-")},
      {"mul_scalar", of_value("*")},
      {"div_scalar", of_value("/")},
  };
  return formulas;
}

std::string write_unary(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  give(k, call, {"x"}, buffers);
  const std::string count = k.size("COUNT", elements(call.outputs[0].shape));
  k.number("v", k.load("x", "i"));
  k.store("y", "i", unary_formulas().at(call.op->name)(k, call));
  return count;
}

/// Adds the statements that find where output `position` reads both operands, as "a_at" and "b_at".
void write_broadcast(KernelText& k, const Shape& a, const Shape& b, const Shape& out,
                     const std::string& position, const std::string& prefix) {
  const std::vector<Dimension> dims = merged(broadcast_dimensions(a, b, out));
  k.index("rest", position);
  k.index("a_at", "0");
  k.index("b_at", "0");
  for (size_t d = dims.size(); d-- > 0;) {
    const std::string extent = k.size(prefix + "_" + std::to_string(d), dims[d].extent);
    const auto step = [&](const std::string& at, const char* operand, int64_t stride) {
      if (stride == 0) return;
      const std::string by =
          stride == 1
              ? ""
              : " * " + k.size(std::string(operand) + "_STRIDE_" + std::to_string(d), stride);
      k.set(at, at + " + rest % " + extent + by);
    };
    step("a_at", "A", dims[d].a);
    step("b_at", "B", dims[d].b);
    if (d > 0) k.set("rest", k.quotient("rest", extent));
  }
}

std::string write_binary(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  static const std::map<std::string, std::string> signs = {
      {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}};
  give(k, call, {"a", "b"}, buffers);
  const Shape& out = call.outputs[0].shape;
  const std::string count = k.size("COUNT", elements(out));
  std::string a = "i", b = "i";
  if (call.inputs[0].shape != out || call.inputs[1].shape != out) {
    write_broadcast(k, call.inputs[0].shape, call.inputs[1].shape, out, "i", "EXTENT");
    a = "a_at";
    b = "b_at";
  }
  const auto sign = signs.find(call.op->name);
  k.store("y", "i",
          sign != signs.end()
              ? k.load("a", a) + " " + sign->second + " " + k.load("b", b)
              : k.call(call.op->name == "maximum" ? "max" : "min", k.load("a", a), k.load("b", b)));
  return count;
}

// --- along one dimension -------------------------------------------------------------------------

struct Along {
  std::string lines, length, inner, base, at;  ///< `at`: of element k
};

/// Invocation i is a line along the call's axis: it begins at `base`.
Along along(KernelText& k, const OperatorCall& call) {
  const Shape& x = call.inputs[0].shape;
  const auto axis = static_cast<size_t>(call.attributes.integer("axis"));
  const int64_t inner = product(x, axis + 1, x.size());
  Along a;
  a.lines = k.size("LINES", elements(x) / x[axis]);
  a.length = k.size("LENGTH", x[axis]);
  a.inner = k.size("INNER", inner);
  k.note("Line i begins at `base`, and its elements are INNER apart.");
  k.index("base", k.quotient("i", a.inner) + " * LENGTH * INNER + i % INNER");
  a.at = "base + k * INNER";
  return a;
}

void write_extreme(KernelText& k, const Along& a, const std::string& sign, bool wants_place) {
  k.number("best", k.load("x", "base"));
  if (wants_place) k.index("place", "0");
  k.loop("k", a.length);
  k.number("v", k.load("x", a.at));
  k.when("v " + sign + " best");
  k.set("best", "v");
  if (wants_place) k.set("place", "k");
  k.end();
  k.end();
}

/// The sum of exp(x - best) over the line.
void write_exponentials(KernelText& k, const Along& a) {
  write_extreme(k, a, ">", false);
  k.number("sum", k.literal("0.0"));
  k.loop("k", a.length);
  k.set("sum", "sum + " + k.call("exp", k.load("x", a.at) + " - best"));
  k.end();
}

std::string write_reduction(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  give(k, call, {"x"}, buffers);
  const Along a = along(k, call);
  const std::string& op = call.op->name;
  if (op == "max" || op == "min") {
    write_extreme(k, a, op == "max" ? ">" : "<", false);
    k.store("y", "i", "best");
  } else if (op == "argmax" || op == "argmin") {
    write_extreme(k, a, op == "argmax" ? ">" : "<", true);
    k.store("y", "i", "place");
  } else if (op == "logsumexp") {
    write_exponentials(k, a);
    k.store("y", "i", "best + " + k.call("log", "sum"));
  } else {
    k.number("sum", k.literal("0.0"));
    k.loop("k", a.length);
    k.number("v", k.load("x", a.at));
    k.set("sum", op == "norm" ? "sum + v * v" : "sum + v");
    k.end();
    k.store("y", "i",
            op == "sum"    ? "sum"
            : op == "mean" ? "sum / " + k.as_float("LENGTH")
                           : k.call("sqrt", "sum"));
  }
  return a.lines;
}

std::string write_scan(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  give(k, call, {"x"}, buffers);
  const Along a = along(k, call);
  const std::string& op = call.op->name;
  if (op == "cumsum" || op == "cumprod") {
    const bool sum = op == "cumsum";
    k.number("so_far", k.literal(sum ? "0.0" : "1.0"));
    k.loop("k", a.length);
    k.set("so_far", std::string("so_far ") + (sum ? "+ " : "* ") + k.load("x", a.at));
    k.store("y", a.at, "so_far");
    k.end();
    return a.lines;
  }
  write_exponentials(k, a);
  k.loop("k", a.length);
  k.number("v", k.load("x", a.at) + " - best");
  k.store("y", a.at,
          op == "softmax" ? k.call("exp", "v") + " / sum" : "v - " + k.call("log", "sum"));
  k.end();
  return a.lines;
}

// --- products ------------------------------------------------------------------------------------

std::string write_matmul(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  give(k, call, {"a", "b"}, buffers);
  const Shape &a = call.inputs[0].shape, &b = call.inputs[1].shape, &out = call.outputs[0].shape;
  const bool ta = call.attributes.flag("transpose_a"), tb = call.attributes.flag("transpose_b");
  const Shape a_batch(a.begin(), a.end() - 2), b_batch(b.begin(), b.end() - 2),
      batch(out.begin(), out.end() - 2);
  const std::string count = k.size("COUNT", elements(out));
  k.size("ROWS", out[out.size() - 2]);
  k.size("COLUMNS", out.back());
  k.size("INNER", a[a.size() - (ta ? 2 : 1)]);
  k.index("column", "i % COLUMNS");
  k.index("row", k.quotient("i", "COLUMNS") + " % ROWS");
  std::string a_from, b_from;
  if (!batch.empty()) {
    k.index("batch", k.quotient("i", "(ROWS * COLUMNS)"));
    if (a_batch == batch && b_batch == batch) {
      a_from = "batch * ROWS * INNER + ";
      b_from = "batch * INNER * COLUMNS + ";
    } else {
      write_broadcast(k, a_batch, b_batch, batch, "batch", "BATCH");
      a_from = "a_at * ROWS * INNER + ";
      b_from = "b_at * INNER * COLUMNS + ";
    }
  }
  k.number("sum", k.literal("0.0"));
  k.loop("k", "INNER");
  k.set("sum", "sum + " + k.load("a", a_from + (ta ? "k * ROWS + row" : "row * INNER + k")) +
                   " * " +
                   k.load("b", b_from + (tb ? "column * INNER + k" : "k * COLUMNS + column")));
  k.end();
  k.store("y", "i", "sum");
  return count;
}

std::string write_linear(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  give(k, call, {"x", "weight", "bias"}, buffers);
  const std::string count = k.size("COUNT", elements(call.outputs[0].shape));
  k.size("COLUMNS", call.inputs[1].shape[0]);
  k.size("INNER", call.inputs[1].shape[1]);
  k.index("column", "i % COLUMNS");
  k.index("row", k.quotient("i", "COLUMNS"));
  k.number("sum", call.inputs.size() > 2 ? k.load("bias", "column") : k.literal("0.0"));
  k.loop("k", "INNER");
  k.set("sum",
        "sum + " + k.load("x", "row * INNER + k") + " * " + k.load("weight", "column * INNER + k"));
  k.end();
  k.store("y", "i", "sum");
  return count;
}

// --- norms ---------------------------------------------------------------------------------------

/// Invocation i normalises one group of elements: `places` of PIECES runs of RUN neighbours, a run
/// every STEP elements, the first at `base`.
std::string write_norm(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  give(k, call, {"x", "weight", "bias"}, buffers);
  const Shape& x = call.inputs[0].shape;
  const std::string& op = call.op->name;
  const bool affine = call.inputs.size() > 1;
  std::string groups, weight_at;
  if (op == "layer_norm") {
    const auto dims = static_cast<size_t>(call.attributes.integer("dims"));
    groups = k.size("GROUP_COUNT", product(x, 0, x.size() - dims));
    k.size("RUN", product(x, x.size() - dims, x.size()));
    weight_at = "k";
  } else if (op == "batch_norm") {
    groups = k.size("GROUP_COUNT", x[1]);
    k.size("RUN", product(x, 2, x.size()));
    k.size("PIECES", x[0]);
    weight_at = "i";
  } else {
    const int64_t per_sample = op == "group_norm" ? call.attributes.integer("groups") : x[1];
    groups = k.size("GROUP_COUNT", x[0] * per_sample);
    k.size("CHANNELS", x[1]);
    k.size("GROUPS_OF_SAMPLE", per_sample);
    k.size("PLANE", product(x, 2, x.size()));
    k.derived("RUN", "CHANNELS / GROUPS_OF_SAMPLE * PLANE");
    weight_at = "(i % GROUPS_OF_SAMPLE) * " + k.quotient("CHANNELS", "GROUPS_OF_SAMPLE") + " + " +
                k.quotient("k", "PLANE");
    if (op == "instance_norm") weight_at = "i % CHANNELS";
  }
  const bool pieces = op == "batch_norm";
  const std::string eps = k.real("EPS", call.attributes.real("eps"));
  const std::string at = pieces ? "(p * GROUP_COUNT + i) * RUN + k" : "i * RUN + k";
  const auto over_all = [&](const std::function<void()>& body) {
    if (pieces) k.loop("p", "PIECES");
    k.loop("k", "RUN");
    body();
    k.end();
    if (pieces) k.end();
  };
  const auto mean_over_all = [&](const std::string& name,
                                 const std::function<std::string()>& term) {
    k.number(name, k.literal("0.0"));
    const std::string part = name + "_part";
    if (pieces) k.loop("p", "PIECES");
    k.number(part, k.literal("0.0"));
    k.loop("k", "RUN");
    const std::string value = term();
    k.set(part, part + " + " + value);
    k.when("k % 1024 == 1023");
    k.set(name, name + " + " + part);
    k.set(part, k.literal("0.0"));
    k.end();
    k.end();
    k.set(name, name + " + " + part);
    if (pieces) k.end();
    k.set(name, name + " / (" + k.as_float(pieces ? "PIECES * RUN" : "RUN") + ")");
  };
  k.note("Invocation i owns all elements of a group, and goes over them three times.");
  k.note("Parts of 1024 first: a million terms in one float would lose too many of its bits.");
  mean_over_all("mean", [&] { return k.load("x", at); });
  mean_over_all("variance", [&] {
    k.number("d", k.load("x", at) + " - mean");
    return std::string("d * d");
  });
  k.number("scale", k.literal("1.0") + " / " + k.call("sqrt", "variance + " + eps));
  over_all([&] {
    const std::string value = "(" + k.load("x", at) + " - mean) * scale";
    k.store("y", at,
            affine ? value + " * " + k.load("weight", weight_at) + " + " + k.load("bias", weight_at)
                   : value);
  });
  return groups;
}

// --- losses: what one row or element adds --------------------------------------------------------

std::string write_loss(KernelText& k, const OperatorCall& call, const Strings& buffers) {
  const std::string& op = call.op->name;
  const Shape& x = call.inputs[0].shape;
  if (op == "smooth_l1_loss" || op == "kl_div_batchmean") {
    give(k, call, {"x", "target"}, buffers);
    const std::string count = k.size("COUNT", elements(x));
    if (op == "smooth_l1_loss") {
      k.number("d", k.call("abs", k.load("x", "i") + " - " + k.load("target", "i")));
      k.store("y", "i",
              k.either_value("d < " + k.literal("1.0"), k.literal("0.5") + " * d * d",
                             "d - " + k.literal("0.5")));
      return count;
    }
    k.number("t", k.load("target", "i"));
    k.number("part", k.literal("0.0"));
    k.when("t > " + k.literal("0.0"));
    k.set("part", "t * (" + k.call("log", "t") + " - " + k.load("x", "i") + ")");
    k.end();
    k.store("y", "i", "part");
    return count;
  }
  const std::string rows = k.size("ROWS", x[0]);
  k.size("COLUMNS", x[1]);
  if (op == "cross_entropy") {
    give(k, call, {"x", "target"}, buffers);
    k.index("base", "i * COLUMNS");
    write_exponentials(k, {rows, "COLUMNS", "", "base", "base + k"});
    k.store(
        "y", "i",
        "best + " + k.call("log", "sum") + " - " + k.load("x", "base + " + k.load("target", "i")));
    return rows;
  }
  give(k, call, {"anchor", "positive", "negative"}, buffers);
  const std::string margin = k.real("MARGIN", call.attributes.real("margin"));
  k.number("near", k.literal("0.0"));
  k.number("far", k.literal("0.0"));
  k.loop("k", "COLUMNS");
  const auto difference = [&](const char* other) {
    return k.load("anchor", "i * COLUMNS + k") + " - " + k.load(other, "i * COLUMNS + k") + " + " +
           k.literal("1e-6");
  };
  k.number("p", difference("positive"));
  k.number("n", difference("negative"));
  k.set("near", "near + p * p");
  k.set("far", "far + n * n");
  k.end();
  k.store("y", "i",
          k.call("max", k.call("sqrt", "near") + " - " + k.call("sqrt", "far") + " + " + margin,
                 k.literal("0.0")));
  return rows;
}

using OperatorWriter = std::string (*)(KernelText&, const OperatorCall&, const Strings&);

OperatorWriter writer_of(const OperatorCall& call) {
  const std::string& op = call.op->name;
  const auto one_of = [&](const std::set<std::string>& names) { return names.contains(op); };
  if (unary_formulas().contains(op)) return write_unary;
  if (one_of({"add", "sub", "mul", "div", "maximum", "minimum"})) return write_binary;
  if (one_of({"sum", "mean", "max", "min", "argmax", "argmin", "logsumexp", "norm"})) {
    return write_reduction;
  }
  if (one_of({"softmax", "log_softmax", "cumsum", "cumprod"})) return write_scan;
  if (op == "matmul") return write_matmul;
  if (op == "linear") return write_linear;
  if (one_of({"batch_norm", "instance_norm", "group_norm", "layer_norm"})) return write_norm;
  if (loss_end(call)) return write_loss;
  if (op.starts_with("conv")) return write_convolution;
  if (op.starts_with("max_pool") || op.starts_with("avg_pool")) {
    // With ceil_mode the last window may reach beyond the end, which write_pool does not handle.
    return call.attributes.flag("ceil_mode") ? nullptr : write_pool;
  }
  return nullptr;
}

}  // namespace

bool has_starter_kernel(const OperatorCall& call) { return writer_of(call) != nullptr; }

std::optional<LossEnd> loss_end(const OperatorCall& call) {
  static const std::set<std::string> names = {"cross_entropy", "smooth_l1_loss", "kl_div_batchmean",
                                              "triplet_margin_loss"};
  if (!names.contains(call.op->name)) return std::nullopt;
  const Shape& x = call.inputs[0].shape;
  const bool rows = call.op->name == "cross_entropy" || call.op->name == "triplet_margin_loss";
  const Attributes first = {{"axis", int64_t{0}}};
  LossEnd end;
  end.partial.shape.push_back(rows ? x[0] : elements(x));
  if (call.op->name == "kl_div_batchmean") {
    end.followed.emplace_back("sum", first);
    end.followed.emplace_back("div_scalar", Attributes{{"value", static_cast<double>(x[0])}});
  } else {
    end.followed.emplace_back("mean", first);
  }
  return end;
}

std::string write_operator(KernelText& kernel, const OperatorCall& call, const Strings& buffers) {
  return writer_of(call)(kernel, call, buffers);
}

std::string write_copy(KernelText& kernel, const TensorType& type, const Strings& buffers) {
  kernel.buffers = {{"x", buffers[0], type.dtype, false}, {"y", buffers[1], type.dtype, true}};
  const std::string count = kernel.size("COUNT", type.elements());
  kernel.store("y", "i", kernel.load("x", "i"));
  return count;
}

}  // namespace kbench
