"""Which bonds would have had to be missing for this molecule to get another prediction?"""

import rcexplainer as rc


def main(graphs: int = 600, epochs: int = 30) -> None:
    """Train a network on molecules, fit an explainer, and explain three held-out molecules.

    Args:
        graphs: Size of the dataset.
        epochs: Epochs of the explainer.
    """
    data = rc.datasets.load("nitro", num_graphs=graphs)
    config = rc.gnn.gnn_config("paper", data.num_features, data.num_classes)
    model = rc.gnn.train_gnn(config, data.graphs, data.split, progress=False).model

    explainer = rc.RCExplainer(task="graph", epochs=epochs)
    fitted = explainer.fit(model, data.subset("train"), class_names=data.class_names, progress=False)
    for explanation in fitted.explain(data.subset("test")[:3], search="greedy"):
        print(explanation)
        print("  removed:", explanation.graph.edge_index[:, explanation.counterfactual.removed].T.tolist())


if __name__ == "__main__":
    main()
