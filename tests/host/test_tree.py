"""A made-up tree answers as the kernel does, errors included."""

import errno
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aorta.host import slow_helper
from aorta.host.tree import Node, Tree, refused

NAMES = ("a", "b", "c")
PATHS = [
    "/" + "/".join(parts)
    for parts in [("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "a"), ("a", "b", "c")]
]

components = st.sampled_from([*NAMES, ".", "..", "none"])
asked = st.builds(
    lambda parts, slash: "/" + "/".join(parts) + slash,
    st.lists(components, min_size=1, max_size=6),
    st.sampled_from(["", "", "/", "/.", "//"]),
)
targets = st.builds(
    lambda start, parts, slash: start + "/".join(parts) + slash,
    st.sampled_from(["", "", "/"]),
    st.lists(components, min_size=1, max_size=4),
    st.sampled_from(["", "", "/"]),
)
things = st.dictionaries(
    st.sampled_from(PATHS),
    st.one_of(st.just("dir"), st.just("file"), st.just("fifo"), targets.map(lambda text: ("link", text))),
    max_size=6,
)


def laid_out(root, wanted):
    """Make what can be made of ``wanted`` below ``root``; return the same as nodes."""
    nodes = {}
    for path, what in sorted(wanted.items()):
        parent = os.path.dirname(path)
        if any(node.kind != "dir" for place, node in nodes.items() if path.startswith(f"{place}/")):
            continue
        os.makedirs(f"{root}{parent}", exist_ok=True)
        if os.path.lexists(f"{root}{path}"):
            continue
        if what == "dir":
            os.mkdir(f"{root}{path}")
            nodes[path] = Node(kind="dir", mode=0o755)
        elif what == "file":
            with open(f"{root}{path}", "w", encoding="utf-8") as file:
                file.write(path)
            nodes[path] = Node(kind="file", content=path.encode())
        elif what == "fifo":
            os.mkfifo(f"{root}{path}")
            nodes[path] = Node(kind="fifo")
        else:
            target = what[1]
            os.symlink(f"{root}{target}" if target.startswith("/") else target, f"{root}{path}")
            nodes[path] = Node(kind="link", target=target)
    return nodes


def outcome(question):
    try:
        return question()
    except OSError as error:
        return error.errno


def escapes(root, path):
    """Tell whether a path leads above the root, where the two worlds differ of necessity."""
    parts, at, links = path.split("/")[::-1], root, 0
    while parts:
        part = parts.pop()
        if part in ("", "."):
            continue
        here = os.path.dirname(at) if part == ".." else f"{at}/{part}"
        if not (here == root or here.startswith(f"{root}/")):
            return True
        if os.path.islink(here) and part != "..":
            links += 1
            if links > 60:
                return False
            target = os.readlink(here)
            parts.extend(target.removeprefix(root).split("/")[::-1])
            at = root if target.startswith("/") else at
            continue
        at = here
    return False


def agree(tree, root, path):
    """Check that the tree and the kernel say the same of a path."""
    real = f"{root}{path}"
    assert outcome(lambda: tree.stat(path).kind) == outcome(
        lambda: slow_helper.stat(real, follow=True)["kind"]
    ), path
    itself = outcome(lambda: tree.stat(path, follow=False).kind)
    assert itself == outcome(lambda: slow_helper.stat(real, follow=False)["kind"]), path
    members = outcome(lambda: [(entry.name, entry.kind) for entry in tree.scan(path)])
    details = len(path) % 2 == 0
    listed = outcome(lambda: slow_helper.scan(real, real, lambda _: False, details=details))
    assert members == (listed if isinstance(listed, int) else [one[:2] for one in listed]), path
    assert outcome(lambda: tree.bytes(path)) == outcome(lambda: slow_helper.read(real, 100)), path
    assert outcome(lambda: tree.link(path)) == outcome(lambda: os.readlink(real).removeprefix(root)), path
    if not isinstance(outcome(lambda: tree.stat(path)), int):
        assert tree.locate(path)[0] == (os.path.realpath(real).removeprefix(root) or "/"), path


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=things, paths=st.lists(asked, min_size=1, max_size=8))
def test_paths_mean_what_they_mean_to_the_kernel(tmp_path_factory, wanted, paths):
    root = os.path.realpath(tmp_path_factory.mktemp("root"))
    tree = Tree(laid_out(root, wanted))
    for path in paths:
        if not escapes(root, path):
            agree(tree, root, path)


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("", errno.ENOENT),
        ("/a\0b", errno.EINVAL),
        ("/" + "x" * 256, errno.ENAMETOOLONG),
        ("/x" * 2048, errno.ENAMETOOLONG),
    ],
)
def test_paths_that_no_kernel_takes(path, number):
    with pytest.raises(OSError) as caught:
        Tree({}).stat(path)
    assert caught.value.errno == number


def test_what_refuses_is_still_there():
    tree = Tree(
        {
            "/f": Node(kind="file", refusal=refused(errno.EPERM, "/f")),
            "/d": Node(kind="dir", refusal=refused(errno.EACCES, "/d")),
            "/d/x": Node(kind="file"),
            "/l": Node(kind="link", refusal=refused(errno.EACCES, "/l")),
            "/m": Node(kind="missing", refusal=refused(errno.EIO, "/m")),
        }
    )
    assert tree.stat("/f").kind == "file"
    assert tree.stat("/d").kind == "dir"
    assert tree.stat("/l", follow=False).kind == "link"
    for question in (
        lambda: tree.bytes("/f"),
        lambda: tree.scan("/d"),
        lambda: tree.bytes("/d/x"),
        lambda: tree.link("/l"),
        lambda: tree.stat("/l"),
        lambda: tree.stat("/l/x"),
    ):
        with pytest.raises(PermissionError):
            question()
    with pytest.raises(OSError, match="Input/output"):
        tree.stat("/m")


def test_a_refusal_does_not_grow_with_every_raise():
    tree = Tree({"/f": Node(kind="file", refusal=refused(errno.EPERM, "/f"))})
    depths = []
    for _ in range(3):
        with pytest.raises(PermissionError) as caught:
            tree.bytes("/f")
        depths.append(len(caught.traceback))
    assert len(set(depths)) == 1


def test_a_chain_of_forty_links_is_the_longest():
    nodes = {f"/{n}": Node(kind="link", target=f"{n - 1}") for n in range(1, 42)}
    tree = Tree({"/0": Node(kind="file"), **nodes})
    assert tree.stat("/40").kind == "file"
    with pytest.raises(OSError) as caught:
        tree.stat("/41")
    assert caught.value.errno == errno.ELOOP
