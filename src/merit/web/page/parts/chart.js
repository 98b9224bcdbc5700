// Charts, drawn with D3: bars, lines and dots that take the page's colours and can be read with the arrow keys.

const MARGINS = { top: 8, right: 36, bottom: 30, left: 56 };
const LETTER = 7.6; // px of a letter beside a bar, on average; wide letters still fit
const BAR = 26; // px for a bar and its gap

/** Draw again whenever there is another width; `make` gets it and returns the drawing and the points it can tell. */
function drawn(label, make) {
  const holder = h("div", { class: "plot" });
  const tip = h("p", { class: "tip", role: "status" });
  const draw = () => {
    const width = holder.clientWidth;
    if (!width) return;
    const { svg, points } = make(Math.max(240, width));
    svg.setAttribute("role", "img");
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("aria-label", `${label}. Arrow keys go from point to point; the table has all values.`);
    const ring = s("circle", { r: 5, class: "ring", visibility: "hidden" });
    svg.append(ring);
    tip.hidden = true;
    listen(svg, points, (point) => tellPoint(point, ring, tip, width));
    holder.replaceChildren(svg, tip);
  };
  load("d3.js").then(() => new ResizeObserver(draw).observe(holder), showProblem(holder));
  return holder;
}

function tellPoint(point, ring, tip, width) {
  ring.setAttribute("visibility", point ? "visible" : "hidden");
  tip.hidden = !point;
  if (!point) return;
  ring.setAttribute("cx", point.left);
  ring.setAttribute("cy", point.top);
  tip.replaceChildren(...point.lines.map((line, i) => h(i ? "span" : "b", {}, line)));
  const left = point.left > width / 2;
  tip.style.left = left ? "" : `${point.left + 12}px`;
  tip.style.right = left ? `${width - point.left + 12}px` : "";
  tip.style.top = `${Math.max(0, point.top - 30)}px`;
}

const numberText = (value) => value.toLocaleString("en", { maximumFractionDigits: 4 });

/** The chart of a result: a panel for each column of numbers. */
function chartView(chart) {
  const shapes = { bars: barPanel, lines: linePanel, dots: dotPanel };
  return h(
    "div",
    { class: "charts" },
    chart.panels.map((panel, i) =>
      h(
        "figure",
        {},
        h("figcaption", {}, h("b", {}, panel.name), ` by ${chart.along}`),
        drawn(`${panel.name} by ${chart.along}`, (width) => shapes[chart.shape](panel, width, i, chart)),
      ),
    ),
  );
}

const svgOf = (width, height, ...children) => s("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, children);

/** An axis of D3's, moved to its place. */
function axisAt(left, top, axis, kind = "axis") {
  const group = s("g", { class: kind, transform: `translate(${left},${top})`, "aria-hidden": "true" });
  d3.select(group).call(axis.tickPadding(8));
  return group;
}

const ticksFor = (width) => Math.max(2, Math.floor(width / 110));

/** Names down the side, bars to the right: long names stay readable. */
function barPanel({ name, points }, width, colour) {
  const longest = Math.max(4, ...points.map((point) => point.text.length));
  const left = Math.min(longest * LETTER + 14, width * 0.4);
  const height = points.length * BAR + MARGINS.top + MARGINS.bottom;
  const bottom = height - MARGINS.bottom;
  const y = d3.scaleBand().domain(d3.range(points.length)).range([MARGINS.top, bottom]).padding(0.25);
  const [low, high] = d3.extent([0, ...points.flatMap((point) => [point.value, point.low, point.high])]);
  const x = d3
    .scaleLinear()
    .domain([low, high || 1])
    .range([left, width - MARGINS.right])
    .nice();
  const middle = (i) => y(i) + y.bandwidth() / 2;
  const bars = points.map((point, i) => {
    const size = { y: y(i), height: y.bandwidth(), width: Math.max(1, Math.abs(x(point.value) - x(0))), rx: 2 };
    return s("rect", { class: `bar c${point.colour ?? colour}`, x: Math.min(x(0), x(point.value)), ...size });
  });
  const whiskers = points
    .filter((point) => Number.isFinite(point.low))
    .map((point) =>
      s("path", { class: "whisker", d: `M${x(point.low)},${middle(points.indexOf(point))}H${x(point.high)}` }),
    );
  const names = points.map((point, i) =>
    s(
      "text",
      { x: left - 8, y: middle(i) + 4, "text-anchor": "end" },
      clipped(point.text, Math.floor((left - 8) / LETTER)),
    ),
  );
  const axis = axisAt(
    0,
    bottom,
    d3
      .axisBottom(x)
      .ticks(ticksFor(width))
      .tickSize(MARGINS.top - bottom),
  );
  return {
    svg: svgOf(width, height, axis, s("g", { class: "names", "aria-hidden": "true" }, names), bars, whiskers),
    points: points.map((point, i) => told(point, name, x(point.value), middle(i))),
  };
}

/** A line through time. */
function linePanel({ name, points }, width, colour) {
  const x = d3
    .scaleTime()
    .domain(d3.extent(points, (point) => point.at))
    .range([MARGINS.left, width - MARGINS.right]);
  const line = ({ y }) => {
    const path = d3
      .line()
      .x((point) => x(point.at))
      .y((point) => y(point.value));
    return s("path", { class: `line c${colour}`, fill: "none", d: path(points) });
  };
  return upright({ name, points, width, colour, x, line, dotted: points.length <= 60 });
}

/** Two numbers against each other. */
function dotPanel({ name, points }, width, colour, { along, guide }) {
  const x = d3
    .scaleLinear()
    .domain(d3.extent(points, (point) => point.at))
    .range([MARGINS.left + 8, width - MARGINS.right])
    .nice();
  const line = ({ y }) =>
    guide && s("path", { class: "guide", d: `M${x(guide[0])},${y(guide[0])}L${x(guide[1])},${y(guide[1])}` });
  const named = points.map((point) => ({ ...point, text: `${along} ${point.text}` }));
  return upright({ name, points: named, width, colour, x, line, dotted: true });
}

/** What lines and dots share: numbers at the left, with hairlines. */
function upright({ name, points, width, colour, x, line, dotted }) {
  const height = width < 480 ? 240 : 320;
  const bottom = height - MARGINS.bottom;
  const y = d3
    .scaleLinear()
    .domain(d3.extent(points.flatMap((point) => [point.value, point.low, point.high])))
    .range([bottom, MARGINS.top])
    .nice();
  const across = d3
    .axisLeft(y)
    .ticks(5)
    .tickSize(MARGINS.left + MARGINS.right - width);
  const dots = points.map((point) =>
    s("circle", { class: `dot c${colour}`, r: 3.5, cx: x(point.at), cy: y(point.value) }),
  );
  const whiskers = points
    .filter((point) => Number.isFinite(point.low))
    .map((point) => s("path", { class: "whisker", d: `M${x(point.at)},${y(point.low)}V${y(point.high)}` }));
  return {
    svg: svgOf(
      width,
      height,
      axisAt(MARGINS.left, 0, across),
      axisAt(0, bottom, d3.axisBottom(x).ticks(ticksFor(width)).tickSize(0), "axis plain"),
      line({ y }),
      whiskers,
      dotted ? dots : null,
    ),
    points: points.map((point) => told(point, name, x(point.at), y(point.value))),
  };
}

const told = (point, name, left, top) => ({
  left,
  top,
  series: name,
  i: 0,
  lines: [point.text, `${name} ${numberText(point.value)}`, ...(point.more ?? [])],
});

const clipped = (text, letters) => (text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text);
