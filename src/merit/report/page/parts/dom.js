// Building the page. Texts only ever become text nodes: what a model said is never read as markup.

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

/** A part that is made when it is first opened. */
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

/** A listener for what went wrong, which says so where the content would have been. */
function showProblem(place) {
  return (error) => {
    console.error(error);
    place.replaceChildren(h("p", { class: "problem", role: "alert" }, `This cannot be shown: ${error.message}`));
  };
}

const ROLES = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };

/** A table that a narrow screen lays out otherwise stays a table for who listens to it. */
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
