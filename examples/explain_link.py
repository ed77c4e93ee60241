"""Which edges would have had to be missing for this link not to be predicted?"""

import rcexplainer as rc


def main(pairs: int = 600, train_epochs: int = 150, epochs: int = 30) -> None:
    """Train a link predictor, fit an explainer on half of its links, and explain others.

    Args:
        pairs: Number of node pairs in the dataset.
        train_epochs: Epochs of the network.
        epochs: Epochs of the explainer.
    """
    data = rc.datasets.load("shared-neighbours", num_pairs=pairs)
    graph = data.graph
    config = rc.gnn.gnn_config("shallow", data.num_features, data.num_classes, "link")
    settings = rc.gnn.TrainConfig(epochs=train_epochs, lr=0.01, weight_decay=0.001)
    model = rc.gnn.train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model

    linked = graph.edge_label_index.t()[graph.edge_label == 1]  # one pair of nodes in a row
    explainer = rc.RCExplainer(task="link", epochs=epochs)
    fitted = explainer.fit(model, graph, index=linked[::2], class_names=data.class_names, progress=False)
    for explanation in fitted.explain(graph, index=linked[1:6:2]):
        ends = explanation.units.pair[:, explanation.removed_units].t().tolist()
        print(explanation.index, explanation, "without", ends)


if __name__ == "__main__":
    main()
