// The same question without anything that was learned, side by side.

function compareView(record) {
  const place = h("div", { class: "comparing" });
  const run = async () => {
    const control = new AbortController();
    let ticket = null;
    const stop = () => (ticket ? api(pathOf("answers", "running", ticket), { method: "DELETE" }) : control.abort());
    const watch = watchView(stop);
    place.replaceChildren(watch.element);
    const hear = (name, data) => {
      if (name === "started") ticket = data.ticket;
      watch.hear(name, data);
    };
    try {
      const found = await listenTo(
        pathOf("answers", record.id, "without-memory"),
        { signal: control.signal, body: {} },
        hear,
      );
      place.replaceChildren(found ? sidesView(record, found) : h("p", { class: "nothing" }, "Stopped."));
      if (found) say(comparisonWords(found));
    } catch (error) {
      place.replaceChildren();
      throw error;
    }
  };
  return h(
    "section",
    { class: "compare" },
    h("h2", {}, "Without memory"),
    h(
      "p",
      { class: "note" },
      "Asks the same question again without anything that was learned. It is not written to the history.",
    ),
    h("div", { class: "actions" }, action("Ask again without memory", run, { "data-key": "m" })),
    place,
  );
}

function comparisonWords({ same_sql: sameSql, same_rows: sameRows }) {
  if (sameSql) return "The same SQL: the memory made no difference here.";
  if (sameRows === null || sameRows === undefined) return "The rows cannot be compared.";
  return sameRows ? "Another statement, but the same rows." : "Other rows: the memory changed the answer.";
}

function sidesView(record, found) {
  const [withMemory, without] = [found.with_memory, found.without_memory];
  const side = (title, answer, before) =>
    h(
      "figure",
      {},
      h("figcaption", {}, h("b", {}, title), " ", answer.status ? statusBadge(answer.status) : null),
      answer.sql
        ? sqlView(answer.sql, before)
        : h("p", { class: "nothing" }, answer.error || answer.now || "No statement."),
      answer.result?.columns.length
        ? rowsView(answer.result, { label: `Rows ${title.toLowerCase()}` })
        : h("p", { class: "nothing" }, answer.now ?? answer.error ?? "No rows."),
    );
  return h(
    "div",
    {},
    h("p", { class: "verdict-line" }, comparisonWords(found)),
    h(
      "div",
      { class: "sides" },
      side("With memory", withMemory, null),
      side("Without memory", without, found.same_sql ? null : withMemory.sql || null),
    ),
  );
}
