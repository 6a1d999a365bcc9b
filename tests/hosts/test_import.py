"""Folders of recorded hosts become closed recordings; what is no such folder is refused in one line."""

import errno
import gzip
import json
import os

import pytest

from aorta.host.replay import open_recording
from aorta.model.vocabulary import Outcome
from tests.hosts.import_host import main

HOST = """
name: x
uname: {release: 6.8.0, version: '#1 SMP', machine: x86_64}
glibc: '2.35'
user: normal user, sudo -n allowed
env: {PATH: /bin, WORLD_SIZE: 8, HF_TOKEN: hf-secret-of-mine}
python:
  executable: /home/user/venv/bin/python3
  prefix: /home/user/venv
  base_prefix: /usr
  torch:
    __version__: 2.5.1
    file: /home/user/venv/lib/python3.10/site-packages/torch/__init__.py
    config_show: python/torch_config_show.txt
commands_not_on_path: [rocminfo]
truth: {container: false}
"""
COMMANDS = """
- argv: [lspci, -n]
  stdout: "a  \\n\\tb\\e[0m"
  stderr: ''
  exit_code: 0
  note: kept byte by byte
- argv: [hg, id]
  stdout: ''
  stderr: "abort\\n"
  exit_code: 255
- argv: [lspci, -n]
  stdout: the second of the same line
  stderr: ''
  exit_code: 0
- argv: [sudo, -n, -E, /usr/local/bin/rdhc.py, --quick, --json, <TMPFILE>]
  stdout: "Results:\\n"
  stderr: ''
  exit_code: 0
- argv: [sudo, -n, -E, nicctl, show]
  stdout: cards
  stderr: ''
  exit_code: 0
"""
SITE = "/home/user/venv/lib/python3.10/site-packages"


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "host"
    files = {
        "host.yaml": HOST,
        "commands.yaml": COMMANDS,
        "rdhc_quick.json": '{"system_info": {}}\n',
        "python/torch_config_show.txt": "PyTorch built with:\n",
        "links.txt": "# LINK -> TARGET\n/opt/rocm -> /opt/rocm-6\n/proc/self/ns/mnt -> mnt:[4026531841]\n/lib/a -> ../x y\n",
        "dirs.txt": "/sys/module/bnxt_en\n/opt/rocm/share\n",
        "devnodes.txt": "# comment\n/dev/kfd c 511:0 0660 root:render\n/dev/sda b 8:0 0660 root:disk\n",
        "unreadable.txt": "# comment\nEACCES /proc/1/ns/mnt\nEPERM /sys/kfd/gpu_id\nEACCES /root\nEIO /gone\nEACCES /lib/a\n",
        "fs/etc/group": "root:x:0:\nrender:x:109:\n",
        "fs/sys/kfd/gpu_id": "1234\n",
        "fs/root/x": "",
        "fs/opt/rocm/.info/version": "6.2.0\n",
        "fs/dev/kfd": "",
        f"fs{SITE}/torch-2.5.1+rocm6.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1+rocm6.2\n\nVersion: of the text\n",
        f"fs{SITE}/rocm_sdk_core-10.1.dist-info/WHEEL": "",
        f"fs{SITE}/rocm_sdk_core-10.1.dist-info/direct_url.json": "{}",
        f"fs{SITE}/_rocm_sdk_core/__init__.py": "",
        f"fs{SITE}/names/part/x.txt": "",
        f"fs{SITE}/six.py": "",
        f"fs{SITE}/torch/lib/x.so": "",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "fs/lib").mkdir()
    (root / "fs/lib/b.so").write_bytes(b"\x7fELF\xff\0")
    (root / "fs/lib/tool").write_text("#!/bin/sh\n")
    (root / "fs/lib/tool").chmod(0o755)
    (root / "fs/lib/c.so").symlink_to("b.so")
    (root / "fs/empty").mkdir()
    return root


def imported(folder, *options):
    recording = folder.parent / "out.jsonl"
    assert main([str(folder), str(recording), *options]) == 0
    return open_recording(recording)


def test_the_recording_is_closed_and_holds_no_secret(folder, tmp_path):
    imported(folder)
    text = (tmp_path / "out.jsonl").read_text()
    assert json.loads(text.splitlines()[0])["world"] == "closed"
    assert "hf-secret-of-mine" not in text
    assert str(tmp_path) not in text


def test_files_of_every_kind(folder):
    host = imported(folder)
    assert host.read_text("/etc/group").startswith("root")
    assert host.read_bytes("/lib/c.so") == b"\x7fELF\xff\0"
    assert host.link("/lib/c.so") == "b.so"
    assert host.stat("/lib/tool").mode == 0o755
    assert host.read_text("/lib/tool") == "#!/bin/sh\n"
    assert host.scan("/empty") == []
    assert host.scan("/sys/module/bnxt_en") == []
    assert host.link("/proc/self/ns/mnt") == "mnt:[4026531841]"
    with pytest.raises(FileNotFoundError):
        host.stat("/proc/self/ns/mnt")


