// What was recalled before an attempt, and how each entry came up.

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
  );
  const made = () =>
    [...pools.map((pool) => poolView(run, pool)), shown ? formula(run.record.recall) : null].filter(Boolean);
  return onDemand(label, made, { open: Boolean(shown) && step === 1, class: "recall" });
}

const brief = (pool) => `${pool.polarity ?? "all"}: ${pool.matches.length} of ${pool.size}`;

function poolView(run, pool) {
  const kind = { positive: "Confirmed changes", negative: "Failed directions" }[pool.polarity] ?? "All entries";
  const narrowed = pool.typed
    ? "narrowed to the failure type"
    : pool.fallback
      ? "all types, too few of the same one"
      : "all types";
  const sizes = [
    ["stored", pool.stored],
    ["legal", pool.legal],
    ["same type", pool.same_type],
    ["pool", pool.size],
  ];
  const range = (name, found) => found && `${name} ${found.map(score).join(" to ")}`;
  const ranges = [range("dense", pool.dense_range), range("lexical", pool.lexical_range)].filter(Boolean).join(", ");
  return h(
    "section",
    { class: "pool" },
    h("h4", {}, kind),
    h(
      "p",
      { class: "sizes" },
      sizes.map(([name, value]) => h("span", {}, h("b", {}, value.toLocaleString("en")), ` ${name}`)),
      h("span", {}, narrowed),
    ),
    ranges && pool.matches.length ? h("p", { class: "ranges" }, `Scores in the pool: ${ranges}`) : null,
    pool.matches.length ? matchTable(run, pool) : null,
  );
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
        pool.matches.map((match) => matchRows(run, match, heads.length)),
      ),
    ),
  );
}

function matchRows(run, [source, rank, total, dense, lexical, denseNormalised, lexicalNormalised, bonus], width) {
  const turn = run.turns[source];
  const entry = entryOf(turn);
  const numbers = [
    ["dense", dense],
    ["normalised", denseNormalised],
    ["lexical", lexical],
    ["normalised", lexicalNormalised],
    ["bonus", bonus || null],
  ];
  return h(
    "tbody",
    { class: entry.positive ? "positive" : "negative" },
    h(
      "tr",
      {},
      h("td", { class: "rank" }, String(rank)),
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

/** An entry's change, from the SQL that failed to what it became. */
function changeView(entry) {
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
    ),
    sqlView(after.sql, same ? null : before.sql),
  );
}

function formula(policy) {
  if (!policy) return null;
  const weight = policy.dense && policy.lexical ? [policy.dense_weight, 1 - policy.dense_weight] : [1, 1];
  const parts = [
    policy.dense && `${weight[0]} × dense normalised`,
    policy.lexical && `${weight[1]} × lexical normalised`,
    policy.type_filter === "reliability" && "type bonus",
  ];
  const said =
    policy.random_seed === null
      ? `Score = ${parts.filter(Boolean).join(" + ")}; a channel is normalised over its pool.`
      : "Drawn at random from the pool.";
  return h("p", { class: "note" }, said);
}

const score = (value) => (value === null || value === undefined ? "–" : value.toFixed(4));
const statusClass = (status) => (status === "CORRECT" || status === "EXECUTED" ? "right" : "wrong");
