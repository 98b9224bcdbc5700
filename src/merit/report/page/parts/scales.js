// From values to positions in a plot, and the marks drawn there.

/** All values a vertical axis must hold. */
function reach(figure) {
  const found = figure.series.flatMap((one) => [...one.y, ...(one.low ?? []), ...(one.high ?? [])]);
  return found.filter(Number.isFinite);
}

const SAME_FORM = 6; // colours in one form of line or point

function linear(found, from, to, wanted, zero = false) {
  let [low, high] = found.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  if (zero) [low, high] = [Math.min(0, low), Math.max(0, high)];
  if (low === high) [low, high] = [low - 1, high + 1];
  const raw = (high - low) / Math.max(2, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const upright = from > to;
  if (upright) [low, high] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    ticks.push(+(i * step).toPrecision(12));
  const at = (value) => from + ((value - low) / (high - low)) * (to - from);
  return {
    at,
    ticks: ticks.map((value) => ({ at: at(value), text: value.toLocaleString("en"), zero: value === 0 && low < 0 })),
  };
}

function steps(figure, inner) {
  const names = [...new Set(figure.series.flatMap((one) => one.x.map(String)))];
  const width = (inner.right - inner.left) / names.length;
  const at = (name) => inner.left + (names.indexOf(String(name)) + 0.5) * width;
  const slot = (name, place, of) => {
    const bar = Math.min(28, (width * 0.8) / of);
    const left = at(name) + (place - of / 2) * bar;
    return { left, width: Math.max(1, bar - 1), middle: left + bar / 2 };
  };
  const crowded = names.some((name) => name.length * 6.6 > width - 6);
  const slant = width < 30 ? 60 : 24; // degrees: names that are near each other stand more upright
  return { at, slot, crowded, slant, ticks: names.map((name) => ({ at: at(name), text: String(name) })) };
}

const SHAPES = {
  line(series, x, y) {
    const there = series.x.map((_, i) => i).filter((i) => Number.isFinite(series.y[i]));
    const path = (ys, indices) =>
      indices.map((i) => `${x.at(series.x[i]).toFixed(1)},${y.at(ys[i]).toFixed(1)}`).join("L");
    if (series.guide) return [s("path", { d: `M${path(series.y, there)}`, class: "guide", fill: "none" })];
    const radius = (i) => (series.counts ? 2 + 5 * Math.sqrt(series.counts[i] / series.most) : 3); // area by answers
    const band =
      series.low &&
      series.high &&
      s("path", {
        d: `M${path(series.low, there)}L${path(series.high, [...there].reverse())}Z`,
        class: `band c${series.colour % COLOURS}`,
      });
    const dots =
      there.length <= 24
        ? there.map((i) =>
            s("circle", {
              cx: x.at(series.x[i]),
              cy: y.at(series.y[i]),
              r: radius(i),
              class: `dot c${series.colour % COLOURS}`,
            }),
          )
        : [];
    return [band, s("path", { d: `M${path(series.y, there)}`, class: stroke(series.colour), fill: "none" }), ...dots];
  },
  bar(series, x, y, place, of) {
    return series.x.flatMap((name, i) => {
      if (!Number.isFinite(series.y[i])) return [];
      const slot = x.slot(name, place, of);
      const [top, zero] = [y.at(series.y[i]), y.at(0)];
      return [
        s("rect", {
          x: slot.left,
          width: slot.width,
          y: Math.min(top, zero),
          height: Math.abs(zero - top),
          class: `bar c${series.colour % COLOURS}`,
        }),
        whisker(series, i, slot.middle, y),
      ];
    });
  },
  points(series, x, y) {
    return series.x.flatMap((at, i) =>
      Number.isFinite(series.y[i])
        ? [
            whisker(series, i, x.at(at), y),
            dot(series.colour, x.at(at), y.at(series.y[i]), !Number.isFinite(series.low?.[i])),
          ]
        : [],
    );
  },
};

/** A point: colours come again, but then in another form; hollow where it has no interval. */
function dot(colour, x, y, hollow = false) {
  const at = { class: `dot c${colour % COLOURS}${hollow ? " hollow" : ""}` };
  const form = Math.floor(colour / SAME_FORM) % 3;
  if (form === 1) return s("rect", { x: x - 4, y: y - 4, width: 8, height: 8, ...at });
  if (form === 2) return s("path", { d: `M${x},${y - 5}l5,9h-10z`, ...at });
  return s("circle", { cx: x, cy: y, r: 4, ...at });
}

function whisker(series, i, left, y) {
  if (!series.low || !series.high || !Number.isFinite(series.low[i])) return null;
  return s("path", { d: `M${left},${y.at(series.low[i])}V${y.at(series.high[i])}`, class: "whisker" });
}
