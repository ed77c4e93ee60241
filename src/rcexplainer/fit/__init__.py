"""What `RCExplainer.fit` is made of: data, teacher, mask network, training."""
