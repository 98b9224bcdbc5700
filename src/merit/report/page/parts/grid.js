// Questions by runs at a glance: a cell is an episode. Only the rows in sight are in the document.

const ROW = 22; // pixels: page.css has them too
const SPARE = 10; // rows kept above and below those in sight
const LONG_LABEL = 28; // characters of a method's name that one line over one column holds
const CELLS = {
  first: ["✓", "right at once"],
  repaired: ["↑", "repaired"],
  failed: ["×", "wrong"],
  none: ["·", "not judged"],
};
const GRID_SORTS = {
  question: ["question order", null],
  hard: ["fewest right first", (a, b) => a.right - b.right || a.q - b.q],
  split: ["most disagreement first", (a, b) => b.split - a.split || a.q - b.q],
};
let looked = null; // the episode that was in focus last, to return to

const outcomeName = (flags) => ["first", "repaired", "failed"].find((one) => OUTCOMES[one][1](flags));

/** The matrices of some episodes, one for each stream of questions; returns what an episode's neighbours are. */
function fillGrid(holder, about, fitting, wanted) {
  const records = about.runs.filter((one) => ofWanted(one, wanted));
  const streams = Map.groupBy(records, (one) => one.stream);
  const all = [...streams.values()].map((mine) => matrixOf(mine, fitting, wanted));
  const matrices = all.filter((one) => one.rows.length);
  const inside = holder.contains(document.activeElement);
  const scrolled = [...holder.querySelectorAll(".sheet")].map((one) => [one.scrollTop, one.scrollLeft]);
  const several = matrices.length > 1;
  const views = matrices.map((matrix) => matrixView(matrix, several));
  holder.replaceChildren(...(matrices.length ? [gridLegend()] : []), ...views);
  holder.querySelectorAll(".sheet").forEach((sheet, i) => {
    if (scrolled[i]) [sheet.scrollTop, sheet.scrollLeft] = scrolled[i];
    sheet.paint();
  });
  if (inside) resumeGrid(holder);
  return matrices.flatMap(({ records: columns, rows }) =>
    columns.flatMap((record) => rows.map((row) => row.cells.get(record.id)).filter((cell) => cell?.fits)),
  ).map((cell) => cell.row);
}

/** Rows of questions with at least one matching episode, and the outcome of each in every run. */
function matrixOf(records, fitting, wanted) {
  const names = new Set(records.map((one) => one.id));
  const fits = new Set(fitting);
  const rows = new Map();
  for (const row of rowsOf.rows) {
    if (!names.has(row.record.id)) continue;
    if (!rows.has(row.q)) rows.set(row.q, { q: row.q, question: row.question, cells: new Map(), right: 0, fit: 0 });
    const found = rows.get(row.q);
    const cell = { row, fits: fits.has(row) };
    found.cells.set(row.record.id, cell);
    found.right += row.flags & FINAL ? 1 : 0;
    found.fit += cell.fits ? 1 : 0;
  }
  const kept = [...rows.values()].filter((row) => row.fit);
  for (const row of kept) row.split = Math.min(row.right, row.cells.size - row.right);
  return { records, rows: kept.sort(GRID_SORTS[wanted.sort]?.[1] ?? ((a, b) => a.q - b.q)) };
}

function gridLegend() {
  const parts = Object.entries(CELLS).map(([name, [sign, label]]) =>
    h(
      "span",
      {},
      h("span", { class: `cell ${name}`, "aria-hidden": "true" }, sign),
      " ",
      name === "none" ? term(label, MEANINGS.unjudged) : label,
    ),
  );
  return h("p", { class: "key" }, parts);
}

function matrixView({ records, rows }, several) {
  const name = several ? `${records[0].benchmark} ${records[0].split}` : "";
  const hint = "Point at a cell, or go there with the arrow keys; a click or Enter opens the episode.";
  const told = h("p", { class: "told", role: "status" }, hint);
  return h("section", { class: "matrix" }, name && h("h2", {}, name), sheetOf(records, rows, name, told), told);
}

