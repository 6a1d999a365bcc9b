from aorta.host.mountinfo import Mount, MountTable, parse_mountinfo

TEXT = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard
not a mount
30 27 0:40 / /nfs rw - nfs4 server:/ex\040port rw,vers=4.2
31 30 0:41 / /nfs/scratch\040two rw - tmpfs none rw
32 27 0:42 / /auto rw - autofs systemd-1 rw
33 32 0:43 / /auto/deep rw - lustre mgs:/fs rw
"""


def table(text, trusted=()):
    return MountTable(parse_mountinfo(text), trusted)


def test_a_line_is_taken_apart():
    mount = parse_mountinfo(TEXT)[2]
    assert mount == Mount(
        mount_id=30,
        parent_id=27,
        major_minor="0:40",
        root="/",
        mount_point="/nfs",
        options=("rw",),
        fs_type="nfs4",
        source="server:/ex port",
        super_options=("rw", "vers=4.2"),
    )


def test_optional_fields_and_junk_are_passed_over():
    mounts = parse_mountinfo(TEXT + "1 2\nx y 0:1 / /a rw - t s o\n1 2 0:1 / /a rw - t\n\n")
    assert [mount.mount_id for mount in mounts] == [22, 27, 30, 31, 32, 33]
    assert mounts[1].fs_type == "ext4"


def test_a_mount_point_with_odd_characters_is_one_line():
    text = "30 27 0:40 / /a\\134b\\011c\u2028d\x85 rw - nfs s rw\n"
    assert parse_mountinfo(text)[0].mount_point == "/a\\b\tc\u2028d\x85"


def test_what_may_hang_is_by_kind():
    assert sorted(table(TEXT).slow) == ["/auto", "/auto/deep", "/nfs"]
    assert sorted(table(TEXT, trusted=["0:40"]).slow) == ["/auto", "/auto/deep"]


def test_the_root_is_local_whatever_it_is():
    text = "1 0 0:9 / / rw - virtiofs root rw\n2 1 0:9 /x /etc/hosts rw - virtiofs root rw\n3 1 0:8 / /d rw - 9p d rw\n"
    assert sorted(table(text).slow) == ["/d"]


def test_the_innermost_mount_that_may_hang_holds_a_path():
    mounts = table(TEXT)
    assert mounts.slow_holder("/auto/deep/x") == "/auto/deep"
    assert mounts.slow_holder("/auto/x") == "/auto"
    assert mounts.slow_holder("/nfs/scratch two/x") == "/nfs"
    assert mounts.slow_holder("/nfsx/y") is None
    assert mounts.slow_holder("/") is None


def test_a_mount_that_is_covered_can_not_be_reached():
    covered = TEXT + "40 30 0:50 / /nfs rw - tmpfs none rw\n"
    assert "/nfs" not in table(covered).slow
    hidden = TEXT + "41 27 0:51 / /auto rw - tmpfs none rw\n"
    assert "/auto/deep" not in table(hidden).slow


def test_a_late_mount_over_a_parent_hides_local_mounts_inside():
    text = "27 1 254:0 / / rw - ext4 a rw\n28 27 0:30 / /a/b rw - tmpfs t rw\n29 27 0:31 / /a rw - nfs s rw\n"
    mounts = table(text)
    holder = mounts.holder("/a/b/c")
    assert holder is not None
    assert holder.fs_type == "nfs"
    assert mounts.slow_holder("/a/b/c") == "/a"


def test_no_mounts_at_all():
    empty = table("")
    assert empty.holder("/x") is None
    assert empty.slow == {}
    assert table("5 4 0:3 / /proc rw - proc proc rw\n").holder("/proc/1").fs_type == "proc"
