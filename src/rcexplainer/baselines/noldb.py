"""RCExp-NoLDB, the paper's ablation: the network and training of RCExplainer, with confidence instead of boundaries.

    L = L_conf + β R_sparse + μ R_discrete
    L_conf = −log P(c | G_θ) − η / log P(c | G'_θ)                        `core.losses.confident`, `doubtful`

c is the predicted class, G_θ what the masks keep and G'_θ what they leave. There are no boundaries in it, and no search
teaches it; it reads noisy copies, and learns slower. All else is RCExplainer's own: network, gates, schedule,
calibration, saving and loading.
"""

from typing import Any

from rcexplainer.config import RCConfig
from rcexplainer.core.objectives import Objective, lose_confidence
from rcexplainer.errors import RCExplainerError
from rcexplainer.explainer import RCExplainer
from rcexplainer.fit.objective import make_masks
from rcexplainer.gnn.forward import TaskName


class NoLDB(RCExplainer):
    """`NoLDB(**settings).fit(model, graphs)`; settings are those of `RCExplainer`, of which those of boundaries, sides
    and the search have nothing to act on.

    `eta` is η, the weight of what is left; the paper names no value, and the default did best on validation graphs of
    BA-2motifs. Its learning rate is .002: at RCExplainer's .008 the pole of the loss can undo in one epoch what was
    learnt before.
    """

    def __init__(
        self,
        task: TaskName = "graph",
        target_class: None = None,
        preset: str = "default",
        *,
        eta: float = 10.0,
        hops: int | None = None,
        **settings: Any,
    ) -> None:
        if not 0 < eta < float("inf"):
            raise RCExplainerError(f"eta must be a finite number > 0, got {eta!r}")
        if target_class is not None:
            raise RCExplainerError(
                "NoLDB asks what makes the predicted class and not any other: it has no target_class"
            )
        # A collapse is reported: what RCExplainer would try next is boundaries, and then a search.
        others = dict.fromkeys(("weight_order", "weight_effect", "weight_outcome", "weight_stable"), 0.0)
        alone = {**others, "on_collapse": "report"}
        own = {"weight_regions": 1.0, "lr": 0.002} if preset == "default" else {}
        if preset == "default" and task == "graph":
            own["noise"] = 0.15  # it reads noisy copies
        super().__init__(task, preset=preset, hops=hops, **(own | settings | alone))
        self.eta = eta

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "eta": self.eta}

    def objective(self, config: RCConfig, press: float) -> Objective:
        return lose_confidence(make_masks(config, press), self.eta)
