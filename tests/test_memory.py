from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import resource, sys, threading
from hookviewer import memory
known = memory.keep_freed_memory()
assert known == sys.platform.startswith("linux") or not known
import numpy as np
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def work():
    for _ in range(3):
        before = faults()
        block = np.ones(20_000_000, np.uint8)
        del block
        counts.append(faults() - before)
counts = []
thread = threading.Thread(target=work)
thread.start()
thread.join()
memory.give_back()
print(int(known), *counts)
"""


def test_freed_memory_is_used_again_without_page_faults_also_in_a_thread() -> None:
    if sys.platform == "win32":
        return  # there is no glibc, and no way to count
    shown = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    known, first, _, last = map(int, shown.split())
    assert not known or last < first / 20
