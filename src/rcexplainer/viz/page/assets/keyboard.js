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
  "/": () => byId("search").focus(),
  "?": () => byId("help").showModal(),
  "+": () => zooms.forEach((zoom) => zoom.in()),
  "-": () => zooms.forEach((zoom) => zoom.out()),
  0: () => zooms.forEach((zoom) => zoom.reset()),
};

function startKeyboard() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    if (event.key === "Escape" && event.target === byId("search")) return byId("search").blur();
    if (typing(event.target) || !KEYS[event.key]) return;
    if (event.target.matches("input[type=range]") && event.key.startsWith("Arrow")) return; // the slider's own keys
    event.preventDefault();
    const inTable = byId("table-body").contains(document.activeElement);
    KEYS[event.key]();
    if (inTable) byId("table-body").querySelector(".selected button")?.focus();
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
