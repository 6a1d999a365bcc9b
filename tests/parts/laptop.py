"""This machine as one without ROCm: ``laptop(folder)`` is the command before a command that runs there.

A mount namespace of its own in which /usr has a writable layer and all that belongs to ROCm is removed.
(A sandbox of bubblewrap would do, were it not one: the snapshot says so, and a laptop is none.)
"""

import os
import subprocess
from pathlib import Path

from tests.parts.needs import need

#: What packages of ROCm put where a root of it is looked for.
REMOVED = (
    "/usr/bin/*hip*",
    "/usr/bin/*roc[ms_-]*",
    "/usr/bin/rocminfo",
    "/usr/bin/amd-smi",
    "/usr/share/*hip*",
    "/usr/share/*rocm*",
    "/usr/include/*hip*",
    "/usr/include/hs[a]*",
    "/usr/include/*roc[ms]*",
    "/usr/lib*/*roc[ms]*",
    "/usr/lib/*/*amdhip*",
    "/usr/lib/*/*hsa*",
    "/usr/lib/*/*hiprtc*",
    "/usr/lib/*/*amd_comgr*",
    "/usr/lib/*/*amdgcn*",
    "/usr/lib/*/*roc[ms]*",
    "/usr/lib/*/cmake/*hip*",
)

SCRIPT = f"""
set -e
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/empty"
mount -t overlay none -o "lowerdir=/usr,upperdir=$1/upper,workdir=$1/work" /usr
rm -rf {" ".join(REMOVED)}
for place in /opt/rocm* /var/lib/dpkg/info; do [ ! -d "$place" ] || mount --bind "$1/empty" "$place"; done
[ ! -e /var/lib/dpkg/status ] || mount --bind /dev/null /var/lib/dpkg/status
shift
exec "$@"
"""

ALONE = ("unshare", "--mount", "--propagation", "private")


def laptop(folder):
    """Return the wrapper; skips where this user may not mount."""
    place = Path(folder) / "laptop"
    place.mkdir()
    wrapper = [*ALONE, "sh", "-c", SCRIPT, "laptop", str(place)]
    need(os.geteuid() == 0, "needs root")
    need("unshare", "needs util-linux")
    tried = subprocess.run([*wrapper, "true"], check=False, capture_output=True, text=True)
    need(tried.returncode == 0, f"needs a mount namespace and overlayfs: {tried.stderr}")
    return wrapper
