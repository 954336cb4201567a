// Level 3: recurrent networks.
#include <algorithm>

#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// A recurrent cell written out, and what is read from its state.
class VanillaCell {
 public:
  explicit VanillaCell(Graph& g)
      : in_weight_(
            g.parameter("i2h.weight", {g["hidden_size"], fan_in(g)}, weight_init(fan_in(g)))),
        in_bias_(g.parameter("i2h.bias", {g["hidden_size"]})),
        out_weight_(g.parameter("h2o.weight", {g["output_size"], g["hidden_size"]},
                                weight_init(g["hidden_size"]))),
        out_bias_(g.parameter("h2o.bias", {g["output_size"]})) {}

  Value step(Value x, Value hidden) const {
    return tanh(linear(cat({x, hidden}, 1), in_weight_, in_bias_));
  }
  Value output(Value hidden) const { return linear(hidden, out_weight_, out_bias_); }

 private:
  static int64_t fan_in(const Graph& g) { return g["input_size"] + g["hidden_size"]; }
  Value in_weight_, in_bias_, out_weight_, out_bias_;
};

void vanilla_rnn(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["input_size"]});
  auto hidden = g.input("initial_hidden", {g["batch_size"], g["hidden_size"]});
  const VanillaCell cell(g);
  g.output(cell.output(cell.step(x, hidden)));
}

/// A new leading dimension over parts that may be more than one cat takes.
Value stack(std::vector<Value> parts) {
  constexpr size_t kMost = 64;
  for (Value& part : parts) part = unsqueeze(part, 0);
  while (parts.size() > 1) {
    std::vector<Value> joined;
    for (size_t i = 0; i < parts.size(); i += kMost) {
      const auto end = parts.begin() + static_cast<ptrdiff_t>(std::min(i + kMost, parts.size()));
      joined.push_back(cat({parts.begin() + static_cast<ptrdiff_t>(i), end}, 0));
    }
    parts = std::move(joined);
  }
  return parts[0];
}

void vanilla_rnn_hidden(Graph& g) {
  auto x = g.input("x", {g["sequence_length"], g["batch_size"], g["input_size"]});
  auto hidden = g.input("h0", {g["batch_size"], g["hidden_size"]});
  const VanillaCell cell(g);
  std::vector<Value> outputs;
  for (int64_t t = 0; t < x.dim(0); ++t) {
    hidden = cell.step(squeeze(slice(x, {.axis = 0, .start = t, .stop = t + 1}), 0), hidden);
    outputs.push_back(cell.output(hidden));
  }
  g.output(stack(outputs));
}

Recurrent layers(const Graph& g, bool bidirectional, bool batch_first) {
  return {.hidden = g["hidden_size"],
          .layers = g["num_layers"],
          .bidirectional = bidirectional,
          .batch_first = batch_first};
}

/// An initial state of every layer and direction.
Value initial_state(Graph& g, const char* name, bool bidirectional) {
  return g.input(name,
                 {g["num_layers"] * (bidirectional ? 2 : 1), g["batch_size"], g["hidden_size"]});
}

RecurrentValues run_lstm(Graph& g, bool bidirectional = false) {
  auto x = g.input("x", {g["batch_size"], g["sequence_length"], g["input_size"]});
  auto h0 = initial_state(g, "h0", bidirectional), c0 = initial_state(g, "c0", bidirectional);
  return lstm(x, h0, c0, g.module("lstm"), layers(g, bidirectional, true));
}

/// A linear layer over the last step's output.
Value last_step_linear(Graph& g, Value output) {
  auto last = slice(output, {.axis = 1, .start = output.dim(1) - 1});
  return linear(squeeze(last, 1), g.module("fc"), {.out = g["output_size"]});
}

void lstm_task(Graph& g) { g.output(last_step_linear(g, run_lstm(g).output)); }
void lstm_bidirectional(Graph& g) { g.output(last_step_linear(g, run_lstm(g, true).output)); }

/// The original computes its linear layer too, and drops the result.
void lstm_hidden(Graph& g) {
  g.output(run_lstm(g).hidden);
  unused_linear(g.module("fc"), g["hidden_size"], g["output_size"]);
}

void lstm_cell(Graph& g) {
  g.output(run_lstm(g).cell);
  unused_linear(g.module("fc"), g["hidden_size"], g["output_size"]);
}

RecurrentValues run_gru(Graph& g, bool bidirectional) {
  auto x = g.input("x", {g["seq_len"], g["batch_size"], g["input_size"]});
  auto h0 = initial_state(g, "h0", bidirectional);
  return gru(x, h0, g.module("gru"), layers(g, bidirectional, false));
}

