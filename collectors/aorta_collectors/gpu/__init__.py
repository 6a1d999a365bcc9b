"""What the GPU and driver sections share: targets, sysfs, rocminfo, packages."""
