"""What threads of the server leave in its process."""

import ctypes
import subprocess
import sys

import pytest

_PROGRAM = """
import ctypes, sys, threading
from merit.web.running import share_one_heap

if sys.argv[1] == "one":
    share_one_heap()
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
together, places = threading.Barrier(8), []

def work():
    together.wait()
    places.append(malloc(1000) >> 26)
    together.wait()

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(set(places)))
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="only glibc gives threads heaps of their own")
def test_threads_of_a_server_share_one_heap() -> None:
    def heaps(how: str) -> int:
        done = subprocess.run([sys.executable, "-c", _PROGRAM, how], capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert heaps("one") <= 2  # a heap may lie across a boundary of 64 MB
    assert heaps("many") > 2
