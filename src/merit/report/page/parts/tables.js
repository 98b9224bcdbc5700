// Tables that can be sorted by any column.

/** A table of the report. `linked` makes a cell's content where it leads somewhere. */
function tableView(table, linked = () => null) {
  const columns = table.columns.filter((column) => column.shown !== false); // the others are for programs
  const body = h("tbody");
  const heads = columns.map((column) => headCell(column, () => sort(column)));
  const named = Math.max(
    0,
    columns.findIndex((column) => column.key === "method"),
  ); // what a row is about
  let sorted = { key: null, falling: false };

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
    const falling = sorted.key === column.key ? !sorted.falling : column.numeric;
    sorted = { key: column.key, falling };
    columns.forEach((other, i) => {
      heads[i].setAttribute("aria-sort", other !== column ? "none" : falling ? "descending" : "ascending");
    });
    draw([...table.rows].sort((a, b) => order(a[column.key]?.value, b[column.key]?.value, falling)));
  }

  draw(table.rows);
  const label = `${table.id}-title`;
  return h(
    "section",
    { class: "block", id: `table/${table.id}`, "aria-labelledby": label },
    h("h2", { id: label, tabindex: "-1" }, table.title),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": label },
      h("table", { class: "data" }, h("thead", {}, h("tr", {}, heads)), body),
    ),
    table.note && h("p", { class: "note" }, table.note),
    explained(columns),
  );
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

/** Nothing comes last whichever way; numbers by size, texts by the alphabet. */
function order(a, b, falling) {
  const [noA, noB] = [a === null || a === undefined, b === null || b === undefined];
  if (noA || noB) return noA - noB;
  const found =
    typeof a === "string" || typeof b === "string"
      ? String(a).localeCompare(String(b), "en", { numeric: true })
      : a - b;
  return falling ? -found : found;
}
