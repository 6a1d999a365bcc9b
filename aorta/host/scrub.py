"""What a command was given in secret and printed: taken out before anybody sees it."""

import json
import re
import shlex
import urllib.parse
from collections.abc import Sequence
from posixpath import commonprefix

from aorta.host.protocol import Argv, Masked
from aorta.model.redact import REDACTED

#: A shorter secret is masked only where it stands as a word of its own.
SHORT = 4
#: Of a longer one its beginning is masked too: messages are cut off.
LONG, HEAD = 16, 12
#: Of a part that no program escapes the beginning is enough.
PART = 8
#: A word, version, path or label: names of targets are made of these too.
ORDINARY = re.compile(r"[a-z0-9_.+/:-]{0,64}|[A-Z0-9_.]{0,16}|[A-Za-z]{0,24}")
#: The most values of one file that are taken out.
MOST = 1000
#: What an answer holds that is a complaint, though the command ended well.
COMPLAINT = '"$error"'


class Scrub:
    """Takes the secret words of one command line, and those of files it reads, out of what it printed."""

    def __init__(self, argv: Argv, texts: Sequence[str] = ()) -> None:
        masked = [word for word in argv if isinstance(word, Masked)]
        self._shown = {word.value: word.shown for word in masked}
        secrets = {word.secret or word.value: word.ordinary for word in masked}
        for text in texts:
            # Of a file it is not known what is secret; where it is a common word it stands in names too.
            secrets.update((value, ORDINARY.fullmatch(value) is not None) for value in values_in(text))
        # Longest first, so that no rest of one stays behind another that it contains.
        self._secrets = sorted(secrets, key=len, reverse=True)
        self._strange = [secret for secret in self._secrets if not secrets[secret]]

    def output(self, text: str, *, good: bool) -> str:
        """Return the standard output of a command; what a ``good`` one answers keeps ordinary words."""
        if not good or text.lstrip()[:1] not in ("{", "[") or COMPLAINT in text:
            return self.diagnostics(text)
        for secret in self._strange:
            if len(secret) >= SHORT:
                for form in forms_of(secret):
                    text = text.replace(form, REDACTED)
        return text

    def diagnostics(self, text: str) -> str:
        """Return what a command complained about.

        First whole secrets in all forms go, then what was cut off, then parts in forms that nobody knows:
        the other way round a part that two forms share would hide the rest.
        """
        for value, shown in sorted(self._shown.items(), key=lambda pair: -len(pair[0])):
            for form in forms_of(value):
                text = text.replace(form, shown)
        forms = [forms_of(secret) for secret in self._secrets]
        for form in (each for of_one in forms for each in of_one):
            text = _without(text, form)
        for of_one in forms:
            text = _without_beginnings(text, of_one)
        for part in (each for secret in self._secrets for each in _parts(secret)):
            rest = "[A-Za-z0-9]*" if len(part) > PART else ""
            text = re.sub(part[:PART] + rest, lambda _: REDACTED, text)
        return text

    def cut(self, text: str) -> str:
        """Return a text that ends anywhere, without an end in which a secret may have begun."""
        longest = max((len(form) for secret in self._secrets for form in forms_of(secret)), default=0)
        return text[: len(text) - longest] if longest else text


def values_in(text: str) -> list[str]:
    """Return what follows the first = of each line of a file of options; blanks around it do not count."""
    values = (line.partition("=")[2].strip() for line in text.splitlines())
    return [value for value in dict.fromkeys(values) if value][:MOST]


def _parts(secret: str) -> list[str]:
    """Return what of a text every program prints alike: between blanks and what some escape, or unescape."""
    plain = re.compile(r"[A-Za-z0-9]+")
    parts = [*plain.findall(secret), *plain.findall(re.sub(r"\\.", " ", secret))]
    return [part for part in dict.fromkeys(parts) if len(part) > SHORT]


def forms_of(secret: str) -> list[str]:
    """Return a text in the forms in which programs print texts, itself first."""
    forms = (
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        shlex.quote(secret).strip("'"),
        urllib.parse.quote(secret, errors="replace"),
        urllib.parse.quote(secret, safe="", errors="replace"),
        *(_as_read(secret, errors) for errors in ("surrogateescape", "replace")),
    )
    return [form for form in dict.fromkeys(forms) if form]


def _as_read(secret: str, errors: str) -> str:
    """Return a text as output is read that has its bytes; what is no UTF-8 is replaced there."""
    try:
        return secret.encode("utf-8", errors).decode("utf-8", "replace")
    except UnicodeEncodeError:
        return ""


def _without(text: str, secret: str) -> str:
    """Return a text without a secret; one that is short goes where it stands as a word."""
    if len(secret) < SHORT:
        return re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", lambda _: REDACTED, text)
    return text.replace(secret, REDACTED)


def _without_beginnings(text: str, forms: Sequence[str]) -> str:
    """Return a text without the beginnings of a long secret, as far as each agrees with one of its forms."""
    for head in dict.fromkeys(form[:HEAD] for form in forms if len(form) >= LONG):
        alike = [form for form in forms if form.startswith(head)]
        parts: list[str] = []
        done = 0
        while (begin := text.find(head, done)) >= 0:
            parts += (text[done:begin], REDACTED)
            done = begin + max(len(commonprefix((text[begin : begin + len(form)], form))) for form in alike)
        text = "".join((*parts, text[done:]))
    return text
