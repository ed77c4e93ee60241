"""Eq. 1–5 as the paper writes them: sets of instances, one sample and one boundary at a time. Slow and plain."""

from itertools import combinations

import torch
from torch import Tensor

Sides = list[list[bool]]  # for each instance, on which side of each candidate it is


def boundary_at(head, alpha: Tensor) -> tuple[Tensor, Tensor, tuple[int, int]]:
    """Eq. 2, 3 at one embedding α [d]: w [d], b, and the two largest classes."""
    alpha = alpha.clone().requires_grad_()
    scores = head(alpha[None])[0]
    first, second = scores.argsort(descending=True)[:2].tolist()
    margin = scores[first] - scores[second]
    (w,) = torch.autograd.grad(margin, alpha)
    return w, (margin - w @ alpha).detach(), (first, second)


def in_cell(sides: Sides, cell: dict[int, bool]) -> set[int]:
    return {i for i, side in enumerate(sides) if all(side[row] == inside for row, inside in cell.items())}


def fullest_cell(members: Sides, rows: list[int]) -> dict[int, bool]:
    """r(P, c): of all cells of these rows the one with the most members (a tie: the first member's)."""
    best: dict[int, bool] = {}
    most = -1
    for member in members:
        cell = {row: member[row] for row in rows}
        g = len(in_cell(members, cell))
        if g > most:
            best, most = cell, g
    return best


def tolerance(members: Sides, intruders: Sides) -> int:
    """δ = h(H̃, c)."""
    return len(in_cell(intruders, fullest_cell(members, list(range(len(members[0]))))))


def greedy(members: Sides, intruders: Sides, epsilon: float) -> dict[int, bool]:
    """Eq. 5: the rows in the order of choice, each with the side that is inside."""
    delta = tolerance(members, intruders)
    cell = _greedy(members, intruders, epsilon, delta, None)
    if len(in_cell(intruders, cell)) > delta:
        fullest = fullest_cell(members, list(range(len(members[0]))))
        cell = _greedy(members, intruders, epsilon, delta, fullest)
    return cell


def _greedy(members, intruders, epsilon, delta, turned) -> dict[int, bool]:
    def g(cell: dict[int, bool]) -> int:
        return len(in_cell(members, cell))

    def h(cell: dict[int, bool]) -> int:
        return len(in_cell(intruders, cell))

    cell: dict[int, bool] = {}
    while h(cell) > delta:
        best, least = None, float("inf")
        for row in range(len(members[0])):
            if row in cell:
                continue
            halves = [{**cell, row: True}, {**cell, row: False}] if turned is None else [{**cell, row: turned[row]}]
            new = max(halves, key=lambda half: (g(half), -h(half)))
            if h(cell) - h(new) > 0 and (g(cell) - g(new) + epsilon) / (h(cell) - h(new)) < least:
                best, least = new, (g(cell) - g(new) + epsilon) / (h(cell) - h(new))
        if best is None:
            break
        cell = best
    return cell


def without_redundant(members: Sides, intruders: Sides, cell: dict[int, bool]) -> dict[int, bool]:
    for row in reversed(list(cell)):
        smaller = {other: side for other, side in cell.items() if other != row}
        if all(in_cell(group, smaller) == in_cell(group, cell) for group in (members, intruders)):
            cell = smaller
    return cell


def optimum(members: Sides, intruders: Sides) -> int:
    """max g(P, c) s.t. h(P, c) ≤ δ over all subsets P of the candidates (Eq. 4)."""
    delta = tolerance(members, intruders)
    best = 0
    for size in range(len(members[0]) + 1):
        for rows in combinations(range(len(members[0])), size):
            cell = fullest_cell(members, list(rows))
            if len(in_cell(intruders, cell)) <= delta:
                best = max(best, len(in_cell(members, cell)))
    return best
