// Keys for everything, the help that names them, and the choice between light and dark.

const THEMES = ["auto", "light", "dark"];

const typing = (target) => target.matches("input:not([type=range]), select, textarea");

const KEYS = {
  j: () => selectNext(1),
  ArrowDown: () => selectNext(1),
  k: () => selectNext(-1),
  ArrowUp: () => selectNext(-1),
  ArrowRight: () => setStep(state.step === null ? 1 : state.step + 1),
  ArrowLeft: () => setStep(state.step === null ? 0 : state.step - 1),
  c: () => setStep(null),
  n: () => toggleNumbers(),
  "/": () => byId("search").focus(),
  "?": () => byId("help").showModal(),
  "+": () => zooms.forEach((zoom) => zoom.in()),
  "-": () => zooms.forEach((zoom) => zoom.out()),
  0: () => zooms.forEach((zoom) => zoom.reset()),
};

// Only where the table has the focus: elsewhere these keys scroll the page.
const TABLE_KEYS = {
  Home: () => selectRow(0),
  End: () => selectRow(state.rows.length - 1),
  PageDown: () => selectNext(ROWS_PER_PAGE),
  PageUp: () => selectNext(-ROWS_PER_PAGE),
};

const rowButtonOf = (number) => byId("table-body").querySelector(`[data-number="${number}"] button`);

// From the search to what it found: Enter opens the first row, the arrow goes to it.
function leaveSearch(event) {
  if (event.key === "Escape") byId("search").blur();
  if (event.key !== "Enter" && event.key !== "ArrowDown") return;
  event.preventDefault();
  if (event.key === "Enter") selectRow(0);
  (rowButtonOf(state.selected) ?? byId("table-body").querySelector("button"))?.focus();
}

function startKeyboard() {
  byId("search").addEventListener("keydown", leaveSearch);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    const tableFocused = () => byId("table-body").contains(document.activeElement);
    const inTable = tableFocused();
    const action = KEYS[event.key] ?? (inTable ? TABLE_KEYS[event.key] : undefined);
    if (typing(event.target) || !action) return;
    if (event.target.matches("input[type=range]") && event.key.startsWith("Arrow")) return; // the slider's own keys
    event.preventDefault();
    action();
    if (inTable && (tableFocused() || document.activeElement === document.body)) rowButtonOf(state.selected)?.focus();
  });
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("help-close").addEventListener("click", () => byId("help").close());
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "auto") + 1) % THEMES.length];
    root.dataset.theme = next;
    byId("theme").textContent = `Theme: ${next}`;
  });
}
