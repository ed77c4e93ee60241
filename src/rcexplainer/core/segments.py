"""Ragged arrays: instances of different size, one after the other, with `ptr` [n + 1] saying where each begins."""

import torch
from torch import Tensor


def gather_ranges(starts: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
    """The concatenated integer ranges [start, end) and, for each number in them, which range it is from.

    >>> gather_ranges(torch.tensor([4, 0]), torch.tensor([6, 3]))
    (tensor([4, 5, 0, 1, 2]), tensor([0, 0, 1, 1, 1]))
    """
    sizes = ends - starts
    owner = torch.arange(len(sizes), device=sizes.device).repeat_interleave(sizes)
    before = sizes.cumsum(0) - sizes
    return torch.arange(len(owner), device=sizes.device) + (starts - before)[owner], owner


def owners(ptr: Tensor) -> Tensor:
    """Which instance each entry belongs to."""
    return torch.arange(len(ptr) - 1, device=ptr.device).repeat_interleave(ptr.diff())


def first_minimum(values: Tensor, owner: Tensor, num_owners: int) -> Tensor:
    """Position of each owner's smallest value, the first of several; −1 for an owner without values."""
    least = values.new_full((num_owners,), torch.inf).scatter_reduce(0, owner, values, "amin")
    here = torch.arange(len(values), device=values.device)
    nowhere = torch.full_like(here, len(values))
    places = torch.where(values == least[owner], here, nowhere)
    first = here.new_full((num_owners,), len(values)).scatter_reduce(0, owner, places, "amin")
    return torch.where(first < len(values), first, -1)


def ranks(scores: Tensor, owner: Tensor, ptr: Tensor) -> Tensor:
    """The place of every entry among its owner's, 0 for the highest score; ties go by position."""
    order = scores.argsort(descending=True, stable=True)
    order = order[owner[order].argsort(stable=True)]
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device) - ptr[owner[order]]
    return place


def split_by_cost(ids: Tensor, cost: Tensor, limit: float) -> list[Tensor]:
    """`ids` in consecutive pieces that cost about `limit` each: less than that and one id's cost."""
    if not len(ids):
        return []
    piece = ((cost.double().cumsum(0) - cost) / limit).floor()
    return list(torch.split(ids, torch.unique_consecutive(piece, return_counts=True)[1].tolist()))
