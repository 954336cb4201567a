# All elements are right but one.
# task: level1/19
# verdict: wrong_values
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        y[0, 77] += 0.01
        return y
