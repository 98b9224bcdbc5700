// Episodes, filtered: as a grid of questions by runs, or as a list in pages; left where they were on a return.

const PER_PAGE = 50;
const MOST_PIPS = 8;
let listed = []; // what the list showed last, so that an episode knows its neighbours
let listAddress = "#/episodes";

async function episodesView(wanted) {
  const [about, rows] = await Promise.all([overview(), allRows()]);
  const asList = wanted.as === "list";
  const status = h("p", { class: "found", role: "status" });
  const list = h("div", { class: asList ? "list" : "matrices" });
  const pages = h("nav", { class: "pages", "aria-label": "Pages" });
  let latest = 0;

  async function update(fresh, page = 1) {
    const mine = ++latest;
    const kept = { ...fresh, as: asList ? "list" : "", page: page > 1 ? String(page) : "" };
    listAddress = `#/episodes${address(kept)}`;
    if (parse(location.hash).view === "episodes") history.replaceState(null, "", listAddress);
    ways.replaceChildren(...waysToLook(kept));
    let sqls = null;
    if (fresh.sql && fresh.q) {
      const records = about.runs.filter((one) => ofWanted(one, fresh));
      sqls = await triedSql(
        records,
        (done, all) => mine === latest && (status.textContent = `Reading SQL of run ${done} of ${all}…`),
      );
      if (mine !== latest) return;
    }
    const fitting = selected(await allRows(), fresh, about, sqls);
    status.textContent = fitting.length ? found(fitting) : "No episode fits; clear a filter.";
    if (asList) turnTo(fitting, page, fresh);
    else listed = fillGrid(list, about, fitting, fresh);
  }

  function turnTo(fitting, page, fresh) {
    listed = fitting;
    const last = Math.max(1, Math.ceil(listed.length / PER_PAGE));
    const at = Math.min(page, last);
    const from = (at - 1) * PER_PAGE;
    const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    list.replaceChildren(listed.length ? listTable(listed.slice(from, from + PER_PAGE), from) : "");
    if (focused) list.querySelector(`a.row[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    pages.replaceChildren(...turningPages(at, last, (next) => update(fresh, next).then(() => focusRow(0))));
    pages.hidden = last === 1;
  }

  const ways = h("nav", { class: "ways", "aria-label": "Ways to look at episodes" });
  const again = ({ page, as, ...others }) => update(others, Number(page) || 1).catch(showProblem(list));
  const first = again(wanted);
  if (!wanted.sql) await first; // reading all SQL takes a while; a message is shown meanwhile
  const view = h(
    "div",
    { class: "episodes" },
    h("div", { class: "top" }, h("h1", { tabindex: "-1" }, "Episodes"), ways),
    filterForm(rows, wanted, about, again),
    status,
    list,
    pages,
  );
  view.grown = () => again(parse(listAddress).wanted);
  view.resume = () => resumeGrid(list);
  return view;
}

function waysToLook({ page, sort, as, ...wanted }) {
  const way = (name, label) =>
    h(
      "a",
      {
        href: `#/episodes${address({ ...wanted, as: name })}`,
        "aria-current": name === as ? "true" : null,
        "data-key": name === as ? null : "g",
      },
      label,
    );
  return [way("", "Grid"), way("list", "List")];
}

function found(rows) {
  const sum = (name) => rows.reduce((total, row) => total + (OUTCOMES[name][1](row.flags) ? 1 : 0), 0);
  const parts = Object.entries(OUTCOMES).map(([name, [label]]) => `${sum(name).toLocaleString("en")} ${label}`);
  return `${count(rows.length, "episode")}: ${parts.join(", ")}`;
}

function address(wanted) {
  const query = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString();
  return query && `?${query}`;
}

function turningPages(at, last, go) {
  const button = (label, page, name, key) =>
    h(
      "button",
      {
        type: "button",
        class: "plain",
        "aria-label": name,
        "data-key": key,
        disabled: page < 1 || page > last,
        on: { click: () => go(page) },
      },
      label,
    );
  return [
    button("← Previous", at - 1, "Previous page", "["),
    h("span", {}, `Page ${at.toLocaleString("en")} of ${last.toLocaleString("en")}`),
    button("Next →", at + 1, "Next page", "]"),
  ];
}

function listTable(rows, from) {
  const heads = ["Outcome", "Question", "Database", "Method", "Seed", "Attempts", "Memory"];
  const table = h(
    "table",
    { class: "episodes" },
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
      rows.map((row, i) => listRow(row, from + i)),
    ),
  );
  return asTable(table);
}

function listRow(row, place) {
  const { record, question, flags } = row;
  return h(
    "tr",
    { "data-place": place },
    h("td", { class: "outcome" }, outcomeBadge(flags)),
    h(
      "td",
      { class: "question" },
      h("a", { href: episodeAddress(record, question), class: "row" }, question.text),
      h("small", {}, `#${question.id}`),
    ),
    h("td", { class: "db" }, question.db),
    h("td", { class: "method" }, record.label),
    h("td", { class: "seed" }, String(record.seed)),
    h(
      "td",
      { class: "attempts" },
      pips(row),
      flags & OSCILLATES ? h("span", { class: "again", title: MEANINGS.oscillating }, "oscillating") : null,
    ),
    h(
      "td",
      { class: "memory" },
      flags & RECALLED ? "recalled" : "",
      flags & RECALLED && flags & WROTE ? ", " : "",
      flags & WROTE ? "wrote" : "",
    ),
  );
}

function outcomeBadge(flags) {
  const name = outcomeName(flags);
  return h("span", { class: `badge ${name}` }, OUTCOMES[name][0]);
}

/** An episode's candidates in small, the one that stands in its colour; what was set aside is a number. */
function pips({ attempts, chosen, repeats, flags }) {
  const stands = chosen < 0 ? attempts - 1 : chosen;
  const from = Math.max(0, Math.min(stands - MOST_PIPS + 1, attempts - MOST_PIPS));
  const dots = Array.from({ length: Math.min(attempts, MOST_PIPS) }, (_, i) =>
    h("i", { class: from + i === stands && flags & FINAL ? "right" : "wrong" }),
  );
  const said = count(attempts, "attempt") + (repeats ? `, ${repeats} more set aside` : "");
  const more = attempts - dots.length + repeats;
  return h(
    "span",
    { class: "pips", role: "img", "aria-label": said, title: said },
    dots,
    more ? h("small", {}, `+${more}`) : null,
  );
}

const episodeAddress = (record, question) =>
  `#/episode/${encodeURIComponent(record.id)}/${encodeURIComponent(question.id)}`;

function focusRow(i) {
  document.querySelectorAll("a.row")[i]?.focus();
}
