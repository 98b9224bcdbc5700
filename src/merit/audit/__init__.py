"""The proof that runs are what they claim: everything is derived again from the replies that they recorded.

- `audit` derives a run again, and `verdicts` gives its verdicts again; `claims` compares manifest, stream, predictions
  and metrics with the turns.
- `causal` restates the four causal checks without the memory's code; `scores` compares scores and order with the same
  recall made again. Without the run's encoder it checks that the numbers fit each other.
- `against_data` compares the stream, the set of questions and the fixed examples with the dataset, where it is there.
- `reviews` draws and derives reviews again; `notes` counts what the model wrote besides SQL.
- `findings` says what was gone through and what is taken on trust: a folder cannot prove whose replies it holds.
- `recording` turns finished runs into a recording.
"""

from merit.audit.against_data import AuditData
from merit.audit.audit import audit_run
from merit.audit.findings import Findings
from merit.audit.recording import write_recording

__all__ = ["AuditData", "Findings", "audit_run", "write_recording"]
