// Small plots from a figure's values: hover or arrow keys show a point's values, the legend turns series on and off.

const COLOURS = 12;
const SLANTED = 18; // what names that do not fit side by side take below
const LETTER = 6.9; // how wide a letter of an axis is, on average
const MARGIN = { top: 12, right: 16, bottom: 46, left: 56 };

function figureView(figure) {
  const off = new Set();
  const holder = h("div", { class: "plot" });
  const tip = h("p", { class: "tip", role: "status" });
  const label = `figure-${figure.id}-title`; // a table may have the same id
  const draw = () => {
    const width = holder.clientWidth || 640;
    const shown = figure.series
      .map((series) => ({ ...series, colour: series.guide ? null : colourOf(series.name), most: mostOf(figure) }))
      .filter((_, i) => !off.has(i));
    holder.replaceChildren(drawing(figure, shown, width, width < 480 ? 260 : 340, tip), tip);
    tip.textContent = "";
    tip.hidden = true;
  };
  new ResizeObserver(draw).observe(holder);
  return h(
    "section",
    { class: "block figure", id: `figure/${figure.id}`, "aria-labelledby": label },
    h(figure.beside ? "h3" : "h2", { id: label, tabindex: "-1" }, figure.title),
    figure.series.length > 1 && legend(figure, off, draw),
    holder,
    figure.note && h("p", { class: "note" }, figure.note),
    onDemand("Values", () => values(figure)),
  );
}

function legend(figure, off, draw) {
  const buttons = figure.series.map((series, i) => {
    const button = h(
      "button",
      { type: "button", "aria-pressed": "true", on: { click: () => toggle(i) } },
      s(
        "svg",
        { width: 18, height: 10, "aria-hidden": "true" },
        figure.shape === "points"
          ? dot(colourOf(series.name), 9, 5)
          : s("line", { x1: 0, x2: 18, y1: 5, y2: 5, class: series.guide ? "guide" : stroke(colourOf(series.name)) }),
      ),
      series.name,
    );
    return button;
  });
  const toggle = (i) => {
    if (!off.delete(i)) off.add(i);
    buttons[i].setAttribute("aria-pressed", String(!off.has(i)));
    draw();
  };
  return h("div", { class: "legend", role: "group", "aria-label": "Series" }, buttons);
}

/** How many answers the largest point of a figure stands for; 0 where points do not say. */
const mostOf = (figure) => Math.max(0, ...figure.series.flatMap((series) => series.counts ?? []));

const coloured = new Map();

/** A name has the same colour in every figure. */
function colourOf(name) {
  if (!coloured.has(name)) coloured.set(name, coloured.size);
  return coloured.get(name);
}

const LINES = ["", " dashed", " dotted"]; // colours come again, but then in another form
const stroke = (i) => `line c${i % COLOURS}${LINES[Math.floor(i / SAME_FORM) % LINES.length]}`;

function drawing(figure, shown, width, height, tip) {
  const inner = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const aside = figure.shape === "points" ? 10 : 0; // points lie beside the axes, not on them
  const categories = figure.shape === "bar" || figure.series.some((one) => one.x.some((x) => typeof x === "string"));
  const x = categories
    ? steps(figure, inner)
    : linear(
        figure.series.flatMap((one) => one.x),
        inner.left + aside,
        inner.right - aside,
        width / 90,
      );
  const letters = Math.max(...x.ticks.map((tick) => Math.min(longest(inner), tick.text.length)));
  if (x.crowded) inner.bottom -= Math.max(SLANTED, letters * LETTER * Math.sin((x.slant * Math.PI) / 180) - 28);
  const y = linear(reach(figure), inner.bottom, inner.top, 5, figure.shape === "bar");
  const points = shown
    .filter((series) => !series.guide)
    .flatMap((series, place) =>
      series.x.map((at, i) => ({
        series,
        i,
        left: categories && figure.shape === "bar" ? x.slot(at, place, shown.length).middle : x.at(at),
        top: y.at(series.y[i]),
      })),
    )
    .filter((point) => Number.isFinite(point.top));
  const marks = shown.flatMap((series, place) => SHAPES[figure.shape](series, x, y, place, shown.length, inner));
  const ring = s("circle", { r: 5, class: "ring", visibility: "hidden" });
  const svg = s(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      tabindex: "0",
      "aria-label": `${figure.title}. Arrow keys go from point to point; the values are listed below.`,
    },
    axes(figure, x, y, inner, height),
    marks,
    ring,
  );
  listen(svg, points, (point) => tell(point, figure, ring, tip, width));
  return svg;
}