def test_what_lies_below_a_link_lies_where_it_leads(folder):
    host = imported(folder)
    assert (
        host.read_text("/opt/rocm-6/.info/version") == host.read_text("/opt/rocm/.info/version") == "6.2.0\n"
    )
    assert host.stat("/opt/rocm/share").kind == "dir"
    assert host.link("/opt/rocm") == "/opt/rocm-6"


def test_device_nodes(folder):
    host = imported(folder)
    kfd, disk = host.stat("/dev/kfd"), host.stat("/dev/sda")
    assert (kfd.kind, kfd.mode, kfd.uid, kfd.gid) == ("char", 0o660, 0, 109)
    assert (disk.kind, disk.gid) == ("block", 65534)


def test_what_refuses_is_there(folder):
    host = imported(folder)
    assert host.stat("/proc/1/ns/mnt", follow=False).kind == "link"
    assert host.stat("/sys/kfd/gpu_id").kind == "file"
    assert host.stat("/root").kind == "dir"
    for question, path, number in (
        (host.link, "/proc/1/ns/mnt", errno.EACCES),
        (host.read_text, "/sys/kfd/gpu_id", errno.EPERM),
        (host.scan, "/root", errno.EACCES),
        (host.read_text, "/gone", errno.EIO),
        (host.link, "/lib/a", errno.EACCES),
    ):
        with pytest.raises(OSError) as caught:
            question(path)
        assert caught.value.errno == number


def test_commands(folder):
    host = imported(folder)
    assert host.run(["lspci", "-n"], timeout=1).stdout == "a  \n\tb\x1b[0m"
    failed = host.run(["hg", "id"], timeout=1)
    assert (failed.outcome, failed.exit_code, failed.stderr) == (Outcome.EXIT, 255, "abort\n")
    assert host.run(["rocminfo"], timeout=1).outcome is Outcome.NOT_FOUND
    assert host.run(["ibv_devices"], timeout=1).outcome is Outcome.NOT_FOUND
    assert host.run(["sudo", "-n", "-E", "nicctl", "show"], timeout=1).stdout == "cards"
    assert host.run(["sudo", "-n", "nicctl", "show"], timeout=1).stdout == "cards"
    for program in ("/usr/local/bin/rdhc.py", "rdhc.py"):
        done = host.run(["sudo", "-n", program, "--quick", "--json", "/dev/stdout"], timeout=1)
        assert done.stdout == 'Results:\n{"system_info": {}}\n'


def test_a_program_that_was_run_by_its_path_is_there(folder):
    found = imported(folder).stat("/usr/local/bin/rdhc.py")
    assert (found.kind, found.mode) == ("file", 0o755)


def test_a_second_set_of_commands(folder):
    (folder / "variant.yaml").write_text("- {argv: [lspci, -n], stdout: '', stderr: 'no', exit_code: 1}\n")
    host = imported(folder, "--commands", str(folder / "variant.yaml"))
    assert host.run(["lspci", "-n"], timeout=1).stderr == "no"
    assert host.run(["hg", "id"], timeout=1).exit_code == 255


def test_process_and_packages(folder):
    host = imported(folder)
    assert host.env("WORLD_SIZE") == "8"
    assert host.env("HF_TOKEN") == "[redacted]"
    assert host.observe("uname", dict)["release"] == "6.8.0"
    assert host.observe("glibc", str) == "glibc 2.35"
    assert host.observe("user", dict) == {"uid": None, "root": False, "groups": None}
    assert host.observe("ulimits", dict) is None
    assert host.observe("interpreter", dict) == {
        "version": "3.10",
        "implementation": "CPython",
        "executable": "/home/user/venv/bin/python3",
        "prefix": "/home/user/venv",
        "base_prefix": "/usr",
        "path": [SITE],
    }
    assert host.torch("child", timeout=1)["parts"]["config"] == "PyTorch built with:\n"
    assert host.distribution("torch").version == "2.5.1+rocm6.2"
    core = host.distribution("rocm-sdk-core")
    assert (core.name, core.version, core.direct_url) == ("rocm_sdk_core", "10.1", "{}")
    assert core.path == f"{SITE}/rocm_sdk_core-10.1.dist-info"
    assert host.module("torch").origin == f"{SITE}/torch/__init__.py"
    assert host.module("_rocm_sdk_core").origin == f"{SITE}/_rocm_sdk_core/__init__.py"
    assert host.module("names").origin is None
    assert host.module("names").locations == (f"{SITE}/names",)
    assert host.module("six").origin == f"{SITE}/six.py"
    assert host.module("jax") is None


