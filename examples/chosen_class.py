"""What makes a network predict this class rather than one particular other class?"""

import rcexplainer as rc


def main(graphs: int = 600, train_epochs: int = 300, epochs: int = 30) -> None:
    """Fit one explainer for all three classes, and explain a graph against each of the other two.

    Args:
        graphs: Size of the dataset.
        train_epochs: Epochs of the network.
        epochs: Epochs of the explainer.
    """
    data = rc.datasets.load("three-motifs", num_graphs=graphs)
    config = rc.gnn.gnn_config("paper", data.num_features, data.num_classes)
    settings = rc.gnn.TrainConfig(epochs=train_epochs, lr=0.02)
    model = rc.gnn.train_gnn(config, data.graphs, data.split, settings=settings, progress=False).model

    explainer = rc.RCExplainer(target_class="each", epochs=epochs)
    fitted = explainer.fit(model, data.subset("train"), class_names=data.class_names, progress=False)
    graph = data.subset("test")[0]
    prediction = fitted.explain(graph, search="none").prediction
    for other in {0, 1, 2} - {prediction}:
        explanation = fitted.explain(graph, target_class=other, search="greedy")
        print(f"{data.class_names[prediction]} rather than {data.class_names[other]}:", explanation)


if __name__ == "__main__":
    main()
