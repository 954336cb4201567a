// The input of a convolution, [image][group][channel][position], with the channels of each position
// together: [image][group][position][CHANNELS_LAST], zeros past a group's last channel. Elements
// are of 16 bits and moved as they are. A workgroup takes TILE_CHANNELS channels at TILE_POSITIONS
// positions through shared memory, so that reads and writes are contiguous.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#include "tensor.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint channels;   // a group
  uint positions;  // of a channel
  uint channel_tiles, position_tiles;
  uint groups;
}
p;

shared uint tile[TILE_CHANNELS][TILE_POSITIONS + 1];

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint channel = group % p.channel_tiles * TILE_CHANNELS;
  const uint rest = group / p.channel_tiles;
  const uint position = rest % p.position_tiles * TILE_POSITIONS;
  const uint64_t part = rest / p.position_tiles;  // channel groups of all images
  const uint64_t from = ADVANCE(X, p.x, (part * p.channels + channel) * p.positions + position);
  // Past the last channel or position the last is read and not used: no load waits behind a branch.
  const uint kLoads = TILE_CHANNELS * TILE_POSITIONS / THREADS;
  const uint channels_left = p.channels - channel;
  const uint positions_left = p.positions - position;
  uint v[kLoads];
  [[unroll]] for (uint i = 0; i < kLoads; ++i) {
    const uint element = i * THREADS + gl_LocalInvocationID.x;
    const uint across = element / TILE_POSITIONS, along = element % TILE_POSITIONS;
    const uint64_t row = uint64_t(min(across, channels_left - 1)) * p.positions;
    v[i] = LOAD_BITS(X, ADVANCE(X, from, row + min(along, positions_left - 1)), 0);
  }
  [[unroll]] for (uint i = 0; i < kLoads; ++i) {
    const uint element = i * THREADS + gl_LocalInvocationID.x;
    const uint across = element / TILE_POSITIONS, along = element % TILE_POSITIONS;
    tile[across][along] = across < channels_left ? v[i] : 0u;
  }
  barrier();
  const uint64_t to = ADVANCE(X, p.y, (part * p.positions + position) * CHANNELS_LAST + channel);
  const uint kPieces = TILE_CHANNELS / 8;  // of eight channels at a position
  [[unroll]] for (uint i = 0; i < kPieces * TILE_POSITIONS; i += THREADS) {
    const uint piece = i + gl_LocalInvocationID.x;
    const uint along = piece % kPieces * 8, at = piece / kPieces;
    if (at >= TILE_POSITIONS || at >= positions_left || channel + along >= CHANNELS_LAST) continue;
    uvec4 v;
    [[unroll]] for (uint two = 0; two < 4; ++two) {
      v[two] = tile[along + 2 * two][at] | tile[along + 2 * two + 1][at] << 16;
    }
    STORE8_HALVES(ADVANCE(X, to, uint64_t(at) * CHANNELS_LAST + along), v);
  }
}
