"""Python packages beside torch, known from their text and metadata; none of them is ever imported."""
