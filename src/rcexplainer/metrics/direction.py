"""Which direction of each metric is better: tables and plots take their arrows ↑ ↓ and their winners from here.

Keys are the names under which results are stored. Only metrics with a winner are listed; numbers that merely describe,
such as counts of instances or the duration of a fit, are not.
"""

from typing import Literal

Direction = Literal["higher", "lower"]

ARROWS: dict[Direction, str] = {"higher": "↑", "lower": "↓"}
BETTER: dict[str, Direction] = {
    # without the explanation
    "fidelity": "higher",
    "flips": "higher",
    "labelled": "higher",  # fidelity on graphs with this label
    # the explanation alone
    "kept": "higher",
    "kept_drop": "lower",
    # counterfactuals
    "flipped": "higher",
    "minimal": "higher",
    "size": "lower",
    # against the known motif
    "auc": "higher",
    "live_auc": "higher",
    "node_auc": "higher",
    "accuracy": "higher",
    # under noise
    "node_accuracy": "higher",
    "jaccard": "higher",
    "strict_jaccard": "higher",
    # seconds
    "cold": "lower",
    "seconds": "lower",
    "seconds_mean": "lower",
    "seconds_p95": "lower",
    "batched": "lower",
    # of networks
    "motif_flips": "higher",
    # one boundary at a time: the motif that tells two classes apart, not the one they share
    "auc_shared": "lower",
}
