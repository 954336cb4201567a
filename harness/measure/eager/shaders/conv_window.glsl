// What the convolution kernels share: pixels of the output, taps of the window. The includer names
// the input X. A tap is a (channel, window position) of the kernel, in the order of the weight's
// rows.
//   KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W, DILATION_H, DILATION_W
//   VOLUME  1 where there are three spatial dimensions: KERNEL_D, STRIDE_D, DILATION_D too
//   PADDED  1 where windows may leave the input
//   MASKED  1 where the window has at most 32 positions: which of them lie inside is a bit each
//   CHANNELS_LAST  0 where each channel of the input is a plane; else a position's channels lie
//     together, so many, those past a group's last being zeros (conv_channels_last.comp). The order
//     of the taps is then the window's positions, each with all of its channels.
//   TRANSPOSED  1 for a transposed convolution. Output positions that agree modulo the stride form
//     a phase: they meet the same taps, and within a phase it is a convolution of stride 1. Pixels
//     are then a phase's, the weight is as conv_pack.comp writes it, and set_phase() comes first.
struct Input {
#if VOLUME
  int depth, out_depth, pad_d;
#endif
  int height, width;
  int out_height, out_width;
  int pad_h, pad_w;
};

struct Pixel {
  uint image;
  uint at;  // within the output plane or volume; kNowhere outside
  int y, x;  // the window's first position in the input
#if VOLUME
  int z;
#endif
};
const uint kNowhere = 0xffffffffu;

#if TRANSPOSED
/// One dimension of a phase.
struct PhaseDim {
  int first;  // output position
  int low;    // input position under the window's first tap, for the first output position
  int last;   // tap of the weight that the window's first tap is
  int taps;
};

