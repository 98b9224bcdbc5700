// The rows of an answer: as a table or a chart, to look at and to download.

const FOUND_WORDS = {
  no_rows: "The statement ran and returned no rows: nothing fits its conditions.",
  not_permitted: "The database role may not read what this needs.",
  not_retrieved: "There is no answer in the tables that the model was shown, and it was not shown all of them.",
  nothing: "There are no rows.",
};

/** The rows of an answer; `given` are those that came with it, which may be only the first. */
async function resultView(id, given = null) {
  const complete = given && given.rows.length === given.row_count;
  const result = complete ? given : await api(pathOf("answers", id, "rows"));
  if (!result.columns?.length || (!result.rows.length && result.found !== "rows")) {
    return h("p", { class: "nothing" }, FOUND_WORDS[result.found] ?? FOUND_WORDS.nothing);
  }
  return rowsView(result, { label: "Rows of the answer", downloads: id });
}

/** Rows as a table, and as a chart where one suits; `downloads` is the answer they can be downloaded from. */
function rowsView({ columns, rows, truncated }, { label, downloads = null }) {
  const chart = chartFor({ columns, rows });
  const holder = h("div", { class: "result-body" });
  const shapes = { table: () => sheetView({ columns, rows, label }), chart: () => chartView(chart) };
  const buttons = Object.keys(shapes).map((name) =>
    h(
      "button",
      {
        type: "button",
        class: "plain small",
        "aria-pressed": "false",
        "data-key": name === "table" ? "T" : "C",
        on: { click: () => choose(name) },
      },
      name === "table" ? "Table" : "Chart",
    ),
  );
  const choose = (name) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(Object.keys(shapes)[i] === name)));
    holder.replaceChildren(shapes[name]());
  };
  choose("table");
  return h(
    "div",
    { class: "result" },
    h(
      "div",
      { class: "tools result-tools" },
      chart ? buttons : null,
      h("span", { class: "how-many" }, `${count(rows.length, "row")}${truncated ? ", cut by the limit" : ""}`),
      downloads && ["csv", "parquet"].map((kind) => downloadButton(downloads, kind)),
    ),
    holder,
  );
}

function downloadButton(id, kind) {
  return action(
    kind === "csv" ? "CSV" : "Parquet",
    async () => save(await send(`api/${pathOf("answers", id, `rows.${kind}`)}`, { accept: "*/*" }), `${id}.${kind}`),
    { class: "plain small", "aria-label": `Download the rows as ${kind === "csv" ? "CSV" : "Parquet"}` },
  );
}

/** Save what the server sent as a file of the browser's. */
async function save(reply, fallback) {
  const named = /filename="?([^";]+)"?/.exec(reply.headers.get("Content-Disposition") ?? "")?.[1];
  const address = URL.createObjectURL(await reply.blob());
  const link = h("a", { href: address, download: named ?? fallback });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  say(`Downloaded ${named ?? fallback}`);
}
