// What was recalled before an attempt, and the scores of each entry.

/** The pools of one recall, each with its entries and their scores. */
function recallView(run, turn, step) {
  const pools = turn.recalls?.[step];
  if (!pools) return null;
  const shown = pools.reduce((sum, pool) => sum + pool.matches.length, 0);
  const label = h(
    "span",
    {},
    h("b", {}, shown ? `Recalled ${count(shown, "entry", "entries")}` : "Recalled nothing"),
    ` · ${pools.map(brief).join(" · ")}`,
    shown && sources(pools) === sources(turn.recalls[step - 1] ?? []) ? " · the same as before" : null,
  );
  const made = () => pools.map((pool) => poolView(run, turn, pool));
  return onDemand(label, made, { open: Boolean(shown) && step === 1, class: "recall" });
}

const sources = (pools) => pools.flatMap((pool) => pool.matches.map(([source]) => source)).join();
const brief = (pool) => `${pool.polarity ?? "all"}: ${pool.matches.length} of ${pool.size}`;

const KINDS = {
  positive: "Confirmed changes",
  negative: "Failed directions",
  precedent: "Precedents: answers to earlier questions",
};

function poolView(run, turn, pool) {
  const policy = run.record.recall;
  const typeless = pool.polarity === "precedent"; // an answer has no failure
  const held = quarantined(run, turn, pool);
  const sizes = [
    ["stored", pool.stored, MEANINGS.stored],
    held ? [`in quarantine (below ${policy.least_grade})`, held, MEANINGS.quarantine] : null,
    ["legal", pool.legal, MEANINGS.legal],
    typeless ? null : ["same type", pool.same_type, MEANINGS.type],
    ["pool", pool.size, MEANINGS.pool],
  ].filter(Boolean);
  const range = (name, found) => found && `${name} ${found.map(score).join(" to ")}`;
  const ranges = [range("dense", pool.dense_range), range("lexical", pool.lexical_range)].filter(Boolean).join(", ");
  return h(
    "section",
    { class: "pool" },
    h("h4", {}, KINDS[pool.polarity] ?? "All entries"),
    h(
      "p",
      { class: "sizes" },
      sizes.map(([name, value, meaning]) =>
        h("span", { class: "size" }, h("b", {}, value.toLocaleString("en")), " ", term(name, meaning)),
      ),
      h("span", { class: "size" }, typeless ? nearby(policy) : narrowed(pool)),
    ),
    ranges && pool.matches.length ? h("p", { class: "ranges" }, `Scores in the pool: ${ranges}`) : null,
    pool.matches.length ? [matchTable(run, pool), formula(policy, typeless)] : null,
  );
}

function narrowed(pool) {
  if (pool.typed) return "narrowed to the failure type";
  return pool.fallback ? "all types, too few of the same one" : "all types";
}

const nearby = (policy) =>
  policy.database_bonus ? `a bonus of ${policy.database_bonus} for the same database` : "all databases alike";

const GRADES = ["confirmed", "tested", "agreed", "executed"]; // surest first
const unsure = (grade, policy) => GRADES.indexOf(grade) > GRADES.indexOf(policy?.least_grade ?? "executed");

/** How many entries of a pool's polarity were kept before a turn, but are not sure enough to be recalled. */
function quarantined(run, turn, pool) {
  const earlier = run.turns.slice(0, turn.number).filter((one) => one.entry && unsure(one.grade, run.record.recall));
  const fits = (polarity) => (pool.polarity ?? "positive negative").includes(polarity);
  return earlier.filter((one) => fits(entryOf(one).polarity)).length;
}

function matchTable(run, pool) {
  const heads = ["Rank", "From", "Score", "Dense", "normalised", "Lexical", "normalised", "Bonus"];
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Recalled entries and their scores" },
    asTable(
      h(
        "table",
        { class: "data matches" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            heads.map((head, i) =>
              h("th", { scope: "col", class: i === 0 ? "rank" : i === 1 ? null : "number" }, head),
            ),
          ),
        ),
        pool.matches.map((match) => matchRows(run, pool, match, heads.length)),
      ),
    ),
  );
}

