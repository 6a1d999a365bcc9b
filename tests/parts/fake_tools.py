"""Stand-ins for the tools of a GPU host, as real programs: slow, hanging, or hanging in a child.

``make(folder)`` writes them. Their behaviour is set by variables of the environment:

    TOOLS_DELAY_S    seconds that each sleeps before it answers
    TOOLS_HANG=1     each sleeps for ten minutes instead
    TOOLS_HANG=fork  ... in a child that keeps the output open, as a wrapper script does
    TOOLS_LOG        a file to which each call appends a line: name and arguments
"""

import os
import shutil
import stat
import sys
from pathlib import Path

ANSWERS = {
    "rocm_agent_enumerator": "echo gfx000; for n in 1 2 3 4 5 6 7 8; do echo gfx942; done",
    "rocminfo": 'printf "ROCk module version 6.16.13 is loaded\\nHSA Agents\\n"',
    "hipconfig": """
case "$1" in
  --version) printf 7.2.26015-fc0010cf6a;; --platform) printf amd;; --compiler) printf clang;;
  --runtime) printf rocclr;; --cpp_config) printf ' -D__HIP_PLATFORM_AMD__=';;
  *) exit 1;;
esac""",
    "modinfo": 'printf "filename:       /lib/modules/x/amdgpu.ko\\nversion:        6.16.13\\nsrcversion:     ABCDEF0123456789ABCDEF0\\n"',
    "dpkg-query": 'echo "dpkg-query: no packages found" >&2; exit 1',
    "rpm": "exit 0",
    "dkms": "echo 'amdgpu/6.16.13-1, 6.8.0, x86_64: installed'",
    "lspci": "exit 0",
    "ethtool": 'echo "driver: mlx5_core"',
    "ibv_devices": "exit 0",
    "rdma": "exit 0",
    "nicctl": "exit 0",
    "amd-smi": "echo '[]'",
    "rdhc": "echo '{}'",
    "buck2": "exit 1",
    "systemd-detect-virt": "echo none",
    "sudo": 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"',
}

SCRIPT = """#!/bin/sh
[ -z "$TOOLS_LOG" ] || echo "${{0##*/}} $*" >>"$TOOLS_LOG"
case "$TOOLS_HANG" in 1) exec sleep 600;; fork) sleep 600; exit 1;; esac
[ "${{TOOLS_DELAY_S:-0}}" = 0 ] || sleep "$TOOLS_DELAY_S"
{answer}
"""

BASIC = ("sh", "sleep", "cat", "echo", "printf", "env", "date", "uname", "python3")


def make(folder: Path) -> str:
    """Write the tools; return a PATH that holds them and basic tools only."""
    tools, basic = folder / "tools", folder / "basic"
    tools.mkdir(parents=True)
    for name, answer in ANSWERS.items():
        script = tools / name
        script.write_text(SCRIPT.format(answer=answer) if name != "sudo" else f"#!/bin/sh\n{answer}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return f"{tools}:{basic_path(basic)}"


def basic_path(folder: Path) -> str:
    """Make a folder with links to basic tools only; return it as a PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in BASIC:
        found = sys.executable if name == "python3" else shutil.which(name, path="/usr/bin:/bin")
        if found and not (folder / name).exists():
            os.symlink(found, folder / name)
    return str(folder)
