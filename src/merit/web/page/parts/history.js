// What was asked: searched, filtered, newest first.

const HISTORY_CHOICES = {
  status: [
    "Status",
    [
      ["", "Any"],
      ["answered", "Answered"],
      ["unsure", "Unsure"],
      ["unanswerable", "No answer"],
      ["failed", "Failed"],
      ["not_executed", "Not executed"],
    ],
  ],
  feedback: [
    "Your word",
    [
      ["", "Any"],
      ["none", "Not judged"],
      ["confirmed", "Confirmed"],
      ["corrected", "Corrected"],
      ["rejected", "Rejected"],
    ],
  ],
};

function historyView(wanted) {
  const list = h("ul", { class: "plain-list answers" });
  return searchable({
    title: "History",
    address: "#/history",
    wanted,
    placeholder: "Search questions and SQL",
    choices: HISTORY_CHOICES,
    texts: { author: "Author", since: "Since", until: "Until" },
    list,
    fetchPage: (query) => api(`answers${query}`).then(({ answers, next }) => ({ items: answers, next })),
    line: historyLine,
    none: "Nothing fits. Another word, or fewer filters, may find more.",
    empty: "Nothing was asked yet.",
    counted: ["answer"],
  });
}

function historyLine(answer) {
  return h(
    "li",
    {},
    h("a", { class: "stop", href: answerAddress(answer.id) }, answer.question),
    answer.sql
      ? h("code", { class: "one-line" }, answer.sql)
      : h("span", { class: "nothing" }, answer.reason || "no statement"),
    h(
      "span",
      { class: "aside-words" },
      answer.feedback ? saidBadge(answer.feedback.kind ?? answer.feedback) : statusBadge(answer.status),
      moment(answer.time),
      answer.author ? h("span", {}, answer.author) : null,
    ),
  );
}

const PAGE_OF = 50; // answers or entries fetched at a time

/** A view that searches: its filters are its address, and more comes when it is asked for. */
function searchable({
  title,
  address,
  wanted,
  placeholder,
  choices,
  texts = {},
  list,
  fetchPage,
  line,
  none,
  empty,
  counted,
  above = null,
}) {
  const found = h("p", { class: "found", role: "status" });
  const more = action("Show more", () => read(next), { class: "more", hidden: true });
  const problem = h("div");
  let next = null;
  let shownCount = 0;
  let current = { ...wanted };
  let visit = 0;

  async function read(before = null) {
    const mine = ++visit;
    const page = await fetchPage(queryOf({ ...current, limit: PAGE_OF, before }));
    if (mine !== visit) return; // typed on meanwhile
    if (before === null) list.replaceChildren();
    if (before === null) shownCount = 0;
    const from = list.children.length;
    list.append(...page.items.map(line));
    shownCount += page.items.length;
    next = page.next;
    more.hidden = !next;
    const filtered = Object.values(current).some(Boolean);
    found.textContent = shownCount
      ? `${count(shownCount, ...counted)}${next ? " so far" : ""}`
      : filtered
        ? none
        : empty;
    if (before !== null) list.children[from]?.querySelector("a")?.focus();
  }

  const readAgain = () => read().catch(showProblem(problem));
  function change(name, value) {
    current = { ...current, [name]: value };
    history.replaceState(null, "", `${address}${queryOf(current)}`);
    problem.replaceChildren();
    return readAgain();
  }
  const search = h("input", {
    type: "search",
    id: "search",
    "aria-label": placeholder,
    placeholder,
    value: wanted.words ?? "",
    autocomplete: "off",
  });
  search.addEventListener(
    "input",
    paused(() => change("words", search.value.trim())),
  );
  const filtered = [...Object.keys(choices), ...Object.keys(texts)].some((name) => wanted[name]);
  const filters = h(
    "form",
    { class: "filters", role: "search", on: { submit: (event) => event.preventDefault() } },
    h("div", { class: "search" }, search),
    h(
      "details",
      { class: "narrow", open: filtered || !matchMedia("(max-width: 700px)").matches },
      h("summary", {}, "Filters"),
      h(
        "div",
        { class: "choices" },
        Object.entries(choices).map(([name, [label, options]]) =>
          choice(label, name, options, wanted[name] ?? "", change),
        ),
        Object.entries(texts).map(([name, label]) => textFilter(label, name, wanted[name] ?? "", change)),
      ),
    ),
  );
  const view = h(
    "div",
    { class: "page" },
    h("h1", { tabindex: "-1" }, title),
    above,
    filters,
    found,
    problem,
    list,
    h("div", { class: "actions centre" }, more),
  );
  return read().then(() => view);
}

function textFilter(label, name, value, change) {
  const isDate = name === "since" || name === "until";
  const input = h("input", { type: isDate ? "date" : "text", name, value, size: 12 });
  input.addEventListener(
    "input",
    paused(() => change(name, input.value.trim())),
  );
  return h("label", {}, h("span", {}, label), input);
}
