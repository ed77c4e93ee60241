"""Which edges would have had to be missing for this node to get another prediction?"""

import rcexplainer as rc


def main(train_epochs: int = 500, epochs: int = 30) -> None:
    """Train a network on a tree with hexagons, fit an explainer on half of the hexagon nodes, and explain others.

    Args:
        train_epochs: Epochs of the network.
        epochs: Epochs of the explainer.
    """
    data = rc.datasets.load("tree-cycles")
    graph = data.graphs[0]
    config = rc.gnn.gnn_config("paper", data.num_features, data.num_classes, "node")
    settings = rc.gnn.TrainConfig(epochs=train_epochs, lr=0.01)
    model = rc.gnn.train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model

    nodes = (graph.node_motif_id >= 0).nonzero().flatten()
    fitted = rc.RCExplainer(task="node", epochs=epochs).fit(model, graph, index=nodes[::2], progress=False)
    print(f"the receptive field of the model is {fitted.hops} hops")
    for explanation in fitted.explain(graph, index=nodes[1:6:2]):
        print(explanation.index, explanation)


if __name__ == "__main__":
    main()
