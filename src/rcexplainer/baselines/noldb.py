"""RCExp-NoLDB, the paper's ablation: RCExplainer's network and training with confidence instead of boundaries.

    L = L_conf + β R_sparse + μ R_discrete
    L_conf = −log P(c | G_θ) − η / log P(c | G'_θ)                        `core.losses.confident`, `doubtful`

c is the predicted class, G_θ the graph the masks keep and G'_θ the remainder. The loss has no boundaries, and there is
no teacher. Network, gates, schedule, calibration, `save` and `rc.load` are RCExplainer's.

For graphs the default trains L on noisy copies. With `weight_stable` above 0, L is trained on the graphs themselves and
RCExplainer's stability loss (`core.stability`) on the copies, as in RCExplainer's default: what robustness owes to the
noisy copies can then be told from what it owes to boundaries.
"""

from dataclasses import replace
from typing import Any

from torch import nn

from rcexplainer.config import RCConfig
from rcexplainer.core.objectives import Objective, keep_top, lose_confidence, sum_of
from rcexplainer.explainer import FittedRCExplainer, RCExplainer
from rcexplainer.fit.objective import ETA, STABLE_TOP, Restarts, make_masks
from rcexplainer.gnn.forward import TaskName
from rcexplainer.gnn.graph_checks import Graphs
from rcexplainer.method.base import check_target
from rcexplainer.method.settings import positive


class NoLDB(RCExplainer):
    """RCExplainer without boundaries.

    Args:
        task: "graph", "node" or "link".
        target_class: The class that counterfactuals lead to; None for any class other than the predicted one. The
            scores do not depend on it: the loss has no target.
        preset: "default", "paper" or "released".
        eta: η, the weight of the remainder. The paper gives no value; the default did best on validation graphs of
            BA-2motifs.
        hops: How far computation graphs of nodes and links reach; measured if None.
        **settings: Fields of `RCConfig`; those of boundaries, sides and the teacher have no effect. The default
            learning rate is .002: at RCExplainer's .008 one step near the pole of the loss can undo all training.
            `weight_stable` is 0 unless given.

    Raises:
        RCExplainerError: An unknown setting, or an impossible value.
    """

    def __init__(
        self,
        task: TaskName = "graph",
        target_class: int | None = None,
        preset: str = "default",
        *,
        eta: float = ETA,
        hops: int | None = None,
        **settings: Any,
    ) -> None:
        self.eta = positive("eta", eta)
        # A collapse is reported: what RCExplainer would try next is boundaries, and then a teacher.
        others = dict.fromkeys(("weight_order", "weight_effect", "weight_outcome"), 0.0)
        alone = {**others, "on_collapse": "report"}
        # One pass an epoch: several steps on the same graphs run into the pole of the loss.
        own: dict[str, Any] = {"weight_stable": 0.0}
        if preset == "default":
            own |= {"weight_regions": 1.0, "lr": 0.002, "batch_size": 64}
        if preset == "default" and task == "graph":
            own |= {"noise": 0.15, "network": "neighbours"}  # noise of the copies it is trained on; no plan
        super().__init__(task, target_class, preset, hops=hops, **(own | settings | alone))

    def checked_target(self, target_class: Any) -> Any:
        """A class or None; there is no "each", as the scores are the same for all classes."""
        return super(RCExplainer, self).checked_target(target_class)

    def fit(self, model: nn.Module, graphs: Graphs, **options: Any) -> FittedRCExplainer:
        """Train the mask network.

        Args:
            model: The trained GNN; it is left as it was found.
            graphs: A `Data`, or a list, `Dataset`, `Batch` or `DataLoader` of them; for nodes and links one `Data`.
            **options: As for `RCExplainer.fit`.

        Returns:
            The fitted explainer.
        """
        return replace(super().fit(model, graphs, **options), targets=(self.target_class,))

    def targets(self, num_classes: int) -> tuple[int | None, ...]:
        """The network learns to lead to any other class, whichever class counterfactuals have to be."""
        check_target(self.target_class, num_classes)
        return (None,)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that tells one explainer from another before it is fitted."""
        return {**super().settings, "eta": self.eta}

    def objective(self, config: RCConfig, restarts: Restarts) -> Objective:
        """The loss above, and the stability loss where it has a weight."""
        parts = [lose_confidence(make_masks(config, restarts), self.eta)]
        if config.weight_stable and config.noise:
            parts.append(keep_top(config.weight_stable, STABLE_TOP))
        return sum_of(parts)
