// Tables that can be sorted by any column.

const sortedBy = new Map(); // by table: how it was sorted last, so that a rebuilt table keeps its order
const COLLATOR = new Intl.Collator("en", { numeric: true }); // many times faster than localeCompare
const WIDE = 10; // columns of a table that needs all the room there is

/** A table of the report with its notes. `linked` makes the content of a cell that is a link. */
function tableView(table, linked = () => null, below = null) {
  const columns = shownColumns(table);
  const body = h("tbody");
  const heads = columns.map((column) => headCell(column, () => sort(column)));
  const named = Math.max(
    0,
    columns.findIndex((column) => column.key === "method"),
  ); // what a row is about
  let sorted = sortedBy.get(table.id) ?? { key: null, falling: false };

  function draw(rows) {
    body.replaceChildren(
      ...rows.map((row) =>
        h(
          "tr",
          {},
          columns.map((column, i) => cell(row[column.key], column, i)),
        ),
      ),
    );
  }

  function cell(found, column, i) {
    const attributes = { class: [column.numeric && "number", found?.mark].filter(Boolean).join(" ") || null };
    const content = found ? (linked(column, found) ?? (found.value === null ? "–" : found.text)) : "";
    return i === named ? h("th", { scope: "row", ...attributes }, content) : h("td", attributes, content);
  }

  function sort(column) {
    sorted = { key: column.key, falling: sorted.key === column.key ? !sorted.falling : column.numeric };
    sortedBy.set(table.id, sorted);
    arrange();
  }

  function arrange() {
    const { key, falling } = sorted;
    columns.forEach((column, i) => {
      heads[i].setAttribute("aria-sort", column.key !== key ? "none" : falling ? "descending" : "ascending");
    });
    draw(key ? [...table.rows].sort((a, b) => order(a[key]?.value, b[key]?.value, falling)) : table.rows);
  }

  arrange();
  const label = `${table.id}-title`;
  return h(
    "section",
    { class: "block", id: `table/${table.id}`, "aria-labelledby": label },
    h("h2", { id: label, tabindex: "-1" }, table.title),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": label },
      h("table", { class: columns.length > WIDE ? "data wide" : "data" }, h("thead", {}, h("tr", {}, heads)), body),
    ),
    table.note && h("p", { class: "note" }, table.note),
    explained(columns),
    below,
  );
}

/** The columns to show: without those for programs, and without the dataset if there is only one. */
function shownColumns({ columns, rows }) {
  const single = rows.length > 1 && new Set(rows.map((row) => row.dataset?.value)).size === 1;
  return columns.filter((one) => one.shown !== false && !(single && one.key === "dataset"));
}

function headCell(column, sort) {
  return h(
    "th",
    { scope: "col", "aria-sort": "none", class: column.numeric ? "number" : null, title: column.note || null },
    h("button", { type: "button", on: { click: sort } }, column.label),
  );
}

function explained(columns) {
  const noted = columns.filter((column) => column.note);
  if (!noted.length) return null;
  return onDemand("What the columns count", () =>
    h(
      "dl",
      { class: "columns" },
      noted.map((column) => [h("dt", {}, column.label), h("dd", {}, column.note)]),
    ),
  );
}

/** Empty cells come last in either direction; numbers by size, texts by the alphabet. */
function order(a, b, falling) {
  const [noA, noB] = [a === null || a === undefined, b === null || b === undefined];
  if (noA || noB) return noA - noB;
  const found =
    typeof a === "string" || typeof b === "string"
      ? COLLATOR.compare(a, b)
      : a - b;
  return falling ? -found : found;
}
