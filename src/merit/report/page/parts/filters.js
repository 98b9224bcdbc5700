// Which episodes are looked at: the filters live in the address, so that a selection can be shared as a link.

const OUTCOMES = {
  first: ["right at once", (flags) => flags & INITIAL && flags & FINAL],
  repaired: ["repaired", (flags) => !(flags & INITIAL) && flags & FINAL],
  failed: ["wrong", (flags) => !(flags & FINAL)],
  oscillating: ["oscillating", (flags) => flags & OSCILLATES],
};
const MEMORY = {
  used: ["recalled something", (flags) => flags & RECALLED],
  unused: ["recalled nothing", (flags) => !(flags & RECALLED)],
  wrote: ["left an entry", (flags) => flags & WROTE],
};
const SORTS = {
  stream: ["stream order", null],
  latest: ["latest first", (a, b) => b.at - a.at],
  attempts: ["most attempts", (a, b) => b.attempts + b.repeats - a.attempts - a.repeats],
  question: ["by question", (a, b) => a.q - b.q],
};

let rowsOf = null; // the index they were made of, and the rows

/** Every answered question of every run, as rows to filter. */
async function allRows() {
  const [about, index] = await Promise.all([overview(), chunk("index")]);
  if (rowsOf?.index === index) return rowsOf.rows;
  const streams = new Map();
  for (const record of about.runs) streams.set(record.stream, await streamOf(record));
  const rows = [];
  for (const record of about.runs) {
    const { q, flags, attempts, chosen, repeats, types } = index[record.id] ?? { q: [] };
    const { questions } = streams.get(record.stream);
    q.forEach((place, at) =>
      rows.push({
        record,
        at,
        q: place,
        question: questions[place],
        flags: flags[at],
        attempts: attempts[at],
        chosen: chosen[at],
        repeats: repeats[at],
        types: types[at],
      }),
    );
  }
  rowsOf = { index, rows };
  return rows;
}

/** Whether a run is one of those that are looked at. */
const ofWanted = (record, { dataset, method, seed }) =>
  (!dataset || record.dataset === dataset) &&
  (!method || record.method === method) &&
  (!seed || String(record.seed) === seed);

/** The rows that fit; `sqls` holds what was tried, run by run, where that is searched too. */
function selected(rows, wanted, about, sqls = null) {
  const bit = wanted.type ? 1 << about.types.indexOf(wanted.type) : 0;
  const words = (wanted.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const [outcome, memory, sort] = [OUTCOMES[wanted.outcome]?.[1], MEMORY[wanted.memory]?.[1], SORTS[wanted.sort]?.[1]];
  const found = rows.filter(
    (row) =>
      ofWanted(row.record, wanted) &&
      (!wanted.db || row.question.db === wanted.db) &&
      (!bit || row.types & bit) &&
      (!outcome || outcome(row.flags)) &&
      (!memory || memory(row.flags)) &&
      (!words.length || said(row, words, sqls)),
  );
  return sort ? found.sort(sort) : found;
}

function said(row, words, sqls) {
  row.question.words ??= `${row.question.id} ${row.question.db} ${row.question.text}`.toLowerCase();
  const sql = sqls?.get(row.record.id)?.[row.at] ?? "";
  return words.every((word) => row.question.words.includes(word) || sql.includes(word));
}

const tried = new Map();

/** What every episode of some runs tried, in small letters; the page can respond between two runs. */
async function triedSql(records, onRun) {
  for (const [done, record] of records.entries()) {
    if (!tried.has(record.id) || !record.finished) {
      const run = await openRun(record);
      tried.set(
        record.id,
        [...run.answers.values()].map((turn) =>
          turn.attempts
            .map((one) => one.sql)
            .join("\n")
            .toLowerCase(),
        ),
      );
      onRun(done + 1, records.length);
      await new Promise((resume) => setTimeout(resume));
    }
  }
  return tried;
}

/** The form over the list; `change` is called with every new selection. */
function filterForm(rows, wanted, about, change) {
  const distinct = (of) =>
    [...new Set(rows.map(of))].sort((a, b) => String(a).localeCompare(String(b), "en", { numeric: true }));
  const same = (names) => names.map((name) => [String(name), String(name)]);
  const labelled = (table) => Object.entries(table).map(([name, [label]]) => [name, label]);
  const types = about.types.filter((_, i) => rows.some((row) => row.types & (1 << i)));
  const search = h("input", {
    type: "search",
    id: "search",
    name: "q",
    value: wanted.q ?? "",
    placeholder: "Search questions  /",
    "aria-label": "Search questions",
    autocomplete: "off",
  });
  const form = h(
    "form",
    { class: "filters", role: "search", "aria-label": "Episodes" },
    h(
      "div",
      { class: "search" },
      search,
      h(
        "label",
        { class: "tick" },
        h("input", { type: "checkbox", name: "sql", value: "1", checked: wanted.sql === "1" }),
        "SQL too",
      ),
    ),
    h(
      "details",
      { class: "narrow", open: roomy() || Object.keys(wanted).some((name) => !["q", "page", "as"].includes(name)) },
      h("summary", {}, "Filters"),
      h(
        "div",
        { class: "choices" },
        choice("dataset", "Dataset", [...new Map(about.runs.map((one) => [one.dataset, one.benchmark]))], wanted),
        choice("method", "Method", [...new Map(about.runs.map((one) => [one.method, one.label]))], wanted),
        choice("seed", "Seed", same(distinct((row) => row.record.seed)), wanted),
        choice("db", "Database", same(distinct((row) => row.question.db)), wanted),
        choice(
          "type",
          "Failure",
          types.map((type) => [type, readable(type)]),
          wanted,
        ),
        choice("outcome", "Outcome", labelled(OUTCOMES), wanted),
        choice("memory", "Memory", labelled(MEMORY), wanted),
        wanted.as === "list"
          ? choice("sort", "Order", labelled(SORTS).slice(1), wanted, "stream order")
          : choice("sort", "Order", labelled(GRID_SORTS).slice(1), wanted, "question order"),
        h("button", { type: "reset", class: "plain" }, "Clear"),
      ),
      h(
        "p",
        { class: "meanings" },
        "What is meant by ",
        term("attempts", MEANINGS.attempts),
        term("oscillating", MEANINGS.oscillating),
        term("memory", MEANINGS.memory),
      ),
    ),
  );
  const read = () => Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change(read()), 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const field of form.elements) field.type === "checkbox" ? (field.checked = false) : (field.value = "");
    change({});
  });
  return form;
}

const roomy = () => matchMedia("(min-width: 701px)").matches;

function choice(name, label, options, wanted, all = "all") {
  const select = h(
    "select",
    { name },
    h("option", { value: "" }, all),
    options.map(([value, text]) => h("option", { value, selected: wanted[name] === value }, text)),
  );
  return h("label", { hidden: options.length < 2 && !wanted[name] }, h("span", {}, label), select);
}
