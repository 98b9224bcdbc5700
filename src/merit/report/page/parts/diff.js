// What changed between two statements, word by word, and SQL set in lines that can be read.

const QUOTED = "'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`";
const TOKEN = new RegExp(`\\s+|${QUOTED}|[\\p{L}_][\\p{L}\\p{N}_$]*|\\d+(?:\\.\\d+)?|<>|<=|>=|!=|\\|\\||.`, "gsu");
const OPENS_LINE = new Set(
  "SELECT FROM WHERE GROUP HAVING ORDER LIMIT UNION INTERSECT EXCEPT JOIN LEFT INNER CROSS".split(" "),
);
const SORT_OF_JOIN = new Set(["LEFT", "RIGHT", "FULL", "INNER", "CROSS", "OUTER", "NATURAL"]);
const KEYWORD = new Set(
  (
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET UNION INTERSECT EXCEPT ALL JOIN LEFT RIGHT " +
    "FULL INNER OUTER CROSS " +
    "NATURAL ON USING AS AND OR NOT IN IS NULL LIKE GLOB BETWEEN EXISTS CASE WHEN THEN ELSE END " +
    "DISTINCT ASC DESC WITH " +
    "CAST OVER PARTITION VALUES INSERT UPDATE DELETE CREATE DROP"
  ).split(" "),
);
const LARGEST = 4_000_000; // cells of the comparison; beyond it the middle counts as replaced

/** Words of a statement, each with whether a gap came before it. */
function tokens(sql) {
  const found = [];
  let gap = false;
  for (const [text] of sql.matchAll(TOKEN)) {
    if (/^\s/.test(text)) gap = true;
    else {
      found.push({ text, gap });
      gap = false;
    }
  }
  return found;
}

/** The words of both statements in one order: kept ones (0), taken out (-1), put in (1). */
function compare(before, after) {
  const [a, b] = [tokens(before), tokens(after)];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start].text === b[start].text) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end).text === b.at(-1 - end).text) end++;
  const middle = between(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const kept = (token) => ({ ...token, kind: 0 });
  return calm(slid([...b.slice(0, start).map(kept), ...middle, ...b.slice(b.length - end).map(kept)]));
}

function between(a, b) {
  const out = (token) => ({ ...token, kind: -1 });
  const into = (token) => ({ ...token, kind: 1 });
  if (a.length * b.length > LARGEST) return [...a.map(out), ...b.map(into)];
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width); // of what is common from here on
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i].text === b[j].text
          ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i].text === b[j].text) {
      found.push({ ...b[j], kind: 0 });
      (i++, j++);
    } else if (j === b.length || (i < a.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) {
      found.push(out(a[i++]));
    } else found.push(into(b[j++]));
  }
  return found;
}

/** A stretch of only deletions or only insertions moves back to the start of a clause, if the result is the same. */
function slid(words) {
  const clause = (word) => OPENS_LINE.has(word.text.toUpperCase());
  for (let start = 1; start < words.length; start++) {
    const { kind } = words[start];
    if (!kind || words[start - 1].kind || clause(words[start])) continue;
    let end = start;
    while (words[end]?.kind === kind) end++;
    for (let by = 1; !words[end]?.kind && by <= Math.min(start, end - start); by++) {
      const [first, last] = [words[start - by], words[end - by]];
      if (first.kind || first.text !== last.text) break;
      if (!clause(first)) continue;
      for (let i = start - by; i < start; i++) words[i].kind = kind;
      for (let i = end - by; i < end; i++) words[i].kind = 0;
      break;
    }
  }
  return words;
}

/** A lone bracket or comma kept between two changes only makes them harder to read: it goes with them. */
function calm(words) {
  const changes = [];
  for (let i = 0; i < words.length; i++) {
    const lone = words[i].kind === 0 && !/[\p{L}\p{N}]/u.test(words[i].text);
    if (lone && i && i < words.length - 1 && words[i - 1].kind && words[i + 1].kind) {
      changes.push({ ...words[i], kind: -1 }, { ...words[i], kind: 1 });
    } else changes.push(words[i]);
  }
  return grouped(changes);
}

/** Within a stretch of changes: first all deletions, then all insertions. */
function grouped(words) {
  const found = [];
  let [gone, come] = [[], []];
  for (const word of [...words, { kind: 0, last: true }]) {
    if (word.kind === -1) gone.push(word);
    else if (word.kind === 1) come.push(word);
    else {
      found.push(...gone, ...come);
      [gone, come] = [[], []];
      if (!word.last) found.push(word);
    }
  }
  return found;
}

/** A statement, or the change from the one before it, as an element. */
function sqlView(sql, before = null) {
  if (!sql) return h("p", { class: "nothing" }, "No SQL in the reply.");
  const words = before ? compare(before, sql) : tokens(sql).map((token) => ({ ...token, kind: 0 }));
  const code = h("code");
  let [place, depth] = [null, 0];
  words.forEach((word, i) => {
    const previous = words[i - 1];
    const upper = word.text.toUpperCase();
    const opens =
      previous && OPENS_LINE.has(upper) && !(upper === "JOIN" && SORT_OF_JOIN.has(previous.text.toUpperCase()));
    const gap = opens ? `\n${"  ".repeat(depth)}` : word.gap ? " " : "";
    if (previous?.kind === word.kind) place.append(gap);
    else {
      place = h(["del", "span", "ins"][word.kind + 1]);
      code.append(previous ? gap : "", place);
    }
    if (word.kind >= 0 && word.text === "(") depth++;
    if (word.kind >= 0 && word.text === ")") depth = Math.max(0, depth - 1);
    place.append(KEYWORD.has(upper) ? h("b", {}, word.text) : word.text);
  });
  return h("pre", { class: before ? "sql diff" : "sql", tabindex: "0" }, code);
}
