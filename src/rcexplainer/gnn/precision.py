"""The one precision in which a model is explained: whatever mixture of float32 and float64 it computes in.

    float32   if any of its parameters is: masks of float64 would not fit its layers
    float64   otherwise, if it returns float64

A model of float32 may return `out.double()`, or multiply by a buffer of float64. Masks, embeddings and outputs are
brought to one precision where they enter and leave it, so that nothing outside of it meets the mixture.
"""

import torch
from torch import Tensor, nn


def precision_of(model: nn.Module, output: Tensor) -> torch.dtype:
    """The precision in which a model is explained.

    Args:
        model: The model.
        output: What it returned; where it is neither float32 nor float64, its own type, which others refuse.
    """
    if output.dtype != torch.float64:
        return output.dtype
    single = any(parameter.dtype == torch.float32 for parameter in model.parameters())
    return torch.float32 if single else torch.float64