void gru_task(Graph& g) { g.output(run_gru(g, false).output); }
void gru_hidden(Graph& g) { g.output(run_gru(g, false).hidden); }
void gru_bidirectional(Graph& g) { g.output(run_gru(g, true).output); }
void gru_bidirectional_hidden(Graph& g) { g.output(run_gru(g, true).hidden); }

}  // namespace

Tasks level3_recurrent() {
  return {
      {{3, 33},
       "VanillaRNN",
       "recurrent",
       {{"batch_size", 5, 8, 256},
        {"input_size", 64, 1024, 16384},
        {"hidden_size", 48, 256, 16384},
        {"output_size", 40, 128, 8192},
        {"sequence_length", 256}},
       vanilla_rnn},
      {{3, 34},
       "VanillaRNNHidden",
       "recurrent",
       {{"batch_size", 3, 8, 8},
        {"input_size", 24, 1024, 1024},
        {"hidden_size", 16, 256, 256},
        {"output_size", 12, 128, 128},
        {"sequence_length", 10, 256, 256}},
       vanilla_rnn_hidden},
      {{3, 35},
       "LSTM",
       "recurrent",
       {{"batch_size", 3, 10, 10},
        {"sequence_length", 12, 512, 512},
        {"input_size", 16, 128, 128},
        {"hidden_size", 24, 256, 256},
        {"num_layers", 3, 6, 6},
        {"output_size", 10},
        {"dropout", 0.0}},
       lstm_task,
       {3e-5,
        "honest float32 is off by 6e-07 at most, and what is rounded to fewer bits by 5e-05"}},
      {{3, 36},
       "LSTMHn",
       "recurrent",
       {{"batch_size", 3, 10, 10},
        {"sequence_length", 12, 512, 512},
        {"input_size", 16, 128, 128},
        {"hidden_size", 24, 256, 256},
        {"num_layers", 3, 6, 6},
        {"output_size", 10},
        {"dropout", 0.0}},
       lstm_hidden,
       {},
       {{{"parameter fc.weight", "parameter fc.bias"},
         "the original never uses it for what it returns"}}},
      {{3, 37},
       "LSTMCn",
       "recurrent",
       {{"batch_size", 3, 10, 10},
        {"sequence_length", 12, 512, 512},
        {"input_size", 16, 128, 128},
        {"hidden_size", 24, 256, 256},
        {"num_layers", 3, 6, 6},
        {"output_size", 10},
        {"dropout", 0.0}},
       lstm_cell,
       {3e-5, "honest float32 is off by 3e-07 at most, and what is rounded to fewer bits by 6e-05"},
       {{{"parameter fc.weight", "parameter fc.bias"},
         "the original never uses it for what it returns"}}},
      {{3, 38},
       "LSTMBidirectional",
       "recurrent",
       {{"batch_size", 3, 10, 10},
        {"sequence_length", 12, 512, 512},
        {"input_size", 16, 128, 128},
        {"hidden_size", 24, 256, 256},
        {"num_layers", 3, 6, 6},
        {"output_size", 10},
        {"dropout", 0.0}},
       lstm_bidirectional},
      {{3, 39},
       "GRU",
       "recurrent",
       {{"batch_size", 3, 10, 10},
        {"seq_len", 12, 512, 512},
        {"input_size", 16, 128, 128},
        {"hidden_size", 24, 256, 256},
        {"num_layers", 3, 6, 6}},
       gru_task},
      {{3, 40},
       "GRUHidden",
       "recurrent",
       {{"batch_size", 3, 10, 10},
        {"seq_len", 12, 512, 512},
        {"input_size", 16, 128, 128},
        {"hidden_size", 24, 256, 256},
        {"num_layers", 3, 6, 6}},
       gru_hidden},
      {{3, 41},
       "GRUBidirectional",
       "recurrent",
       {{"batch_size", 3, 10, 10},
        {"seq_len", 12, 512, 512},
        {"input_size", 16, 128, 128},
        {"hidden_size", 24, 256, 256},
        {"num_layers", 3, 6, 6}},
       gru_bidirectional},
      {{3, 42},
       "GRUBidirectionalHidden",
       "recurrent",
       {{"batch_size", 3, 10, 10},
        {"seq_len", 12, 512, 512},
        {"input_size", 16, 128, 128},
        {"hidden_size", 24, 256, 256},
        {"num_layers", 3, 6, 6}},
       gru_bidirectional_hidden},
  };
}

}  // namespace kbench::levels
