// What an episode left: its entry or what was learned from its review, and the episodes that recalled it later.

const FIRST_USERS = 12; // of an entry, shown at once

/** The entry an episode left, and the episodes that recalled it later. */
function leftView(run, turn, gathered) {
  if (run.record.reviewed !== undefined) return reviewView(run, turn);
  if (!turn.entry)
    return h(
      "section",
      { class: "left" },
      h("h2", {}, "What it left"),
      h("p", { class: "nothing" }, "No entry in the memory."),
    );
  const entry = entryOf(turn);
  return h(
    "section",
    { class: "left" },
    h("h2", {}, "What it left", h("small", {}, gathered ? " in the pass that gathers" : "")),
    h("p", {}, entrySaid(entry, run.record.recall)),
    entry.poisoned ? h("p", { class: "problem" }, POISONED) : null,
    changeView(entry),
    laterView(run, turn),
  );
}

/** What the simulated reviewer said of the answer, and what was learned from it. */
function reviewView(run, turn) {
  const { review } = turn;
  const said = review
    ? `The simulated reviewer ${review.said} this answer once it was recorded.`
    : "Not drawn for review, so nothing was learned from it.";
  const entry = (one) => [
    h("p", {}, entrySaid(one, run.record.recall)),
    changeView({ ...one, poisoned: false, turn }),
  ];
  const learned = review?.entries.map(entry) ?? [];
  return h(
    "section",
    { class: "left" },
    h("h2", {}, "What was said of it"),
    h("p", { class: review ? null : "nothing" }, said),
    review?.sql ? sqlView(review.sql, turn.attempts[standing(turn)].sql) : null,
    learned.length ? [h("h3", {}, "What was learned"), learned, laterView(run, turn)] : null,
  );
}

/** The episodes that recalled what an episode left. */
function laterView(run, turn) {
  const users = [...(run.users.get(turn.number) ?? [])].map((number) => run.turns[number]);
  return [
    h("h3", {}, users.length ? `Recalled later by ${count(users.length, "question")}` : "Never recalled"),
    usersView(run, users.slice(0, FIRST_USERS)),
    users.length > FIRST_USERS
      ? onDemand(`${users.length - FIRST_USERS} more`, () => usersView(run, users.slice(FIRST_USERS)))
      : null,
  ];
}

function usersView(run, turns) {
  const item = (turn) =>
    h(
      "li",
      {},
      turnBadge(turn),
      h("a", { href: episodeAddress(run.record, turn.question) }, turn.question.text),
      h("small", {}, ` position ${turn.position}`),
    );
  return turns.length ? h("ul", { class: "users" }, turns.map(item)) : null;
}
