// The database's tables, and what is known about each.

async function schemaView(wanted) {
  const { tables } = await schemaNames();
  const list = h("ul", { class: "plain-list tables" });
  const found = h("p", { class: "found", role: "status" });
  const search = h("input", {
    type: "search",
    id: "search",
    "aria-label": "Search tables and columns",
    placeholder: "Search tables and columns",
    value: wanted.words ?? "",
  });
  const draw = () => {
    const words = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = tables.filter((table) => words.every((word) => searchText(table).includes(word)));
    list.replaceChildren(...fitting.slice(0, 500).map(tableLine));
    found.textContent =
      fitting.length > 500 ? `The first 500 of ${count(fitting.length, "table")}` : count(fitting.length, "table");
  };
  search.addEventListener("input", paused(draw, 100));
  draw();
  return h(
    "div",
    { class: "page" },
    h("h1", { tabindex: "-1" }, "Schema of ", h("span", { class: "name" }, session.database)),
    h(
      "form",
      { class: "filters", role: "search", on: { submit: (event) => event.preventDefault() } },
      h("div", { class: "search" }, search),
    ),
    found,
    list,
  );
}

const searchText = (table) =>
  [table.name, table.comment, ...table.columns.flatMap((column) => [column.name, column.comment])]
    .join(" ")
    .toLowerCase();

function tableLine(table) {
  return h(
    "li",
    {},
    h("a", { class: "stop", href: `#/schema/${encodeURIComponent(table.name)}` }, table.name),
    table.comment ? h("span", { class: "comment" }, table.comment) : null,
    h("span", { class: "one-line" }, table.columns.map((column) => column.name).join(", ")),
    h(
      "span",
      { class: "aside-words" },
      table.view ? h("span", { class: "tag" }, "view") : null,
      h("span", {}, count(table.columns.length, "column")),
      rowsWords(table),
      table.confirmed
        ? h("span", { class: "right" }, count(table.confirmed, "confirmed answer"))
        : h("span", {}, "no confirmed answer"),
    ),
  );
}

const rowsWords = ({ rows }) => (typeof rows === "number" ? h("span", {}, `about ${count(rows, "row")}`) : null);

async function tableViewOf(name) {
  const table = await api(pathOf("schema", name));
  const [entries, answers] = [table.used_by_entries, table.used_by_answers];
  return h(
    "article",
    { class: "page" },
    h("p", { class: "crumbs" }, h("a", { href: "#/schema", "data-key": "Escape" }, "← Schema")),
    h("h1", { tabindex: "-1" }, table.name),
    h(
      "p",
      { class: "lede" },
      [
        table.view ? "A view" : "A table",
        typeof table.rows === "number" ? `about ${count(table.rows, "row")}` : "",
        table.comment,
      ]
        .filter(Boolean)
        .join(" · "),
    ),
    columnsTable(table),
    h(
      "section",
      { class: "part-section" },
      h("h2", {}, "What the memory knows about it"),
      entries.length
        ? h("ul", { class: "plain-list entries" }, entries.map(entryLine))
        : h("p", { class: "nothing" }, "No entry uses it yet."),
    ),
    h(
      "section",
      { class: "part-section" },
      h("h2", {}, "Answers that use it"),
      answers.length
        ? h("ul", { class: "plain-list answers" }, answers.map(historyLine))
        : h("p", { class: "nothing" }, "None so far."),
    ),
  );
}

/** The columns of a table; what no column has is left out. */
function columnsTable(table) {
  const keysOf = ({ primary_key: primary, foreign_keys: foreign }) =>
    [primary ? "primary" : "", ...(foreign ?? []).map((key) => `→ ${key}`)].filter(Boolean).join(", ");
  const examplesOf = ({ examples }) => (examples ?? []).map((value) => clipped(cellText(value), 60)).join(" · ");
  const facts = [
    ["Type", ({ type }) => type, "type"],
    ["Key", keysOf, "key-of-column"],
    ["Examples", examplesOf, "examples"],
    ["Comment", ({ comment }) => comment ?? "", "comment"],
  ].filter(([, text]) => table.columns.some(text));
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `Columns of ${table.name}` },
    h(
      "table",
      { class: "data columns-of-table" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Column", ...facts.map(([head]) => head)].map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h(
        "tbody",
        {},
        table.columns.map((column) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, column.name),
            facts.map(([, text, kind]) => h("td", { class: kind }, text(column))),
          ),
        ),
      ),
    ),
  );
}
