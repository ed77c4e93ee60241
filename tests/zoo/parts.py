"""What a model may do between its layers: normalise, share a token, remember, draw random numbers; well or badly."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.nn import global_mean_pool
from torch_geometric.utils import scatter

FEATURES, HIDDEN = 4, 12


class Plain(nn.Module):
    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        return x


class Using(nn.Module):
    """A module or function of x alone, or of x and `batch`."""

    def __init__(self, inner: Callable[..., Tensor], with_batch: bool = False) -> None:
        super().__init__()
        self.inner, self.with_batch = inner, with_batch

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        return self.inner(x, batch) if self.with_batch else self.inner(x)


class StuckInTraining(nn.BatchNorm1d):
    """`eval()` does not reach it, as in wrappers that fine-tune a part of a model."""

    def train(self, mode: bool = True) -> "StuckInTraining":
        return super().train(True)


class TrainsInForward(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(HIDDEN)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        self.norm.train()
        return self.norm(x)


class OverMaximum(nn.Module):
    """Divides by the largest value of the batch."""

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        return x / x.abs().max()


class Token(nn.Module):
    """A virtual node: one for each graph, or one for the whole batch."""

    def __init__(self, shared: bool) -> None:
        super().__init__()
        self.shared, self.mix = shared, nn.Linear(HIDDEN, HIDDEN)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        owner = torch.zeros_like(batch) if self.shared else batch
        return x + self.mix(global_mean_pool(x, owner))[owner]


class AcrossGraphs(nn.Module):
    """Attention between the rows of the batch, which were meant to be positions of a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(HIDDEN, 2)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        return x + self.attention(x, x, x)[0]


class ShapeCache(nn.Module):
    """Keeps what it computed for an input of this shape."""

    def __init__(self, kept: dict[tuple[int, ...], Tensor] | None = None) -> None:
        super().__init__()
        self.outside = (lambda: kept) if kept is not None else None
        self.kept: dict[tuple[int, ...], Tensor] = {}

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        kept = self.kept if self.outside is None else self.outside()
        key = (len(x), edge_index.size(1))
        if key not in kept:
            kept[key] = 1 / (1 + scatter(torch.ones_like(edge_index[1], dtype=x.dtype), edge_index[1], dim_size=len(x)))
        return kept[key]


class NestedCache(ShapeCache):
    """The same, in a container inside a container."""

    def __init__(self) -> None:
        inner: dict[tuple[int, ...], Tensor] = {}
        super().__init__(inner)
        self.outer = {"degrees": inner}


class ContentCache(ShapeCache):
    """Keeps what it computed for these very edges."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        key = (len(x), *edge_index.flatten().tolist())
        if key not in self.kept:
            self.kept[key] = 1 / (1 + scatter(torch.ones(edge_index.size(1)), edge_index[1], dim_size=len(x)))
        return self.kept[key]


class RunningMean(nn.Module):
    """Takes away the mean of all inputs so far."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(HIDDEN))

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x - self.mean


class EverySecondCall(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        self.calls += 1
        return x if self.calls % 2 else -x


class Recording(nn.Module):
    """Leaves traces that it never reads."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.history: list[Tensor] = []

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        self.calls += 1
        self.history.append(x)
        self.last = x
        return x


class PreviousBatch(nn.Module):
    """Adds the mean of the batch before this one."""

    def __init__(self) -> None:
        super().__init__()
        self.before: Tensor | None = None

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        mixed = x if self.before is None else x + self.before
        self.before = x.mean(0)
        return mixed


class Reseeding(nn.Module):
    """Adds the same random numbers to the same rows of every batch."""

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        torch.manual_seed(0)
        return x + 0.3 * torch.randn(x.shape)


class OwnGenerator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.draw = lambda shape: torch.rand(shape, generator=generator)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        return x + 0.1 * self.draw(x.shape)


def outside_cache() -> ShapeCache:
    return ShapeCache({})
