"""`python -m merit.mutation [DATABASE ...]`: choose the seeds of test suites anew and write them into suite.json."""

import sys

from merit.bundled import read_sources, read_suites, write_suites
from merit.errors import InputError, MeritError
from merit.mutation.choose import choose_all


def main(names: list[str]) -> None:
    """Choose for these databases, or for all."""
    try:
        sources = [source for source in read_sources() if not names or source.db_id in names]
        if unknown := {*names} - {source.db_id for source in sources}:
            raise InputError(f"there is no database {unknown.pop()!r} in the benchmark")
        chosen = choose_all(sources)
        write_suites({**read_suites(), **chosen})
    except MeritError as error:
        sys.exit(f"merit.mutation: {error}")
    for db_id, seeds in chosen.items():
        sys.stdout.write(f"{db_id}: {len(seeds)} databases beside the original\n")


if __name__ == "__main__":
    main(sys.argv[1:])
