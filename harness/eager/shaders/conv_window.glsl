// What both convolution kernels share: pixels of the output, taps of the window. A tap is a
// (channel, window row, window column) of the kernel, in the weight's order.
//   KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W, DILATION_H, DILATION_W
//   PADDED  1 where windows may leave the input
struct Input {
  int height, width;
  int out_height, out_width;
  int pad_h, pad_w;
};

struct Pixel {
  uint image;
  uint at;   // within the output plane
  int y, x;  // the window's first position in the input
};

Pixel pixel_of(Input geometry, uint index) {
  const uint plane = uint(geometry.out_height) * uint(geometry.out_width);
  Pixel pixel;
  pixel.image = index / plane;
  pixel.at = index - pixel.image * plane;
  const uint row = pixel.at / uint(geometry.out_width);
  pixel.y = int(row) * STRIDE_H - geometry.pad_h;
  pixel.x = int(pixel.at - row * uint(geometry.out_width)) * STRIDE_W - geometry.pad_w;
  return pixel;
}

/// (offset in the input's image, window row << 16 | window column); offset -1 past the last tap.
ivec2 tap_of(Input geometry, uint tap, uint taps) {
  if (tap >= taps) return ivec2(-1, 0);
  const uint channel = tap / (KERNEL_H * KERNEL_W), within = tap % (KERNEL_H * KERNEL_W);
  const int y = int(within / KERNEL_W) * DILATION_H, x = int(within % KERNEL_W) * DILATION_W;
  return ivec2((int(channel) * geometry.height + y) * geometry.width + x, y << 16 | x);
}

/// The input element a tap of a pixel's window meets; `origin` is the address of the pixel's first
/// position, which padding may place before the image.
float read_tap(Input geometry, uint64_t origin, Pixel pixel, ivec2 tap) {
  bool inside = tap.x >= 0;
#if PADDED
  const uint y = uint(pixel.y + (tap.y >> 16)), x = uint(pixel.x + (tap.y & 0xffff));
  inside = inside && y < uint(geometry.height) && x < uint(geometry.width);
#endif
  float v = 0.0;
  if (inside) v = FloatsIn(advance(origin, uint(tap.x))).at[0];
  return v;
}

/// The address of the first position of a pixel's window; `channel` is the first the window sees.
uint64_t origin_of(Input geometry, uint64_t x, Pixel pixel, uint channels, uint channel) {
  const uint64_t plane = uint64_t(pixel.image) * channels + channel;
  const int64_t at = int64_t(plane) * (geometry.height * geometry.width) +
                     pixel.y * geometry.width + pixel.x;
  return x + uint64_t(at * 4l);
}
