"""What `nvidia-smi topo -m` says of the links between GPUs. The tables have the form that NVIDIA's manual shows."""

from __future__ import annotations

import numpy as np
import pytest

from simsuite.backends.cuda import CudaBackend
from simsuite.backends.nccl import links

LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

  NIC0: mlx5_0
"""
HEAD = "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"


@pytest.mark.parametrize(("table", "expected"), [
    (HEAD + "GPU0\t X \tNV18\tPIX\t0-31\t0\t\tN/A\nGPU1\tNV18\t X \tSYS\t0-31\t0\t\tN/A\n"
     "NIC0\tPIX\tSYS\t X \t\t\t\t\n", ["NV18"]),
    ("\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\n"
     "GPU0\t X \tNODE\tSYS\t0-15\t0\nGPU1\tNODE\t X \tSYS\t0-15\t0\nGPU2\tSYS\tSYS\t X \t16-31\t1\n",
     ["NODE", "SYS"]),
    ("\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-15\t0\t\tN/A\n", []),
])  # fmt: skip
def test_each_kind_of_link_is_named_once(table: str, expected: list[str]) -> None:
    """Neither network cards nor what follows the table counts as a link between GPUs."""
    assert links(table + LEGEND) == expected
    assert links(LEGEND) == []


@pytest.mark.gpu
def test_nccl_gives_a_gpu_its_own_rows(cuda: CudaBackend) -> None:
    """In a ring of one process, what goes towards the last process comes from the one before, and back."""
    if reason := cuda.lacks_links():
        pytest.skip(reason)
    link = cuda.link(cuda.link_identity(), 0, 1)
    rows = np.arange(12.0).reshape(4, 3)
    to_before, from_before, to_after, from_after = map(
        cuda.array, (rows, np.zeros_like(rows), -rows, np.zeros_like(rows))
    )
    link.exchange(to_before, from_before, 0, to_after, from_after, 0)
    assert np.array_equal(cuda.to_host(from_before), -rows)
    assert np.array_equal(cuda.to_host(from_after), rows)
    taken = cuda.array(np.zeros_like(rows))
    link.swap([to_after], [taken])
    assert np.array_equal(cuda.to_host(taken), -rows)
    link.allgather([taken])
    assert np.array_equal(cuda.to_host(taken), -rows)
