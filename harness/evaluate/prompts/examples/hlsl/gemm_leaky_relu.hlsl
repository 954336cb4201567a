// y = leaky_relu((x weight^T + bias) * multiplier). A group makes a tile of TILE x TILE from tiles of x
// and of the weight in shared memory; outside of the tensors tiles hold zeros.
[[vk::binding(0, 0)]] RWStructuredBuffer<KB_REAL> x;       // [batch_size, in_features]
[[vk::binding(1, 0)]] RWStructuredBuffer<KB_REAL> weight;  // [out_features, in_features]
[[vk::binding(2, 0)]] RWStructuredBuffer<KB_REAL> bias;
[[vk::binding(3, 0)]] RWStructuredBuffer<KB_REAL> y;  // [batch_size, out_features]

groupshared float tile_x[TILE][TILE];
groupshared float tile_w[TILE][TILE + 1];  // read by columns: the one more spreads them over banks

[numthreads(TILE, TILE, 1)]
void main(uint3 group : SV_GroupID, uint3 thread : SV_GroupThreadID) {
  const uint row = group.y * TILE + thread.y;
  const uint col = group.x * TILE + thread.x;
  const uint loaded = group.x * TILE + thread.y;  // the row of the weight that this one loads
  float sum = 0;
  for (uint first = 0; first < KB_in_features; first += TILE) {
    const uint k = first + thread.x;
    float from_x = 0;
    float from_w = 0;
    if (row < KB_batch_size && k < KB_in_features) from_x = KB_TO_FLOAT(x[row * KB_in_features + k]);
    if (loaded < KB_out_features && k < KB_in_features) {
      from_w = KB_TO_FLOAT(weight[loaded * KB_in_features + k]);
    }
    tile_x[thread.y][thread.x] = from_x;
    tile_w[thread.y][thread.x] = from_w;
    GroupMemoryBarrierWithGroupSync();
    for (uint i = 0; i < TILE; ++i) sum += tile_x[thread.y][i] * tile_w[thread.x][i];
    GroupMemoryBarrierWithGroupSync();
  }
  if (row >= KB_batch_size || col >= KB_out_features) return;
  const float v = (sum + KB_TO_FLOAT(bias[col])) * KB_multiplier;
  y[row * KB_out_features + col] = KB_FROM_FLOAT(v > 0 ? v : KB_negative_slope * v);
}
