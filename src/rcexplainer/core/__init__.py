"""The method itself: boundaries, regions, mask network, losses and searches. It needs torch alone, no PyG."""
