# Zeros in place of the result.
# task: level1/19
# verdict: wrong_values | all_zero
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)
