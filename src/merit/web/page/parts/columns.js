// What the columns of a result hold, and whether a chart can show it.

const DATE = /^\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?)?$/;
const MOST_BARS = 40;
const MOST_POINTS = 5000;
const MOST_PANELS = 3;

/** `number`, `date`, `year` or `label`: what a column holds; null where it holds nothing. */
function kindOf(name, values) {
  const there = values.filter((value) => value !== null && value !== undefined);
  if (!there.length) return null;
  if (there.every((value) => typeof value === "number")) {
    const years = there.every((value) => Number.isInteger(value) && value >= 1000 && value <= 2999);
    return years && /year|jahr|année|año/i.test(name) ? "year" : "number";
  }
  if (there.every((value) => typeof value === "string" && DATE.test(value) && !Number.isNaN(Date.parse(value))))
    return "date";
  if (there.every((value) => typeof value === "string" && /^\d{4}$/.test(value))) return "year";
  return "label";
}

/**
 * The chart that suits a result: what goes along, and the numbers above it; null where none does.
 * One column of names, dates or years with up to three of numbers; or two of numbers alone.
 */
function chartFor({ columns, rows }) {
  if (rows.length < 2 || rows.length > MOST_POINTS || columns.length < 2) return null;
  const kinds = columns.map((name, i) =>
    kindOf(
      name,
      rows.map((row) => row[i]),
    ),
  );
  const numbers = kinds.flatMap((kind, i) => (kind === "number" ? [i] : []));
  const others = kinds.flatMap((kind, i) => (kind && kind !== "number" ? [i] : []));
  if (others.length === 1 && numbers.length && numbers.length <= MOST_PANELS)
    return alongNames(columns, rows, kinds, others[0], numbers);
  if (others.length === 0 && numbers.length === 2 && columns.length === 2) return twoNumbers(columns, rows);
  return null;
}

function alongNames(columns, rows, kinds, along, numbers) {
  const names = rows.map((row) => row[along]);
  const kind = kinds[along];
  const times = kind === "date" || kind === "year";
  if (new Set(names).size < names.length) return null; // several rows a name: which of them would a bar be?
  if (!times && rows.length > MOST_BARS) return null;
  const at = (value) => (kind === "date" ? new Date(value) : kind === "year" ? new Date(`${value}-01-01`) : value);
  const points = rows.filter((row) => row[along] !== null || !times);
  return {
    shape: times ? "lines" : "bars",
    along: columns[along],
    panels: numbers.map((i) => ({
      name: columns[i],
      points: points
        .filter((row) => row[i] !== null)
        .map((row) => ({ at: at(row[along]), text: cellText(row[along]), value: row[i] }))
        .sort((a, b) => (times ? a.at - b.at : 0)),
    })),
  };
}

function twoNumbers(columns, rows) {
  if (rows.length < 5) return null;
  const name = columns[0].toLowerCase();
  if (name === "id" || name.endsWith("_id")) return null; // a number that counts nothing
  const points = rows
    .filter((row) => row[0] !== null && row[1] !== null)
    .map((row) => ({ at: row[0], text: cellText(row[0]), value: row[1] }));
  return { shape: "dots", along: columns[0], panels: [{ name: columns[1], points }] };
}
