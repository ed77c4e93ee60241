"""The demo: a built-in set of molecules, a network trained on it, and the network taken apart."""

from dataclasses import dataclass
from typing import Any

from rcexplainer.datasets import load
from rcexplainer.gnn import SplitModel, TrainConfig, TrainedGNN, gnn_config, split_model, train_gnn

TRAINING = TrainConfig(epochs=60, patience=20)


@dataclass(frozen=True)
class Demo:
    trained: TrainedGNN
    split: SplitModel
    num_graphs: dict[str, int]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"molecules": part, "number": self.num_graphs[part], "accuracy": accuracy}
            for part, accuracy in self.trained.accuracy.items()
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "dataset": "nitro",
            "seed": self.trained.seed,
            "accuracy": self.trained.accuracy,
            "num_graphs": self.num_graphs,
            "head": self.split.head_name,
            "embedding_dim": self.split.embedding_dim,
            "exact_masking": self.split.exact_masking,
        }


def run_demo(seed: int = 0, progress: bool = True) -> Demo:
    """Load, train, split."""
    data = load("nitro", seed=seed)
    config = gnn_config("paper", data.num_features, data.num_classes)
    trained = train_gnn(config, data.graphs, data.split, settings=TRAINING, seed=seed, progress=progress)
    split = split_model(trained.model, data.subset("train"))
    return Demo(trained, split, {part: len(getattr(data.split, part)) for part in ("train", "val", "test")})
