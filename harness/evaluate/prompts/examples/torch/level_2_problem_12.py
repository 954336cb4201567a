import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # PyTorch for CPUs comes without it
    triton = None

if triton is not None:

    @triton.jit
    def scale_leaky_relu(y, count, scale, slope, BLOCK: tl.constexpr):
        i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(y + i, mask=i < count, other=0.0).to(tl.float32) * scale
        tl.store(y + i, tl.where(v > 0, v, v * slope), mask=i < count)


class ModelNew(torch.nn.Module):
    def __init__(self, in_features, out_features, multiplier, negative_slope):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features)
        self.multiplier = multiplier
        self.negative_slope = negative_slope

    def forward(self, x):
        y = self.gemm(x)
        if not y.is_cuda:
            return torch.nn.functional.leaky_relu_(y.mul_(self.multiplier), self.negative_slope)
        count, block = y.numel(), 1024
        scale_leaky_relu[(triton.cdiv(count, block),)](
            y, count, self.multiplier, self.negative_slope, BLOCK=block
        )
        return y
