"""A place in a mangled symbol, and what was read up to there."""

import re

#: The longest text of one name; arguments can stand for arguments, and double a text each time.
TEXT_LIMIT = 1 << 14

NUMBER = re.compile(r"n?\d*")
SEQUENCE = re.compile(r"[0-9A-Z]{0,8}_")


class Cursor:
    """One pass over a symbol. ``said`` collects the names, ``known`` what ``S_`` and the like stand for.

    ``arguments`` are those of the template that is being read, for ``T_``; ``last`` those at the end of
    the last name, None where it has none; ``returns`` tells whether that name may be a function that
    returns something.
    """

    def __init__(self, symbol: str) -> None:
        self.said: list[str] = []
        self.known: list[str] = []
        self.arguments: tuple[str, ...] = ()
        self.last: tuple[str, ...] | None = None
        self.returns = self.in_lambda = self.in_conversion = False
        self.symbol = symbol
        self.at = 2

    def read_type(self) -> str:
        """Read a type and return its text."""
        raise NotImplementedError

    def read_expression(self) -> None:
        """Read an expression."""
        raise NotImplementedError

    def peek(self, length: int = 1) -> str:
        """Return the next characters, fewer at the end."""
        return self.symbol[self.at : self.at + length]

    def take(self, word: str) -> bool:
        """Pass over a word if it is next, and tell whether it was."""
        if not self.symbol.startswith(word, self.at):
            return False
        self.at += len(word)
        return True

    def expect(self, word: str) -> None:
        """Pass over a word. Raises ValueError where another one is next."""
        if not self.take(word):
            raise ValueError(f"no {word} where one has to be")

    def match(self, pattern: re.Pattern[str]) -> str:
        """Pass over what fits a pattern and return it. Raises ValueError where nothing does."""
        found = pattern.match(self.symbol, self.at)
        if found is None:
            raise ValueError(f"not what {pattern.pattern} is")
        self.at = found.end()
        return found[0]

    def below(self, scope: str, name: str) -> str:
        """Return a name in a scope; a pack of arguments is several scopes, a line each."""
        text = "\n".join(f"{each}::{name}" for each in scope.split("\n")) if scope else name
        if len(text) > TEXT_LIMIT:
            raise ValueError("a name longer than any")
        return text

    def learn(self, text: str) -> str:
        """Remember what can be repeated from here on, and return it."""
        self.known.append(text)
        return text
