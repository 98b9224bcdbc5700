// A question while it is asked: what was recalled, each candidate as it comes, and how the votes stand.

/** An element that shows a question's events as they are heard. */
function watchView(stop) {
  const status = h("p", { class: "progress", role: "status" }, "Reading schema and memory…");
  const stopButton = action("Stop", stop, { class: "plain small", title: "Stop asking (Esc)", "data-key": "Escape" });
  const recalled = h("div");
  const candidates = candidateList();
  const element = h(
    "section",
    { class: "watch", "aria-label": "Attempts" },
    h("div", { class: "progress-line" }, h("span", { class: "pulse", "aria-hidden": "true" }), status, stopButton),
    recalled,
    candidates.element,
  );
  const heard = {
    started(data) {
      status.textContent = startedWords(data);
      recalled.replaceChildren(startedView(data));
    },
    asking({ number, most }) {
      status.textContent = `Asking the model for candidate ${number}, of at most ${most}…`;
    },
    candidate(data) {
      candidates.add(data);
      status.textContent = `Candidate ${data.number}: ${candidateWords(data)}`;
    },
  };
  return { element, hear: (name, data) => heard[name]?.(data) };
}

const startedWords = ({ tables, recalled }) =>
  `${count(Object.keys(tables).length, "table")} shown, ${count(recalled.length, "entry", "entries")} recalled`;

/** What the first prompt shows of schema and memory. */
function startedView({ tables, left_out: left, mentioned, recalled }) {
  const names = Object.entries(tables);
  return h(
    "div",
    { class: "shown-first" },
    onDemand(`Recalled: ${count(recalled.length, "entry", "entries")}`, () => recalledList(recalled), {
      open: recalled.length > 0,
    }),
    onDemand(`Shown: ${count(names.length, "table")}`, () => [
      h(
        "ul",
        { class: "tables-shown" },
        names.map(([name, columns]) => h("li", {}, h("b", {}, name), ` ${columns.join(", ")}`)),
      ),
      mentioned.length
        ? h("p", { class: "note" }, `Stored values that the question mentions are in ${mentioned.join(", ")}.`)
        : h("p"),
      left?.tables?.length ? h("p", { class: "note" }, `Not shown: ${left.tables.join(", ")}.`) : h("p"),
    ]),
  );
}

const CANDIDATE_WORDS = {
  EXECUTED: "ran",
  DENOTATION_MISMATCH: "ran, but a person rejected it before",
  EXECUTION_ERROR: "the database refused it",
  TIMEOUT: "took too long",
};

/** What became of a candidate. */
function candidateWords({ reason, rows, status, sql }) {
  if (reason) return "the model says that the database holds no answer";
  if (!sql) return "no SQL in the reply";
  const words = CANDIDATE_WORDS[status] ?? readable(status);
  return rows === null || rows === undefined ? words : `${words}, ${count(rows, "row")}`;
}

/** Each candidate in its order; `add` shows another one. */
function candidateList() {
  const element = h("ol", { class: "candidates" });
  const earlier = new Map(); // by SQL: the candidate that had it first
  let before = null;
  const add = (data) => {
    element.append(candidateView(data, before, earlier.get(data.sql || data.reason)));
    const said = data.sql || data.reason;
    if (said && !earlier.has(said)) earlier.set(said, data.number);
    before = data.sql || before;
  };
  return { element, add };
}

/** One candidate: what became of it, what grounding changed, and its SQL against the one before. */
function candidateView(data, before, first) {
  const ran = data.status === "EXECUTED" && !data.reason;
  const head = h(
    "p",
    { class: "candidate-head" },
    h("b", {}, `Candidate ${data.number}`),
    h("span", { class: `status ${ran ? "right" : data.reason ? "unsure" : "wrong"}` }, candidateWords(data)),
    first ? h("span", { class: "votes-now" }, `the same as candidate ${first}`) : null,
    votesWords(data.votes),
  );
  if (first) return h("li", { class: "candidate repeated" }, head);
  const grounded = data.grounded_from;
  return h(
    "li",
    { class: "candidate" },
    head,
    data.error && !data.reason && h("p", { class: "said" }, data.error),
    data.reason && h("p", { class: "reason" }, data.reason),
    data.changes?.length ? groundingList(data.changes) : null,
    data.sql
      ? changedSql(data.sql, grounded ?? before, grounded ? "what the model wrote" : "the candidate before")
      : null,
  );
}

function groundingList(changes) {
  return h(
    "div",
    { class: "grounding" },
    h("p", {}, term("Grounded", MEANINGS.grounded), ":"),
    h(
      "ul",
      {},
      changes.map(({ sentence: why }) => h("li", {}, why)),
    ),
  );
}

/** SQL with its changes, which a button turns off. */
function changedSql(sql, before, against) {
  const holder = h("div", { class: "statement" }, sqlView(sql, before));
  const tools = h("div", { class: "tools" }, copyButton(sql));
  if (before) {
    const toggle = h(
      "button",
      { type: "button", class: "plain small", "aria-pressed": "true", title: `Changes against ${against}` },
      "Changes",
    );
    toggle.addEventListener("click", () => {
      const on = toggle.getAttribute("aria-pressed") !== "true";
      toggle.setAttribute("aria-pressed", String(on));
      holder.replaceChildren(sqlView(sql, on ? before : null));
    });
    tools.prepend(toggle);
  }
  return h("div", {}, holder, tools);
}

function votesWords(votes) {
  if (!votes || votes.share === undefined) return null;
  const { agreeing, declined, share } = votes;
  const parts = [agreeing > 1 ? `${agreeing} agree` : "", declined ? `${declined} decline` : ""].filter(Boolean);
  return h("span", { class: "votes-now" }, parts.length ? `${parts.join(", ")} · ` : "", `${pct(share)} of the votes`);
}
