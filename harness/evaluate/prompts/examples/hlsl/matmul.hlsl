// C = A B, all of KB_N x KB_N. A group makes a tile of TILE x TILE from tiles of both factors in shared
// memory; outside of the matrices tiles hold zeros.
[[vk::binding(0, 0)]] RWStructuredBuffer<KB_REAL> a;
[[vk::binding(1, 0)]] RWStructuredBuffer<KB_REAL> b;
[[vk::binding(2, 0)]] RWStructuredBuffer<KB_REAL> c;

groupshared float tile_a[TILE][TILE];
groupshared float tile_b[TILE][TILE];

[numthreads(TILE, TILE, 1)]
void main(uint3 group : SV_GroupID, uint3 thread : SV_GroupThreadID) {
  const uint row = group.y * TILE + thread.y;
  const uint col = group.x * TILE + thread.x;
  float sum = 0;
  for (uint first = 0; first < KB_N; first += TILE) {
    float from_a = 0;
    float from_b = 0;
    if (row < KB_N && first + thread.x < KB_N) {
      from_a = KB_TO_FLOAT(a[row * KB_N + first + thread.x]);
    }
    if (col < KB_N && first + thread.y < KB_N) {
      from_b = KB_TO_FLOAT(b[(first + thread.y) * KB_N + col]);
    }
    tile_a[thread.y][thread.x] = from_a;
    tile_b[thread.y][thread.x] = from_b;
    GroupMemoryBarrierWithGroupSync();
    for (uint k = 0; k < TILE; ++k) sum += tile_a[thread.y][k] * tile_b[k][thread.x];
    GroupMemoryBarrierWithGroupSync();
  }
  if (row < KB_N && col < KB_N) c[row * KB_N + col] = KB_FROM_FLOAT(sum);
}