@pytest.mark.parametrize(
    ("user", "seen"),
    [("root", True), ("root in the container", True), ("root-less user", False), ("somebody", None)],
)
def test_whose_process_it_is(folder, user, seen):
    (folder / "host.yaml").write_text(f"user: {user}\n")
    said = imported(folder).observe("user", dict)
    assert said == (None if seen is None else {"uid": 0 if seen else None, "root": seen, "groups": None})


def test_the_version_stated_by_a_venv_is_better_than_that_of_its_path(folder):
    (folder / "fs/home/user/venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.10.12\n")
    assert imported(folder).observe("interpreter", dict)["version"] == "3.10.12"


def test_packages_of_another_prefix_are_not_the_interpreters(folder):
    (folder / "host.yaml").write_text(
        HOST.replace("prefix: /home/user/venv\n", "prefix: /usr\n").replace("  torch:", "  none:")
    )
    host = imported(folder)
    assert host.observe("interpreter", dict)["path"] == []
    assert host.distribution("torch") is None
    assert host.module("six") is None


def test_the_least_folder(tmp_path):
    root = tmp_path / "least"
    (root / "fs").mkdir(parents=True)
    (root / "host.yaml").write_text("")
    (root / "commands.yaml").write_text("")
    host = imported(root)
    assert host.env_names() == []
    assert host.observe("interpreter", dict) is None


def test_the_same_folder_gives_the_same_bytes_gzipped_or_not(folder, tmp_path):
    for name in ("a.jsonl", "b.jsonl", "a.jsonl.gz", "b.jsonl.gz"):
        assert main([str(folder), str(tmp_path / name)]) == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == (tmp_path / "a.jsonl").read_bytes()


BAD = {
    "no host.yaml": ("host.yaml", None, "not there"),
    "no commands.yaml": ("commands.yaml", None, "not there"),
    "broken YAML": ("host.yaml", "a: [", "host.yaml"),
    "host.yaml is a list": ("host.yaml", "- a", "not a mapping"),
    "commands are a mapping": ("commands.yaml", "a: 1", "not a list"),
    "not UTF-8": ("commands.yaml", b"\xff", "commands.yaml"),
    "entry is no mapping": ("commands.yaml", "- lspci", "entry 1: argv"),
    "argv of numbers": ("commands.yaml", "- {argv: [1]}", "entry 1: argv"),
    "argv is empty": ("commands.yaml", "- {argv: []}", "entry 1: argv"),
    "exit code is a text": ("commands.yaml", "- {argv: [a], exit_code: '1'}", "exit_code"),
    "stdout is a list": ("commands.yaml", "- {argv: [a], stdout: [1]}", "stdout"),
    "env is a list": ("host.yaml", "env: [a]", "env"),
    "env of lists": ("host.yaml", "env: {A: [b]}", "env"),
    "uname is a text": ("host.yaml", "uname: Linux", "uname"),
    "python is a text": ("host.yaml", "python: '3.10'", "python"),
    "torch is a text": ("host.yaml", "python: {torch: '2.5'}", "torch"),
    "link without arrow": ("links.txt", "/a\n", "links.txt, line 1"),
    "relative link": ("links.txt", "\na -> b\n", "links.txt, line 2"),
    "links in circles": ("links.txt", "/opt/rocm -> /opt/b\n/opt/b -> /opt/rocm\n", "circles"),
    "a file that is a link too": ("links.txt", "/lib/b.so -> x\n", "a link"),
    "relative folder": ("dirs.txt", "sys\n", "dirs.txt, line 1"),
    "device without mode": ("devnodes.txt", "/dev/kfd c 511:0 root:render\n", "devnodes.txt, line 1"),
    "unknown errno": ("unreadable.txt", "EWHAT /x\n", "EWHAT"),
    "no errno": ("unreadable.txt", "/x\n", "unreadable.txt, line 1"),
    "no fs": ("fs", None, "fs: not a folder"),
    "config_show is no text": ("python/torch_config_show.txt", b"\xff", "torch_config_show"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_folder_is_refused_in_one_line(folder, capsys, name):
    path, content, said = BAD[name]
    if content is None and path == "fs":
        (folder / "fs").rename(folder / "elsewhere")
    elif content is None:
        (folder / path).unlink()
    else:
        (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main([str(folder), str(folder.parent / "out.jsonl")]) == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert printed.startswith("import_host: ")
    assert printed.count("\n") == 1
    assert not (folder.parent / "out.jsonl").exists()


def test_no_folder_and_no_place_to_write(folder, capsys):
    assert main([str(folder / "none"), "x.jsonl"]) == 2
    assert main([str(folder), str(folder / "no/such/out.jsonl")]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_a_pipe_in_the_tree_is_refused(folder, capsys):
    os.mkfifo(folder / "fs/pipe")
    assert main([str(folder), str(folder.parent / "out.jsonl")]) == 2
    assert "/pipe is neither" in capsys.readouterr().err
