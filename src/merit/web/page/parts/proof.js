// Proof as a picture: confirmed questions asked again, with the memory as it was then, and without.

const PROOF_POLL_MS = 1500;

async function proofView() {
  const place = h("div");
  const view = h(
    "div",
    { class: "page" },
    h("h1", { tabindex: "-1" }, "Does the memory help?"),
    h(
      "p",
      { class: "lede" },
      "Every confirmed question is asked again in its order: with what was remembered when it was first asked, and " +
        "without. The rows decide.",
    ),
    place,
  );
  const draw = async () => {
    const state = await api("proof");
    place.replaceChildren(...proofParts(state, draw));
    if (state.running) setTimeout(() => place.isConnected && draw().catch(showProblem(place)), PROOF_POLL_MS);
  };
  await draw();
  return view;
}

function proofParts(state, again) {
  const { running, last: result } = state;
  return [
    running ? proofProgress(running) : null,
    state.error ? h("p", { class: "problem", role: "alert" }, sentence(state.error)) : null,
    result ? proofPicture(result) : running ? null : h("p", { class: "nothing" }, "It was not tried yet."),
    running || !may("curate")
      ? null
      : h(
          "div",
          { class: "actions" },
          action(result ? "Prove again…" : "Prove it…", () => askToProve(again), { class: "primary" }),
        ),
  ].filter(Boolean);
}

function proofProgress({ done, of_all: all }) {
  const of = all ?? 0;
  return h(
    "div",
    { class: "proof-progress" },
    h("label", { for: "proof-bar" }, `Asking again: ${done} of ${count(of, "question")}`),
    h("progress", { id: "proof-bar", max: of || 1, value: done }),
  );
}

/** A proof asks the model: what it would cost is said first. */
async function askToProve(again) {
  const { cost } = await api("proof", { method: "POST", body: { dry_run: true } });
  askFirst({
    title: "Ask everything again?",
    confirm: "Prove it",
    content: [
      h("p", {}, `${count(cost.questions, "confirmed question")} would be asked again, each with and without memory.`),
      factsOf([
        ["Calls, at most", cost.calls?.toLocaleString("en")],
        ["Tokens, about", cost.tokens?.toLocaleString("en")],
        ["Cost, about", cost.cost],
      ]),
    ],
    run: async () => {
      await api("proof", { method: "POST", body: {} });
      await again();
    },
  });
}

const PROOF_VERDICTS = { "the memory helps": "right", "the memory harms": "wrong" };

function proofPicture(result) {
  const [low, high] = result.interval;
  const rates = [
    { text: "with memory", value: result.accuracy_with_memory, colour: 0 },
    { text: "without", value: result.accuracy_without, colour: 9 },
  ].filter((rate) => rate.value !== null);
  const share = (value) => (typeof value === "number" ? +(value * 100).toFixed(1) : null);
  const right = { name: "Right, %", points: rates.map((rate) => ({ ...rate, value: share(rate.value) })) };
  const gain = {
    name: "Difference, points",
    points: [
      {
        text: "memory",
        value: share(result.difference),
        low: share(low),
        high: share(high),
        more: [`95% interval ${signed(share(low))} to ${signed(share(high))}`],
      },
    ],
  };
  return h(
    "section",
    { class: "proof-picture" },
    h("p", { class: `verdict-line ${PROOF_VERDICTS[result.verdict] ?? ""}` }, sentence(result.verdict)),
    h(
      "p",
      { class: "note" },
      `${count(result.questions, "confirmed question")}; ${signed(share(result.difference))} percentage points, ` +
        `95% interval ${signed(share(low))} to ${signed(share(high))}.`,
    ),
    rates.length ? proofFigure("How often the answer was right, in percent", right) : null,
    result.questions ? proofFigure("What the memory adds, in percentage points, with its interval", gain) : null,
    result.turns?.length ? turnsView(result.turns) : null,
    calibrationFigure(result.turns ?? []),
    costFigure(result.turns ?? []),
    factsOf([
      ["Brier score with memory", fixed(result.brier_with_memory)],
      ["without", fixed(result.brier_without)],
      [
        "Tokens for each more right answer",
        result.tokens_per_extra_right_answer?.toLocaleString("en", { maximumFractionDigits: 0 }),
      ],
      ["Cost for each more right answer", fixed(result.cost_per_extra_right_answer)],
      ["Made", moment(result.finished)],
    ]),
    h(
      "p",
      { class: "note" },
      "The Brier score is the mean squared distance between how sure an answer was and whether it was right; " +
        "less is better.",
    ),
  );
}

