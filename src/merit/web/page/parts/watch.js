// A question while it is asked: what was recalled, each candidate as it comes, and how the votes stand.

/** An element that shows a question's events as they are heard. */
function watchView(stop) {
  const status = h("p", { class: "progress", role: "status" }, "Reading schema and memory…");
  const stopButton = action("Stop", stop, { class: "plain small", title: "Stop asking (Esc)", "data-key": "Escape" });
  const recalled = h("div");
  const candidates = h("ol", { class: "candidates" });
  const element = h(
    "section",
    { class: "watch", "aria-label": "Attempts" },
    h("div", { class: "progress-line" }, h("span", { class: "pulse", "aria-hidden": "true" }), status, stopButton),
    recalled,
    candidates,
  );
  let before = null;
  const heard = {
    started(data) {
      status.textContent = startedWords(data);
      recalled.replaceChildren(startedView(data));
    },
    asking({ number, most }) {
      status.textContent = `Asking the model for candidate ${number}, of at most ${most}…`;
    },
    candidate(data) {
      candidates.append(candidateView(data, before));
      before = data.sql || before;
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
    onDemand(`Recalled: ${count(recalled.length, "entry", "entries")}`, () => recalledList(recalled), { open: recalled.length > 0 }),
    onDemand(`Shown: ${count(names.length, "table")}`, () => [
      h("ul", { class: "tables-shown" }, names.map(([name, columns]) => h("li", {}, h("b", {}, name), ` ${columns.join(", ")}`))),
      mentioned.length ? h("p", { class: "note" }, `Stored values that the question mentions are in ${mentioned.join(", ")}.`) : h("p"),
      left?.tables?.length ? h("p", { class: "note" }, `Not shown: ${left.tables.join(", ")}.`) : h("p"),
    ]),
  );
}

function candidateWords({ reason, rows, error, status, sql }) {
  if (reason) return "the model says that the database holds no answer";
  if (rows !== null && rows !== undefined) return `ran, ${count(rows, "row")}`;
  if (!sql) return "no SQL in the reply";
  return error ? "the database refused it" : readable(status);
}

/** One candidate: what became of it, what grounding changed, and its SQL against the one before. */
function candidateView(data, before) {
  const grounded = data.grounded_from;
  const ran = data.status === "EXECUTED" && !data.reason;
  const compared = grounded ?? before;
  const same = compared !== null && compared === data.sql;
  return h(
    "li",
    { class: "candidate" },
    h(
      "p",
      { class: "candidate-head" },
      h("b", {}, `Candidate ${data.number}`),
      h("span", { class: `status ${ran ? "right" : data.reason ? "unsure" : "wrong"}` }, candidateWords(data)),
      votesWords(data.votes),
    ),
    data.error && h("p", { class: "said" }, data.error),
    data.reason && h("p", { class: "reason" }, data.reason),
    data.changes?.length
      ? h(
          "div",
          { class: "grounding" },
          h("p", {}, term("Grounded", MEANINGS.grounded), ":"),
          h("ul", {}, data.changes.map(({ sentence: why }) => h("li", {}, why))),
        )
      : null,
    same && h("p", { class: "nothing" }, "The same SQL again."),
    data.sql ? changedSql(data.sql, same ? null : compared, grounded ? "what the model wrote" : "the candidate before") : null,
  );
}

/** SQL with its changes, which a button turns off. */
function changedSql(sql, before, against) {
  const holder = h("div", { class: "statement" }, sqlView(sql, before));
  const tools = h("div", { class: "tools" }, copyButton(sql));
  if (before) {
    const toggle = h("button", { type: "button", class: "plain small", "aria-pressed": "true", title: `Changes against ${against}` }, "Changes");
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
