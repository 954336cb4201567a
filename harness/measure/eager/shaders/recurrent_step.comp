// One step of a recurrent layer: the gates' products with the last state, then the cell. A
// workgroup takes UNITS hidden units and up to BATCH samples; LANES invocations share a row of the
// weight, a gate of a unit.
//   GATES       4: LSTM, 3: GRU
//   DIRECTIONS  1 or 2, each a cell of its own
//   HIDDEN      units
//   WIDTH       4 where HIDDEN is a multiple of 4, else 1
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
// The addresses of a cell; those of a second one are stored alike.
#define WEIGHT STORED_1
#define BIASES STORED_2
#define STATE STORED_3
#define RESULT STORED_4
#define MEMORY_FROM STORED_5
#define MEMORY_TO STORED_6
#include "pieces.glsl"
#include "scalar_math.glsl"

layout(local_size_x = LANES * GATES * UNITS) in;

struct Cell {
  uint64_t projected;  // [batch, GATES * HIDDEN]: the input's part of the gates, its bias added
  uint64_t weight;     // [GATES * HIDDEN, HIDDEN]
  uint64_t bias;       // [GATES * HIDDEN]
  uint64_t state;      // [batch, HIDDEN]: the last h
  uint64_t result;     // [batch, HIDDEN]: the new h
#if GATES == 4
  uint64_t memory_from, memory_to;  // [batch, HIDDEN]: c, dense
#endif
};
layout(push_constant, std430) uniform Push {
  Cell cell[DIRECTIONS];
  uint batch;
  // Elements from a sample to the next.
  uint projected_row, state_row, result_row;
}
p;

const uint kRows = GATES * UNITS;
const uint kPieces = HIDDEN / WIDTH;

shared float space[kRows][BATCH][LANES];

void main() {
  const uint unit_blocks = (HIDDEN + UNITS - 1) / UNITS;
  const uint batch_blocks = ceil_div(p.batch, BATCH);
  const uint group = group_index();
  if (group >= unit_blocks * batch_blocks * DIRECTIONS) return;
  const uint first_unit = group % unit_blocks * UNITS;
  const uint first_sample = group / unit_blocks % batch_blocks * BATCH;
  const Cell cell = p.cell[group / unit_blocks / batch_blocks];

  // By subgroup, so that the lanes of a row can shuffle.
  const uint at = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
  const uint lane = at % LANES, row = at / LANES;
  const uint gate = row / UNITS, unit = min(first_unit + row % UNITS, HIDDEN - 1);

  // Who finishes which unit of which sample, and what it will need, on its way early.
  const uint own_unit = first_unit + at % UNITS, element = first_sample + at / UNITS;
  const bool finishes = at < UNITS * BATCH && own_unit < HIDDEN && element < p.batch;
  float projected[GATES], bias[GATES];
  float last = 0.0;  // LSTM: c; GRU: h
  if (finishes) {
    const uint64_t x = ADVANCE(f32, cell.projected, uint64_t(element) * p.projected_row);
    [[unroll]] for (uint g = 0; g < GATES; ++g) {
      projected[g] = LOAD(f32, x, g * HIDDEN + own_unit);
      bias[g] = LOAD(BIASES, cell.bias, g * HIDDEN + own_unit);
    }
#if GATES == 4
    const uint64_t memory = ADVANCE(MEMORY_FROM, cell.memory_from, element * HIDDEN + own_unit);
    last = LOAD(MEMORY_FROM, memory, 0);
#else
    last = LOAD(STATE, ADVANCE(STATE, cell.state, uint64_t(element) * p.state_row), own_unit);
#endif
  }

  const uint64_t weight = ADVANCE(WEIGHT, cell.weight, (gate * HIDDEN + unit) * HIDDEN);
  float acc[BATCH];
  [[unroll]] for (uint b = 0; b < BATCH; ++b) acc[b] = 0.0;
  for (uint k = lane; k < kPieces; k += LANES) {
    const PIECE w = LOAD_PIECE(WEIGHT, weight, k);
    [[unroll]] for (uint b = 0; b < BATCH; ++b) {
      const uint element = min(first_sample + b, p.batch - 1);
      const uint64_t state = ADVANCE(STATE, cell.state, uint64_t(element) * p.state_row);
      acc[b] += dot(w, LOAD_PIECE(STATE, state, k));
    }
  }
  const uint width = min(LANES, gl_SubgroupSize);
  for (uint distance = width / 2; distance > 0; distance >>= 1) {
    [[unroll]] for (uint b = 0; b < BATCH; ++b) acc[b] += subgroupShuffleXor(acc[b], distance);
  }
  if (lane % width == 0) {
    [[unroll]] for (uint b = 0; b < BATCH; ++b) space[row][b][lane / width] = acc[b];
  }
  barrier();
  if (!finishes) return;
  float own[GATES];
  [[unroll]] for (uint g = 0; g < GATES; ++g) {
    own[g] = bias[g];
    for (uint i = 0; i < LANES / width; ++i) {
      own[g] += space[g * UNITS + at % UNITS][at / UNITS][i];
    }
  }
#if GATES == 4
  const float i = logistic(projected[0] + own[0]), f = logistic(projected[1] + own[1]);
  const float g = hyperbolic_tangent(projected[2] + own[2]);
  const float o = logistic(projected[3] + own[3]);
  const float c = f * last + i * g;
  STORE(MEMORY_TO, ADVANCE(MEMORY_TO, cell.memory_to, element * HIDDEN + own_unit), 0, c);
  const float h = o * hyperbolic_tangent(c);
#else
  const float r = logistic(projected[0] + own[0]), z = logistic(projected[1] + own[1]);
  const float n = hyperbolic_tangent(projected[2] + r * own[2]);
  const float h = (1.0 - z) * n + z * last;
#endif
  STORE(RESULT, ADVANCE(RESULT, cell.result, uint64_t(element) * p.result_row), own_unit, h);
}
