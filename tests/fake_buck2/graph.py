"""The configured graph: what a query says of the targets of a description."""

import hashlib
import re

from tests.fake_buck2.errors import BuckFailure

KINDS = ("deps", "exec_deps", "toolchain_deps", "configuration_deps")
FILTERS = {f"{kind.removesuffix('deps').rstrip('_') or 'target'}_deps": kind for kind in KINDS}
_WORD = r"[\w*/@.:$#%-]+"
_LITERAL = rf"'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|(?P<bare>{_WORD})"
_QUERY = re.compile(
    rf"\s*(?:deps\(\s*(?:{_LITERAL})\s*(?:,\s*(?P<depth>\d+)\s*(?:,\s*(?P<only>\w+)\(\)\s*)?)?\)"
    rf"|(?:{_LITERAL.replace('?P<', '?P<plain_')}))\s*"
)


class Node:
    """A configured target: label, configuration and, of a toolchain, the platform that runs it."""

    def __init__(self, label, configuration, execution=None):
        self.label, self.configuration, self.execution = label, configuration, execution

    def __str__(self):
        second = f" ({self.execution})" if self.execution else ""
        return f"{self.label} ({self.configuration}){second}"


class Graph:
    """Targets, and the configuration that a command line asks for."""

    def __init__(self, description, cells, here, parsed):
        self._targets = description.get("targets", {})
        self._cells, self._here = cells, here
        platform = parsed.last("target-platforms") or description.get("platform")
        self._modifiers = parsed.all("modifier")
        self._platform = self._configured(platform)
        self._execution = description.get("execution_platform", "root//platforms:linux-exec")
        self._by_target = description.get("execution_platforms", {})

    def query(self, text):
        """Return the nodes that a query means, in its order. Raises BuckFailure."""
        match = _QUERY.fullmatch(text)
        if match is None:
            raise BuckFailure(f"Error parsing query\n{_odd(text)}", server=True)
        plain = [match[f"plain_{name}"] for name in ("single", "double", "bare")]
        inner = [match[name] for name in ("single", "double", "bare")]
        literal = next((word for word in (*inner, *plain) if word is not None), "")
        roots = [self._root(label) for label in self._labels(literal)]
        if any(word is not None for word in plain):
            return [node for root in roots for node in self._with_transition(root)]
        only = FILTERS.get(match["only"]) if match["only"] else None
        depth = int(match["depth"]) if match["depth"] else None
        found = {}
        for root in roots:
            for node in self._walk(root, depth, only, {}):
                found.setdefault(str(node), node)
        nodes = list(found.values())
        return nodes[::-1] if depth is not None else nodes

    def attributes(self, node, patterns):
        """Return those attributes of a node whose names a pattern is found in."""
        target = self._targets.get(node.label, {})
        package, _, _ = node.label.rpartition(":")
        every = {
            "buck.type": target.get("type", "python_library"),
            "buck.deps": [self._edge(edge)[0] for kind in KINDS for edge in target.get(kind, [])],
            "buck.package": f"{package}:BUCK",
            "buck.oncall": None,
            "buck.target_configuration": node.configuration,
            "buck.execution_platform": self._execution_platform(node.label),
            "name": node.label.rpartition(":")[2],
            "labels": [],
            **target.get("attributes", {}),
        }
        return {name: value for name, value in every.items() if any(re.search(p, name) for p in patterns)}

    def labels(self, pattern):
        """Return the unconfigured labels that a pattern means."""
        return self._labels(pattern)

    def _labels(self, literal):
        if re.search(r"\[[^\]]*\]$", literal) or "#" in literal:
            raise BuckFailure(f"Expected a target pattern without providers, got: `{literal}`", server=True)
        if "?" in literal:
            raise BuckFailure(f"Modifiers are not allowed here: `{literal}`", server=True)
        package, name = self._package(literal)
        if name in ("...", ""):
            below = package if package.endswith("//") else f"{package}/"
            found = [
                label
                for label in self._targets
                if label.startswith(f"{package}:") or (name and label.startswith(below))
            ]
            if found:
                return found
        label = f"{package}:{name}"
        if label not in self._targets:
            beside = [each for each in self._targets if each.startswith(f"{package}:")]
            if not beside:
                raise BuckFailure(f"package `{package}:` does not exist", server=True)
            text = (
                f"Unknown target `{name}` from package `{package}`.\n"
                f"Did you mean one of the {len(beside)} targets in {package}:BUCK?"
            )
            raise BuckFailure(text, server=True)
        return [label]

    def _package(self, literal):
        """Return the package with the real name of its cell, and the target's name."""
        if literal.startswith(":"):
            return self._here, literal[1:]
        cell, double, rest = literal.removeprefix("@").rpartition("//")
        if not double:
            raise BuckFailure(f"Invalid target pattern `{literal}`: expected `//` or `:`", server=True)
        cell = self._cells.name(cell) if cell else self._here.partition("//")[0]
        if rest.endswith("..."):
            return f"{cell}//{rest[:-3].rstrip('/')}", "..."
        package, colon, name = rest.partition(":")
        return f"{cell}//{package}", name if colon else package.rpartition("/")[2]

    def _root(self, label):
        own = self._targets[label].get("platform")
        return Node(label, self._configured(own) if own else self._platform)

    def _configured(self, platform):
        """Return a platform's configuration: its label and a hash of all that it stands for."""
        if platform is None:
            return "<unspecified>"
        if not self._modifiers:
            return f"{platform}#{_hash(platform)}"
        return f"cfg:{platform.rpartition(':')[2]}#{_hash(platform, *self._modifiers)}"

    def _execution_platform(self, label):
        return self._by_target.get(label, self._execution) or "<legacy_global_exec_platform>"

    def _executed(self, label):
        platform = self._execution_platform(label)
        return "<unspecified_exec>" if platform.startswith("<") else f"{platform}#{_hash(platform, 'exec')}"

    @staticmethod
    def _edge(edge):
        return (edge, None) if isinstance(edge, str) else (edge["to"], edge.get("transition"))

    def _with_transition(self, node):
        """Return a node and, where the target is transitioned as it is depended on, that one first."""
        platform = self._targets.get(node.label, {}).get("incoming_transition")
        configuration = f"{platform}#{_hash(platform)}" if platform else node.configuration
        if configuration == node.configuration or node.configuration == "<unbound>":
            return [node]
        return [Node(node.label, configuration), node]

    def _next(self, node, kind, edge):
        label, transition = self._edge(edge)
        if kind == "configuration_deps" or node.configuration == "<unbound>":
            return Node(label, "<unbound>")
        if kind == "exec_deps":
            return Node(label, self._executed(node.label))
        if kind == "toolchain_deps":
            return Node(label, node.configuration, self._executed(node.label))
        configuration = f"{transition}#{_hash(transition)}" if transition else node.configuration
        return Node(label, configuration, node.execution)

    def _walk(self, node, depth, only, seen):
        """Yield the closure of a node, what it depends on first."""
        if str(node) in seen:
            return
        seen[str(node)] = True
        *forwarded, outer = self._with_transition(node)
        inner = forwarded[0] if forwarded else outer
        target = self._targets.get(node.label, {})
        if depth is None or depth > 0:
            for kind in KINDS if only is None else (only,):
                for edge in target.get(kind, []):
                    below = None if depth is None else depth - 1
                    yield from self._walk(self._next(inner, kind, edge), below, only, seen)
        if forwarded:
            seen[str(inner)] = True
            yield inner
        yield outer


def _hash(*texts):
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()


def _odd(text):
    """Return the line that points at the first character which no query holds unquoted."""
    match = re.search(r"[^\w*/@.:$#%\-(),'\"\s]", text)
    place = match.start() if match else len(text)
    return f"{text}\n{' ' * place}^"
