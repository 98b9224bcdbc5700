// Reference answers, in a page that was made with them: beside the answers that are wrong.

/** The reference of a question and the rows of both, under an attempt that is known to be wrong. */
function referenceView(run, turn, step) {
  if (!elements.has("references")) return null; // an ordinary page has none
  const wrong = (step === 0 && !turn.right[0]) || (step === standing(turn) && !turn.right[1]);
  if (!wrong) return null;
  return onDemand(
    "Reference answer, and the rows of both",
    async () => {
      const all = await chunk("references");
      const found = all[`${run.record.stream}/${run.record.judged}`]?.[turn.q]?.[turn.attempts[step].sql];
      return found ? comparisonView(found) : h("p", { class: "nothing" }, "There is none for this attempt.");
    },
    { class: "reference" },
  );
}

function comparisonView(found) {
  const where = `${found.database}${found.suite ? ", a database of the test suite" : ", the question's own database"}`;
  const how = { true: ", where they differ", false: "; no difference was seen on any", null: "; too much to compare" };
  const said = `First rows on ${where}${found.own.failure ? "" : how[found.differs]}.`;
  return [
    sqlView(found.reference_sql, null),
    h("p", { class: "how" }, said),
    h("div", { class: "sides" }, excerptView("Reference", found.reference), excerptView("This attempt", found.own)),
  ];
}

function excerptView(title, excerpt) {
  const size = excerpt.failure || `${excerpt.count} rows, ${count(excerpt.columns, "column")}`;
  const cells = (row) => h("tr", {}, row.map((value) => h("td", {}, value)));
  return h(
    "figure",
    {},
    h("figcaption", {}, h("b", {}, title), ` ${size}`),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": `${title}: first rows` },
      h("table", { class: "cells" }, h("tbody", {}, excerpt.rows.map(cells))),
    ),
  );
}
