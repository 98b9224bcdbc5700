// The SQL editor: Ace over a plain text field, which stays where Ace cannot be loaded.

/** An editor for SQL. `element` goes into the page; `value()` is its text; `submit` is called by Ctrl+Enter. */
function sqlEditor({ value, label, submit = () => {} }) {
  const field = h("textarea", {
    class: "code",
    rows: 6,
    spellcheck: "false",
    "aria-label": label,
    autocapitalize: "off",
  });
  field.value = value;
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    submit();
  });
  const element = h("div", { class: "editor" }, field);
  let ace = null;
  const ready = openAce(field, label, submit).then(
    (opened) => {
      ace = opened;
      element.ace = opened; // so that it is closed with its view
      return true;
    },
    (error) => {
      console.warn(error); // the text field does all that is needed
      return false;
    },
  );
  return {
    element,
    ready,
    value: () => (ace ? ace.getValue() : field.value),
    focus: () => (ace ?? field).focus(),
    set: (text) => (ace ? ace.setValue(text, 1) : (field.value = text)),
  };
}

async function openAce(field, label, submit) {
  await load("ace.css");
  await load("ace.js");
  const [tables] = await Promise.all([schemaTables().catch(() => []), load("ace-names.js"), load("ace-sql.js")]);
  prepareAce();
  const completer = namesCompleter(tables);
  const typed = field.value;
  const holder = h("div", { class: "ace" });
  const hadFocus = document.activeElement === field;
  field.hidden = true;
  field.after(holder);
  const editor = ace.edit(holder, {
    value: typed,
    mode: "ace/mode/sql",
    theme: "ace/theme/merit",
    minLines: 5,
    maxLines: 24,
    showPrintMargin: false,
    showFoldWidgets: false,
    highlightActiveLine: false,
    useWorker: false,
    wrap: true,
    fontSize: 14,
    tabSize: 2,
    enableBasicAutocompletion: [completer],
    enableLiveAutocompletion: [completer],
  });
  editor.commands.removeCommands(FURTHER); // they would load parts of Ace that are not served
  editor.commands.bindKey("Tab", null); // the focus moves on, so that the keyboard is never caught
  editor.commands.bindKey("Shift-Tab", null);
  editor.commands.addCommand({ name: "submit", bindKey: { win: "Ctrl-Enter", mac: "Command-Enter" }, exec: submit });
  editor.textInput.getElement().setAttribute("aria-label", `${label}. Ctrl and Space completes names, Tab leaves.`);
  offerAfterTyping(editor);
  if (hadFocus) editor.focus();
  return editor;
}

const FURTHER = ["find", "replace", "showSettingsMenu", "openCommandPalette", "goToNextError", "goToPreviousError"];
let isPrepared = false;

/** Ace as a page without inline styles needs it, and a theme made of the page's own colours. */
function prepareAce() {
  if (isPrepared) return;
  isPrepared = true;
  ace.config.set("useStrictCSP", true);
  ace.config.set("loadWorkerFromBlob", false);
  ace.define("ace/theme/merit", ["require", "exports", "module"], (_, exports) => {
    Object.assign(exports, { isDark: false, cssClass: "ace-merit", cssText: "" });
  });
}

/** Completes tables and columns; those of tables that the statement names come first, and after `table.` alone. */
const namesCompleter = (tables) => ({
  id: "names",
  identifierRegexps: [/[\p{L}\p{N}_$]/u],
  triggerCharacters: ["."],
  getCompletions(editor, session, position, prefix, done) {
    const before = session.getLine(position.row).slice(0, position.column - prefix.length);
    const isText = /comment|string/.test(session.getTokenAt(position.row, position.column)?.type ?? "");
    const found = isText ? [] : completions(tables, editor.getValue(), before);
    requestAnimationFrame(keepFocusOut);
    done(
      null,
      found.map((one) => ({ ...one, completer: { insertMatch } })),
    );
  },
});

/** Offer names once typing pauses: Ace misses a word that is begun while the list of the word before closes. */
function offerAfterTyping(editor) {
  const offer = paused(() => {
    const { row, column } = editor.getCursorPosition();
    const isInWord = /[\p{L}_][\p{L}\p{N}_$]*$/u.test(editor.session.getLine(row).slice(0, column));
    if (!isInWord || editor.completer?.activated || !editor.isFocused()) return;
    const list = ace.require("ace/autocomplete").Autocomplete.for(editor);
    list.autoShown = true; // which never puts in a name by itself
    list.showPopup(editor);
  }, 120);
  editor.commands.on("afterExec", ({ command }) => command.name === "insertstring" && offer());
}

/** Ace hides its list from screen readers, which hear each name by itself: so nothing in it takes the focus. */
function keepFocusOut() {
  for (const field of document.querySelectorAll(".ace_autocomplete textarea")) field.tabIndex = -1;
}

/** Put a name in place of what was typed of it until now; Ace itself goes by what was typed when it last looked. */
function insertMatch(editor, { value }) {
  const { row, column } = editor.getCursorPosition();
  const typed = /[\p{L}\p{N}_$]*$/u.exec(editor.session.getLine(row).slice(0, column))[0];
  const { Range } = ace.require("ace/range");
  editor.session.replace(new Range(row, column - typed.length, row, column), value);
}

function completions(tables, sql, before) {
  const written = sql.toLowerCase();
  const isNamed = (table) =>
    new RegExp(`(?<![\\p{L}\\p{N}_$])${escaped(table.name.toLowerCase())}(?![\\p{L}\\p{N}_$])`, "u").test(written);
  const dotted = /([\p{L}\p{N}_$]+)["`\]]?\.$/u.exec(before)?.[1].toLowerCase();
  const meant = dotted ? (aliasesIn(written).get(dotted) ?? dotted) : null;
  const found = [];
  for (const table of tables) {
    const near = isNamed(table);
    if (meant && table.name.toLowerCase() !== meant) continue;
    if (!meant) found.push(completion(table.name, "table", near ? 900 : 1000));
    for (const column of table.columns) found.push(completion(column.name, table.name, near || meant ? 2000 : 100));
  }
  if (!dotted) for (const word of KEYWORD) found.push(completion(word, "SQL", 10, word));
  return found;
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const completion = (name, meta, score, value = quoted(name)) => ({ caption: name, value, meta, score });

/** A name that is no plain word is quoted as the database's dialect does. */
function quoted(name) {
  if (/^[\p{L}_][\p{L}\p{N}_$]*$/u.test(name)) return name;
  return /mysql|maria/.test(session.dialect ?? "")
    ? `\`${name.replaceAll("`", "``")}\``
    : `"${name.replaceAll('"', '""')}"`;
}

/** Short names that a statement gives its tables. */
function aliasesIn(sql) {
  const found = new Map();
  for (const [, table, alias] of sql.matchAll(
    /(?:from|join)\s+["`[]?([\p{L}\p{N}_$]+)["`\]]?\s+(?:as\s+)?([\p{L}\p{N}_$]+)/gu,
  ))
    found.set(alias, table);
  return found;
}
