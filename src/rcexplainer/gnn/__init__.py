"""Graph neural networks: any trained model as embedding + head; the paper's and other architectures, their training."""

from rcexplainer.gnn.graph_store import delete_edges
from rcexplainer.gnn.model_file import SavedGNN, load_gnn, save_gnn
from rcexplainer.gnn.models import GNN, MODELS, GNNConfig, gnn_config
from rcexplainer.gnn.split import Pass, SplitModel, split_model
from rcexplainer.gnn.trainer import TrainConfig, TrainedGNN, accuracy, train_gnn

__all__ = [
    "GNN",
    "MODELS",
    "GNNConfig",
    "Pass",
    "SavedGNN",
    "SplitModel",
    "TrainConfig",
    "TrainedGNN",
    "accuracy",
    "delete_edges",
    "gnn_config",
    "load_gnn",
    "save_gnn",
    "split_model",
    "train_gnn",
]
