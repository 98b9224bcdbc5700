// Asking: the question, its options, and what happens while it is under way.

let running = null; // the question under way: its element stays when another view is opened
const witnessed = new Map(); // by answer: the events that were heard, which a record does not have

const OPTIONS = [
  ["memory", "Use the memory", true],
  ["execute", "Run the SQL", true],
];

/** The form that asks. `earlier` are the answers of the conversation that a follow-up goes on from. */
function askForm({ earlier = [], label = "Your question", value = "", started = () => {} }) {
  const text = h("textarea", {
    id: earlier.length ? "follow-up" : "ask",
    rows: 2,
    maxlength: 10_000,
    placeholder: earlier.length ? "And of those, …" : "How many orders are open?",
  });
  text.value = value;
  const ticks = OPTIONS.map(([name, words, on]) => {
    const box = h("input", { type: "checkbox", name, checked: on });
    return [name, box, h("label", { class: "tick" }, box, words)];
  });
  const button = h("button", { type: "submit", class: "primary" }, "Ask");
  const form = h(
    "form",
    { class: "ask" },
    h("label", { for: text.id }, label),
    text,
    h("div", { class: "actions" }, button, earlier.length ? null : ticks.map(([, , element]) => element)),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const question = text.value.trim();
    if (!question) return text.focus();
    const chosen = Object.fromEntries(ticks.map(([name, box]) => [name, box.checked]));
    return busy(button, () => started({ question, earlier, ...chosen }));
  });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  return form;
}

/** Begin to ask, and show it. */
function startAsking(asked) {
  running?.abort();
  running = underWay(asked);
  if (location.hash === "#/" || location.hash === "") show({ anew: true });
  else location.hash = "#/";
}

function underWay(asked) {
  const control = new AbortController();
  let first = null; // the first event, with ticket and the id that the answer will have
  const stop = async () => {
    if (first) await api(pathOf("answers", "running", first.ticket), { method: "DELETE" });
    else control.abort();
  };
  const watch = watchView(stop);
  const events = [];
  const element = h("article", { class: "asking" }, h("h1", { tabindex: "-1" }, asked.question), watch.element);
  const mine = { asked, element, abort: () => control.abort() };
  const hear = (name, data) => {
    if (name === "started") first = data;
    events.push([name, data]);
    watch.hear(name, data);
  };
  listenTo("answers", { body: asked, signal: control.signal }, hear).then(
    (answer) => ended(mine, answer, events),
    (error) => stopped(mine, error, first?.answer),
  );
  return mine;
}

function ended(mine, answer, events) {
  if (!answer) return stopped(mine, new Refusal("you stopped it", 409));
  witnessed.set(answer.id, { events, answer });
  if (running === mine) running = null;
  say(`${(STATUS_WORDS[answer.status] ?? ["", answer.status])[1]}: ${count(answer.row_count ?? 0, "row")}`);
  if (mine.element.isConnected) location.replace(answerAddress(answer.id));
  return undefined;
}

/** It failed, was stopped, or the connection broke: say so, and offer to go on. */
function stopped(mine, error, answer) {
  const again = action("Ask again", () => startAsking(mine.asked), { class: "primary" });
  const place = h("div", { class: "stopped", role: "alert" });
  const tell = (words) => place.replaceChildren(h("p", {}, words), h("p", { class: "actions" }, again, newQuestion()));
  mine.element.querySelector(".progress-line")?.remove();
  mine.element.querySelector("h1").after(place);
  mine.over = true;
  if (!(error instanceof Unreachable)) return tell(sentence(error.name === "AbortError" ? "stopped" : error.message));
  tell("The connection was lost while this was under way. Waiting for the server…");
  document.addEventListener("connected", () => lookAgain(mine, answer, tell), { once: true });
  return undefined;
}

function newQuestion() {
  const forget = () => {
    running = null;
    return show({ anew: true });
  };
  return action("Another question", forget);
}

/** After a lost connection: the answer may have been given. */
async function lookAgain(mine, answer, tell) {
  try {
    if (answer) {
      await api(pathOf("answers", answer));
      if (running === mine) running = null;
      location.replace(answerAddress(answer));
      return;
    }
  } catch (error) {
    if (!(error instanceof Refusal)) return; // lost again
  }
  tell("The connection was lost and is back. The question was not answered; ask it again.");
}

/** The first view. */
async function askView() {
  if (running) return running.element;
  if (!may("ask"))
    return missingView("You may look, not ask", "Your token has no right to ask.", "#/history", "History");
  const recent = await api("answers?limit=6").catch(() => ({ answers: [] }));
  return h(
    "div",
    { class: "page narrow-page" },
    h("h1", { tabindex: "-1" }, "Ask ", h("span", { class: "name" }, session.database ?? "")),
    askForm({ started: startAsking }),
    recent.answers.length
      ? h(
          "section",
          { class: "recent" },
          h("h2", {}, "Asked before"),
          h("ul", { class: "plain-list" }, recent.answers.map(recentLine)),
          h("p", {}, h("a", { href: "#/history" }, "All of the history")),
        )
      : h(
          "p",
          { class: "note" },
          "Nothing was asked yet. The database is only read; what you confirm is shown to later questions.",
        ),
  );
}

function recentLine(answer) {
  return h(
    "li",
    {},
    h("a", { class: "stop", href: answerAddress(answer.id) }, answer.question),
    h(
      "span",
      { class: "aside-words" },
      answer.feedback ? saidBadge(answer.feedback.kind ?? answer.feedback) : statusBadge(answer.status),
      moment(answer.time),
    ),
  );
}
