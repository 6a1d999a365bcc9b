"""Qualified names: functions, variables, what the compiler makes beside them, template arguments."""

import re

from aorta_collectors.mangled.cursor import NUMBER, SEQUENCE, TEXT_LIMIT, Cursor

_STANDARD = {
    "t": "std",
    "a": "std::allocator",
    "b": "std::basic_string",
    "s": "std::string",
    "i": "std::istream",
    "o": "std::ostream",
    "d": "std::iostream",
}
#: Operators by the number of what they are applied to; the last are applied to several things.
UNARY = frozenset(("ps", "ng", "ad", "de", "co", "nt", "pp", "mm", "nx", "te", "az", "sz", "tw", "dl", "da"))
BINARY = frozenset(
    (
        *("pl", "mi", "ml", "dv", "rm", "an", "or", "eo", "aS", "pL", "mI", "mL"),
        *("dV", "rM", "aN", "oR", "eO", "ls", "rs", "lS", "rS", "eq", "ne", "lt"),
        *("gt", "le", "ge", "ss", "aa", "oo", "cm", "pm", "ix", "ds"),
    )
)
_OTHER = frozenset(("nw", "na", "cl", "pt", "qu", "aw"))
_ENDS = ("", "E", ".", "Q")
_DIGITS = re.compile(r"\d{1,6}")


