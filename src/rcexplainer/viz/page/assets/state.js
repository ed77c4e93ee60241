// The document, what is selected, and who wants to know when that changes.

const page = JSON.parse(byId("data").textContent);
const ROWS_PER_PAGE = 20;

const state = {
  selected: 0, // instance
  method: 0, // whose answers the table, reasons and histograms show
  step: null, // place of the slider; null: the counterfactual is shown
  numbers: null, // whether nodes have their numbers; null: as the size of the drawing allows
  asked: null, // the view of an answer that a server gave; it goes before both
  filter: { predicted: "", outcome: "", text: "" },
  sort: { key: "number", up: true },
  tablePage: 0,
  rows: [], // instances that pass the filter, in order
};

const listeners = { selection: [], step: [], rows: [], method: [] };
const on = (what, action) => listeners[what].push(action);
const tell = (what) => listeners[what].forEach((action) => action());

const OUTCOMES = {
  flipped: { word: "flipped", mark: "✓" },
  failed: { word: "not flipped", mark: "✗" },
  none: { word: "not searched", mark: "–" },
  error: { word: "error", mark: "!" },
};

function outcomeOf(result) {
  if (result.error !== undefined) return "error";
  if (!result.counterfactual) return "none";
  return result.counterfactual.flipped ? "flipped" : "failed";
}

const resultOf = (number) => page.instances[number].results[state.method];
const className = (label) => page.classes[label] ?? String(label);
const argmax = (values) => values.reduce((best, value, place) => (value > values[best] ? place : best), 0);
const collator = new Intl.Collator("en", { numeric: true });

// What a column of the table sorts by.
const SORT_VALUES = {
  number: (number) => number,
  name: (number) => page.instances[number].name,
  smiles: (number) => page.instances[number].smiles ?? "",
  predicted: (number) => className(resultOf(number).prediction ?? -1),
  probability: (number) => resultOf(number).probabilities?.[resultOf(number).prediction] ?? -1,
  outcome: (number) => OUTCOMES[outcomeOf(resultOf(number))].word,
  deleted: (number) => resultOf(number).counterfactual?.count ?? -1,
  size: (number) => page.instances[number].size,
};

function passes(number) {
  const { predicted, outcome, text } = state.filter;
  const instance = page.instances[number];
  const result = resultOf(number);
  if (predicted !== "" && result.prediction !== Number(predicted)) return false;
  if (outcome !== "" && outcomeOf(result) !== outcome) return false;
  if (!text) return true;
  const words = [instance.name, instance.smiles, instance.label, result.error, className(result.prediction ?? -1)];
  return words.some((word) => word && word.toLowerCase().includes(text));
}

function arrange() {
  const value = SORT_VALUES[state.sort.key];
  const sign = state.sort.up ? 1 : -1;
  const compare = (one, other) => (typeof one === "number" ? one - other : collator.compare(one, other));
  state.rows = page.instances
    .map((_, number) => number)
    .filter(passes)
    .map((number) => [number, value(number)])
    .sort((one, other) => sign * compare(one[1], other[1]) || one[0] - other[0])
    .map(([number]) => number);
  state.tablePage = 0;
  tell("rows");
}

function select(number, keepPage = false) {
  state.selected = number;
  state.step = null;
  state.asked = null;
  const place = state.rows.indexOf(number);
  if (place >= 0 && !keepPage) state.tablePage = Math.floor(place / ROWS_PER_PAGE);
  history.replaceState(null, "", `#${number}`);
  tell("selection");
}

function selectNext(by) {
  const place = state.rows.indexOf(state.selected);
  const next = place < 0 ? 0 : Math.min(Math.max(place + by, 0), state.rows.length - 1);
  if (state.rows.length) select(state.rows[next]);
}

function selectRow(place) {
  if (state.rows[place] !== undefined) select(state.rows[place]);
}

// The instance that the address names, such as `page.html#12`; null if there is none.
function addressed() {
  const number = /^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : -1;
  return number >= 0 && number < page.instances.length ? number : null;
}

function setStep(step) {
  const lengths = page.instances[state.selected].results.find((result) => result.curve)?.curve.lengths;
  state.asked = null;
  state.step = step === null || !lengths ? null : Math.min(Math.max(step, 0), lengths.length - 1);
  tell("step");
}

// What is deleted in the view of a result: its counterfactual, or the first edges of its ranking.
function viewOf(result) {
  if (state.asked) return state.asked;
  if (state.step !== null && result.curve) {
    const length = result.curve.lengths[state.step];
    const removed = result.ranks.flatMap((rank, edge) => (rank < length ? [edge] : []));
    return { removed: new Set(removed), count: length, probabilities: result.curve.probabilities[state.step] };
  }
  const found = result.counterfactual;
  if (!found) return { removed: new Set(), count: 0, probabilities: result.probabilities };
  return { removed: new Set(found.removed), count: found.count, probabilities: found.probabilities };
}
