// The address of the page and the view it shows.

const main = document.getElementById("main");
let shown = null; // the view that is there, and how far it was scrolled at each address
let visits = 0;
const scrolled = new Map();
let states = new Map(); // of a live page: what its runs are doing

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // not an address of this page: the view shows that nothing was found
  }
}

function parse(hash) {
  const [path, query = ""] = hash.replace(/^#/, "").split("?");
  const [view = "", ...rest] = path.split("/").filter(Boolean).map(decoded);
  return { view, rest, wanted: Object.fromEntries(new URLSearchParams(query)) };
}

async function show({ focus = true, anew = false } = {}) {
  try {
    const mine = ++visits;
    const place = parse(location.hash);
    const kind = place.view === "episodes" || place.view === "episode" ? "episodes" : "results";
    mark(kind);
    if (anew || kind !== "results" || !shown?.matches(".results")) {
      const made = await viewAt(place);
      if (mine !== visits) return; // another view was opened meanwhile
      const typing = document.activeElement?.id === "search";
      shown = made;
      main.replaceChildren(made);
      if (typing) document.getElementById("search")?.focus();
      document.title = [titleOf(made)?.textContent.slice(0, 80), document.body.dataset.title]
        .filter(Boolean)
        .join(" · ");
    }
    goTo(place, focus);
    document.dispatchEvent(new Event("shown"));
  } catch (error) {
    showProblem(main)(error);
  }
}

function viewAt({ view, rest, wanted }) {
  if (view === "episodes") return episodesView(wanted);
  return view === "episode" ? episodeView(rest[0], rest.slice(1).join("/")) : resultsView();
}

const titleOf = (made) => made.querySelector("h1");

/** Scroll and focus: to a table or figure, or to where this address was left. */
function goTo({ view, rest }, focus) {
  const block = view === "table" || view === "figure" ? document.getElementById(`${view}/${rest[0]}`) : null;
  if (block) block.scrollIntoView();
  else window.scrollTo(0, scrolled.get(location.hash) ?? 0);
  if (!focus || (!block && shown.resume?.())) return; // a grid goes back to its cell
  (block?.querySelector("h2, h3") ?? titleOf(shown))?.focus({ preventScroll: true });
}

function mark(kind) {
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.dataset.view === kind) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

async function resultsView() {
  const about = await overview();
  const under = (table) => about.figures.filter((figure) => figure.beside === table?.id);
  const drawn = new Set(about.tables.flatMap(under));
  const alone = about.figures.filter((figure) => !drawn.has(figure));
  const jump = (kind, blocks) =>
    blocks.map((one) => h("li", {}, h("a", { href: `#/${kind}/${encodeURIComponent(one.id)}` }, one.title)));
  const methods = new Map(about.runs.map((run) => [run.label, run.method]));
  const linked = (column, cell) =>
    column.key === "method" && methods.has(cell.value)
      ? h("a", { href: `#/episodes?method=${encodeURIComponent(methods.get(cell.value))}` }, cell.text)
      : null;
  const contents = h(
    "nav",
    { class: "contents", "aria-label": "Contents" },
    about.tables.length ? [h("h2", {}, "Tables"), h("ul", {}, jump("table", about.tables))] : null,
    alone.length ? [h("h2", {}, "Figures"), h("ul", {}, jump("figure", alone))] : null,
    h("h2", {}, "Data"),
    h(
      "ul",
      {},
      h("li", {}, h("a", { href: "#/table/runs" }, "Runs")),
      h("li", {}, h("a", { href: "#/episodes" }, "Episodes")),
    ),
  );
  for (const label of methods.keys()) colourOf(label); // one fixed order, independent of which figure is shown first
  const runsBlock = await runsView(about);
  const content = h(
    "div",
    { class: "blocks" },
    LIVE ? runsBlock : null,
    about.tables.map((table) => tableView(table, linked, under(table).map(figureView))),
    alone.map(figureView),
    LIVE ? null : runsBlock,
  );
  const view = h("div", { class: "results" }, heroOf(about), contents, content);
  view.grown = view.stated = async () => replaceRuns(await runsView(await overview()));
  return view;
}

/** Put a new table of runs in the place of the old one, and the focus where it was. */
function replaceRuns(fresh) {
  const old = document.getElementById("table/runs");
  const stops = (table) => [...table.querySelectorAll("a, button, summary, .scroll")];
  const at = old ? stops(old).indexOf(document.activeElement) : -1;
  old?.replaceWith(fresh);
  if (at >= 0) stops(fresh)[at]?.focus({ preventScroll: true });
}

function heroOf(about) {
  const distinct = (of) => [...new Set(about.runs.map(of))];
  const names = distinct((run) => `${run.benchmark} ${run.split}`);
  const facts = [
    [about.runs.length, "run"],
    [distinct((run) => run.method).length, "method"],
    [distinct((run) => run.seed).length, "seed"],
  ];
  const models = distinct((run) => (run.revision ? `${run.model}@${run.revision}` : run.model));
  return h(
    "header",
    { class: "hero" },
    h("h1", { tabindex: "-1" }, names.join(", ") || "No runs yet"),
    h(
      "p",
      { class: "lede" },
      facts.map(([number, name]) => count(number, name)).join(" · "),
      models.length ? ` · ${models.join(", ")}` : "",
    ),
    h("p", { class: "actions" }, h("a", { class: "button", href: "#/episodes" }, "Explore episodes")),
    about.notes.length
      ? onDemand(
          `${count(about.notes.length, "note")} on what is compared and what is left out`,
          () =>
            h(
              "ul",
              { class: "notes" },
              about.notes.map((note) => h("li", {}, note)),
            ),
          { class: "noted" },
        )
      : null,
  );
}

/** All runs, how far they are, and how right. */
async function runsView(about) {
  const index = await chunk("index");
  const columns = [
    ["method", "Method"],
    ...(LIVE ? [["state", "State"]] : []), // the first thing to look for while runs go on
    ["dataset", "Dataset"],
    ["judged", "Protocol"],
    ["seed", "Seed"],
    ["done", "Questions"],
    ["initial", "Right at first"],
    ["right", "Right at last"],
    ["repaired", "Repaired"],
    ["entries", "Entries"],
    ...(LIVE ? [] : [["state", "State"]]),
  ];
  const rows = about.runs.map((run) => {
    const flags = index[run.id]?.flags ?? [];
    const sum = (test) => flags.reduce((total, one) => total + (test(one) ? 1 : 0), 0);
    const [initial, right] = [sum((one) => one & INITIAL), sum((one) => one & FINAL)];
    const share = (part) => ({ value: flags.length ? part / flags.length : null, text: percent(part, flags.length) });
    const plain = (value) => ({ value, text: typeof value === "number" ? value.toLocaleString("en") : String(value) });
    const live = states.get(run.id); // of a page that follows its runs
    const state = live?.said ?? (run.finished ? "finished" : "unfinished");
    return {
      method: { value: methodOf(run), text: methodOf(run), run },
      dataset: plain(run.benchmark),
      judged: plain(run.judged),
      seed: plain(run.seed),
      done: { value: flags.length, text: `${plain(flags.length).text} of ${plain(run.questions).text}` },
      initial: share(initial),
      right: share(right),
      repaired: plain(sum(OUTCOMES.repaired[1])),
      entries: plain(sum((one) => one & WROTE)),
      state: plain(state),
    };
  });
  const rule =
    "One row a run; a method leads to its episodes. A finished run may have been limited to the first questions of " +
    "its stream (--limit).";
  const table = {
    id: "runs",
    title: "Runs",
    note: LIVE
      ? `${rule} A run is running while its process holds the run's lock, and stopped where none does: the same ` +
        "command goes on with it. Time left goes by the pace of the last minutes."
      : rule,
    columns: columns.map(([key, label]) => ({
      key,
      label,
      note: "",
      numeric: !["method", "dataset", "judged", "state"].includes(key),
    })),
    rows,
  };
  const to = ({ method, seed, dataset }) => `#/episodes${address({ dataset, method, seed: String(seed) })}`;
  return tableView(table, (column, cell) => (cell.run ? h("a", { href: to(cell.run) }, cell.text) : null));
}

function begin() {
  startTheme();
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser is too old: it cannot unpack compressed data");
  listenToKeys();
  addEventListener("scroll", () => scrolled.set(location.hash, window.scrollY), { passive: true });
  addEventListener("hashchange", () => {
    if (location.hash === "" || location.hash.startsWith("#/")) show();
  });
  if (LIVE) {
    const status = document.querySelector("header .live");
    status.hidden = false;
    follow((state, another, grown) => {
      status.textContent = state.said;
      states = new Map(Object.entries(state.runs ?? {}));
      if (another || shown?.incomplete) show({ focus: false, anew: true });
      else if (grown) shown?.grown?.();
      else shown?.stated?.();
    });
  }
  return show({ focus: false });
}

window.merit = { compare, sha256, ready: Promise.resolve().then(begin).catch(showProblem(main)) };
