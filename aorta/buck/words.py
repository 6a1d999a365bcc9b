"""The words in which a document speaks of Buck."""

from aorta.model.vocabulary import Word


class ContextSource(Word):
    """Who said how the target is built."""

    NONE = "none"
    UNSPECIFIED = "unspecified"
    DEFAULT_CONFIRMED = "default_confirmed"
    EXPLICIT = "explicit"


class Role(Word):
    """How a target comes to be in the graph of another: by its configuration."""

    TARGET = "target"
    EXEC = "exec"
    TOOLCHAIN = "toolchain"
    OTHER = "other"
