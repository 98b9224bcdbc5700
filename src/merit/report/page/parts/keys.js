// Everything by keyboard.

const KEYS = [
  ["j  k  ↓  ↑", "next or previous episode in grid and list, or attempt in an episode"],
  ["Enter", "open what is focused"],
  ["n  p", "next or previous episode"],
  ["← → ↑ ↓", "in the grid: from cell to cell (Home, End, Page up, Page down)"],
  ["g", "grid or list of episodes"],
  ["[  ]", "previous or next page of the list"],
  ["/", "search episodes"],
  ["Esc", "back: from an episode to the list, from the list to the results"],
  ["1  2", "results, episodes"],
  ["t", "light or dark"],
  ["← →", "in a plot: from point to point (↑ ↓ between series)"],
  ["?", "this help"],
];

function listenToKeys() {
  const help = document.getElementById("help");
  help.querySelector(".keys").append(
    ...KEYS.flatMap(([keys, what]) => [
      h(
        "dt",
        {},
        keys.split(/\s+/).map((key) => h("kbd", {}, key)),
      ),
      h("dd", {}, what),
    ]),
  );
  document.getElementById("help-open").addEventListener("click", () => help.showModal());
  document.getElementById("theme").addEventListener("click", changeTheme);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const typing = event.target.matches("input[type=search], select, textarea");
    if (typing && event.key !== "Escape") return;
    if (typing) event.target.blur();
    else if (!act(event, help)) return;
    event.preventDefault();
  });
}

function act(event, help) {
  const { key } = event;
  const marked = document.querySelector(`main [data-key="${CSS.escape(key)}"]:not([disabled])`);
  if (key === "j" || key === "ArrowDown") return step(1);
  if (key === "k" || key === "ArrowUp") return step(-1);
  if (marked) marked.click();
  else if (key === "?") help.showModal();
  else if (key === "/") goSearch();
  else if (key === "t") changeTheme();
  else if (key === "1" || key === "Escape") location.hash = "#/";
  else if (key === "2") location.hash = listAddress;
  else return false;
  return true;
}

/** Move the focus along a grid's or a list's rows or an episode's attempts; false where there are none. */
function step(by) {
  const sheet = document.querySelector(".sheet");
  if (sheet) return sheet.step(by);
  const stops = [...document.querySelectorAll("a.row, section.attempt")];
  if (!stops.length) return false;
  const at = stops.findIndex((stop) => stop === document.activeElement || stop.contains(document.activeElement));
  const next = stops[Math.max(0, Math.min(stops.length - 1, at < 0 ? (by > 0 ? 0 : stops.length - 1) : at + by))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: next.matches("a") ? "nearest" : "start" });
  return true;
}

function goSearch() {
  const focus = () => document.getElementById("search")?.focus();
  if (document.getElementById("search")) focus();
  else {
    location.hash = listAddress;
    document.addEventListener("shown", focus, { once: true });
  }
}
