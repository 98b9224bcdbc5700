// The exact prompts, rendered again from templates and records, as prompts/render.py does; the hash proves it.

const NONE = "(none)";
const NO_FAILURE = "UNKNOWN"; // of a candidate that ran
const PLACEHOLDER = /\{([A-Z_]+(?:\(none\))?)\}/g;
const ALONE = /^\{([A-Z_]+(?:\(none\))?)\}\n(?:\n|(?=.))/gm;

/** A failure type in the paper's words, as models read it. */
function inWords(type) {
  if (type === "FILTER_VALUE") return "Filter/Value";
  return type.toLowerCase().replace(/(^|_)([a-z])/g, (_, gap, letter) => (gap ? " " : "") + letter.toUpperCase());
}

/** The prompt that attempt `step` of a turn answered; a first prompt again, where a method shows no history. */
function repairPrompt(about, run, turn, step) {
  const fill = filler(about.templates);
  const shown = (turn.recalls?.[step] ?? []).flatMap((pool) =>
    pool.matches.map(([source]) => entryOf(run.turns[source], pool.polarity)),
  );
  const PRECEDENTS_IF_ANY = precedents(
    fill,
    shown.filter((entry) => entry.polarity === "precedent"),
    turn.question,
  );
  if (!run.record.history && run.record.live) return livePrompt(about, run, turn, step, PRECEDENTS_IF_ANY);
  if (!run.record.history) return framed(about, run, turn, "initial", { PRECEDENTS_IF_ANY });
  const tried = candidates(turn.attempts.slice(0, step));
  const last = tried.at(-1);
  const lines = (parts) => parts.join("\n") || NONE;
  const remembered = (polarity) =>
    lines(
      shown
        .filter((entry) => entry.polarity === polarity)
        .map((entry, i) => fill(polarity, remembering(entry, i + 1))),
    );
  const reflections = (turn.reflections ?? []).slice(0, step);
  return framed(about, run, turn, "repair", {
    STATIC_EXAMPLES_IF_ANY: examples(fill, run.record.demonstrations),
    PRECEDENTS_IF_ANY,
    "RETRIEVED_POSITIVE_MEMORIES_OR_(none)": remembered("positive"),
    "RETRIEVED_NEGATIVE_MEMORIES_OR_(none)": remembered("negative"),
    "LOCAL_REFLECTIONS_OR_(none)": lines(reflections.map((one, i) => `[Local reflection ${i + 1}] ${one.text}`)),
    STATUS: last.status,
    ERROR_TYPE: inWords(last.type ?? NO_FAILURE),
    "DATABASE_ERROR_OR_(none)": last.error || NONE,
    ALL_PREVIOUS_SQL_ATTEMPTS: tried
      .map((attempt, i) => {
        const OBSERVED = attempt.status === "EXECUTED" ? "executed" : "observed unsuccessful";
        return fill("history", { INDEX: String(i + 1), OBSERVED, SQL: attempt.sql });
      })
      .join("\n\n"),
  });
}

/** The prompt of the reflection on the first `step + 1` attempts. */
function reflectionPrompt(about, run, turn, step) {
  const tried = candidates(turn.attempts.slice(0, step + 1));
  const fill = filler(about.templates);
  const outcomes = tried.map((attempt, i) =>
    fill("outcome", {
      INDEX: String(i + 1),
      SQL: attempt.sql,
      STATUS: attempt.status,
      "DATABASE_ERROR_OR_(none)": attempt.error || NONE,
    }),
  );
  return framed(about, run, turn, "reflection", {
    ERROR_TYPE: inWords(tried.at(-1).type ?? NO_FAILURE),
    ATTEMPTS_AND_OUTCOMES: outcomes.join("\n\n"),
  });
}

function framed(about, run, turn, purpose, values) {
  const fill = filler(about.templates);
  const family = run.record.layout in about.evidence ? run.record.layout : "spider";
  const { text, evidence, db } = turn.question;
  return fill(purpose, {
    PROMPT_VERSION: `${family}-${purpose}-v3`,
    DATABASE_SCHEMA: run.record.live ? liveSchema(run.stream, turn.question) : run.stream.schemas[db],
    BIRD_CONTEXT_IF_APPLICABLE: about.evidence[family] ? evidenceOf(fill, evidence) : "",
    QUESTION: text,
    ...values,
  });
}

