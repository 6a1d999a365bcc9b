"""``direct_url.json`` in a package's metadata: where it was installed from (PEP 610, PEP 660)."""

import json
import posixpath

LOCAL_HOSTS = ("", "localhost")


def editable_project(text: str | None) -> str | None:
    """Return the directory that an editable install is of, None for any other install."""
    try:
        return parse_direct_url(text or "")
    except ValueError:
        return None


def parse_direct_url(text: str) -> str:
    """Return the directory of an editable install from ``direct_url.json``.

    Raises ValueError where it is another kind of install, of another machine, or no such text.
    """
    from urllib.parse import unquote, urlsplit

    try:
        told = json.loads(text)
    except RecursionError:
        raise ValueError("nested beyond all measure") from None
    info = told.get("dir_info") if isinstance(told, dict) else None
    if not isinstance(info, dict) or info.get("editable") is not True or not isinstance(told.get("url"), str):
        raise ValueError("no editable install")
    url = urlsplit(told["url"])
    if url.scheme != "file" or url.netloc.lower() not in LOCAL_HOSTS:
        raise ValueError("no directory of this machine")
    path = posixpath.normpath("/" + unquote(url.path, errors="surrogateescape").lstrip("/"))
    if path == "/" or not url.path.startswith("/") or "\0" in path:
        raise ValueError("no directory of a project")
    return path
