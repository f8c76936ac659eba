"""A recipe with lists, solved run by run: on this machine, shared among machines, or on a cluster."""

from mklviz.sweeps.dask_cluster import DaskCluster
from mklviz.sweeps.definition import Sweep
from mklviz.sweeps.engine import Engine
from mklviz.sweeps.member import RESULT_VERSION, Member, MemberOutcome
from mklviz.sweeps.processes import Processes, Shard
from mklviz.sweeps.running import SweepProgress, SweepRun
from mklviz.sweeps.table import SweepTable

__all__ = [
    "RESULT_VERSION",
    "DaskCluster",
    "Engine",
    "Member",
    "MemberOutcome",
    "Processes",
    "Shard",
    "Sweep",
    "SweepProgress",
    "SweepRun",
    "SweepTable",
]
