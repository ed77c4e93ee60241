r"""Your own model on the command line: a function that returns it, and one that returns its graphs.

    cd examples && python -m my_package.train
    rcexplainer fit --model my_package.gnn:load_model --graphs my_package.data:load_graphs --class-names quiet,alarm
    rcexplainer explain --model my_package.gnn:load_model --graphs my_package.data:load_graphs \
        --explainer explainer.safetensors --part test --predicted alarm --limit 5
    rcexplainer evaluate --model my_package.gnn:load_model --graphs my_package.data:load_graphs \
        --explainer explainer.safetensors
"""
