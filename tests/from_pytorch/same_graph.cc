#include "tests/from_pytorch/same_graph.h"

#include <cstring>
#include <map>

namespace kbench {
namespace {

class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b, const SameGraphOptions& options)
      : a_(a), b_(b), options_(options) {}

  std::string difference() {
    if (a_.outputs().size() != b_.outputs().size()) return "another number of outputs";
    for (size_t i = 0; i < a_.outputs().size(); ++i) {
      const std::string found = values(a_.outputs()[i], b_.outputs()[i]);
      if (!found.empty()) return found;
    }
    return "";
  }

 private:
  static const std::string& op_of(const Graph& graph, int id) {
    static const std::string none;
    const int producer = graph.value(id).producer;
    return producer < 0 ? none : graph.node(producer).call.op->name;
  }

  /// What a value is a reshape of, through reshapes.
  static int before_reshapes(const Graph& graph, int id) {
    while (op_of(graph, id) == "reshape") id = graph.node(graph.value(id).producer).inputs[0];
    return id;
  }

  /// The value itself, or what it equals in all but its name.
  int meant(const Graph& graph, int id) const {
    if (!options_.up_to_views) return id;
    const int first = before_reshapes(graph, id);
    return graph.value(first).type == graph.value(id).type ? first : id;
  }

  static std::string shown(const Graph& graph, int id) {
    const Graph::ValueInfo& value = graph.value(id);
    const std::string& op = op_of(graph, id);
    return (op.empty() ? std::string(name_of(value.kind)) + " " + value.name : op) + " " +
           to_string(value.type);
  }

  std::string values(int in_a, int in_b) {
    in_a = meant(a_, in_a);
    in_b = meant(b_, in_b);
    const Graph::ValueInfo &a = a_.value(in_a), &b = b_.value(in_b);
    const std::string both = shown(a_, in_a) + " and " + shown(b_, in_b);
    if (a.kind == Graph::Kind::constant && b.kind == a.kind && a.type == b.type) {
      // One graph may have the same data twice.
      const bool same = std::memcmp(a.data.raw(), b.data.raw(), size_t(a.data.bytes())) == 0;
      return same ? "" : both + " have other values";
    }
    const auto known = partner_.find(in_a);
    if (known != partner_.end() || back_.contains(in_b)) {
      const bool same = known != partner_.end() && known->second == in_b;
      return same ? "" : both + " are used in different places";
    }
    if (a.kind != b.kind || a.type != b.type) return both;
    if (a.producer >= 0) return nodes(in_a, in_b, both);
    partner_[in_a] = in_b;
    back_[in_b] = in_a;
    if (options_.distributions && !(a.distribution == b.distribution)) {
      return both + " are drawn differently: " + to_string(a.distribution) + ", " +
             to_string(b.distribution);
    }
    return "";
  }

  std::string nodes(int in_a, int in_b, const std::string& both) {
    const Graph::Node& a = a_.node(a_.value(in_a).producer);
    const Graph::Node& b = b_.node(b_.value(in_b).producer);
    const std::string& op = a.call.op->name;
    if (op != b.call.op->name || a.inputs.size() != b.inputs.size()) return both;
    if (op != "reshape") {  // Of which an extent may be -1; the types are compared.
      for (const auto& [name, value] : a.call.attributes) {
        const AttributeValue* other = b.call.attributes.find(name);
        if (other == nullptr || *other != value) {
          return both + ": " + name + "=" + to_string(value) + " and " +
                 (other == nullptr ? "none" : to_string(*other));
        }
      }
    }
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      if ((a.outputs[i] == in_a) != (b.outputs[i] == in_b)) return both + ": other outputs";
    }
    if (options_.up_to_views && op == "reshape") {
      const std::string found = values(before_reshapes(a_, in_a), before_reshapes(b_, in_b));
      if (!found.empty()) return found;
    } else {
      const std::string found = operands(a, b);
      if (!found.empty()) return found;
    }
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      partner_[a.outputs[i]] = b.outputs[i];
      back_[b.outputs[i]] = a.outputs[i];
    }
    return "";
  }

  std::string operands(const Graph::Node& a, const Graph::Node& b) {
    const auto kept_partner = partner_;
    const auto kept_back = back_;
    std::string found;
    for (size_t i = 0; i < a.inputs.size() && found.empty(); ++i) {
      found = values(a.inputs[i], b.inputs[i]);
    }
    const std::string& op = a.call.op->name;
    const bool exchangeable = a.inputs.size() == 2 && (op == "add" || op == "mul");
    if (found.empty() || !options_.up_to_views || !exchangeable || ++tries_ > 1000) return found;
    partner_ = kept_partner;
    back_ = kept_back;
    std::string other = values(a.inputs[0], b.inputs[1]);
    if (other.empty()) other = values(a.inputs[1], b.inputs[0]);
    return other.empty() ? "" : found;
  }

  const Graph &a_, &b_;
  const SameGraphOptions options_;
  std::map<int, int> partner_, back_;
  int tries_ = 0;
};

}  // namespace

std::string difference_of(const Graph& a, const Graph& b, const SameGraphOptions& options) {
  return Comparison(a, b, options).difference();
}

}  // namespace kbench
