"""How much one statement may take."""

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps on one statement: a result beyond `rows` or `result_bytes` is cut off, the rest is refused."""

    timeout_s: float = 30.0
    rows: int = 1_000_000
    result_bytes: int = 32 * MIB
    cell_bytes: int = 1 * MIB
    sql_bytes: int = 100_000

    def values(self) -> tuple[float, int, int, int, int]:
        """The fields in their order."""
        return self.timeout_s, self.rows, self.result_bytes, self.cell_bytes, self.sql_bytes
