// Parts of forms that several views use.

/** A labelled field. */
function field(label, control, hint = null) {
  control.id ||= `field-${++fields}`;
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, hint && h("small", {}, hint));
}

let fields = 0;

/** A labelled choice; `options` are pairs of value and text. */
function choice(label, name, options, chosen, changed) {
  const select = h(
    "select",
    { name, on: { change: () => changed(name, select.value) } },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return h("label", {}, h("span", {}, label), select);
}

/** A button that runs something and cannot be pressed twice meanwhile; errors are shown after it. */
function action(label, run, attributes = {}) {
  const button = h("button", { type: "button", ...attributes }, label);
  button.addEventListener("click", () => busy(button, run));
  return button;
}

/** Run something while a button is off; what goes wrong is said beside it. */
async function busy(button, run, place = button.closest("form, .actions, .tools") ?? button.parentElement) {
  place.querySelector(":scope > .problem")?.remove();
  button.setAttribute("aria-disabled", "true");
  if (button.dataset.busy) return undefined;
  button.dataset.busy = "yes";
  try {
    return await run();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    place.append(h("p", { class: "problem", role: "alert" }, sentence(error.message)));
    return undefined;
  } finally {
    delete button.dataset.busy;
    button.removeAttribute("aria-disabled");
  }
}

/** With a capital letter and a full stop. */
function sentence(text) {
  const said = text.trim();
  if (!said) return "";
  return said[0].toUpperCase() + said.slice(1) + (/[.!?…]$/.test(said) ? "" : ".");
}

/** Wait until typing pauses. */
function paused(run, ms = 250) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), ms);
  };
}

/** Ask before something is done: a dialog with content, whose confirming button runs it. */
function askFirst({ title, content, confirm, danger = false, run }) {
  const dialog = document.getElementById("question");
  const before = document.activeElement;
  const accept = h("button", { type: "button", class: danger ? "danger" : "primary", autofocus: !danger }, confirm);
  const actions = h(
    "div",
    { class: "actions" },
    accept,
    h("button", { type: "button", autofocus: danger, on: { click: () => dialog.close() } }, "Cancel"),
  );
  accept.addEventListener("click", async () => {
    const done = await busy(accept, async () => {
      await run();
      return true;
    });
    if (done) dialog.close();
  });
  dialog.replaceChildren(h("h2", { id: "question-title" }, title), h("div", { class: "content" }, content), actions);
  dialog.addEventListener("close", () => before?.isConnected && before.focus(), { once: true });
  dialog.showModal();
}

/** When something was, in words a person reads; the exact time is the element's own. */
function moment(time) {
  if (!time) return h("span", {}, "–");
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return h("span", {}, String(time));
  const today = new Date().toDateString() === date.toDateString();
  const text = today
    ? date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
  return h("time", { datetime: date.toISOString(), title: date.toLocaleString("en-GB") }, text);
}

/** Facts as a list of terms; empty ones are left out. */
function factsOf(pairs) {
  const filled = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  if (!filled.length) return null;
  return h(
    "dl",
    { class: "facts" },
    filled.map(([name, value]) =>
      h("div", {}, h("dt", {}, name), h("dd", {}, value instanceof Node ? value : String(value))),
    ),
  );
}

const pct = (share) => (typeof share === "number" ? `${Math.round(share * 100)}%` : "–");
