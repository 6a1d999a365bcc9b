"""What several sections read of a PyTorch build: its version module, its configuration, its symbols."""

#: Names the sources that torch was built from, where they are not found from torch itself.
SOURCE_VARIABLE = "AORTA_PYTORCH_SRC"
