# The result, rounded to float16.
# task: level1/19
# verdict: wrong_values | low_precision
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x).half().float()
