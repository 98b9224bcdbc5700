// One entry of the memory: what it says, where it comes from, what rests on it; edited, retracted and brought back.

async function entryView(id) {
  const entry = await api(pathOf("memory", id));
  const editing = h("div", { class: "editing" });
  const { state, provenance } = entry;
  return h(
    "article",
    { class: "entry-view page" },
    h("p", { class: "crumbs" }, h("a", { href: "#/memory", "data-key": "Escape" }, "← Memory")),
    h("h1", { tabindex: "-1" }, entry.question || entry.id),
    h(
      "p",
      { class: "ended" },
      gradeTag(entry.grade),
      h("span", { class: "tag" }, KIND_WORDS[entry.kind] ?? readable(entry.kind)),
      state !== "live" ? h("span", { class: "tag bad" }, STATE_WORDS[state]) : null,
    ),
    entry.stale ? h("p", { class: "reason" }, sentence(`stale: ${entry.stale}`)) : null,
    entry.deleted ? h("p", { class: "reason" }, sentence(entry.deleted)) : null,
    entrySql(entry),
    h("div", { class: "tools" }, copyButton(entry.sql)),
    may("curate") ? h("div", { class: "actions" }, entryActions(entry, state, editing)) : null,
    editing,
    factsOf([
      ["Database", entry.database],
      ["Author", entry.author],
      ["When", entry.time ? moment(entry.time) : ""],
      ["For", scopeWords(entry.scope)],
      ["Answer", answerLink(provenance)],
      ["From", provenance.run === "live" ? "" : provenance.run],
      ["Failure", entry.entry.failure_type ? readable(entry.entry.failure_type) : ""],
      ["Dialect", provenance.dialect],
      ["Number", entry.sequence],
      ["Id", entry.id],
    ]),
    h(
      "section",
      { class: "part-section" },
      h("h2", {}, "Later answers that rest on it"),
      usesList(entry.uses) ?? h("p", { class: "nothing" }, "None so far."),
    ),
  );
}

/** The answer that an entry was learned from; entries of imports and runs have none here. */
function answerLink({ question_id: answer }) {
  return /^[0-9a-f]{12}$/.test(String(answer)) ? h("a", { href: answerAddress(answer) }, answer) : null;
}

function entryActions(entry, state, editing) {
  if (state === "retracted") return [restoreButton(entry)];
  const buttons = [
    action("Retract…", () => askToRetract(entry), { "data-key": "x", title: "Take it out of every later recall (x)" }),
  ];
  if (entry.kind === "precedent") {
    const open = () => {
      const form = editForm(entry);
      editing.replaceChildren(form.element);
      form.focus();
    };
    buttons.unshift(action("Edit…", open, { "data-key": "e", title: "Change question and SQL (e)" }));
  }
  if (state === "stale") buttons.push(restoreButton(entry));
  if (entry.scope?.startsWith("personal:")) buttons.push(promoteButton(entry));
  return buttons;
}

/** Who is shown an entry. */
function scopeWords(scope) {
  if (!scope) return "everyone";
  const [kind, ...name] = scope.split(":");
  return kind === "personal" ? `${name.join(":")} alone` : `the ${kind} ${name.join(":")}`;
}

function promoteButton(entry) {
  const promote = async () => {
    const { entries } = await api(pathOf("memory", entry.id, "promote"), { method: "POST", body: {} });
    say("Others are shown it from now on");
    location.hash = entryAddress(entries[0]);
  };
  return action("Share with others", promote, { title: "Let the team, or everyone, be shown it" });
}

function restoreButton(entry) {
  const restore = async () => {
    await api(pathOf("memory", entry.id, "restore"), { method: "POST", body: {} });
    say("Restored");
    await show({ anew: true });
  };
  return action("Restore", restore, { class: "primary" });
}

/** Retracting, with its consequences first. */
async function askToRetract(entry) {
  const { uses = [] } = await api(`${pathOf("memory", entry.id)}?dry_run=true`, { method: "DELETE" });
  askFirst({
    title: "Retract this entry?",
    danger: true,
    confirm: "Retract",
    content: [
      h("p", {}, entry.question),
      h("p", {}, "No later question will be shown it. It stays in the log, and can be restored."),
      uses.length
        ? [
            h("h3", {}, `${count(uses.length, "later answer")} ${uses.length === 1 ? "rests" : "rest"} on it`),
            usesList(uses),
            h("p", { class: "note" }, "They stay as they are; look at them again."),
          ]
        : h("p", { class: "note" }, "No later answer rests on it."),
    ],
    run: async () => {
      await api(pathOf("memory", entry.id), { method: "DELETE" });
      say("Retracted");
      await show({ anew: true });
    },
  });
}

function editForm(entry) {
  const question = h("textarea", { rows: 2, maxlength: 10_000 });
  question.value = entry.question;
  const keep = h("button", { type: "submit", class: "primary" }, "Keep");
  const run = async () => {
    const reply = await api(pathOf("memory", entry.id), {
      method: "PUT",
      body: { question: question.value.trim(), sql: editor.value() },
    });
    say("Kept as confirmed by you; the old entry is retracted");
    location.hash = entryAddress(reply.id);
  };
  const editor = sqlEditor({ value: entry.sql, label: "SQL", submit: () => busy(keep, run, element) });
  const element = h(
    "form",
    { class: "edit-form" },
    field("Question", question),
    h("h3", {}, "SQL"),
    editor.element,
    h("div", { class: "actions" }, keep),
    h("p", { class: "note" }, "The SQL is run first. The new entry is confirmed by you, and the old one is retracted."),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(keep, run, element);
  });
  return { element, focus: () => question.focus() };
}
