"""Values that several collectors share; outside plugins may need them too."""

from aorta_collectors.providers.isolation_evidence import IsolationEvidence as IsolationEvidence
from aorta_collectors.providers.kfd_topology import KfdTopology as KfdTopology
from aorta_collectors.providers.mapped_libraries import MappedLibraries as MappedLibraries
from aorta_collectors.providers.mounts import Mounts as Mounts
from aorta_collectors.providers.nic_inventory import NicInventory as NicInventory
from aorta_collectors.providers.python_facts import PythonFacts as PythonFacts
from aorta_collectors.providers.rdma_devices import RdmaDevices as RdmaDevices
from aorta_collectors.providers.rocm_roots import RocmRoots as RocmRoots
from aorta_collectors.providers.torch_facts import TorchFacts as TorchFacts
from aorta_collectors.providers.torch_libraries import TorchLibraries as TorchLibraries
from aorta_collectors.providers.torch_symbols import TorchSymbols as TorchSymbols
