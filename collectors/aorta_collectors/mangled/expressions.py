"""Expressions, as they stand in template arguments and after decltype."""

from aorta_collectors.mangled.cursor import NUMBER, SEQUENCE
from aorta_collectors.mangled.names import BINARY, UNARY
from aorta_collectors.mangled.types import Types

_CASTS = frozenset(("dc", "sc", "cc", "rc"))


class Expressions(Types):
    """Reads expressions."""

    def read_expression(self) -> None:
        """Read one expression."""
        begin, kind = self.peek(), self.peek(2)
        if begin == "L":
            self._literal()
        elif begin == "T":
            self._parameter()
        elif begin.isdigit() or kind == "on":
            self.take("on")
            self.said.append(self._unqualified(""))
            self._maybe_arguments()
        elif kind == "fp" or (kind == "fL" and self.peek(3)[2:].isdigit()):
            self._function_parameter()
        else:
            self.at += 2
            self._operation(kind)

    def _expressions(self, end: str) -> None:
        while not self.take(end):
            self.read_expression()

    def _function_parameter(self) -> None:
        nested = self.take("fL")
        if nested:
            self.match(NUMBER)
            self.expect("p")
        else:
            self.expect("fp")
        if self.take("T"):
            return
        while self.peek() in ("r", "V", "K"):
            self.at += 1
        self.match(SEQUENCE)

    def _operation(self, kind: str) -> None:
        if kind == "sr":
            self._unresolved()
        elif kind in ("sp", "gs", "nx", "te"):
            self.read_expression()
        elif kind == "sZ":
            self._parameter() if self.peek() == "T" else self._function_parameter()
        elif kind == "sP":
            while not self.take("E"):
                self._argument()
        elif kind in ("st", "at", "ti"):
            self.read_type()
        elif kind in ("cl", "cp", "il"):
            self._expressions("E")
        elif kind == "tl":
            self.read_type()
            self._expressions("E")
        elif kind == "cv":
            self.read_type()
            if self.take("_"):
                self._expressions("E")
            else:
                self.read_expression()
        elif kind in _CASTS:
            self.read_type()
            self.read_expression()
        elif kind in ("nw", "na"):
            self._new()
        elif kind in ("dt", "pt"):
            self.read_expression()
            self.read_expression()
        elif kind[:1] == "f" and kind[1:] in ("l", "r", "L", "R"):
            self.at += 2
            self.read_expression()
            if kind[1:] in ("L", "R"):
                self.read_expression()
        elif kind == "qu":
            for _ in range(3):
                self.read_expression()
        elif kind in BINARY:
            self.read_expression()
            self.read_expression()
        elif kind in UNARY:
            self.take("_")
            self.read_expression()
        elif kind != "tr":
            raise ValueError(f"no expression begins with {kind or 'nothing'}")

    def _unresolved(self) -> None:
        """Read a member of what depends on an argument; between both there may be further classes."""
        before = self.at, len(self.said), len(self.known)
        text = self._levels("") if self.peek().isdigit() else None
        if text is None or not (self.peek().isdigit() or self.peek(2) == "on"):
            self.at = before[0]
            del self.said[before[1] :], self.known[before[2] :]
            several = self.take("N")
            text = self.read_type()
            text = (self._levels(text) if several else None) or text
        self.take("on")
        self.said.append(self.below(text, self._unqualified(text)))
        self._maybe_arguments()

    def _levels(self, text: str) -> str | None:
        """Read classes up to their end; None where they have none."""
        while not self.take("E"):
            if not self.peek().isdigit():
                return None
            text = self.below(text, self._identifier())
            if self.peek() == "I":
                self._template_arguments()
                text += "<>"
        return text

    def _new(self) -> None:
        self._expressions("_")
        self.read_type()
        if self.take("pi"):
            self._expressions("E")
        else:
            self.expect("E")
