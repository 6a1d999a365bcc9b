"""``Packed``: a value of an outside provider, as its process told it.

It stays packed in this process, which has no use for it; who needs it loads it in a process of its own.
"""

from types import MappingProxyType
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
    return Packed(dumps(value))


def dumps(value: Any) -> bytes:
    """Return a value pickled; a read-only mapping, which pickle does not know, as a mapping."""
    import copyreg
    import io
    import pickle

    out = io.BytesIO()
    pickler = pickle.Pickler(out, protocol=4)
    pickler.dispatch_table = {**copyreg.dispatch_table, MappingProxyType: _as_dict}
    pickler.dump(value)
    return out.getvalue()


def _as_dict(shown: Any) -> tuple[type[dict[Any, Any]], tuple[dict[Any, Any]]]:
    return dict, (dict(shown),)
