"""Values that several collectors share; outside plugins may need them too."""

from aorta_collectors.providers.rocm_roots import RocmRoots as RocmRoots
