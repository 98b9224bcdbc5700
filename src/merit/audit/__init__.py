"""The proof that runs are what they claim: everything is derived again from the replies that they recorded."""

from merit.audit.against_data import AuditData
from merit.audit.audit import audit_run
from merit.audit.findings import Report
from merit.audit.recording import write_recording

__all__ = ["AuditData", "Report", "audit_run", "write_recording"]
