// Everything by keyboard.

const KEYS = [
  ["1 … 5", "ask, history, memory, schema, proof"],
  ["/", "search, or ask where there is nothing to search"],
  ["j  k  ↓  ↑", "next or previous line of a list"],
  ["Enter", "ask, or open what is focused; Shift and Enter begins a new line"],
  ["c  r  e", "in an answer: confirm, reject, correct; in an entry: e edits"],
  ["w", "take back what was said about an answer"],
  ["m", "ask again without memory"],
  ["T  C", "rows as a table or as a chart"],
  ["x", "in an entry: retract, after its consequences"],
  ["← → ↑ ↓", "in rows: from cell to cell (Home, End, Page up, Page down); s sorts by the column"],
  ["← →", "in a chart: from point to point"],
  ["Ctrl+Space", "in the editor: complete a name; Ctrl+Enter keeps the statement, Tab leaves"],
  ["Esc", "stop asking, close, or go back"],
  ["t", "light or dark"],
  ["?", "this help"],
];
const VIEWS = ["#/", "#/history", "#/memory", "#/schema", "#/proof"];

function listenToKeys() {
  const help = document.getElementById("help");
  help.querySelector(".keys").append(
    ...KEYS.flatMap(([keys, what]) => [
      h(
        "dt",
        {},
        keys.split(/\s+/).map((key) => (key === "…" ? " … " : h("kbd", {}, key))),
      ),
      h("dd", {}, what),
    ]),
  );
  document.getElementById("help-open").addEventListener("click", () => help.showModal());
  document.getElementById("theme").addEventListener("click", changeTheme);
  const single = document.getElementById("single-keys"); // off for people whose dictation or shaking hands press keys
  single.checked = kept("merit-keys") !== "off";
  single.addEventListener("change", () => keep("merit-keys", single.checked ? "on" : "off"));
  document.addEventListener("keydown", (event) => {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.defaultPrevented ||
      document.querySelector("dialog[open]")
    )
      return;
    const typing = event.target.matches("input, select, textarea, [contenteditable]");
    if (typing && (event.key !== "Escape" || event.target.closest(".ace_editor"))) return;
    if (!typing && event.key.length === 1 && !single.checked) return;
    if (typing) event.target.blur();
    else if (!act(event.key, help)) return;
    event.preventDefault();
  });
}

function act(key, help) {
  const marked = document.querySelector(`main [data-key="${CSS.escape(key)}"]:not([hidden])`);
  if (key === "j" || key === "ArrowDown") return stepLine(1);
  if (key === "k" || key === "ArrowUp") return stepLine(-1);
  if (marked) marked.click();
  else if (key === "?") help.showModal();
  else if (key === "/") goSearch();
  else if (key === "t") changeTheme();
  else if (VIEWS[key - 1] && session.signed_in) location.hash = VIEWS[key - 1];
  else if (key === "Escape" && location.hash.length > 2) history.back();
  else return false;
  return true;
}

/** Move the focus along the lines of a list; false where there are none, so that the page scrolls. */
function stepLine(by) {
  const stops = [...document.querySelectorAll("main a.stop")];
  if (!stops.length || document.activeElement?.closest("[role=grid], .plot")) return false;
  const at = stops.indexOf(document.activeElement);
  const next = stops[Math.max(0, Math.min(stops.length - 1, at < 0 ? (by > 0 ? 0 : stops.length - 1) : at + by))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function goSearch() {
  const place = () => document.querySelector("main #search, main #ask, main #follow-up");
  if (place()) place().focus();
  else {
    location.hash = "#/history";
    document.addEventListener("shown", () => place()?.focus(), { once: true });
  }
}