/** A draw's prompt for live use: two wordings take turns. */
function livePrompt(about, run, turn, step, PRECEDENTS_IF_ANY) {
  const fill = filler(about.templates);
  const { text, evidence, db, mentions } = turn.question;
  return fill(step % 2 ? "live/odd_draw" : "live/even_draw", {
    DATABASE_SCHEMA: run.stream.live[db],
    MENTIONED_VALUES_IF_ANY: mentions ? fill("live/mentioned", { VALUES: mentions.join("\n") }) : "",
    NOTES_IF_ANY: "", // benchmarks have none
    PRECEDENTS_IF_ANY,
    EVIDENCE_IF_ANY: evidence ? fill("live/evidence", { EVIDENCE: evidence }) : "",
    QUESTION: text,
  });
}

/** What a repair prompt for live use shows of a database, as prompts/live.py does. */
function liveSchema(stream, { db, mentions }) {
  if (!mentions) return stream.live[db];
  const heading = "-- Values in the database that the question mentions:";
  return [stream.live[db], "", heading, ...mentions.map((line) => `-- ${line}`)].join("\n");
}

function evidenceOf(fill, evidence) {
  return fill("evidence", {
    EVIDENCE_IF_ANY: evidence ? fill("evidence_heading", { BIRD_EVIDENCE: evidence }) : "",
    FORMULA_RULE_IF_ANY: evidence ? fill("evidence_formula", {}) : "",
  });
}

function filler(templates) {
  return (name, values) =>
    templates[name]
      .replace(ALONE, (found, key) => (values[key] ? found : ""))
      .replace(PLACEHOLDER, (_, key) => values[key]);
}

function remembering({ id, polarity, before, after }, number) {
  const delta = `${before.sql} => ${after.sql}`;
  const failed = polarity === "positive" ? before : after; // a direction seen to fail is told by where it ended
  const context = `attempted_sql=${failed.sql}; status=${failed.status}; db_error=${failed.error || NONE}`;
  return {
    INDEX: String(number),
    ENTRY_ID: id,
    ERROR_TYPE: inWords(failed.type),
    PREVIOUS_FAILURE_CONTEXT: context,
    FAILURE_CONTEXT: context,
    FAILED_SQL_TO_CORRECT_SQL_TRANSITION: `Observed successful transition: ${delta}`,
    SQL_CHANGE: delta,
    OUTCOME: after.status,
    DATABASE_ERROR: after.error || NONE,
  };
}

/** Confirmed answers, the nearest last; a database is named where it is another one. */
function precedents(fill, entries, question) {
  if (!entries.length) return "";
  const shown = [...entries].reverse().map(({ after, grade, turn }, i) =>
    fill("precedent", {
      GRADE: grade[0].toUpperCase() + grade.slice(1),
      INDEX: String(i + 1),
      DATABASE_IF_ANOTHER: turn.question.db === question.db ? "" : `Database: ${turn.question.db}`,
      QUESTION: turn.question.text,
      SQL: after.sql,
    }),
  );
  return fill("precedents", { PRECEDENTS: shown.join("\n") });
}

function examples(fill, demonstrations) {
  if (!demonstrations.length) return "";
  const shown = demonstrations.map((one, i) =>
    fill("demonstration", {
      INDEX: String(i + 1),
      QUESTION: one.question,
      EVIDENCE_IF_ANY: one.evidence ? `Evidence: ${one.evidence}` : "",
      SQL: one.sql,
    }),
  );
  return fill("demonstrations", { EXAMPLES: shown.join("\n") });
}

async function sha256(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A prompt to read, with the proof that it is the one; or the reason why it cannot be rendered again. */
async function promptView(text, recorded) {
  const same = (await sha256(text)) === recorded;
  const said = same
    ? `Exactly what was asked: its SHA-256 is the recorded ${recorded.slice(0, 12)}…`
    : "Not what was asked: its SHA-256 is not the recorded one. The run was edited, or made with other templates.";
  return [
    h("p", { class: same ? "proof" : "problem", "data-same": String(same) }, said, " ", copyButton(text)),
    h("pre", { class: "text", tabindex: "0" }, text),
  ];
}
