// Where the agent is not told what is right, candidates vote: the most frequent result stands (agent/agreement.py).

/** The different results of an episode in the order they came, each with the attempts that gave it. */
function resultsOf(turn) {
  const found = new Map();
  turn.attempts.forEach((attempt, step) => {
    if (attempt.status !== "EXECUTED") return;
    const result = attempt.result ?? "";
    if (!found.has(result)) found.set(result, []);
    found.get(result).push(step);
  });
  return found;
}

/** A result's name: rows are numbered, no rows are called so. */
function resultName(turn, result) {
  const numbered = [...resultsOf(turn).keys()].filter(Boolean);
  return result ? `Result ${numbered.indexOf(result) + 1}` : "No rows";
}

/** Which attempts gave the same rows as this one. */
function agreementOf(attempt, turn) {
  if (attempt.status !== "EXECUTED") return null;
  const result = attempt.result ?? "";
  const others = resultsOf(turn)
    .get(result)
    .filter((step) => turn.attempts[step] !== attempt);
  const alike = others.length ? ` as attempt ${others.join(", ")}` : "";
  return h("span", { class: "kind" }, resultName(turn, result).toLowerCase(), alike);
}

/** How a vote went. */
function votesView(turn) {
  if (turn.chosen === undefined) return null;
  const results = [...resultsOf(turn)];
  const rows = results.some(([result]) => result); // no rows count only where nothing gave any
  const failed = turn.attempts.length - results.reduce((sum, [, steps]) => sum + steps.length, 0);
  const line = ([result, steps]) =>
    h(
      "li",
      { class: steps.includes(turn.chosen) ? "stands" : null },
      h("b", {}, resultName(turn, result)),
      ` ${count(steps.length, "vote")}: attempt ${steps.join(", ")}`,
      rows && !result ? " (not counted, since others gave rows)" : "",
      steps.includes(turn.chosen) ? " · stands" : "",
    );
  return h(
    "section",
    { class: "votes" },
    h("h2", {}, "The vote"),
    h("p", { class: "nothing" }, "No reference was used; the result that most candidates gave stands."),
    h("ul", {}, results.map(line), failed ? h("li", {}, `${count(failed, "attempt")} did not run`) : null),
  );
}

/** What the database refused, and what the schema changed in it. */
function groundingView(written) {
  return h(
    "div",
    { class: "grounding" },
    h(
      "p",
      {},
      term("grounded", MEANINGS.grounded),
      ": the database refused what the model wrote (",
      h("span", { class: "said" }, written.error),
      ")",
    ),
    h("ul", {}, written.changes.map((why) => h("li", {}, why))),
  );
}
