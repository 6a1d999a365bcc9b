"""Types. All but the plain ones can be referred to later on."""

import re
from typing import Any

from aorta_collectors.mangled.cursor import NUMBER
from aorta_collectors.mangled.names import Names

_BUILTIN = frozenset("vwbcahstijlmxynofdegz")
_FLOAT = re.compile(r"DF\d{1,4}[_bx]")

#: The methods that read the others, by the letter that those begin with.
_READERS = {
    **dict.fromkeys("rVK", "_qualified"),
    **dict.fromkeys("PROCG", "_pointer"),
    **dict.fromkeys("Uu", "_vendor"),
    "F": "_function_type",
    "A": "_array",
    "M": "_member",
    "T": "_parameter_type",
    "D": "_special_type",
}


class Types(Names):
    """Reads types."""

    def read_type(self) -> str:
        """Read a type. All but the plain ones can be referred to later on."""
        begin = self.peek()
        if begin in _BUILTIN and begin:
            self.at += 1
            return begin
        if begin.isdigit() or begin in ("N", "Z"):
            return self.learn(self._name())
        if begin == "S":
            return self._known_type()
        if begin not in _READERS:
            raise ValueError(f"no type begins with {begin or 'nothing'}")
        read: Any = getattr(self, _READERS[begin])
        return str(read())

    def _known_type(self) -> str:
        if self.peek(2)[1:] == "t":
            return self.learn(self._name())
        # A name of this kind alone is no new one; with arguments it is.
        text = self._known_name()
        while self.take("B"):
            text = self.learn(f"{text}[abi:{self._identifier()}]")
        if self.peek() == "I":
            self._template_arguments()
            text = self.learn(text + "<>")
            self.said.append(text)
        return text

    def _qualified(self) -> str:
        while self.peek() in ("r", "V", "K"):
            self.at += 1
        text = self._function() if self.peek() == "F" else self.read_type()
        return self.learn(f"{text} const")

    def _pointer(self) -> str:
        mark = {"P": "*", "R": "&", "O": "&&"}.get(self.peek(), "")
        self.at += 1
        return self.learn(self.read_type() + mark)

    def _function(self) -> str:
        self.expect("F")
        self.take("Y")
        while not self.take("E"):
            if self.peek(2) in ("RE", "OE"):
                self.at += 1
                continue
            self.read_type()
        return "()"

    def _function_type(self) -> str:
        return self.learn(self._function())

    def _array(self) -> str:
        self.expect("A")
        if not self.match(NUMBER) and self.peek() != "_":
            self.read_expression()
        self.expect("_")
        self.read_type()
        return self.learn("[]")

    def _member(self) -> str:
        self.expect("M")
        self.said.append(self.below(self.read_type(), "*"))
        self.read_type()
        return self.learn("*")

    def _parameter_type(self) -> str:
        if self.peek(2) in ("Ts", "Tu", "Te"):
            self.at += 2
            return self.learn(self._name())
        text = self.learn(self._parameter())
        if self.peek() == "I" and not self.in_conversion:
            self._template_arguments()
            text = self.learn(text + "<>")
            self.said.append(text)
        return text

    def _vendor(self) -> str:
        """Read a type or qualifier that is no standard's."""
        qualifier = self.take("U")
        if not qualifier:
            self.expect("u")
        text = self._identifier()
        if self.peek() == "I":
            self._template_arguments()
        return self.learn(self.read_type() if qualifier else text)

    def _special_type(self) -> str:
        kind = self.peek(2)
        if kind in ("Dt", "DT"):
            return self.learn(self._decltype())
        if kind == "DF":
            return self.match(_FLOAT)
        self.at += 2
        if kind == "Dp":
            return self.learn(self.read_type())
        if kind == "Dv":
            if self.take("_"):
                self.read_expression()
            else:
                self.match(NUMBER)
            self.expect("_")
            return self.learn(self.read_type())
        if kind in ("Do", "DO", "Dw", "Dx"):
            while kind in ("DO", "Dw") and not self.take("E"):
                self.read_expression() if kind == "DO" else self.read_type()
            return self.learn(self._function())
        if kind in ("DB", "DU"):
            if not self.match(NUMBER):
                self.read_expression()
            self.expect("_")
        elif kind[1:] not in tuple("dfehsiuacnk"):
            raise ValueError(f"no type is {kind}")
        return kind
