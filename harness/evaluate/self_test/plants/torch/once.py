# The task once, to time the task twice against.
# task: level1/19
# verdict: passed
# sizes: large
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
