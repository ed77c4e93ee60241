"""What every method shares, ours and the baselines: inputs, checks, scores, verified results."""