const signed = (value) => (value > 0 ? `+${value}` : String(value));
const fixed = (value) => (typeof value === "number" ? value.toFixed(3) : "");

const proofFigure = (title, panel) =>
  h(
    "figure",
    {},
    h("figcaption", {}, h("b", {}, title)),
    drawn(title, (width) => barPanel(panel, Math.min(width, 720), 0)),
  );

/** A square for each question, in its order. */
function turnsView(turns) {
  const kinds = {
    "1,0": ["gained", "only with memory"],
    "0,1": ["lost", "only without"],
    "1,1": ["both", "both ways"],
    "0,0": ["neither", "neither way"],
  };
  const kindOfTurn = (turn) => kinds[`${+turn.with_memory},${+turn.without}`];
  return h(
    "figure",
    { class: "turns" },
    h("figcaption", {}, h("b", {}, "Each question"), " in the order in which they were asked"),
    h(
      "ul",
      {},
      turns.map((turn) => {
        const [kind, words] = kindOfTurn(turn);
        return h(
          "li",
          {},
          h("a", {
            class: `turn ${kind}`,
            href: answerAddress(turn.answer),
            "aria-label": `${turn.answer}: right ${words}`,
            title: words,
          }),
        );
      }),
    ),
    h(
      "p",
      { class: "key" },
      Object.values(kinds).map(([kind, words]) =>
        h("span", {}, h("i", { class: `turn ${kind}`, "aria-hidden": "true" }), ` right ${words}`),
      ),
    ),
  );
}

const FEWEST_SAID = 3; // answers of one sureness, to say how often such were right

/** How sure answers were, against how often such answers were right. */
function calibrationFigure(turns) {
  const groups = new Map();
  for (const turn of turns) {
    const sure = Math.round(turn.confidence_with_memory * 10) / 10;
    groups.set(sure, [...(groups.get(sure) ?? []), turn.with_memory]);
  }
  const points = [...groups]
    .filter(([, rights]) => rights.length >= FEWEST_SAID)
    .sort(([a], [b]) => a - b)
    .map(([sure, rights]) => ({
      at: sure * 100,
      text: `${Math.round(sure * 100)}%`,
      value: (100 * rights.filter(Boolean).length) / rights.length,
      more: [`of ${count(rights.length, "answer")}`],
    }));
  if (points.length < 2) return null;
  const title = "How sure, and how often right, %";
  const panel = { name: "Right, %", points };
  const draw = (width) =>
    dotPanel(panel, Math.min(width, 720), 0, { along: "Sure", guide: [points[0].at, points.at(-1).at] });
  return h(
    "figure",
    {},
    h("figcaption", {}, h("b", {}, title), " (on the dashed line, both are the same)"),
    drawn(title, draw),
  );
}

/** What it took. */
function costFigure(turns) {
  const sum = (name) => turns.reduce((total, turn) => total + (turn[name] ?? 0), 0);
  const points = [
    { text: "with memory", value: sum("tokens_with_memory"), colour: 0 },
    { text: "without", value: sum("tokens_without"), colour: 9 },
  ];
  return points.some((point) => point.value) ? proofFigure("Tokens", { name: "Tokens", points }) : null;
}
