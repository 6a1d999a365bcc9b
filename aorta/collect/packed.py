"""``Packed``: a value of an outside provider, as its process told it.

It stays packed in this process, which has no use for it; who needs it loads it in a process of its own.
"""

from typing import Any

import attrs


@attrs.frozen
class Packed:
    """A pickled value."""

    data: bytes

    def opened(self) -> Any:
        """Return the value. Raises what loading it raises."""
        import pickle

        return pickle.loads(self.data)  # noqa: S301 - for a plugin's code in this process, as it wants it


def opened(value: Any) -> Any:
    """Return a value, loaded if it is packed."""
    return value.opened() if isinstance(value, Packed) else value


def packed(value: Any) -> Packed:
    """Return a value packed. Raises what pickling it raises."""
    import pickle

    return Packed(pickle.dumps(value, protocol=4))
