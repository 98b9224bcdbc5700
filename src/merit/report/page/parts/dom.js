// Building the page. All texts become text nodes: a model's reply is never read as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (`on` holds listeners) and children, of which null and false are left out. */
function h(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
function s(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

function build(element, { on = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  for (const [name, heard] of Object.entries(on)) element.addEventListener(name, heard);
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** A section whose content is made when it is first opened. */
function onDemand(label, make, { open = false, ...attributes } = {}) {
  const body = h("div", { class: "body" });
  const details = h("details", attributes, h("summary", {}, label), body);
  let made = false;
  const fill = () => {
    if (made) return;
    made = true;
    Promise.resolve(make()).then((content) => body.replaceChildren(...[content].flat()), showProblem(body));
  };
  details.addEventListener("toggle", () => details.open && fill());
  if (open) {
    details.open = true;
    fill();
  }
  return details;
}

/** What the terms of the page mean, shown where they are used. */
const MEANINGS = {
  oscillating: "Oscillating: an episode in which the same SQL came twice, but for case and spaces.",
  unjudged: "Not judged: the run has not come to this question, or never will, because it was limited to fewer.",
  attempts:
    "Attempts: a square for each, the first answer first. A pale one was not right, a green one is the answer that " +
    "came right. A number after them counts draws that were set aside, which the budget does not count, and " +
    "attempts for which there is no room.",
  memory: "Memory: what an episode was shown of earlier ones (recalled), and whether it left an entry for later ones.",
  stored: "Stored: entries of this kind in the memory at that moment.",
  quarantine: "In quarantine: kept, but not sure enough to be shown until a person confirms it.",
  legal:
    "Legal: entries that may be shown here. They come from another question, earlier in the stream, whose episode " +
    "was finished; nothing from the question itself or from later ones.",
  type: "Same type: legal entries about the same type of failure.",
  pool: "Pool: the entries that were scored against each other; the best of them were shown.",
  dense: "Dense: how near two texts are in meaning, by the cosine of their embeddings.",
  lexical: "Lexical: how many words they share, by BM25.",
  bonus: "Bonus: added to the score, for an entry of the same failure type or the same database.",
  grounded:
    "Mended by what the schema knows, without a model: names, joins and functions that the database does not have. " +
    "What was written and its grounding count as one candidate.",
  aside: "Set aside: a draw that repeats an earlier candidate. It costs a model call, but nothing of the budget.",
};

/** A term that shows its meaning when it is pressed, by pointer, finger or key. */
function term(label, meaning) {
  const text = h("span", { class: "meaning", role: "note" }, meaning);
  const button = h(
    "button",
    {
      type: "button",
      class: "term",
      title: meaning,
      "aria-expanded": "false",
      on: {
        click: () => {
          if (text.isConnected) text.remove();
          else button.after(text);
          button.setAttribute("aria-expanded", String(text.isConnected));
        },
      },
    },
    label,
  );
  return h("span", { class: "termed" }, button);
}

/** An error handler that shows the error where the content would have been. */
function showProblem(place) {
  return (error) => {
    console.error(error);
    place.replaceChildren(h("p", { class: "problem", role: "alert" }, `This cannot be shown: ${error.message}`));
  };
}

const ROLES = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };

/** Table roles, so that screen readers still see a table where a narrow screen changes its layout. */
function asTable(table) {
  for (const part of [table, ...table.querySelectorAll("*")]) {
    const role = part.tagName === "TH" ? `${part.scope === "row" ? "row" : "column"}header` : ROLES[part.tagName];
    if (role) part.setAttribute("role", role);
  }
  return table;
}

function copyButton(text) {
  const button = h("button", { type: "button", class: "plain small" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copying is not allowed here";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}

const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
const readable = (name) => String(name).replaceAll("_", " ").toLowerCase();
const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(2)}%` : "–");
