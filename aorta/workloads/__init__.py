"""Workloads: what a sweep runs in its trials."""

from aorta.workloads.protocol import TrialInfo as TrialInfo
from aorta.workloads.protocol import Workload as Workload
from aorta.workloads.protocol import WorkloadResult as WorkloadResult
