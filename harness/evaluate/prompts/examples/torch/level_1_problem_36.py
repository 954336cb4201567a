import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # PyTorch for CPUs comes without it
    triton = None

if triton is not None:

    @triton.jit
    def rms_norm(x, y, features, positions, eps, BLOCK: tl.constexpr):
        batch = tl.program_id(1).to(tl.int64)
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < positions
        first = batch * features * positions + at
        squares = tl.zeros([BLOCK], tl.float32)
        for feature in range(features):
            v = tl.load(x + first + feature * positions, mask=mask, other=0.0).to(tl.float32)
            squares += v * v
        scale = 1.0 / tl.sqrt(squares / features + eps)
        for feature in range(features):
            v = tl.load(x + first + feature * positions, mask=mask, other=0.0).to(tl.float32)
            tl.store(y + first + feature * positions, v * scale, mask=mask)


class ModelNew(torch.nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        if not x.is_cuda:
            return x * torch.rsqrt(x.square().mean(dim=1, keepdim=True).add_(self.eps))
        y = torch.empty_like(x)
        batch, features = x.shape[0], x.shape[1]
        positions, block = x[0, 0].numel(), 256
        rms_norm[(triton.cdiv(positions, block), batch)](
            x, y, features, positions, self.eps, BLOCK=block
        )
        return y
