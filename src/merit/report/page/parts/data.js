// The data: chunks of this file, or of the server that follows live runs; unpacked when they are needed.

const INITIAL = 1,
  FINAL = 2,
  OSCILLATES = 4,
  RECALLED = 8,
  WROTE = 16; // bits of an index row, as pack.py sets them
const LIVE = document.body.dataset.mode === "live";
const KEPT_RUNS = 8; // unpacked at a time: they are large

const elements = new Map(
  [...document.querySelectorAll("script[data-chunk]")].map((element) => [element.dataset.chunk, element]),
);
const chunks = new Map();
const runs = new Map();

/** A chunk by its name, unpacked once. */
function chunk(name) {
  if (!chunks.has(name)) {
    const found = LIVE ? ask(name) : unpack(name);
    found.catch(() => chunks.delete(name));
    chunks.set(name, found);
  }
  return chunks.get(name);
}

async function unpack(name) {
  const element = elements.get(name);
  if (!element) throw new Error(`this file has no part named ${name}`);
  const bytes = fromBase64(element.textContent);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function ask(name, query = "") {
  const answer = await fetch(`data/${name.split("/").map(encodeURIComponent).join("/")}${query}`);
  if (!answer.ok) throw new Error(`the server has no ${name} (${answer.status})`);
  return answer.json();
}

const overview = () => chunk("overview");
const streamOf = (record) => chunk(`stream/${record.stream}`);

/** A run with all its turns; the last few that were looked at stay unpacked. */
function openRun(record) {
  const found = runs.get(record.id) ?? readRun(record);
  found.catch(() => runs.delete(record.id));
  runs.delete(record.id);
  runs.set(record.id, found);
  for (const oldest of [...runs.keys()].slice(0, -KEPT_RUNS)) runs.delete(oldest);
  return found;
}

async function readRun(record) {
  const name = `run/${record.id}`;
  const [packed, stream] = await Promise.all([LIVE ? ask(name) : unpack(name), streamOf(record)]);
  return grow({ record, stream, turns: [], answers: new Map(), users: new Map() }, packed.turns);
}

/** Add turns to a run, and what follows from them: which questions are answered, and which turns used which entry. */
function grow(run, turns) {
  for (const turn of turns) {
    turn.number = run.turns.length;
    turn.question = run.stream.questions[turn.q];
    const { sql, reply, tokens } = turn.question;
    turn.attempts[0] = { sql, reply, tokens, ...turn.attempts[0] };
    run.turns.push(turn);
    if (turn.phase !== "gather") run.answers.set(String(turn.question.id), turn);
    for (const pools of Object.values(turn.recalls ?? {})) {
      for (const pool of pools) {
        for (const [source] of pool.matches) {
          if (!run.users.has(source)) run.users.set(source, new Set());
          run.users.get(source).add(turn.number);
        }
      }
    }
  }
  return run;
}

/** Which attempt stands: the last, unless candidates voted. */
const standing = (turn) => (turn.chosen >= 0 ? turn.chosen : turn.attempts.length - 1);

/** The attempts that count: all except those set aside because they repeat an earlier one. */
const candidates = (attempts) => attempts.filter((one) => one.repeat === undefined);

/**
 * The entry of an episode: an answer, or its last change. `poisoned`: kept as right, but wrong by the judge.
 * A reviewed answer may have left one of each; `pool` says which one is meant.
 */
function entryOf(turn, pool) {
  if (turn.review) {
    const meant = turn.review.entries.find((one) => (one.polarity === "precedent") === (pool === "precedent"));
    return { ...meant, poisoned: false, turn };
  }
  const polarity = turn.polarity;
  const before = polarity === "precedent" ? null : (turn.attempts.at(-1).written ?? candidates(turn.attempts).at(-2));
  const poisoned = polarity !== "negative" && !turn.right[1];
  const note = turn.reflections?.at(-1); // the last one is the lesson, if it was written at the end
  const lesson = note?.after === turn.attempts.length ? note.text : null;
  const after = turn.attempts[standing(turn)];
  return { id: turn.entry, polarity, grade: turn.grade, poisoned, before, after, lesson, turn };
}

/** In a live page: fetch new turns. Calls back with whether the overview has changed. */
function follow(heard) {
  let seen = null;
  const look = async () => {
    const state = await ask("state");
    const before = seen;
    seen = state;
    if (before && before.index !== state.index) {
      const fresh = await Promise.all([ask("index"), before.overview === state.overview ? null : ask("overview")]);
      chunks.set("index", Promise.resolve(fresh[0]));
      if (fresh[1]) chunks.set("overview", Promise.resolve(fresh[1]));
      await Promise.all([...runs].map(([id, found]) => catchUp(id, found, state)));
    }
    if (JSON.stringify(before) !== JSON.stringify(state)) {
      heard(state, !before || before.overview !== state.overview, before && before.index !== state.index);
    }
  };
  const again = () =>
    look().then(
      () => setTimeout(again, 1500),
      () => {
        heard({ said: "the server has gone" }, false, false);
        setTimeout(again, 4000);
      },
    );
  again();
}

async function catchUp(id, found, state) {
  const run = await found;
  const there = state.runs[id];
  if (!there || there.turns < run.turns.length)
    runs.delete(id); // it was restarted
  else if (there.turns > run.turns.length) grow(run, (await ask(`run/${id}`, `?from=${run.turns.length}`)).turns);
}
