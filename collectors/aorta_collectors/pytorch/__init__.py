"""What several sections read of a PyTorch build: its version module, its configuration, its symbols."""