int greatest_divisor(int a, int b) {
  while (b != 0) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
/// Between the taps that a phase meets; between the input positions under them.
int tap_step(int stride, int dilation) { return stride / greatest_divisor(stride, dilation); }
int input_step(int stride, int dilation) { return dilation / greatest_divisor(stride, dilation); }

PhaseDim phase_dim(int first, int kernel, int stride, int dilation, int pad) {
  // Output position o meets tap u where o + pad - u * dilation is a multiple of the stride.
  const int rest = (first + pad) % stride;
  const int step = tap_step(stride, dilation);
  int u = 0;
  while (u < step && u * dilation % stride != rest) ++u;
  PhaseDim dim;
  dim.first = first;
  dim.taps = u < step && u < kernel ? (kernel - 1 - u) / step + 1 : 0;
  dim.last = u + (dim.taps - 1) * step;
  dim.low = (first + pad) / stride - (dim.last * dilation - rest) / stride;
  return dim;
}

#if VOLUME
const uint kPhases = STRIDE_D * STRIDE_H * STRIDE_W;
#else
const uint kPhases = STRIDE_H * STRIDE_W;
#endif
PhaseDim phase_h, phase_w;
#if VOLUME
PhaseDim phase_d;
#endif

void set_phase(Input geometry, uint phase) {
  phase_w = phase_dim(int(phase % STRIDE_W), KERNEL_W, STRIDE_W, DILATION_W, geometry.pad_w);
  phase /= STRIDE_W;
  phase_h = phase_dim(int(phase % STRIDE_H), KERNEL_H, STRIDE_H, DILATION_H, geometry.pad_h);
#if VOLUME
  phase /= STRIDE_H;
  phase_d = phase_dim(int(phase), KERNEL_D, STRIDE_D, DILATION_D, geometry.pad_d);
#endif
}

#define WINDOW_H phase_h.taps
#define WINDOW_W phase_w.taps
#define STEP_H input_step(STRIDE_H, DILATION_H)
#define STEP_W input_step(STRIDE_W, DILATION_W)
#if VOLUME
#define WINDOW_D phase_d.taps
#define STEP_D input_step(STRIDE_D, DILATION_D)
#endif
#else
#define WINDOW_H KERNEL_H
#define WINDOW_W KERNEL_W
#define STEP_H DILATION_H
#define STEP_W DILATION_W
#define WINDOW_D KERNEL_D
#define STEP_D DILATION_D
#endif

/// Positions of the window.
uint window_size() {
#if VOLUME
  return uint(WINDOW_D * WINDOW_H * WINDOW_W);
#else
  return uint(WINDOW_H * WINDOW_W);
#endif
}

/// Elements of an output channel.
uint out_plane(Input geometry) {
  const uint plane = uint(geometry.out_height) * uint(geometry.out_width);
#if VOLUME
  return plane * uint(geometry.out_depth);
#else
  return plane;
#endif
}

Pixel pixel_of(Input geometry, uint index) {
#if TRANSPOSED
  const uint width = uint(geometry.out_width + STRIDE_W - 1) / STRIDE_W;
  const uint height = uint(geometry.out_height + STRIDE_H - 1) / STRIDE_H;
#else
  const uint width = uint(geometry.out_width), height = uint(geometry.out_height);
#endif
  uint plane = width * height;
#if VOLUME && TRANSPOSED
  plane *= uint(geometry.out_depth + STRIDE_D - 1) / STRIDE_D;
#elif VOLUME
  plane *= uint(geometry.out_depth);
#endif
  Pixel pixel;
  pixel.image = index / plane;
  pixel.at = index - pixel.image * plane;
  uint row = pixel.at / width;
  const uint column = pixel.at - row * width;
#if VOLUME
  const uint slab = row / height;
  row -= slab * height;
#endif
#if TRANSPOSED
  pixel.y = int(row) + phase_h.low;
  pixel.x = int(column) + phase_w.low;
  const int out_y = int(row) * STRIDE_H + phase_h.first;
  const int out_x = int(column) * STRIDE_W + phase_w.first;
  bool inside = out_y < geometry.out_height && out_x < geometry.out_width;
#if VOLUME
  pixel.z = int(slab) + phase_d.low;
  const int out_z = int(slab) * STRIDE_D + phase_d.first;
  inside = inside && out_z < geometry.out_depth;
  pixel.at = uint(out_z * geometry.out_height + out_y) * uint(geometry.out_width) + uint(out_x);
#else
  pixel.at = uint(out_y * geometry.out_width + out_x);
#endif
  pixel.at = inside ? pixel.at : kNowhere;
#else
  pixel.y = int(row) * STRIDE_H - geometry.pad_h;
  pixel.x = int(column) * STRIDE_W - geometry.pad_w;
#if VOLUME
  pixel.z = int(slab) * STRIDE_D - geometry.pad_d;
#endif
#endif
  return pixel;
}

/// A bit for each position of the pixel's window, set where it lies in the input.
uint inside_mask(Input geometry, Pixel pixel) {
  uint mask = 0;
#if MASKED
  uint bit = 0;
#if VOLUME
  for (int k = 0; k < WINDOW_D; ++k) {
    const bool slab = uint(pixel.z + k * STEP_D) < uint(geometry.depth);
#else
  {
    const bool slab = true;
#endif
    for (int i = 0; i < WINDOW_H; ++i) {
      const bool row = slab && uint(pixel.y + i * STEP_H) < uint(geometry.height);
      for (int j = 0; j < WINDOW_W; ++j, ++bit) {
        const bool inside = row && uint(pixel.x + j * STEP_W) < uint(geometry.width);
        mask |= inside ? 1u << bit : 0u;
      }
    }
  }
#endif
  return mask;
}

/// The window's position z, y, x, the `place`-th: its offset in a channel of the input, and what
/// meets() takes: `place` where MASKED, else y << 16 | x, or z << 20 | y << 10 | x, in elements of
/// the input.
ivec2 window_position(Input geometry, int z, int y, int x, uint place) {
  y *= STEP_H;
  x *= STEP_W;
#if VOLUME
  z *= STEP_D;
  const int at = (z * geometry.height + y) * geometry.width + x;
  const int coordinates = z << 20 | y << 10 | x;
#else
  const int at = y * geometry.width + x;
  const int coordinates = y << 16 | x;
#endif
  return ivec2(at, MASKED != 0 ? int(place) : coordinates);
}

/// (offset in the input's image and channel group, what meets() takes); offset -1 past the last
/// tap.
ivec2 tap_of(Input geometry, uint tap, uint taps) {
  if (tap >= taps) return ivec2(-1, 0);
  const uint plane = uint(WINDOW_H * WINDOW_W), window = window_size();
  const uint channel = tap / window, place = tap - channel * window, within = place % plane;
  ivec2 entry = window_position(geometry, int(place / plane), int(within / WINDOW_W),
                                int(within % WINDOW_W), place);
#if VOLUME
  entry.x += int(channel) * (geometry.depth * geometry.height * geometry.width);
#else
  entry.x += int(channel) * (geometry.height * geometry.width);
#endif
  return entry;
}

#if CHANNELS_LAST
/// A tap by its channel and its position in the window, for going on without divisions.
struct TapWalk {
  uint channel;
  uint place;  // z, y and x in one number
  int x, y, z;
};

TapWalk walk_to(uint tap) {
  const uint width = uint(max(WINDOW_W, 1)), height = uint(max(WINDOW_H, 1));
  TapWalk walk;
  walk.channel = tap % CHANNELS_LAST;
  walk.place = tap / CHANNELS_LAST;
  walk.x = int(walk.place % width);
  walk.y = int(walk.place / width % height);
  walk.z = int(walk.place / width / height);
  return walk;
}

/// Goes on by so many taps, a constant.
void advance(inout TapWalk walk, uint taps) {
  walk.channel += taps % CHANNELS_LAST;
  const uint places = taps / CHANNELS_LAST + (walk.channel >= CHANNELS_LAST ? 1u : 0u);
  walk.channel -= walk.channel >= CHANNELS_LAST ? CHANNELS_LAST : 0u;
  walk.place += places;
  walk.x += int(places);
  const int width = max(WINDOW_W, 1), height = max(WINDOW_H, 1);
  while (walk.x >= width) {
    walk.x -= width;
    ++walk.y;
  }
#if VOLUME
  while (walk.y >= height) {
    walk.y -= height;
    ++walk.z;
  }
#endif
}

/// As tap_of() has it.
ivec2 tap_at(Input geometry, TapWalk walk) {
  if (walk.place >= window_size()) return ivec2(-1, 0);
  const ivec2 entry = window_position(geometry, walk.z, walk.y, walk.x, walk.place);
  return ivec2(entry.x * CHANNELS_LAST + int(walk.channel), entry.y);
}
#endif

/// Whether a tap of a pixel's window meets an element of the input.
bool meets(Input geometry, Pixel pixel, uint mask, ivec2 tap) {
  bool inside = tap.x >= 0;
#if MASKED
  inside = inside && (mask >> tap.y & 1u) != 0u;
#elif PADDED
#if VOLUME
  const uint z = uint(pixel.z + (tap.y >> 20));
  const uint y = uint(pixel.y + (tap.y >> 10 & 0x3ff)), x = uint(pixel.x + (tap.y & 0x3ff));
  inside = inside && z < uint(geometry.depth);
#else
  const uint y = uint(pixel.y + (tap.y >> 16)), x = uint(pixel.x + (tap.y & 0xffff));
#endif
  inside = inside && y < uint(geometry.height) && x < uint(geometry.width);
#endif
  return inside;
}

/// The input element that it meets; `origin` is the address of the pixel's first position, which
/// padding may place before the image.
float read_tap(Input geometry, uint64_t origin, Pixel pixel, uint mask, ivec2 tap) {
  float v = 0.0;
  if (meets(geometry, pixel, mask, tap)) v = LOAD(X, ADVANCE(X, origin, uint(tap.x)), 0);
  return v;
}

/// The address of the first position of a pixel's window; `channel` is the first the window sees.
/// With CHANNELS_LAST a group's channels count as one.
uint64_t origin_of(Input geometry, uint64_t x, Pixel pixel, uint channels, uint channel) {
  const uint64_t plane = uint64_t(pixel.image) * channels + channel;
#if VOLUME
  const int64_t at =
      int64_t(plane) * (geometry.depth * geometry.height * geometry.width) +
      (pixel.z * geometry.height + pixel.y) * geometry.width + pixel.x;
#else
  const int64_t at = int64_t(plane) * (geometry.height * geometry.width) +
                     pixel.y * geometry.width + pixel.x;
#endif
#if CHANNELS_LAST
  return ADVANCE(X, x, at * CHANNELS_LAST);
#else
  return ADVANCE(X, x, at);
#endif
}
