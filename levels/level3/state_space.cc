// Level 3: Mamba 2, a linear recurrence computed in blocks of steps.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// [batch, steps, heads, ...] to [batch, blocks, heads, steps of a block, ...].
Value in_blocks(Value x, int64_t block_len) {
  Shape shape = x.shape();
  require(block_len > 0 && shape[1] % block_len == 0, "state space", x,
          "the sequence must be divisible by block_len, " + std::to_string(block_len));
  shape.insert(shape.begin() + 1, shape[1] / block_len);
  shape[2] = block_len;
  return transpose(reshape(x, shape), 2, 3);
}

/// y[..., i, j] = exp(x[j + 1] + ... + x[i]), what is left at i of a state at j; 0 for j > i.
Value decay_between(Value x) {
  auto total = cumsum(x, -1);
  return tril(exp(unsqueeze(total, -1) - unsqueeze(total, -2)));
}

/// The recurrence, as far as both tasks share it. Extents: b batch, c blocks, h heads, l steps of
/// a block, p head, n state.
struct StateSpace {
  Value x;       ///< [b, c, h, l, p]
  Value decay;   ///< [b, c, h, l], logarithms
  Value total;   ///< its sums from the block's first step on
  Value b, c;    ///< [b, c, h, l, n]
  Value states;  ///< [b, h, c + 1, p * n]: before each block, and after the last
};

/// Decays so slow that something of the first step is left after the last.
StateSpace state_space(Graph& g) {
  const Shape steps = {g["batch_size"], g["seq_length"], g["n_heads"]};
  const auto with = [&](int64_t extent) { return Shape{steps[0], steps[1], steps[2], extent}; };
  const int64_t length = g["block_len"];
  StateSpace s;
  s.x = in_blocks(g.input("X", with(g["d_head"])), length);
  s.decay = in_blocks(g.parameter("A", steps, uniform(-0.05, 0)), length);
  s.b = in_blocks(g.parameter("B", with(g["d_state"]), uniform(-1, 1)), length);
  s.c = in_blocks(g.parameter("C", with(g["d_state"]), uniform(-1, 1)), length);
  s.total = cumsum(s.decay, -1);

  // What each block adds to the state by its last step.
  auto whole = slice(s.total, {.axis = -1, .start = length - 1});
  auto left = exp(whole - s.total);
  auto added = matmul(s.x, s.b * unsqueeze(left, -1), {.transpose_a = true});

  // From block to block, the state before the first being zero.
  auto between = decay_between(pad(transpose(squeeze(whole, -1), 1, 2), -1, 1, 0));
  s.states = matmul(between, flatten(transpose(pad(added, 1, 1, 0), 1, 2), 3));
  return s;
}

/// The state as [b, h, blocks, p, n].
Value unflatten_state(const StateSpace& s, Value states) {
  return reshape(states, {states.dim(0), states.dim(1), states.dim(2), s.x.dim(-1), s.b.dim(-1)});
}

void mamba2_return_y(Graph& g) {
  const StateSpace s = state_space(g);
  auto within = matmul(s.c, s.b, {.transpose_b = true}) * decay_between(s.decay);
  auto before = unflatten_state(s, slice(s.states, {.axis = 2, .stop = -1}));
  auto carried = matmul(s.c, transpose(before, 1, 2), {.transpose_b = true});
  auto y = matmul(within, s.x) + carried * unsqueeze(exp(s.total), -1);
  g.output(flatten(transpose(y, 2, 3), 1, 2));
}

/// The original computes the outputs within blocks too, and drops them.
void mamba2_return_final_state(Graph& g) {
  const StateSpace s = state_space(g);
  auto last = slice(s.states, {.axis = 2, .start = s.states.dim(2) - 1});
  g.output(squeeze(unflatten_state(s, last), 2));
}

}  // namespace

Tasks level3_state_space() {
  return {
      {{3, 48},
       "Mamba2ReturnY",
       "state space",
       {{"batch_size", 2, 16, 2048},
        {"seq_length", 32, 128, 128},
        {"n_heads", 3, 8, 8},
        {"d_head", 8, 64, 64},
        {"d_state", 6, 16, 16},
        {"block_len", 8, 64, 64}},
       mamba2_return_y,
       {},
       {{{"* in place of pad (number 1 of 2)"},
         "of two blocks only the second has a state before it, which reaches it undiminished"}}},
      {{3, 49},
       "Mamba2ReturnFinalState",
       "state space",
       {{"batch_size", 2, 16, 2048},
        {"seq_length", 32, 128, 128},
        {"n_heads", 3, 8, 8},
        {"d_head", 8, 64, 64},
        {"d_state", 6, 16, 16},
        {"block_len", 8, 64, 64}},
       mamba2_return_final_state,
       {3e-5, "honest float32 is off by 9e-07 at most, and what is rounded to fewer bits by 5e-05"},
       {{{"* in place of permute (number 4 of 6)"}, "C is brought into blocks and never read"},
        {{"without tril"}, "only the last row of the decays is read, which is whole"}}},
  };
}

}  // namespace kbench::levels
