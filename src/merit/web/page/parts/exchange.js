// The memory in files: pairs of questions and SQL come in, and go out.

const FORMATS = [
  ["csv", "CSV"],
  ["jsonl", "JSON lines"],
  ["vanna", "Vanna"],
  ["wren", "Wren"],
  ["cortex", "Cortex"],
  ["dbt", "dbt"],
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
    [["", "By its content"], ...FORMATS].map(([value, text]) => h("option", { value }, text)),
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
      "Pairs of questions and SQL. Each statement is run first; what does not run is left out. Below confirmed, " +
        "an entry waits for review.",
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

/** What an import did, or would do, and what was left out, with its reason. */
function importReport(reply, dry) {
  return h(
    "div",
    { class: "import-report" },
    h("h3", {}, dry ? "It would be so" : "Done"),
    factsOf([
      [dry ? "Would be imported" : "Imported", reply.imported.length.toLocaleString("en")],
      ["Known already", reply.known],
      ["Retracted before", reply.deleted],
      ["Left out", reply.left_out.length],
      ["Read as", reply.format],
    ]),
    reply.left_out.length
      ? h(
          "ul",
          { class: "notes" },
          reply.left_out.slice(0, 50).map(({ where, reason }) => h("li", {}, `${where}: ${reason}`)),
        )
      : null,
    contradictionsView(reply.contradictions),
  );
}

function exportView() {
  const format = h(
    "select",
    {},
    FORMATS.map(([value, text]) => h("option", { value }, text)),
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
