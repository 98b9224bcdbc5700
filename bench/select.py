"""How good and how fast schema selection is: `python bench/select.py --help`; the benchmark itself is choosing.py.

A program in this folder that imports the standard module `select` finds this file first: it then steps aside.
"""

import sys

_FOLDER = __file__.rpartition("/")[0]
_PATH = list(sys.path)
_NAMES = ("", ".", _FOLDER, _FOLDER.rpartition("/")[2])
sys.path[:] = [folder for folder in sys.path if folder.rstrip("/") not in _NAMES]
if __name__ == "__main__":
    import runpy

    runpy.run_path(f"{_FOLDER or '.'}/choosing.py", run_name="__main__")
else:
    del sys.modules[__name__]
    import select  # noqa: F401 - the standard module takes this one's place

    sys.path[:] = _PATH
