"""Why an entry that was there could not be shown to a question: what audits hold receipts against."""

from merit.live.record.events import Asked
from merit.live.record.receipt import Receipt
from merit.memory import Databases, Entry, Grade
from merit.types import Polarity, Viewer, shown_scope


def not_for(asked: Asked, entry: Entry) -> str | None:
    """Why an entry could not be shown to the person who asked."""
    team = asked.receipt.settings.get("team") if asked.receipt else None
    viewer = Viewer(asked.author, str(team or ""))
    if viewer.sees(entry.provenance.scope):
        return None
    who = f"{asked.author or 'somebody unnamed'}{f' of the team {team}' if team else ''}"
    return f"which is for {shown_scope(entry.provenance.scope)}, and {who} asked"


def out_of_bounds(asked: Asked, receipt: Receipt, entry: Entry) -> str | None:
    """Why an entry that was there could not be shown to a question all the same."""
    source, least = entry.provenance, receipt.settings.get("recall_grade")
    if str(source.question_id) == asked.id:
        return "which was learned from itself"
    if source.position > asked.position:
        return f"which comes from position {source.position}, after {asked.position}"
    if least is None:
        return "and nothing was to be recalled"
    if problem := not_for(asked, entry):
        return problem
    wanted = Grade.CONFIRMED if entry.polarity is Polarity.POSITIVE else least
    if wanted not in list(Grade) or not entry.grade.at_least(Grade(wanted)):
        return f"which is {entry.grade}, and the least is {wanted}"
    same, scope = source.db_id == asked.database, receipt.settings.get("recall_databases")
    if scope != Databases.ANY and same is not (scope == Databases.SAME):
        return f"which is about the database {source.db_id}, out of scope"
    return None
