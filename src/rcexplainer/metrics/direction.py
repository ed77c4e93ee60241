"""Which direction is better, said once: tables and plots draw ↑ ↓ and find the best by it.

Names are those under which results are kept. What is in the list has a winner; a number that only describes (how many
instances, how long a fit took) is not in it.
"""

from typing import Literal

Better = Literal["higher", "lower"]

ARROWS: dict[Better, str] = {"higher": "↑", "lower": "↓"}
BETTER: dict[str, Better] = {
    # without the explanation
    "fidelity": "higher",
    "flips": "higher",
    "labelled": "higher",  # fidelity, of graphs labelled so
    # the explanation alone
    "kept": "higher",
    "kept_drop": "lower",
    # counterfactuals
    "flipped": "higher",
    "minimal": "higher",
    "size": "lower",
    # against the known motif
    "auc": "higher",
    "accuracy": "higher",
    # under noise
    "node_accuracy": "higher",
    "jaccard": "higher",
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
