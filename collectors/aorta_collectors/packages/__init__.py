"""Python packages beside torch, known from their text and metadata; none of them is ever imported."""

#: The file whose text is a package's own.
INIT = "__init__.py"
