"""``race``: correct synchronisation and data with known values; what deviates is the runtime's doing."""

from aorta.workloads.race.work import Race as Race
