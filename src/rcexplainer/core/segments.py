"""Ragged arrays: instances of different sizes in one tensor; `ptr` [n + 1] holds where each begins."""

import torch
from torch import Tensor


def gather_ranges(starts: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
    """Concatenate integer ranges [start, end).

    Args:
        starts: [k].
        ends: [k].

    Returns:
        The numbers of all ranges, and for each number the range it comes from.

    >>> gather_ranges(torch.tensor([4, 0]), torch.tensor([6, 3]))
    (tensor([4, 5, 0, 1, 2]), tensor([0, 0, 1, 1, 1]))
    """
    sizes = ends - starts
    owner = torch.arange(len(sizes), device=sizes.device).repeat_interleave(sizes)
    before = sizes.cumsum(0) - sizes
    return torch.arange(len(owner), device=sizes.device) + (starts - before)[owner], owner


def owners(ptr: Tensor) -> Tensor:
    """Return the instance of each entry: ptr [n + 1] → [ptr[-1]]."""
    return torch.arange(len(ptr) - 1, device=ptr.device).repeat_interleave(ptr.diff())


def first_minimum(values: Tensor, owner: Tensor, num_owners: int) -> Tensor:
    """Find each owner's smallest value.

    Args:
        values: [v].
        owner: [v].
        num_owners: n.

    Returns:
        [n] positions, the first of several equal values; −1 for an owner without values.
    """
    least = values.new_full((num_owners,), torch.inf).scatter_reduce(0, owner, values, "amin")
    here = torch.arange(len(values), device=values.device)
    nowhere = torch.full_like(here, len(values))
    places = torch.where(values == least[owner], here, nowhere)
    first = here.new_full((num_owners,), len(values)).scatter_reduce(0, owner, places, "amin")
    return torch.where(first < len(values), first, -1)


def sorted_units(scores: Tensor, owner: Tensor) -> Tensor:
    """Sort the entries of each owner, the highest score first; ties keep their order.

    Args:
        scores: [v].
        owner: [v], ascending.

    Returns:
        [v] positions, owner after owner.
    """
    order = scores.argsort(descending=True, stable=True)
    return order[owner[order].argsort(stable=True)]


def ranks(scores: Tensor, owner: Tensor, ptr: Tensor) -> Tensor:
    """Rank the entries of each owner.

    Args:
        scores: [v].
        owner: [v], ascending.
        ptr: [n + 1] where the entries of each owner begin.

    Returns:
        [v] ranks, 0 for the highest score; ties are broken by position.
    """
    order = sorted_units(scores, owner)
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device) - ptr[owner[order]]
    return place


def split_by_cost(ids: Tensor, cost: Tensor, limit: float) -> list[Tensor]:
    """Split ids into consecutive pieces of bounded cost.

    Args:
        ids: [k].
        cost: [k].
        limit: A piece costs less than this plus the cost of one id.

    Returns:
        The pieces.
    """
    if not len(ids):
        return []
    piece = ((cost.double().cumsum(0) - cost) / limit).floor()
    return list(torch.split(ids, torch.unique_consecutive(piece, return_counts=True)[1].tolist()))
