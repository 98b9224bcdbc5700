// What waits for a person: contradictions first, then what was used most and agreed on least.

async function reviewView() {
  const found = await api("memory/review");
  const { waiting } = found;
  const list = h("ol", { class: "plain-list review" }, waiting.map(reviewLine));
  return h(
    "div",
    { class: "page" },
    h("h1", { tabindex: "-1" }, "Memory"),
    memoryWays("review"),
    contradictionsView(found.contradictions),
    h(
      "p",
      { class: "found", role: "status" },
      waiting.length ? `${count(found.count, "thing")} to judge, the most useful first` : "Nothing waits for you.",
    ),
    list,
  );
}

function reviewLine(item) {
  const done = h("span", { role: "status" });
  const line = h("li", { class: "to-review" });
  const judged = (words) => {
    line.classList.add("done");
    actions.replaceChildren(done);
    done.textContent = words;
    line.nextElementSibling?.querySelector("a")?.focus();
  };
  const post = (path, words) => async () => {
    await api(path, { method: "POST", body: {} });
    judged(words);
  };
  const address = item.is_entry ? entryAddress(item.id) : answerAddress(item.id);
  const actions = h("div", { class: "actions" }, item.is_entry ? entryReview(item, judged) : answerReview(item, post));
  line.append(
    ...[
      h("a", { class: "stop", href: address }, item.question),
      item.sql ? sqlView(item.sql) : h("p", { class: "nothing" }, "no statement"),
      h(
        "p",
        { class: "aside-words" },
        item.is_entry ? gradeTag(item.state) : statusBadge(item.state),
        item.is_entry ? null : h("span", {}, `${pct(item.agreement)} of the votes`),
        item.asked > 1 ? h("span", {}, `asked ${item.asked} times`) : null,
        item.recalled ? h("span", {}, `shown ${count(item.recalled, "time")}`) : null,
        moment(item.time),
      ),
      actions,
    ],
  );
  return line;
}

function answerReview(item, post) {
  if (!may("confirm")) return null;
  return [
    ran(item.state)
      ? action("Confirm", post(pathOf("answers", item.id, "confirm"), "Confirmed"), { class: "small" })
      : null,
    action("Reject", post(pathOf("answers", item.id, "reject"), "Rejected"), { class: "small" }),
    h("a", { class: "button small", href: answerAddress(item.id) }, "Look and correct"),
  ];
}

function entryReview(item, judged) {
  if (!may("curate")) return null;
  const confirm = async () => {
    await api(pathOf("memory", item.id, "confirm"), { method: "POST", body: {} });
    judged("Confirmed");
  };
  const retract = async () => {
    await api(pathOf("memory", item.id), { method: "DELETE" });
    judged("Retracted");
  };
  return [
    action("Confirm", confirm, { class: "small" }),
    action("Retract", retract, { class: "small" }),
    h("a", { class: "button small", href: entryAddress(item.id) }, "Look and edit"),
  ];
}
