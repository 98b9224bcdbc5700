// How answers and entries of the memory are shown, wherever they are.

const STATUS_WORDS = {
  answered: ["right", "Answered"],
  unsure: ["unsure", "Unsure"],
  unanswerable: ["unsure", "No answer in the database"],
  failed: ["wrong", "Failed"],
  not_executed: ["unsure", "Not executed"],
};
const SAID_WORDS = {
  confirmed: ["right", "Confirmed"],
  rejected: ["wrong", "Rejected"],
  corrected: ["right", "Corrected"],
};
const KIND_WORDS = { precedent: "Answer", positive: "Change that worked", negative: "Failed direction" };
const STATE_WORDS = { live: "Live", stale: "Stale", retracted: "Retracted" };

function badge([kind, text]) {
  return h("span", { class: `badge ${kind}` }, text);
}

const statusBadge = (status) => badge(STATUS_WORDS[status] ?? ["unsure", readable(status)]);
const saidBadge = (kind) => badge(SAID_WORDS[kind] ?? ["unsure", readable(kind)]);

/** A grade of the memory: how sure an entry is. */
const gradeTag = (grade) =>
  h("span", { class: `tag grade-${grade === "confirmed" ? "confirmed" : "lower"}` }, readable(grade));

const answerAddress = (id) => `#/answer/${encodeURIComponent(id)}`;
const entryAddress = (id) => `#/memory/${encodeURIComponent(id)}`;

/** An entry's SQL: its statement, or the change that it stands for. */
const entrySql = ({ sql, before }) => sqlView(sql ?? "", before || null);

/** An entry that a prompt showed, and the scores that brought it up. */
function recalledView(entry) {
  if (entry.purged) return h("li", { class: "recalled" }, h("code", {}, entry.id), " was purged since");
  const scores = [
    ["score", entry.score],
    ["meaning", entry.dense],
    ["words", entry.lexical],
  ].filter(([, value]) => typeof value === "number");
  return h(
    "li",
    { class: "recalled" },
    h(
      "p",
      { class: "recalled-head" },
      h("a", { href: entryAddress(entry.id) }, entry.question || entry.id),
      gradeTag(entry.grade ?? "purged"),
      entry.kind &&
        entry.kind !== "precedent" &&
        h("span", { class: "tag" }, KIND_WORDS[entry.kind] ?? readable(entry.kind)),
      entry.stale && h("span", { class: "tag bad" }, "stale"),
      entry.deleted && h("span", { class: "tag bad" }, "retracted"),
    ),
    h(
      "p",
      { class: "why" },
      scores.map(([name, value]) => h("span", {}, `${name} ${value.toFixed(2)}`)),
      entry.author && h("span", {}, `by ${entry.author}`),
      entry.time && h("span", {}, moment(entry.time)),
    ),
    onDemand("SQL", () => entrySql(entry), { class: "sql-on-demand" }),
  );
}

const RECALL_MEANING =
  "Recalled: what the memory held before this question, most similar first. Meaning compares the questions' " +
  "embeddings, words their vocabulary; the score adds both. Only what came before can be shown.";

/** Each entry once, as it scored best: every candidate's prompt recalls anew. */
function distinctEntries(entries) {
  const best = new Map();
  for (const entry of entries) if (!(best.get(entry.id)?.score >= entry.score)) best.set(entry.id, entry);
  return [...best.values()].sort((a, b) => b.score - a.score);
}

/** Everything that was recalled, and why. */
function recalledList(entries) {
  if (!entries.length)
    return h("p", { class: "nothing" }, "Nothing was recalled: the memory holds nothing similar yet.");
  return h(
    "div",
    {},
    h("ul", { class: "recalled-list" }, entries.map(recalledView)),
    h("p", { class: "note" }, "What is meant by ", term("recalled", RECALL_MEANING)),
  );
}

/** Later answers that rest on an entry, the nearest first. */
function usesList(uses) {
  if (!uses?.length) return null;
  return h(
    "ul",
    { class: "uses" },
    uses.map((use) =>
      h(
        "li",
        {},
        h("a", { href: answerAddress(use.answer) }, use.question),
        h("small", {}, use.depth > 1 ? " through an answer that was shown it" : " was shown it"),
      ),
    ),
  );
}

/** Answers to one question that give different rows. */
function contradictionsView(found) {
  if (!found?.length) return null;
  return h(
    "section",
    { class: "contradictions", role: "note", "aria-label": "Contradictions" },
    h("h2", {}, count(found.length, "contradiction")),
    h("p", { class: "note" }, "One question, statements with different rows. Retract or correct what is wrong."),
    found.map(({ question, answers, certain }) =>
      h(
        "div",
        {},
        h("h3", {}, question, certain === false ? h("small", {}, " perhaps") : null),
        h("div", { class: "sides" }, answers.map(contradictingSide)),
      ),
    ),
  );
}

function contradictingSide({ id, sql, grade, author, time, error }) {
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("a", { href: entryAddress(id) }, id),
      " ",
      gradeTag(grade),
      author ? ` by ${author} ` : " ",
      time ? moment(time) : null,
    ),
    error ? h("p", { class: "said" }, error) : null,
    sqlView(sql),
  );
}

/** Where there is nothing. */
function missingView(title, why, back, label) {
  return h(
    "div",
    { class: "page" },
    h("h1", { tabindex: "-1" }, title),
    h("p", { class: "lede" }, why),
    h("p", { class: "actions" }, h("a", { class: "button", href: back }, label)),
  );
}
