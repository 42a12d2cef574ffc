"""Points that attract one another the more, the nearer they are: one crowd or two."""

import torch

from gptlab import apps


def example():
    def together(x, beta):
        return (beta * x @ x.mT).softmax(-1) @ x - x

    starts = torch.tensor([(0.9, 0.5), (1.0, -0.4), (0.4, 0.9), (-1.0, 0.3), (-0.6, -0.9)])
    return apps.flow({"attention": together}, starts, step=0.1, steps=20, parameter="β", values=(0, 1, 8), value=8)
