// The table of instances: filter, sort, search, pages.

const hasSmiles = page.instances.some((instance) => instance.smiles);

// key, title, class, and the cell of an instance
const COLUMNS = [
  ["name", "Id", "name", (number) => rowButton(number)],
  ...(hasSmiles ? [["smiles", "SMILES", "wide smiles", (number) => page.instances[number].smiles ?? ""]] : []),
  ["predicted", "Predicted", "predicted", (number) => className(resultOf(number).prediction ?? -1)],
  ["probability", "p", "number wide", (number) => probabilityCell(number)],
  ["outcome", "Outcome", "", (number) => badge(outcomeOf(resultOf(number)))],
  ["deleted", "Deleted", "number", (number) => String(resultOf(number).counterfactual?.count ?? "–")],
  ["size", `${page.noun[0].toUpperCase()}${page.noun.slice(1)}s`, "number", (number) => String(page.instances[number].size)],
];

function rowButton(number) {
  // The click goes on to the row, which selects the instance.
  return button(page.instances[number].name, () => {}, { class: "row-button", tabindex: "-1" });
}

function probabilityCell(number) {
  const result = resultOf(number);
  return result.probabilities ? short(result.probabilities[result.prediction]) : "–";
}

function badge(outcome) {
  const { word, mark } = OUTCOMES[outcome];
  return html("span", { class: `badge ${outcome}` }, html("span", { "aria-hidden": "true" }, `${mark} `), word);
}

function makeHead() {
  const cells = COLUMNS.map(([key, title, kind]) => {
    const sort = button(title, () => {
      state.sort = { key, up: state.sort.key === key ? !state.sort.up : true };
      arrange();
    });
    return html("th", { scope: "col", class: kind, "data-key": key }, sort);
  });
  byId("table-head").replaceChildren(...cells);
}

function showTable() {
  for (const cell of byId("table-head").children) {
    const sorted = cell.dataset.key === state.sort.key;
    if (sorted) cell.setAttribute("aria-sort", state.sort.up ? "ascending" : "descending");
    else cell.removeAttribute("aria-sort");
  }
  const start = state.tablePage * ROWS_PER_PAGE;
  const shown = state.rows.slice(start, start + ROWS_PER_PAGE);
  const rows = shown.map((number) => {
    const cells = COLUMNS.map(([, , kind, cell]) => html("td", { class: kind }, cell(number)));
    const row = html("tr", { "data-number": number }, ...cells);
    row.addEventListener("click", () => {
      select(number, true);
      if (matchMedia("(max-width: 900px)").matches) byId("instance").scrollIntoView({ block: "start" }); // it is far below
    });
    return row;
  });
  if (!rows.length) rows.push(html("tr", {}, html("td", { colspan: COLUMNS.length, class: "empty" }, "Nothing matches.")));
  const focused = document.activeElement?.closest("#table-body tr")?.dataset.number;
  byId("table-body").replaceChildren(...rows);
  if (focused !== undefined) byId("table-body").querySelector(`[data-number="${focused}"] button`)?.focus(); // it was replaced
  const last = Math.max(0, Math.ceil(state.rows.length / ROWS_PER_PAGE) - 1);
  byId("pager-back").disabled = state.tablePage === 0;
  byId("pager-next").disabled = state.tablePage >= last;
  const range = rows.length && shown.length ? `${start + 1}–${start + shown.length} of ` : "";
  byId("pager-text").textContent = `${range}${state.rows.length.toLocaleString("en")}`;
  markSelected();
}

function markSelected() {
  for (const row of byId("table-body").children) {
    const own = Number(row.dataset.number) === state.selected;
    row.classList.toggle("selected", own);
    if (own) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
    row.querySelector("button")?.setAttribute("tabindex", own ? "0" : "-1");
  }
  const rows = byId("table-body");
  if (!rows.querySelector(".selected")) rows.querySelector("button")?.setAttribute("tabindex", "0");
}

function turnPage(by) {
  state.tablePage += by;
  const [used, other] = by > 0 ? ["pager-next", "pager-back"] : ["pager-back", "pager-next"];
  const focused = document.activeElement === byId(used);
  showTable();
  if (focused && byId(used).disabled) byId(other).focus(); // a disabled button would lose the focus
}

function choose(id, options, action) {
  const field = byId(id);
  field.replaceChildren(...options.map(([value, text]) => html("option", { value }, text)));
  field.addEventListener("change", () => action(field.value));
}

function startTable() {
  makeHead();
  const used = new Set(page.instances.flatMap((instance) => instance.results.map((result) => outcomeOf(result))));
  const outcomes = Object.entries(OUTCOMES).filter(([key]) => used.has(key));
  const filtered = (key) => (value) => {
    state.filter[key] = value;
    arrange();
  };
  choose("filter-class", [["", "any"], ...page.classes.map((name, label) => [label, name])], filtered("predicted"));
  choose("filter-outcome", [["", "any"], ...outcomes.map(([key, { word }]) => [key, word])], filtered("outcome"));
  choose("filter-method", page.methods.map((name, place) => [place, name]), (value) => {
    state.method = Number(value);
    tell("method");
    arrange();
  });
  byId("method-label").hidden = page.methods.length < 2;
  byId("search").addEventListener("input", (event) => filtered("text")(event.target.value.trim().toLowerCase()));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("pager-back").addEventListener("click", () => turnPage(-1));
  byId("pager-next").addEventListener("click", () => turnPage(1));
  on("rows", showTable);
  on("selection", showTable);
}