function matchRows(run, pool, [source, rank, total, dense, lexical, denseNormalised, lexicalNormalised, bonus], width) {
  const turn = run.turns[source];
  const entry = entryOf(turn, pool.polarity);
  const numbers = [
    ["dense", dense],
    ["normalised", denseNormalised],
    ["lexical", lexical],
    ["normalised", lexicalNormalised],
    ["bonus", bonus || null],
  ];
  return h(
    "tbody",
    { class: entry.polarity },
    h(
      "tr",
      {},
      h("td", { class: "rank", "data-label": "rank" }, String(rank)),
      h(
        "th",
        { scope: "row" },
        h("a", { href: episodeAddress(run.record, turn.question) }, `question ${turn.question.id}`),
        h("small", {}, ` position ${turn.position}, ${turn.question.db}`),
      ),
      h("td", { class: "number strong", "data-label": "score" }, score(total)),
      numbers.map(([label, value]) => h("td", { class: "number", "data-label": label }, score(value))),
    ),
    h("tr", {}, h("td", { colspan: width, class: "change" }, changeView(entry))),
  );
}

const POISONED = "Poisoned: kept as right, but the judge calls it wrong. The agent does not know.";

/** What an entry is, and whether it may be recalled. */
function entrySaid({ polarity, grade }, policy) {
  const why = {
    confirmed: "a reference or a person confirmed it",
    agreed: "most candidates gave its rows",
    executed: "it ran",
  };
  const what = { positive: "A change that worked", negative: "A failed direction", precedent: "A precedent" };
  const held = unsure(grade, policy) ? ` In quarantine: only what is ${policy.least_grade} or surer is recalled.` : "";
  return `${what[polarity]}, ${grade}${why[grade] ? ` (${why[grade]})` : ""}.${held}`;
}

/** An answer with its question. */
function precedentView({ id, grade, poisoned, after, lesson, turn }) {
  return h(
    "div",
    { class: "entry" },
    h(
      "p",
      { class: "how" },
      h("code", {}, id),
      ` ${grade}`,
      poisoned ? h("span", { class: "wrong", title: POISONED }, " poisoned") : null,
    ),
    h("p", { class: "asked" }, turn.question.text),
    sqlView(after.sql, null),
    lessonView(lesson),
  );
}

/** An entry's change, from the failed SQL to the new one; a precedent has no failed SQL. */
function changeView(entry) {
  if (entry.polarity === "precedent") return precedentView(entry);
  const { before, after } = entry;
  const same = before.sql === after.sql;
  return h(
    "div",
    { class: "entry" },
    h(
      "p",
      { class: "how" },
      h("code", {}, entry.id),
      ` ${readable(before.type)} → `,
      h("span", { class: statusClass(after.status) }, readable(after.status)),
      same ? " (the same SQL again)" : null,
      entry.poisoned ? h("span", { class: "wrong", title: POISONED }, " poisoned") : null,
    ),
    sqlView(after.sql, same ? null : before.sql),
    lessonView(entry.lesson),
  );
}

/** What the model wrote about an entry's episode, where the method keeps it. */
function lessonView(lesson) {
  return lesson ? h("p", { class: "thought" }, lesson) : null;
}

function formula(policy, typeless) {
  const weight = policy.dense && policy.lexical ? [policy.dense_weight, 1 - policy.dense_weight] : [1, 1];
  const parts = [
    policy.dense && `${weight[0]} × dense normalised`,
    policy.lexical && `${weight[1]} × lexical normalised`,
    !typeless && policy.type_filter === "reliability" && "type bonus",
    typeless && policy.database_bonus && "bonus on the same database",
    policy.recency && "bonus for recency",
  ];
  const reads = typeless ? " Dense compares questions, lexical questions with their SQL." : "";
  const said =
    policy.random_seed === null
      ? `Score = ${parts.filter(Boolean).join(" + ")}; a channel is normalised over its pool.${reads}`
      : "Drawn at random from the pool.";
  const bonus = policy.recency || (typeless ? policy.database_bonus : policy.type_filter === "reliability");
  const words = [policy.dense && "dense", policy.lexical && "lexical", bonus && "bonus"].filter(Boolean);
  const terms = words.map((word) => [" ", term(word, MEANINGS[word])]);
  return h("p", { class: "note" }, said, policy.random_seed === null ? [" What is meant by", terms] : null);
}

const score = (value) => (value === null || value === undefined ? "–" : value.toFixed(4));
const statusClass = (status) => (status === "CORRECT" || status === "EXECUTED" ? "right" : "wrong");
