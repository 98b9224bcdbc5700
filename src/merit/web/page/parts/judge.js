// What a person says about an answer: right, wrong, or how it should have been.

/** The word about an answer, and what can be said about it. `changed` is called with the server's reply. */
function judgeView(record, changed) {
  const place = h("div", { class: "judging" });
  const said = record.feedback;
  const say = (path, body) => api(pathOf("answers", record.id, path), { method: "POST", body }).then(changed);
  if (!may("confirm")) return said ? h("section", { class: "judge" }, saidView(record)) : null;
  const open = (form) => {
    place.replaceChildren(form.element);
    form.focus();
  };
  const correct = () => open(correctForm(record, say));
  const buttons = said
    ? [
        action(
          "Take it back",
          () => open(reasonForm("Why is it taken back?", "Take back", (reason) => say("withdraw", { reason }))),
          { "data-key": "w" },
        ),
      ]
    : [
        ran(record.status) &&
          action("Confirm", () => say("confirm", {}), { class: "primary", "data-key": "c", title: "It is right (c)" }),
        action(
          "Reject",
          () => open(reasonForm("What is wrong with it?", "Reject", (reason) => say("reject", { reason }))),
          { "data-key": "r", title: "It is wrong (r)" },
        ),
        action("Correct…", correct, { "data-key": "e", title: "Write how it should have been (e)" }),
      ];
  return h(
    "section",
    { class: "judge", "aria-label": "Your word" },
    said
      ? saidView(record)
      : h("p", { class: "ask-word" }, `${isRight(record.status)} What you say is shown to later questions.`),
    h("div", { class: "actions" }, buttons),
    place,
  );
}

const isRight = (status) => (ran(status) ? "Is this right?" : "How should it have been answered?");

function saidView({ feedback, sql }) {
  return h(
    "div",
    { class: "said-by" },
    h("p", {}, saidBadge(feedback.kind), feedback.author ? ` by ${feedback.author}, ` : " ", moment(feedback.time)),
    feedback.reason ? h("p", { class: "reason" }, feedback.reason) : null,
    feedback.sql ? h("div", {}, h("h3", {}, "The correction"), sqlView(feedback.sql, sql || null)) : null,
    feedback.entries?.length
      ? h(
          "p",
          { class: "note" },
          "Remembered as ",
          feedback.entries.map((id, i) => [i ? ", " : "", h("a", { href: entryAddress(id) }, id)]),
        )
      : null,
  );
}

function reasonForm(label, confirm, run) {
  const text = h("input", { type: "text", maxlength: 2000, autocomplete: "off" });
  const button = h("button", { type: "submit", class: "primary" }, confirm);
  const element = h(
    "form",
    { class: "reason-form" },
    field(label, text, "Optional."),
    h("div", { class: "actions" }, button),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(button, () => run(text.value.trim()));
  });
  return { element, focus: () => text.focus() };
}

/** A correction: written with the schema's names at hand, tried without keeping it, then kept. */
function correctForm(record, say) {
  const rows = h("div", { class: "checked", "aria-live": "polite" });
  const check = async () => {
    const checked = await api(pathOf("answers", record.id, "check-sql"), {
      method: "POST",
      body: { sql: editor.value() },
    });
    if (checked.error) rows.replaceChildren(h("p", { class: "problem", role: "alert" }, checked.error));
    else rows.replaceChildren(rowsView(checked, { label: "Rows of the correction" }));
  };
  const keep = action("Keep the correction", () => say("correct", { sql: editor.value() }), { class: "primary" });
  const editor = sqlEditor({
    value: record.sql,
    label: "The right SQL",
    submit: () => busy(keep, () => say("correct", { sql: editor.value() })),
  });
  const element = h(
    "div",
    { class: "correct-form" },
    h("h3", {}, "How should it have been?"),
    editor.element,
    h("div", { class: "actions" }, keep, action("Try it", check)),
    h(
      "p",
      { class: "note" },
      "Ctrl+Enter keeps it, Ctrl+Space completes names. It must run, and is remembered with the change that led to it.",
    ),
    rows,
  );
  return { element, focus: () => editor.ready.then(() => editor.focus()) };
}

/** What came of a word: entries, contradictions, and later answers to look at again. */
function consequenceView(reply) {
  const parts = [contradictionsView(reply.contradictions)];
  if (reply.uses?.length) {
    parts.push(
      h(
        "section",
        {},
        h("h3", {}, "Later answers rest on this"),
        h("p", { class: "note" }, "They were shown what has now changed; look at them again."),
        usesList(reply.uses),
      ),
    );
  }
  return parts.some(Boolean) ? h("div", { class: "consequences" }, parts) : null;
}
