"""What tells a container: cgroup paths, the root's mount, markers."""
