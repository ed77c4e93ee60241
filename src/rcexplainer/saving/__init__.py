"""Files of explainers, GNNs and fits in progress: written completely or not at all, and nothing is unpickled."""
