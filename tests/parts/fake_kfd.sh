# Run a command where the kernel seems to have a compute driver: CPU node 0, then two MI300X.
#
#   unshare --mount sh tests/parts/fake_kfd.sh COMMAND...
#
# In the mount namespace of its own a memory file system lies over /sys/class, so nothing outside sees it.
# Node 10 sorts before 2 as text.
set -eu
mount -t tmpfs none /sys/class
nodes=/sys/class/kfd/kfd/topology/nodes
gpu() { # NUMBER LOCATION
    mkdir -p "$nodes/$1"
    printf '%s\n' 'cpu_cores_count 0' 'simd_count 1216' 'simd_per_cu 4' 'gfx_target_version 90402' 'vendor_id 4098' \
        'device_id 29857' "location_id $2" 'domain 0' "drm_render_minor $((126 + $1))" 'num_xcc 8' \
        "unique_id 100000000000000010$1" >"$nodes/$1/properties"
    echo "$((28000 + $1))" >"$nodes/$1/gpu_id"
    echo 'ip discovery' >"$nodes/$1/name"
}
mkdir -p "$nodes/0"
printf '%s\n' 'cpu_cores_count 2' 'simd_count 0' 'gfx_target_version 0' 'vendor_id 0' >"$nodes/0/properties"
echo 0 >"$nodes/0/gpu_id"
: >"$nodes/0/name"
gpu 2 6912
gpu 10 15616
exec "$@"
