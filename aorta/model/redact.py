"""One redaction step for every text that may carry a secret."""

import re

REDACTED = "[redacted]"

_SECRET_NAME = re.compile(
    r"(^|_)(TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|APIKEY)(_|$)|PASSWORD|SECRET", re.IGNORECASE
)
_PATTERNS = (
    # user:password@ of any URL
    re.compile(r"(?P<keep>\b[a-z][a-z0-9+.-]*://)[^\s/@:]*(?::[^\s/@]*)?@", re.IGNORECASE),
    re.compile(r"(?P<keep>\b(?:bearer|authorization:\s*basic)\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE),
    re.compile(
        r"(?P<keep>\b[\w-]*(?:token|secret|password|passwd|api[_-]?key|access[_-]?key|auth[_-]?key)\b[\"']?\s*[=:]\s*[\"']?)"
        r"[^\s\"',;&]+",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<keep>)\b(?:gh[pousr]_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{16}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})"),
)


def is_secret_name(name: str) -> bool:
    """Tell whether a variable's name says that its value is a secret."""
    return _SECRET_NAME.search(name) is not None


def redact(text: str) -> str:
    """Return the text with what looks like a credential replaced by ``[redacted]``."""
    for pattern in _PATTERNS:
        text = pattern.sub(lambda match: f"{match['keep']}{REDACTED}", text)
    return text


def redact_value(name: str, value: str) -> str:
    """Return a variable's value as it may be written down."""
    return REDACTED if value and is_secret_name(name) else redact(value)
