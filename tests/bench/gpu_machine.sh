# Run a command on what seems a host with two AMD, two Broadcom and one NVIDIA NIC and a loaded amdgpu module:
#
#   unshare --mount sh tests/bench/gpu_machine.sh COMMAND...
#
# In the mount namespace of its own memory file systems lie over /sys/class and /sys/module, so nothing
# outside sees them.
set -eu
mount -t tmpfs none /sys/class
mount -t tmpfs none /sys/module
mkdir -p /sys/class/kfd/kfd /sys/module/amdgpu
echo 6.16.13 >/sys/module/amdgpu/version
device() { # CLASS NAME VENDOR DEVICE DRIVER
    mkdir -p "/sys/class/$1/$2/device"
    echo "$3" >"/sys/class/$1/$2/device/vendor"
    echo "$4" >"/sys/class/$1/$2/device/device"
    ln -s "../../../../bus/pci/drivers/$5" "/sys/class/$1/$2/device/driver"
}
device net ai0 0x1dd8 0x1002 ionic
device net ai1 0x1dd8 0x1002 ionic
device net benic7p1 0x14e4 0x1760 bnxt_en
device net benic8p1 0x14e4 0x1760 bnxt_en
device net ens0np0 0x15b3 0x1021 mlx5_core
device infiniband ionic_0 0x1dd8 0x1002 ionic
device infiniband ionic_1 0x1dd8 0x1002 ionic
device infiniband bnxt_re0 0x14e4 0x1760 bnxt_en
device infiniband bnxt_re1 0x14e4 0x1760 bnxt_en
device infiniband mlx5_0 0x15b3 0x1021 mlx5_core
exec "$@"
