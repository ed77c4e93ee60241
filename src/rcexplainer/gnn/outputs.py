"""The kinds of numbers a classifier may return, and log-probabilities from each of them.

    logits        z            log_softmax(z)
    log_probs     log p        log p
    probs         p            log p          (one column: p of class 1)
    binary_logit  one column   log σ(−z), log σ(z)

What numbers alone can show:

    several columns   rows sum to 1: probs; exp(rows) sum to 1: log_probs; otherwise all in [0, 1]: multi-label,
                      refused; anything else is taken for logits (several regression targets look the same)
    one column        in [0, 1] wherever the head is evaluated: probs; otherwise labels 0 and 1 make it a binary_logit,
                      other labels a regression, and without labels nothing tells: `output` has to be given

Differences of log-probabilities equal differences of logits, so margins mean the same for every kind.
"""

import logging
from collections.abc import Iterable
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from rcexplainer.errors import SplitError

log = logging.getLogger(__name__)

OutputKind = Literal["logits", "log_probs", "probs", "binary_logit"]
OUTPUT_KINDS: tuple[str, ...] = get_args(OutputKind)


def output_kind(
    output: Tensor, labels: Tensor | None = None, extremes: Tensor | None = None, binary: bool = False
) -> OutputKind:
    """Infer the kind of an output.

    Args:
        output: What the model returned, [n, C].
        labels: Labels of instances like these, if known.
        extremes: What the head returns for embeddings far away from the data. On a few graphs logits may lie between 0
            and 1 by chance, but not there.
        binary: Whether one number is known to stand for two classes, also without labels (is there a link?).

    Raises:
        SplitError: The output looks like that of a regression or multi-label model, or may be one.
    """
    unit = _in_unit_interval(output) and (extremes is None or _in_unit_interval(extremes))
    if output.size(1) == 1:
        return _single_column(unit, labels, binary)
    if _in_unit_interval(output) and _all_one(output.sum(1)):
        return "probs"
    if _all_one(output.exp().sum(1)):
        return "log_probs"
    if unit:
        raise SplitError(
            "the model returns several numbers between 0 and 1 that do not sum to 1: multi-label models are not "
            'supported; if these are logits after all, pass output="logits"'
        )
    return "logits"


def _single_column(unit: bool, labels: Tensor | None, binary: bool) -> OutputKind:
    values = set() if labels is None else set(labels.unique().tolist())
    if len(values) > 2:
        raise SplitError(
            f"the model returns one number but the labels have {len(values)} values: "
            "regression models are not supported"
        )
    if not (values <= {0, 1} or values <= {-1, 1}):
        raise SplitError(
            f"the model returns one number but the labels are {', '.join(f'{value:g}' for value in sorted(values))}, "
            "not 0 and 1: regression models are not supported; if it is the logit of two classes, pass "
            'output="binary_logit"'
        )
    if unit:
        return "probs"
    if not (values or binary):
        raise SplitError(
            "the model returns one unbounded number and the graphs have no labels: nothing tells a classifier from a "
            'regression model, which is not supported; if it is the logit of class 1, pass output="binary_logit"'
        )
    return "binary_logit"


def check_kind(output: Tensor, kind: OutputKind) -> None:
    """Refuse an output that cannot be of this kind.

    Args:
        output: What the model returned, [n, C].
        kind: What the user says it is.

    Raises:
        SplitError: Columns, range or sums do not fit.
    """
    columns, sums = output.size(1), None
    if not {"binary_logit": columns == 1, "probs": True}.get(kind, columns > 1):
        wants = "one column" if kind == "binary_logit" else "one column per class"
        raise SplitError(f'output="{kind}" has {wants}, but the model returns {columns}')
    if kind == "probs":
        sums = output.sum(1) if columns > 1 else None
        if not _in_unit_interval(output):
            raise SplitError(
                f'output="probs" lies between 0 and 1, but the model returns values from {float(output.min()):.3g} to '
                f'{float(output.max()):.3g}; if these are logits, pass output="logits" or leave it out'
            )
    elif kind == "log_probs":
        sums = output.exp().sum(1)
    if sums is not None and not _all_one(sums):
        raise SplitError(
            f'output="{kind}" means probabilities that sum to 1, but the model\'s sum to {float(sums[0]):.3g}; '
            'if it returns logits, pass output="logits" or leave it out'
        )


def check_precision(tensors: Iterable[Tensor]) -> None:
    """Refuse parameters or outputs in half precision.

    Its rounding (1e-3 of a value) is larger than the differences by which a flip is verified and a model that mixes the
    graphs of its batch is found out.

    Raises:
        SplitError: A tensor of floating-point numbers that are neither float32 nor float64.
    """
    for tensor in tensors:
        if tensor.is_floating_point() and tensor.dtype not in (torch.float32, torch.float64):
            raise SplitError(
                f"the model computes in {tensor.dtype}, too coarse to verify a flip: explain a float32 copy, "
                "copy.deepcopy(model).float(), on graphs with x.float(), outside of torch.autocast"
            )


def _in_unit_interval(values: Tensor) -> bool:
    return bool(((values >= 0) & (values <= 1)).all())


def _all_one(sums: Tensor) -> bool:
    return bool(torch.allclose(sums, torch.ones_like(sums), atol=1e-4))


def log_probs(output: Tensor, kind: OutputKind) -> Tensor:
    """Log-probabilities [n, C ≥ 2] from an output of any kind."""
    if kind == "logits":
        return output.log_softmax(1)
    if kind == "log_probs":
        return output
    if kind == "binary_logit":
        return torch.cat([F.logsigmoid(-output), F.logsigmoid(output)], 1)
    probs = torch.cat([1 - output, output], 1) if output.size(1) == 1 else output
    return probs.clamp_min(torch.finfo(output.dtype).tiny).log()


def num_classes(output: Tensor) -> int:
    """The classes of a model with this output [n, C]; a single column stands for two."""
    return max(2, output.size(1))


def doubt_columns(who: str, output: Tensor, labels: Tensor | None) -> None:
    """Warn of far more columns than the labels have classes: an encoder without its classifier returns rows, too.

    Args:
        who: The model, for the message.
        output: What it returned, [n, C].
        labels: Labels of instances like these, if known.
    """
    if labels is None or labels.is_floating_point() or not len(labels):
        return
    columns, classes = output.size(1), int(labels.max()) + 1
    if columns > 2 * max(classes, 2):
        log.warning(
            "%s returns %d columns, but the labels of these graphs are 0 to %d: each column is taken for a class. If "
            "they are embeddings, give the whole classifier; if they are classes, output='logits' says so",
            who,
            columns,
            classes - 1,
        )
