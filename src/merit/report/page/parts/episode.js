// One episode: the question, every attempt with its verdict, what was recalled, the entry it left and its later uses.

const TOLD = "denotation_confirmed"; // the regime in which the agent is told what is right

async function episodeView(runId, questionId) {
  const about = await overview();
  const record = about.runs.find((one) => one.id === runId);
  if (!record) return missing(`There is no run ${runId} in this report.`);
  const run = await openRun(record);
  const turn = run.answers.get(questionId);
  if (!turn) return missing(`Question ${questionId} is not finished in this run, or not part of it.`);
  if (!listed.length) listed = (await allRows()).filter((row) => row.record.id === runId); // opened by its address
  const gathered = run.turns.find((one) => one.phase === "gather" && one.q === turn.q);
  return h(
    "article",
    { class: "episode" },
    headOf(run, turn),
    othersView(about, run, turn),
    attemptsView(about, run, turn),
    votesView(turn),
    leftView(run, gathered ?? turn, Boolean(gathered)),
  );
}

function missing(why) {
  const view = h(
    "div",
    { class: "episode" },
    h("h1", { tabindex: "-1" }, "Not here"),
    h("p", {}, why),
    h("p", {}, h("a", { href: listAddress }, "All episodes")),
  );
  view.incomplete = true;
  return view;
}

function headOf(run, turn) {
  const [{ record }, { question }] = [run, turn];
  const place = listed.findIndex((row) => row.record.id === record.id && row.question === question);
  const beside = (row, label, key) =>
    row && h("a", { href: episodeAddress(row.record, row.question), class: "button", "data-key": key }, label);
  const facts = [
    ["Method", record.label],
    ["Seed", record.seed],
    ["Database", question.db],
    ["Position", turn.position],
    ["Difficulty", question.difficulty],
    ["Question", `#${question.id}`],
    ["Protocol", record.judged],
    ["Feedback", record.regime === TOLD ? "" : record.feedback],
  ];
  return h(
    "header",
    {},
    h(
      "nav",
      { class: "crumbs", "aria-label": "Episode" },
      h("a", { href: listAddress, "data-key": "Escape" }, "← Episodes"),
      h(
        "span",
        { class: "beside" },
        place > 0 && beside(listed[place - 1], "Previous", "p"),
        place >= 0 && beside(listed[place + 1], "Next", "n"),
      ),
    ),
    h("h1", { tabindex: "-1" }, question.text),
    question.evidence ? h("p", { class: "evidence" }, h("b", {}, "Evidence "), question.evidence) : null,
    h("p", { class: "ended" }, turnBadge(turn), " after ", howMany(turn)),
    h(
      "dl",
      { class: "facts" },
      facts
        .filter(([, value]) => value !== "")
        .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value)))),
    ),
    onDemand("Schema", () => h("pre", { class: "text", tabindex: "0" }, run.stream.schemas[question.db]), {
      class: "schema",
    }),
  );
}

/** SQL up to case, white space and one trailing semicolon, as the accounting compares it. */
const normalised = (sql) => sql.trim().replace(/;$/, "").toLowerCase().split(/\s+/).filter(Boolean).join(" ");

function howMany(turn) {
  const counted = candidates(turn.attempts).length;
  const aside = turn.attempts.length - counted;
  const stands = turn.chosen === undefined ? "" : `; attempt ${turn.chosen} stands by vote`;
  const sqls = new Set(candidates(turn.attempts).map((one) => normalised(one.sql)));
  return [
    count(counted, "attempt"),
    aside ? [`, ${aside} more `, term("set aside", MEANINGS.aside)] : "",
    stands,
    sqls.size < counted ? [", ", term("oscillating", MEANINGS.oscillating)] : "",
  ];
}

function turnBadge(turn) {
  return outcomeBadge((turn.right[0] ? INITIAL : 0) | (turn.right[1] ? FINAL : 0));
}

const heard = ({ regime, feedback }) => (regime === TOLD ? "" : `, ${feedback}`);
const methodOf = (run) => run.label + heard(run);
const nameOf = (run) => `${run.label}, seed ${run.seed}${heard(run)}`;

/** The same question in the other runs, to go across methods. */
function othersView(about, run, turn) {
  const others = about.runs.filter((one) => one.stream === run.record.stream && one.id !== run.record.id);
  if (!others.length) return null;
  return onDemand(
    `The same question in ${count(others.length, "other run")}`,
    async () => {
      const ids = new Set(others.map((one) => one.id));
      const rows = (await allRows()).filter((row) => ids.has(row.record.id) && row.q === turn.q);
      const squares = h("p", { class: "key" }, "What is meant by ", term("attempts", MEANINGS.attempts));
      const list = h(
        "ul",
        { class: "others" },
        rows.map((row) =>
          h(
            "li",
            {},
            h("a", { href: episodeAddress(row.record, row.question) }, nameOf(row.record)),
            outcomeBadge(row.flags),
            pips(row),
          ),
        ),
      );
      return h("div", {}, list, squares);
    },
    { class: "across" },
  );
}

/** Every attempt in its place; those that were set aside one after the other share one line. */
function attemptsView(about, run, turn) {
  const aside = (step) => turn.attempts[step]?.repeat !== undefined;
  return turn.attempts.map((_, step) => {
    if (!aside(step)) return attemptView(about, run, turn, step);
    if (aside(step - 1)) return null;
    const last = turn.attempts.findIndex((_, i) => i > step && !aside(i));
    return asideView(about, run, turn, step, last < 0 ? turn.attempts.length : last);
  });
}

