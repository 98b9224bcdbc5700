// What is remembered: searched and filtered; and the ways to its other views.

const MEMORY_CHOICES = {
  state: [
    "State",
    [
      ["", "Live"],
      ["stale", "Stale"],
      ["retracted", "Retracted"],
      ["all", "All"],
    ],
  ],
  grade: [
    "Grade",
    [
      ["", "Any"],
      ["confirmed", "Confirmed"],
      ["tested", "Tested"],
      ["agreed", "Agreed"],
      ["executed", "Executed"],
    ],
  ],
  kind: [
    "Kind",
    [
      ["", "Any"],
      ["precedent", "Answers"],
      ["positive", "Changes that worked"],
      ["negative", "Failed directions"],
    ],
  ],
};

/** The views of the memory, as links beside each other. */
function memoryWays(here) {
  const ways = [
    ["entries", "#/memory", "Entries"],
    ["review", "#/memory/review", "To review"],
    ["exchange", "#/memory/exchange", "Import and export"],
  ];
  return h(
    "nav",
    { class: "ways", "aria-label": "Memory" },
    ways.map(([name, href, label]) => h("a", { href, "aria-current": name === here ? "page" : null }, label)),
  );
}

function memoryView(wanted) {
  return searchable({
    title: "Memory",
    address: "#/memory",
    wanted,
    placeholder: "Search questions and SQL",
    choices: MEMORY_CHOICES,
    texts: { database: "Database", author: "Author", scope: "Scope" },
    list: h("ul", { class: "plain-list entries" }),
    fetchPage: (query) => api(`memory${query}`).then(({ entries, next }) => ({ items: entries, next })),
    line: entryLine,
    none: "No entry fits. Another word, or fewer filters, may find more.",
    empty: "Nothing is remembered yet. Confirm or correct an answer, or import what you have.",
    counted: ["entry", "entries"],
    above: memoryWays("entries"),
  });
}

function entryLine(entry) {
  return h(
    "li",
    {},
    h("a", { class: "stop", href: entryAddress(entry.id) }, entry.question || entry.id),
    h("code", { class: "one-line" }, entry.sql),
    h(
      "span",
      { class: "aside-words" },
      gradeTag(entry.grade),
      entry.kind !== "precedent" && h("span", { class: "tag" }, KIND_WORDS[entry.kind] ?? readable(entry.kind)),
      entry.state && entry.state !== "live" && h("span", { class: "tag bad" }, STATE_WORDS[entry.state] ?? entry.state),
      entry.scope ? h("span", { class: "tag" }, `for ${scopeWords(entry.scope)}`) : null,
      h("span", {}, entry.database),
      entry.author ? h("span", {}, entry.author) : null,
      entry.time ? moment(entry.time) : null,
    ),
  );
}
