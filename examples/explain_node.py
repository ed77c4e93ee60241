"""Which edges would have had to be missing for this node to be predicted otherwise?"""

import rcexplainer as rc


def main(train_epochs: int = 500, epochs: int = 30) -> None:
    """Train a network on a tree with hexagons, fit an explainer on some of its nodes, and ask about others."""
    data = rc.datasets.load("tree-cycles")
    graph = data.graphs[0]
    config = rc.gnn.gnn_config("paper", data.num_features, data.num_classes, "node")
    settings = rc.gnn.TrainConfig(epochs=train_epochs, lr=0.01)
    model = rc.gnn.train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model

    nodes = (graph.node_motif_id >= 0).nonzero().flatten()
    fitted = rc.RCExplainer(task="node", epochs=epochs).fit(model, graph, index=nodes[::2], progress=False)
    print(f"the model looks {fitted.hops} hops far")
    for explanation in fitted.explain(graph, index=nodes[1:6:2]):
        print(explanation.index, explanation)


if __name__ == "__main__":
    main()