function axes(figure, x, y, inner, height) {
  const middle = (inner.left + inner.right) / 2;
  return s(
    "g",
    { class: "axes", "aria-hidden": "true" },
    y.ticks
      .map((tick) => [
        s("line", {
          x1: inner.left,
          x2: inner.right,
          y1: tick.at,
          y2: tick.at,
          class: tick.zero ? "grid zero" : "grid",
        }),
        s("text", { x: inner.left - 8, y: tick.at + 4, "text-anchor": "end" }, tick.text),
      ])
      .flat(),
    x.ticks.map((tick) =>
      x.crowded
        ? s(
            "text",
            {
              x: tick.at + 4,
              y: inner.bottom + 14,
              "text-anchor": "end",
              transform: `rotate(-${x.slant} ${tick.at + 4} ${inner.bottom + 14})`,
            },
            shortened(tick.text, Math.min(longest(inner), Math.floor((tick.at + 4) / LETTER))),
          )
        : s("text", { x: tick.at, y: inner.bottom + 18, "text-anchor": "middle" }, tick.text),
    ),
    !x.crowded && s("text", { x: middle, y: height - 6, "text-anchor": "middle", class: "label" }, figure.x_label),
    s(
      "text",
      {
        x: 13,
        y: (inner.top + inner.bottom) / 2,
        "text-anchor": "middle",
        class: "label",
        transform: `rotate(-90 13 ${(inner.top + inner.bottom) / 2})`,
      },
      figure.y_label,
    ),
  );
}

/** Letters of a slanted name: a wide figure has room for all of most. */
const longest = ({ right }) => (right > 640 ? 40 : 16);

/** A name in so many letters; variants differ in how they end. */
function shortened(text, room) {
  const kept = Math.max(8, room);
  return text.length > kept ? `${text.slice(0, Math.ceil(kept * 0.6))}…${text.slice(-Math.floor(kept * 0.35))}` : text;
}

function tell(point, figure, ring, tip, width) {
  ring.setAttribute("visibility", point ? "visible" : "hidden");
  tip.hidden = !point;
  if (!point) return;
  const { series, i } = point;
  const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 3 });
  const at = typeof series.x[i] === "number" ? number(series.x[i]) : String(series.x[i]);
  const range = Number.isFinite(series.low?.[i]) ? ` (${number(series.low[i])} to ${number(series.high[i])})` : "";
  ring.setAttribute("cx", point.left);
  ring.setAttribute("cy", point.top);
  tip.replaceChildren(
    h("b", {}, series.name),
    h("span", {}, `${figure.x_label} ${at}`),
    h("span", {}, `${figure.y_label} ${number(series.y[i])}${range}`),
    series.counts && h("span", {}, `of ${count(series.counts[i], "answer")}`),
  );
  const left = point.left > width / 2;
  tip.style.left = left ? "" : `${point.left + 12}px`;
  tip.style.right = left ? `${width - point.left + 12}px` : "";
  tip.style.top = `${Math.max(0, point.top - 30)}px`;
}

function values(figure) {
  const rows = figure.series.flatMap((series) =>
    series.x.map((at, i) => [
      series.name,
      typeof at === "number" ? at : String(at),
      series.y[i],
      series.low?.[i],
      series.high?.[i],
      series.counts?.[i],
    ]),
  );
  const banded = figure.series.some((series) => series.low);
  const counted = figure.series.some((series) => series.counts); // only lines with bands are
  const ends = [...(banded ? ["low", "high"] : []), ...(counted ? ["answers"] : [])];
  const heads = ["series", figure.x_label, figure.y_label, ...ends];
  return h(
    "div",
    { class: "scroll tall", tabindex: "0" },
    h(
      "table",
      { class: "data" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row
              .slice(0, heads.length)
              .map((value) =>
                h(
                  "td",
                  { class: typeof value === "number" ? "number" : null },
                  value === undefined || value === null
                    ? ""
                    : typeof value === "number"
                      ? String(+value.toFixed(4))
                      : value,
                ),
              ),
          ),
        ),
      ),
    ),
  );
}
