"""The proof that runs are what they claim: everything is derived again from the replies that they recorded."""

from merit.audit.against_data import AuditData
from merit.audit.audit import audit_run
from merit.audit.findings import Findings
from merit.audit.recording import write_recording

__all__ = ["AuditData", "Findings", "audit_run", "write_recording"]