class Names(Cursor):
    """Reads names."""

    def read_encoding(self, *, outermost: bool = False) -> str:
        """Read a function with its parameters, or a variable, or what the compiler makes beside them.

        What a function returns is told of templates, and printed of the outermost alone.
        """
        if self.peek() in ("T", "G"):
            self._special()
            return "()"
        outer = self.arguments
        name = self._name()
        if self.last is not None:
            self.arguments = self.last
        start = self.at
        if self.last is not None and self.returns and self.peek() not in _ENDS:
            spoken = len(self.said)
            self.read_type()
            if not outermost:
                del self.said[spoken:]
        while self.peek() not in _ENDS:
            self.read_type()
        ends = "()" if self.at > start else ""
        if self.take("Q"):
            self.read_expression()
        self.arguments = outer
        return name + ends

    def _special(self) -> None:
        kind = self.peek(2)
        self.at += 2
        if kind in ("TV", "TT", "TI", "TS", "TF", "TJ"):
            self.read_type()
        elif kind == "TC":
            self.read_type()
            self.match(NUMBER)
            self.expect("_")
            self.read_type()
        elif kind in ("Th", "Tv", "Tc"):
            self._thunk(kind[1])
        elif kind in ("TH", "TW", "GV"):
            self._name()
        elif kind == "GR":
            self._name()
            if self.peek() not in ("", "."):
                self.match(SEQUENCE)
        elif kind == "TA":
            self._argument()
        elif kind == "GA" or (kind == "GT" and self.peek() in ("t", "n")):
            self.at += kind == "GT"
            self.read_encoding()
        else:
            raise ValueError(f"nothing special is {kind}")

    def _thunk(self, kind: str) -> None:
        if kind == "c":
            for _ in range(2):
                adjustment = self.peek()
                self.at += 1
                self._offset(adjustment)
        else:
            self._offset(kind)
        self.read_encoding()

    def _offset(self, kind: str) -> None:
        for _ in range({"h": 1, "v": 2}.get(kind, 0)):
            self.match(NUMBER)
            self.expect("_")

    def _name(self) -> str:
        """Read a name; ``last`` is then the arguments at its end, None where there are none."""
        self.last = None
        start = self.peek(2)
        if start[:1] == "N":
            text = self._nested()
        elif start[:1] == "Z":
            text = self._local()
        elif start[:1] == "S" and start != "St":
            text, self.returns = self._known_name(), True
            if self.peek() == "I":
                text = self._with_arguments(text)
        else:
            text = self.below("std", self._unqualified("")) if self.take("St") else self._unqualified("")
            if self.peek() == "I":
                text = self._with_arguments(self.learn(text))
        self.said.append(text)
        return text

    def _with_arguments(self, text: str) -> str:
        returns = self.returns
        self.last = self._template_arguments()
        self.returns = returns
        return text + "<>"

    def _nested(self) -> str:
        self.expect("N")
        while self.peek() in ("r", "V", "K", "R", "O", "H"):
            self.at += 1
        text, last, returns = "", None, True
        while not self.take("E"):
            begin = self.peek()
            if begin == "M":
                self.at += 1
                continue
            if begin == "S":
                text = self._known_name()
                continue
            if begin == "I" and text:
                last = self._template_arguments()
                text += "<>"
            else:
                last = None
                text = self._component(begin, text)
                returns = self.returns
            if self.peek() != "E":
                self.learn(text)
        if not text:
            raise ValueError("a qualified name of nothing")
        self.last, self.returns = last, returns
        return text

    def _component(self, begin: str, scope: str) -> str:
        if begin == "T":
            return self._parameter()
        if begin == "D" and self.peek(2) in ("Dt", "DT"):
            return self._decltype()
        return self.below(scope, self._unqualified(scope))

    def _decltype(self) -> str:
        self.at += 2
        self.read_expression()
        self.expect("E")
        return "decltype ()"

    def _local(self) -> str:
        self.expect("Z")
        scope = self.read_encoding()
        self.expect("E")
        self.last = None
        if self.take("s"):
            text = self.below(scope, "string literal")
        else:
            if self.take("d"):
                self.match(SEQUENCE)
            text = self.below(scope, self._name())
        if self.peek() == "_" and self.peek(2)[1:].isdigit():
            self.at += 2
        elif self.take("__"):
            self.match(NUMBER)
            self.expect("_")
        return text

    def _unqualified(self, scope: str) -> str:
        """Read one component; ``_returns`` is then whether it may be a function that returns something."""
        self.take("L")
        begin = self.peek()
        returns = begin != "C" and self.peek(2) != "cv" and (begin != "D" or self.peek(2) == "DC")
        if begin.isdigit():
            text = self._identifier()
        elif begin == "C" or (begin == "D" and self.peek(2) != "DC"):
            text = self._structor(begin, scope)
        elif begin == "D":
            self.at += 2
            names = []
            while not self.take("E"):
                names.append(self._identifier())
            text = f"[{', '.join(names)}]"
        elif begin == "U":
            text = self._unnamed()
        else:
            text = self._operator()
        while self.take("B"):
            text += f"[abi:{self._identifier()}]"
        self.returns = returns
        return text

    def _identifier(self) -> str:
        length = int(self.match(_DIGITS))
        text = self.peek(length)
        self.at += length
        if not length or len(text) != length:
            raise ValueError("an identifier that is cut")
        if text.startswith("_GLOBAL_") and text[8:9] in (".", "_", "$") and text[9:10] == "N":
            return "(anonymous namespace)"
        return text

    def _structor(self, begin: str, scope: str) -> str:
        kind = self.peek(2)[1:]
        self.at += 2
        if begin == "C" and kind == "I":
            # An inherited constructor bears the name of the class that it is inherited from.
            self.at += 1
            spoken = len(self.said)
            scope = self.read_type()
            del self.said[spoken:]
        elif not kind.isdigit():
            raise ValueError("neither constructor nor destructor")
        own = scope.rpartition("::")[2].removesuffix("<>")
        return own if begin == "C" else f"~{own}"

    def _unnamed(self) -> str:
        kind = self.peek(2)
        self.at += 2
        if kind == "Ul":
            outer, self.in_lambda = self.in_lambda, True
            while not self.take("E"):
                self._skip_declaration() or self.read_type()
            self.in_lambda = outer
        elif kind != "Ut":
            raise ValueError("nothing unnamed")
        number = self.match(SEQUENCE)[:-1]
        return f"{{lambda()#{number}}}" if kind == "Ul" else f"{{unnamed type#{number}}}"

    def _skip_declaration(self) -> bool:
        """Pass over the declaration of a template parameter of a lambda."""
        kind = self.peek(2)
        if kind not in ("Ty", "Tn", "Tt", "Tp", "Tk"):
            return False
        self.at += 2
        if kind == "Tn":
            self.read_type()
        elif kind == "Tk":
            self._name()
        elif kind == "Tp":
            self._skip_declaration()
        elif kind == "Tt":
            while not self.take("E"):
                if not self._skip_declaration():
                    raise ValueError("no declaration")
        return True

    def _operator(self) -> str:
        kind = self.peek(2)
        self.at += 2
        if kind == "cv":
            outer, self.in_conversion = self.in_conversion, True
            self.read_type()
            self.in_conversion = outer
        elif kind == "li":
            return f'operator"" {self._identifier()}'
        elif kind[:1] == "v" and kind[1:].isdigit():
            return f"operator {self._identifier()}"
        elif kind not in UNARY | BINARY | _OTHER:
            raise ValueError(f"no operator is {kind}")
        return f"operator {kind}"

    def _known_name(self) -> str:
        """Read ``S_``, ``S0_``, ``St``, …: what was written out before, or is in std."""
        self.expect("S")
        letter = self.peek()
        if letter in _STANDARD:
            self.at += 1
            return _STANDARD[letter]
        number = self.match(SEQUENCE)[:-1]
        place = int(number, 36) + 1 if number else 0
        if place >= len(self.known):
            raise ValueError("more is repeated than there was")
        return self.known[place]

    def _parameter(self) -> str:
        """Read ``T_``, ``T0_``, …: an argument of the template, or of nothing that is known."""
        self.expect("T")
        if self.take("L"):
            self.match(SEQUENCE)
        number = self.match(SEQUENCE)[:-1]
        place = int(number, 36) + 1 if number else 0
        if self.in_lambda:
            return "auto"
        return self.arguments[place] if place < len(self.arguments) else "?"

    def _template_arguments(self) -> tuple[str, ...]:
        if not (self.take("I") or self.take("J")):
            raise ValueError("no template arguments")
        found = []
        while not self.take("E"):
            if self.take("Q"):
                self.read_expression()
            elif not self._skip_declaration():
                found.append(self._argument())
        return tuple(found)

    def _maybe_arguments(self) -> None:
        if self.peek() == "I":
            self._template_arguments()

    def _argument(self) -> str:
        begin = self.peek()
        if begin == "X":
            self.at += 1
            self.read_expression()
            self.expect("E")
            return "()"
        if begin == "L":
            return self._literal()
        if begin in ("J", "I"):
            text = "\n".join(self._template_arguments())
            if len(text) > TEXT_LIMIT:
                raise ValueError("a name longer than any")
            return text
        return self.read_type()

    def _literal(self) -> str:
        self.expect("L")
        if self.peek() == "Z" or self.peek(2) == "_Z":
            self.at += 1 if self.peek() == "Z" else 2
            text = self.read_encoding()
            self.expect("E")
            return text
        self.read_type()
        end = self.symbol.find("E", self.at)
        if end < 0:
            raise ValueError("a literal that does not end")
        self.at = end + 1
        return "0"
