// The address of the page and the view it shows.

const main = document.getElementById("main");
let visits = 0;
let shownAt = null; // the address that is shown
const scrolled = new Map(); // by address: how far it was scrolled

const decoded = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // not an address of this page: the view says that nothing was found
  }
};

function parse(hash) {
  const [path, query = ""] = hash.replace(/^#/, "").split("?");
  const [view = "", ...rest] = path.split("/").filter(Boolean).map(decoded);
  return { view, id: rest.join("/"), wanted: Object.fromEntries(new URLSearchParams(query)) };
}

function viewAt({ view, id, wanted }) {
  if (!session.signed_in) return signInView();
  if (!session.database)
    return missingView("Only runs here", "This server shows runs; start it with a database to ask.", "runs/", "Runs");
  if (view === "answer") return answerView(id);
  if (view === "history") return historyView(wanted);
  if (view === "memory" && id === "review") return reviewView();
  if (view === "memory" && id === "exchange") return exchangeView();
  if (view === "memory" && !id) return memoryView(wanted);
  if (view === "memory" && /^(pos|neg|pre)-/.test(id)) return entryView(id);
  if (view === "schema") return id ? tableViewOf(id) : schemaView(wanted);
  if (view === "proof") return proofView();
  if (view === "") return askView();
  return missingView("Not here", "There is no such view.", "#/", "Ask");
}

const titleOf = (view) => view.querySelector("h1");

async function show({ focus = true, anew = false } = {}) {
  const mine = ++visits;
  const place = parse(location.hash);
  if (!anew && shownAt === location.hash) return;
  mark(place.view === "answer" ? "history" : place.view || "ask");
  let view;
  try {
    view = await viewAt(place);
  } catch (error) {
    view = failedView(error);
  }
  if (mine !== visits) return; // another view was opened meanwhile
  closeEditors();
  shownAt = location.hash;
  main.replaceChildren(view);
  document.title = [titleOf(view)?.textContent.slice(0, 80), "merit"].filter(Boolean).join(" · ");
  window.scrollTo(0, anew ? window.scrollY : (scrolled.get(location.hash) ?? 0));
  if (focus) titleOf(view)?.focus({ preventScroll: true });
  document.dispatchEvent(new Event("shown"));
}

/** A view that could not be made: the sentence, and another try once the server is back. */
function failedView(error) {
  const gone = error instanceof Unreachable;
  if (!gone && !(error instanceof Refusal)) console.error(error);
  if (gone) document.addEventListener("connected", () => show({ anew: true }), { once: true });
  const title = gone ? "The server cannot be reached" : error.status === 404 ? "Not here" : "This cannot be shown";
  return h(
    "div",
    { class: "page" },
    h("h1", { tabindex: "-1" }, title),
    h("p", { class: "lede", role: "alert" }, gone ? "It is tried again by itself." : sentence(error.message)),
    h(
      "p",
      { class: "actions" },
      action("Try again", () => show({ anew: true })),
      h("a", { class: "button", href: "#/" }, "Ask"),
    ),
  );
}

const EDITOR_RESTS_MS = 1000; // Ace's own timers look at an editor for a moment after it has left the page

function closeEditors() {
  for (const { ace } of main.querySelectorAll(".editor")) {
    if (ace) setTimeout(() => ace.destroy(), EDITOR_RESTS_MS);
  }
}

function mark(kind) {
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.dataset.view === kind) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

async function begin() {
  startTheme();
  listenToKeys();
  watchConnection();
  document.getElementById("sign-out").addEventListener("click", () => signOut().catch(showProblem(main)));
  addEventListener("scroll", () => scrolled.set(location.hash, window.scrollY), { passive: true });
  addEventListener("hashchange", () => {
    if (location.hash === "" || location.hash.startsWith("#/")) show();
  });
  document.addEventListener("connected", () => openSession().catch(() => {})); // it may have been started anew
  await open();
}

async function open() {
  try {
    await openSession();
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    document.addEventListener("connected", () => open(), { once: true });
    main.replaceChildren(failedView(error));
    return;
  }
  await show({ focus: false, anew: true });
  if (parse(location.hash).view === "" && session.signed_in)
    document.getElementById("ask")?.focus({ preventScroll: true });
}

window.merit = { compare, chartFor, completions, ready: Promise.resolve().then(begin).catch(showProblem(main)) };