function sheetOf(records, rows, name, told) {
  const body = h("div", { class: "rows", role: "rowgroup" });
  const sheet = h(
    "div",
    {
      class: "sheet",
      role: "grid",
      "aria-label": `Outcome of every question in every run${name && `, ${name}`}`,
      "aria-rowcount": rows.length + 1,
      "aria-colcount": records.length + 1,
    },
    headsOf(records),
    body,
  );
  sheet.style.setProperty("--runs", records.length);
  const longest = Math.max(0, ...rows.map(({ question }) => `#${question.id} ${question.text}`.length));
  sheet.style.setProperty("--widest", `${longest + 2}ch`); // no wider than it must be: cells stand by their questions
  body.style.height = `${rows.length * ROW}px`;
  const made = new Map();
  const at = { row: 0, column: 0 };

  sheet.paint = () => {
    const height = sheet.clientHeight || 900;
    const from = Math.max(0, Math.floor(sheet.scrollTop / ROW) - SPARE);
    const to = Math.min(rows.length, Math.ceil((sheet.scrollTop + height) / ROW) + SPARE);
    for (const [i, element] of made) {
      if ((i < from || i >= to) && !element.contains(document.activeElement)) {
        element.remove();
        made.delete(i);
      }
    }
    const after = (i) => [...body.children].find((one) => Number(one.dataset.row) > i) ?? null;
    for (let i = from; i < to; i++) {
      if (made.has(i)) continue;
      made.set(i, rowOf(rows[i], i, records));
      body.insertBefore(made.get(i), after(i));
    }
    mark();
  };

  /** One cell is a stop of the tab key; the others are reached from it. */
  function mark() {
    sheet.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    made.get(at.row)?.children[at.column + 1]?.firstElementChild.setAttribute("tabindex", "0");
  }

  function focus(row, column) {
    at.row = Math.max(0, Math.min(rows.length - 1, row));
    at.column = Math.max(0, Math.min(records.length - 1, column));
    const [top, head] = [at.row * ROW, sheet.firstElementChild.offsetHeight];
    if (top < sheet.scrollTop) sheet.scrollTop = top;
    const bottom = top + ROW + head + 14; // a scroll bar may lie over the last row
    if (bottom > sheet.scrollTop + sheet.clientHeight) sheet.scrollTop = bottom - sheet.clientHeight;
    sheet.paint();
    const cell = made.get(at.row).children[at.column + 1];
    cell.firstElementChild.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function tell(event) {
    const cell = event.target.closest("[data-column]");
    if (!cell) return;
    const row = rows[Number(cell.closest(".line").dataset.row)];
    const record = records[Number(cell.dataset.column)];
    const about = `#${row.question.id}, ${row.question.db}: ${row.question.text}`;
    told.replaceChildren(h("b", {}, cellSaid(row, record)), ` ${about}`);
    if (event.type !== "focusin") return;
    [at.row, at.column] = [Number(cell.closest(".line").dataset.row), Number(cell.dataset.column)];
    looked = { run: record.id, q: row.q };
    mark();
  }

  sheet.step = (by) => (focus(sheet.contains(document.activeElement) ? at.row + by : at.row, at.column), true);
  sheet.resume = () => {
    const row = rows.findIndex((one) => one.q === looked?.q);
    const column = records.findIndex((one) => one.id === looked?.run);
    if (row >= 0 && column >= 0) focus(row, column);
    return row >= 0 && column >= 0;
  };
  sheet.addEventListener("scroll", () => requestAnimationFrame(sheet.paint), { passive: true });
  sheet.addEventListener("focusin", tell);
  sheet.addEventListener("pointerover", tell);
  sheet.addEventListener("keydown", (event) => {
    const to = whereTo(event, at, rows.length, records.length, Math.floor(sheet.clientHeight / ROW) - 6);
    if (!to) return;
    focus(...to);
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(sheet.paint).observe(sheet);
  return sheet;
}

/** The cell that a key moves to in a grid; nothing for other keys. */
function whereTo({ key, ctrlKey, metaKey, altKey }, { row, column }, height, width, page) {
  const whole = ctrlKey || metaKey;
  if (key === "Home") return [whole ? 0 : row, 0];
  if (key === "End") return [whole ? height : row, width];
  const far = Math.max(1, page);
  const rows = { ArrowDown: 1, ArrowUp: -1, PageDown: far, PageUp: -far };
  const columns = { ArrowRight: 1, ArrowLeft: -1 };
  if (whole || altKey || !(key in rows || key in columns)) return null;
  return [row + (rows[key] ?? 0), column + (columns[key] ?? 0)];
}

/** Methods over their seeds. */
function headsOf(records) {
  const groups = [];
  for (const record of records) {
    const label = methodOf(record);
    if (groups.at(-1)?.label === label) groups.at(-1).width += 1;
    else groups.push({ label, width: 1 });
  }
  const group = ({ label, width }) => {
    const form = width > 1 ? "group broad" : label.length > LONG_LABEL ? "group long" : "group";
    const head = h("span", { class: form, title: label }, h("span", {}, label));
    head.style.gridColumn = `span ${width}`;
    return head;
  };
  return h(
    "div",
    { class: "heads", role: "rowgroup" },
    h("div", { class: "line methods", "aria-hidden": "true" }, h("span", { class: "asked" }), groups.map(group)),
    h(
      "div",
      { class: "line seeds", role: "row", "aria-rowindex": 1 },
      h("span", { class: "asked", role: "columnheader" }, "Question", h("small", {}, " / seed")),
      records.map((one) => {
        const named = { role: "columnheader", "aria-label": nameOf(one), title: nameOf(one) };
        return h("span", named, String(one.seed));
      }),
    ),
  );
}

function rowOf(row, i, records) {
  const { question } = row;
  const line = h(
    "div",
    { class: "line", role: "row", "data-row": i, "aria-rowindex": i + 2 },
    h(
      "span",
      { class: "asked", role: "rowheader", title: question.text },
      h("small", {}, `#${question.id} `),
      question.text,
    ),
    records.map((record, column) => {
      const cell = row.cells.get(record.id);
      const name = cell ? outcomeName(cell.row.flags) : "none";
      const look = `cell ${name}${cell && !cell.fits ? " dim" : ""}`;
      const shown = { class: look, tabindex: "-1", "aria-label": cellSaid(row, record) };
      const inner = cell
        ? h("a", { ...shown, href: episodeAddress(record, question) }, CELLS[name][0])
        : h("span", { ...shown, role: "img" }, CELLS[name][0]);
      return h("span", { role: "gridcell", "data-column": column }, inner);
    }),
  );
  line.style.top = `${i * ROW}px`;
  return line;
}

function cellSaid(row, record) {
  const cell = row.cells.get(record.id);
  if (!cell) return `${nameOf(record)}: not judged.`;
  const { flags, attempts, repeats } = cell.row;
  const name = outcomeName(flags);
  const aside = repeats ? `, ${repeats} more set aside` : "";
  const tries = name === "first" ? "" : ` after ${count(attempts, "attempt")}${aside}`;
  return `${nameOf(record)}: ${CELLS[name][1]}${tries}.`;
}

/** Go to the cell that was looked at last; false where it is not shown. */
const resumeGrid = (holder) => [...holder.querySelectorAll(".sheet")].some((sheet) => sheet.resume());
