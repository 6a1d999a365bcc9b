"""What of an access may be written down: secrets are taken out of paths, words, texts and bytes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aorta.host.protocol import Argv, shown
from aorta.model.redact import REDACTED, is_secret_name, redact, redact_argv, redact_value

#: A secret variable's value shorter than this is no sign of itself inside other texts.
_TELLING = 6

_PRINTABLE_RUN = re.compile(rb"[\t\n\r\x20-\x7e]{8,}")


class Redaction:
    """Takes secrets out: what looks like one, and every place where one of ``secrets`` stands."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: list[str] = []
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Take out this text too from now on, wherever it stands; very short ones are left alone."""
        if len(secret) >= _TELLING and secret not in self._secrets:
            # Longest first, so that no rest of a secret stays behind a shorter one.
            self._secrets = sorted([*self._secrets, secret], key=len, reverse=True)

    def _known(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text

    def text(self, text: str) -> str:
        """Return a text as it may be written."""
        # NUL separates the variables of /proc/PID/environ.
        return "\0".join(redact(part) for part in self._known(text).split("\0"))

    def words(self, argv: Argv) -> tuple[str, ...]:
        """Return a command line as it is written and looked up."""
        return redact_argv([self._known(word) for word in shown(argv)])

    def data(self, data: bytes) -> bytes:
        """Return bytes as they may be written; what is not text keeps its length."""
        try:
            return self.text(data.decode("utf-8")).encode("utf-8")
        except UnicodeDecodeError:
            return _PRINTABLE_RUN.sub(self._run, data)

    def _run(self, match: re.Match[bytes]) -> bytes:
        run = match.group()
        return self.text(run.decode("ascii")).encode("utf-8")[: len(run)].ljust(len(run), b" ")

    def value(self, value: Any, name: str = "") -> Any:
        """Return a JSON value as it may be written; ``name`` is the key that it stands under."""
        if isinstance(value, str):
            return redact_value(name, self.text(value))
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item, str(key)) for key, item in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
            return [self.value(item, name) for item in value]
        return value


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """Return the values of those variables whose names say that they are secret."""
    return [value for name, value in environ.items() if is_secret_name(name)]
