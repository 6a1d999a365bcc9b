import errno

from aorta.model.vocabulary import ReasonKind
from aorta.testing import FakeHost, provide
from aorta_collectors.providers import Mounts


def test_the_table_is_parsed_in_order():
    text = "29 1 259:2 / / rw shared:1 - ext4 /dev/sda1 rw\n30 29 0:1 / /a\\040b rw - tmpfs tmpfs rw\nnoise\n"
    mounts = provide(FakeHost({"/proc/self/mountinfo": text}), Mounts).typed
    assert mounts.seen
    assert [mount.mount_point for mount in mounts.mounts] == ["/", "/a b"]


def test_the_topmost_mount_wins():
    text = "1 0 0:1 / / rw - tmpfs first rw\n2 1 0:2 / / rw - ext4 second rw\n"
    mounts = provide(FakeHost({"/proc/self/mountinfo": text}), Mounts).typed
    assert mounts.at("/").source == "second"
    assert mounts.at("/nowhere") is None


def test_what_cannot_be_read_says_why():
    for files, kind in (
        ({}, ReasonKind.ABSENT),
        ({"/proc/self/mountinfo": errno.EACCES}, ReasonKind.DENIED),
        ({"/proc/self/mountinfo": "\n"}, ReasonKind.UNPARSED),
    ):
        mounts = provide(FakeHost(files), Mounts).typed
        assert not mounts.seen
        assert mounts.kind is kind
        assert mounts.mounts == ()


def test_bytes_that_are_no_text_cost_nothing_else():
    text = b"29 1 259:2 / / rw - ext4 /dev/sda1 rw\n30 29 0:1 / /\xff rw - tmpfs tmpfs rw\n"
    assert len(provide(FakeHost({"/proc/self/mountinfo": text}), Mounts).typed.mounts) == 2
