"""What the commands name in the examples of their help: files and datasets of ours, or a user's own functions."""

SAVED_NETWORK = "--dataset nitro --model gnn.safetensors"
SAVED_EXPLAINER = f"{SAVED_NETWORK} --explainer explainer.safetensors"
OWN_FUNCTIONS = "--model my_package.gnn:load_model --graphs my_package.data:load_graphs"
OWN_EXPLAINER = f"{OWN_FUNCTIONS} \\\n    --explainer explainer.safetensors"