function asideView(about, run, turn, from, to) {
  const steps = Array.from({ length: to - from }, (_, i) => from + i);
  const named = steps.length === 1 ? `Attempt ${from}` : `Attempts ${from} to ${to - 1}`;
  const again = [...new Set(steps.map((step) => turn.attempts[step].repeat))].sort((a, b) => a - b).join(", ");
  const why = `the same as attempt ${again}, not judged again, not counted in the budget`;
  const label = h("span", {}, h("b", {}, named), ` set aside: ${why}`);
  const one = (step) => [
    h("h4", {}, `Attempt ${step}`, h("small", {}, ` the same as attempt ${turn.attempts[step].repeat}`)),
    h("div", { class: "tools" }, costs(turn.attempts[step])),
    recallView(run, turn, step),
    ...askedView(about, run, turn, step),
    ...reflectionView(about, run, turn, step),
  ];
  const made = () => steps.flatMap(one).filter(Boolean);
  return h("section", { class: "attempt aside", tabindex: "-1" }, onDemand(label, made));
}

/** The prompt of an attempt, and the reply. */
function askedView(about, run, turn, step) {
  const { prompt, reply } = turn.attempts[step];
  const asked = () =>
    run.record.package ? madeBy(run, prompt) : promptView(repairPrompt(about, run, turn, step), prompt);
  return [
    prompt ? onDemand("Prompt", asked, { class: "prompt" }) : null,
    onDemand("Reply", () => h("pre", { class: "text", tabindex: "0" }, reply)),
  ];
}

function attemptView(about, run, turn, step) {
  const attempt = turn.attempts[step];
  const written = attempt.written; // what the database refused, before grounding
  const before = written?.sql ?? candidates(turn.attempts.slice(0, step)).at(-1)?.sql ?? null;
  const same = before !== null && before === attempt.sql;
  const earlier = turn.attempts.slice(0, step).findIndex((one) => one.sql === attempt.sql);
  const label = `attempt-${step}`;
  const changes = !!written || run.record.history; // a draw from a first prompt has no SQL to compare with
  const holder = h("div", { class: "statement" }, sqlView(attempt.sql, same || !changes ? null : before));
  const whole = (step || written) && !same && attempt.sql ? wholeToggle(holder, attempt.sql, before, changes) : null;
  const stands = turn.chosen === step ? h("span", { class: "stands" }, "stands") : null;
  return [
    step ? recallView(run, turn, step) : null,
    h(
      "section",
      { class: "attempt", "aria-labelledby": label, tabindex: "-1" },
      h("h2", { id: label }, `Attempt ${step}`, h("small", {}, step ? "" : " the shared first answer"), stands),
      written ? groundingView(written) : null,
      verdictView(attempt, turn),
      same
        ? h("p", { class: "nothing" }, "The same SQL again.")
        : earlier >= 0
          ? h("p", { class: "nothing" }, `The same SQL as attempt ${earlier}.`)
          : null,
      holder,
      h("div", { class: "tools" }, whole, attempt.sql ? copyButton(attempt.sql) : null, costs(attempt)),
      askedView(about, run, turn, step),
      referenceView(run, turn, step),
    ),
    ...reflectionView(about, run, turn, step),
  ];
}

function wholeToggle(holder, sql, before, on) {
  const button = h("button", { type: "button", class: "plain small", "aria-pressed": String(on) }, "Changes");
  button.addEventListener("click", () => {
    const changes = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(changes));
    holder.replaceChildren(sqlView(sql, changes ? before : null));
  });
  return button;
}

function verdictView(attempt, turn) {
  return h(
    "p",
    { class: "verdict" },
    h("span", { class: `status ${statusClass(attempt.status)}` }, readable(attempt.status)),
    attempt.type
      ? h(
          "span",
          { class: "kind" },
          readable(attempt.type),
          attempt.subtype && attempt.subtype !== "UNKNOWN" && attempt.subtype !== attempt.type
            ? ` / ${readable(attempt.subtype)}`
            : "",
        )
      : null,
    turn.chosen === undefined ? null : agreementOf(attempt, turn),
    attempt.error ? h("span", { class: "said" }, attempt.error) : null,
  );
}

function costs(call) {
  const [read, wrote] = call.tokens ?? [0, 0];
  const told = read || wrote ? `${read.toLocaleString("en")} tokens in, ${wrote.toLocaleString("en")} out` : "";
  return h("span", { class: "cost" }, told);
}

/** What the model wrote after an attempt besides SQL: a reflection, or notes that a method asks for. */
function reflectionView(about, run, turn, step) {
  let reflected = 0; // a reflection follows one attempt each, a note says which
  const written = (turn.reflections ?? []).filter((one) => (one.after ?? ++reflected) === step + 1);
  return written.map((one) =>
    h(
      "section",
      { class: "reflection" },
      h("h3", {}, one.after ? "Note" : "Reflection"),
      h("p", { class: "thought" }, one.text),
      h("div", { class: "tools" }, costs(one)),
      onDemand(
        "Prompt",
        () =>
          run.record.package
            ? madeBy(run, one.prompt)
            : promptView(reflectionPrompt(about, run, turn, step), one.prompt),
        { class: "prompt" },
      ),
      onDemand("Reply", () => h("pre", { class: "text", tabindex: "0" }, one.reply)),
    ),
  );
}

/** In place of a prompt that only the method itself can make again. */
function madeBy(run, prompt) {
  return [
    h("p", {}, `Made by ${run.record.package}; SHA-256 ${prompt.slice(0, 12)}…. \`merit audit\` makes it again.`),
  ];
}
