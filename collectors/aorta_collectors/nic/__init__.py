"""Network and RDMA devices: sysfs, the tools that speak of them, and what they mean."""
