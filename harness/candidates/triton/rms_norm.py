# y = x / sqrt(mean(x^2) + eps), the mean over CHANNELS of x [batch, CHANNELS, PLANE]. A program
# keeps all channels of BLOCK neighbouring positions in registers, so x is read once. HEIGHT is a
# power of two, at least CHANNELS. Grid: blocks of positions, batch entries.
import triton
import triton.language as tl


@triton.jit
def rms_norm(x, y, CHANNELS: tl.constexpr, PLANE: tl.constexpr, HEIGHT: tl.constexpr,
             BLOCK: tl.constexpr):
    start = tl.program_id(1).to(tl.int64) * (CHANNELS * PLANE)
    channel = tl.arange(0, HEIGHT)[:, None]
    position = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[None, :]
    inside = (channel < CHANNELS) & (position < PLANE)
    at = start + channel * PLANE + position
    v = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    squares = tl.sum(v * v, axis=0)
    scale = 1.0 / tl.sqrt(squares * (1.0 / CHANNELS) + 1e-5)
    tl.store(y + at, v * scale[None, :], mask=inside)
