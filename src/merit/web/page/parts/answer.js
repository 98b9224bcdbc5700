// One answer: its rows, its SQL, how it was found, and what is said about it.

async function answerView(id) {
  const record = await api(pathOf("answers", id));
  const seen = witnessed.get(id);
  const result = h("div", { class: "result-place" }, h("p", { class: "waiting" }, "Reading rows…"));
  const outcome = h("div", { class: "outcome" });
  const refresh = async (reply) => {
    const consequences = consequenceView(reply);
    const fresh = await api(pathOf("answers", id));
    judge.replaceChildren(...[judgeView(fresh, refresh)].filter(Boolean));
    outcome.replaceChildren(...[consequences].filter(Boolean));
    say(
      reply.feedback ? `${SAID_WORDS[reply.feedback.kind]?.[1] ?? "Done"}; later questions will see it` : "Taken back",
    );
    (judge.querySelector("button") ?? titleOf(view)).focus();
  };
  const judge = h("div", {}, judgeView(record, refresh));
  const view = h(
    "article",
    { class: "answer page" },
    answerHead(record, seen?.answer),
    ran(record.status) ? result : null,
    record.sql
      ? h(
          "section",
          { class: "sql-of-answer" },
          h("h2", {}, "SQL"),
          sqlView(record.sql),
          h("div", { class: "tools" }, copyButton(record.sql)),
        )
      : null,
    judge,
    outcome,
    contradictionsView(record.contradictions),
    foundView(record, seen),
    whyView(record),
    may("ask") && record.sql ? compareView(record) : null,
    may("ask") ? followUp(record) : null,
  );
  if (view.contains(result)) {
    resultView(id, seen?.answer).then((rows) => result.replaceChildren(rows), showProblem(result));
  }
  return view;
}

/** Whether there are rows to look at, and to say that they are right. */
const ran = (status) => status === "answered" || status === "unsure";

function answerHead(record, fresh) {
  const said = [
    `${pct(record.agreement)} of the votes`,
    fresh?.confidence ? `such answers were right ${pct(fresh.confidence)} of the time (${fresh.calibrated_on})` : "",
  ].filter(Boolean);
  const remarks = [...(fresh?.remarks ?? []), ...(record.failed ?? []).map((check) => `The check ${check} failed`)];
  return h(
    "header",
    {},
    record.earlier?.length
      ? h("p", { class: "crumbs" }, h("a", { href: answerAddress(record.earlier.at(-1)) }, "← the question before"))
      : null,
    h("h1", { tabindex: "-1" }, record.question),
    h("p", { class: "ended" }, statusBadge(record.status), " ", said.join(" · ")),
    record.reason ? h("p", { class: "reason" }, record.reason) : null,
    record.error ? h("p", { class: "said" }, record.error) : null,
    remarks.length
      ? h(
          "ul",
          { class: "remarks" },
          remarks.map((remark) => h("li", {}, remark)),
        )
      : null,
  );
}

/** Every candidate, as it was heard, or as the history has it. */
function foundView(record, seen) {
  const heard = seen?.events.filter(([name]) => name === "candidate").map(([, data]) => data);
  const tried = heard ?? recordedCandidates(record);
  const label = `How it was found: ${count(tried.length, "candidate")}`;
  const list = () => {
    const candidates = candidateList();
    tried.forEach(candidates.add);
    return candidates.element;
  };
  return onDemand(label, list, { class: "part", open: Boolean(heard) && tried.length > 1 });
}

/** The candidates of a recorded answer: a statement that no candidate names was mended into the next one. */
function recordedCandidates({ tried, receipt, reason }) {
  if (!receipt) return tried.map((statement, i) => ({ ...statement, number: i + 1, rows: null }));
  const named = new Set(receipt.candidates.map(({ statement }) => statement));
  return receipt.candidates.map(({ statement }, i) => {
    if (statement === null)
      return { number: i + 1, sql: "", status: "", error: null, rows: null, reason: reason || "it declined" };
    const written = statement > 0 && !named.has(statement - 1) ? tried[statement - 1].sql : null;
    return { ...tried[statement], number: i + 1, rows: null, grounded_from: written };
  });
}

/** What the answer rests on: entries with their scores, tables, settings and costs. */
function whyView(record) {
  const receipt = record.receipt;
  const entries = distinctEntries(record.entries);
  const facts = factsOf([
    ["Asked", moment(record.time)],
    ["By", record.author],
    ["Database", record.database],
    ["Model", record.model],
    ["Method", record.method],
    ["Calls", record.calls],
    [
      "Tokens",
      record.prompt_tokens
        ? `${record.prompt_tokens.toLocaleString("en")} in, ${record.output_tokens.toLocaleString("en")} out`
        : "",
    ],
    ["Took", record.seconds ? `${record.seconds.toFixed(1)} s` : ""],
    ["Position", record.position],
    ["Id", record.id],
  ]);
  const label = entries.length
    ? `What it rests on: ${count(entries.length, "entry", "entries")} recalled`
    : "What it rests on";
  return onDemand(
    label,
    () =>
      [
        recalledList(entries),
        receipt?.values?.length
          ? h("p", { class: "note" }, `Stored values that the question mentions: ${receipt.values.join(", ")}.`)
          : null,
        receipt?.notes?.length
          ? h(
              "ul",
              { class: "notes" },
              receipt.notes.map((note) => h("li", {}, note)),
            )
          : null,
        receipt
          ? h("p", { class: "note" }, `Tables shown: ${Object.keys(receipt.tables).join(", ") || "none"}.`)
          : null,
        facts,
      ].filter(Boolean),
    { class: "part" },
  );
}

function followUp(record) {
  return h(
    "section",
    { class: "follow-up" },
    h("h2", {}, "Go on from here"),
    askForm({
      earlier: [...(record.earlier ?? []), record.id].slice(-20),
      label: "A follow-up question",
      started: startAsking,
    }),
  );
}
