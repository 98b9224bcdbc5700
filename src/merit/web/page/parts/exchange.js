// The memory in files: pairs of questions and SQL come in, and go out.

const FORMATS_IN = [
  ["", "By the file's name"],
  ["jsonl", "JSON lines"],
  ["csv", "CSV"],
  ["vanna", "Vanna"],
  ["dbt", "dbt"],
  ["yaml", "YAML"],
];
const FORMATS_OUT = [
  ["jsonl", "JSON lines"],
  ["csv", "CSV"],
  ["vanna", "Vanna"],
];

function exchangeView() {
  return h(
    "div",
    { class: "page" },
    h("h1", { tabindex: "-1" }, "Memory"),
    memoryWays("exchange"),
    may("curate") ? importView() : null,
    exportView(),
  );
}

function importView() {
  const file = h("input", { type: "file" });
  const format = h(
    "select",
    {},
    FORMATS_IN.map(([value, text]) => h("option", { value }, text)),
  );
  const grade = h(
    "select",
    {},
    ["executed", "confirmed"].map((value) => h("option", { value }, readable(value))),
  );
  const report = h("div", { "aria-live": "polite" });
  const bring = (dry) => async () => {
    const [chosen] = file.files;
    if (!chosen) throw new Error("choose a file first");
    const query = queryOf({ format: format.value, grade: grade.value, dry_run: dry || null, name: chosen.name });
    const reply = await api(`memory/import${query}`, { method: "POST", file: chosen });
    report.replaceChildren(importReport(reply, dry));
  };
  return h(
    "section",
    { class: "part-section" },
    h("h2", {}, "Import"),
    h(
      "p",
      { class: "note" },
      "Pairs of questions and SQL. Each statement is run first; what does not run is left out. Below confirmed, an entry waits for review.",
    ),
    h(
      "form",
      { class: "exchange", on: { submit: (event) => event.preventDefault() } },
      field("File", file),
      field("Format", format),
      field("Grade", grade),
      h(
        "div",
        { class: "actions" },
        action("Import", bring(false), { class: "primary" }),
        action("Only check", bring(true)),
      ),
    ),
    report,
  );
}

/** What an import did, or would do: numbers as facts, and what was left out, with its reason. */
function importReport(reply, dry) {
  const numbers = Object.entries(reply).filter(([, value]) => typeof value === "number");
  const problems = Object.entries(reply).filter(([, value]) => Array.isArray(value) && value.length);
  return h(
    "div",
    {},
    h("h3", {}, dry ? "It would be so" : "Done"),
    factsOf(numbers.map(([name, value]) => [capital(readable(name)), value.toLocaleString("en")])),
    problems.map(([name, items]) =>
      h(
        "div",
        {},
        h("h3", {}, capital(readable(name))),
        h(
          "ul",
          { class: "notes" },
          items.slice(0, 50).map((item) => h("li", {}, plainText(item))),
        ),
      ),
    ),
  );
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

function plainText(item) {
  if (typeof item === "string") return item;
  return Object.entries(item ?? {})
    .map(([name, value]) => `${readable(name)}: ${value}`)
    .join(", ");
}

function exportView() {
  const format = h(
    "select",
    {},
    FORMATS_OUT.map(([value, text]) => h("option", { value }, text)),
  );
  const run = async () =>
    save(
      await send(`api/memory/export${queryOf({ format: format.value })}`, { accept: "*/*" }),
      `memory.${format.value}`,
    );
  return h(
    "section",
    { class: "part-section" },
    h("h2", {}, "Export"),
    h("p", { class: "note" }, "Everything that is live, as pairs of questions and SQL."),
    h(
      "form",
      { class: "exchange", on: { submit: (event) => event.preventDefault() } },
      field("Format", format),
      h("div", { class: "actions" }, action("Export", run, { class: "primary" })),
    ),
  );
}
