// The rows of a result: a grid that keeps only the rows in sight in the document, so that many thousands scroll well.

const ROW = 30; // px, as the style has it
const AROUND = 12; // rows kept above and below those in sight
const SAMPLED = 200; // rows that decide how wide a column is
const WIDEST_COLUMN = 48; // letters
const SHORTEST = 5; // letters
const WIDE_HEAD = 1.15; // a letter of a head is wider than one of a cell
const ARROW = 1; // letters that the mark of a sorted column takes

/** A value as a cell shows it. */
function cellText(value) {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number" && Number.isInteger(value)) return String(value);
  return String(value);
}

/** A grid that sorts; arrow keys move a cell, whose whole text is shown below. */
function sheetView({ columns, rows, label }) {
  const numeric = columns.map(
    (_, i) => rows.length > 0 && rows.every((row) => row[i] === null || typeof row[i] === "number"),
  );
  let places = rows.map((_, i) => i);
  let sorted = { column: -1, falling: false };
  let active = { row: 0, column: 0 };
  const id = `sheet-${++sheets}`;

  const heads = columns.map((name, i) =>
    h(
      "th",
      {
        scope: "col",
        role: "columnheader",
        "aria-sort": "none",
        "aria-colindex": i + 1,
        class: numeric[i] ? "number" : null,
      },
      h(
        "button",
        { type: "button", tabindex: "-1", title: name, on: { click: () => sort(i) } },
        name === "" ? "(no name)" : name,
      ),
    ),
  );
  const body = h("tbody", { role: "rowgroup" });
  const table = h(
    "table",
    {
      class: "grid-of-rows",
      role: "grid",
      tabindex: "0",
      "aria-label": label,
      "aria-rowcount": rows.length + 1,
      "aria-colcount": columns.length,
    },
    h(
      "colgroup",
      {},
      columns.map((_, i) => sized(h("col"), widthOf(i))),
    ),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row", "aria-rowindex": 1 }, heads)),
    body,
  );
  table.style.width = `${columns.reduce((sum, _, i) => sum + widthOf(i), 0)}ch`;
  const holder = h("div", { class: "holder" }, table);
  const whole = h("p", { class: "whole", role: "status" });
  const view = h("div", { class: "sheet-of-rows" }, holder, whole);

  function widthOf(i) {
    const longest = rows
      .slice(0, SAMPLED)
      .reduce((most, row) => Math.max(most, cellText(row[i]).length), Math.ceil(columns[i].length * WIDE_HEAD) + ARROW);
    return Math.max(SHORTEST, Math.min(WIDEST_COLUMN, longest)) + 4;
  }

  function sort(i) {
    sorted = { column: i, falling: sorted.column === i ? !sorted.falling : false };
    places = rows.map((_, at) => at);
    places.sort((a, b) => order(rows[a][i], rows[b][i], sorted.falling) || a - b);
    heads.forEach((head, at) =>
      head.setAttribute("aria-sort", at === i ? (sorted.falling ? "descending" : "ascending") : "none"),
    );
    say(`Sorted by ${columns[i]}, ${sorted.falling ? "descending" : "ascending"}`);
    draw();
  }

  function draw() {
    const from = Math.max(0, Math.floor(holder.scrollTop / ROW) - AROUND);
    const to = Math.min(rows.length, Math.ceil((holder.scrollTop + (holder.clientHeight || 400)) / ROW) + AROUND);
    const space = (count) => {
      const line = h(
        "tr",
        { class: "space", role: "presentation" },
        h("td", { role: "presentation", colspan: columns.length }),
      );
      line.firstChild.style.height = `${count * ROW}px`;
      return count ? line : null;
    };
    body.replaceChildren(
      ...[
        space(from),
        ...places.slice(from, to).map((at, i) => line(rows[at], from + i)),
        space(rows.length - to),
      ].filter(Boolean),
    );
    mark();
  }

  function line(row, place) {
    return h(
      "tr",
      { role: "row", "aria-rowindex": place + 2 },
      columns.map((_, i) => {
        const value = row[i];
        const text = cellText(value);
        const kind = [numeric[i] && "number", value === null && "null"].filter(Boolean).join(" ");
        return h(
          "td",
          {
            role: "gridcell",
            id: `${id}-${place}-${i}`,
            "aria-colindex": i + 1,
            class: kind || null,
            "data-at": `${place},${i}`,
          },
          text.length > 400 ? `${text.slice(0, 400)}…` : text,
        );
      }),
    );
  }

  function mark() {
    body.querySelector(".active")?.classList.remove("active");
    const cell = document.getElementById(`${id}-${active.row}-${active.column}`) ?? null;
    if (!cell || !view.contains(cell)) {
      table.removeAttribute("aria-activedescendant");
      return;
    }
    table.setAttribute("aria-activedescendant", cell.id);
    if (table.matches(":focus") || view.touched) cell.classList.add("active");
  }

  function goTo(row, column) {
    active = {
      row: Math.max(0, Math.min(rows.length - 1, row)),
      column: Math.max(0, Math.min(columns.length - 1, column)),
    };
    const top = active.row * ROW;
    const head = table.tHead.offsetHeight;
    if (top < holder.scrollTop) holder.scrollTop = top;
    else if (top + ROW + head > holder.scrollTop + holder.clientHeight)
      holder.scrollTop = top + ROW + head - holder.clientHeight;
    draw();
    document
      .getElementById(`${id}-${active.row}-${active.column}`)
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const text = cellText(rows[places[active.row]][active.column]);
    whole.textContent = text.length > 30 || text.includes("\n") ? text.slice(0, 20_000) : "";
  }

  table.addEventListener("keydown", (event) => {
    if (event.target !== table || event.altKey || event.metaKey || !rows.length) return;
    const page = Math.max(1, Math.floor(holder.clientHeight / ROW) - 2);
    const { row, column } = active;
    const to = {
      ArrowDown: [row + 1, column],
      ArrowUp: [row - 1, column],
      ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1],
      PageDown: [row + page, column],
      PageUp: [row - page, column],
      Home: event.ctrlKey ? [0, 0] : [row, 0],
      End: event.ctrlKey ? [rows.length - 1, columns.length - 1] : [row, columns.length - 1],
    }[event.key];
    if (to) goTo(...to);
    else if (event.key === "s" && !event.ctrlKey) sort(column);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  table.addEventListener("focus", mark);
  body.addEventListener("click", (event) => {
    const at = event.target.closest("[data-at]")?.dataset.at.split(",").map(Number);
    view.touched = true;
    if (at) goTo(...at);
  });
  let waiting = 0;
  holder.addEventListener("scroll", () => (waiting ||= requestAnimationFrame(() => ((waiting = 0), draw()))), {
    passive: true,
  });
  new ResizeObserver(draw).observe(holder);
  draw();
  return view;
}

let sheets = 0;

function sized(column, letters) {
  column.style.width = `${letters}ch`;
  return column;
}
