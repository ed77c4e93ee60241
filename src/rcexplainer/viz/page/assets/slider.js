// The slider from the most to the least important edge, with the real prediction after each deletion.

const NO_CURVES =
  "There is no slider and no effect of single edges: explanations hold no model. rc.viz.page(explanations, path, fitted) " +
  "computes them by running it.";

const NO_TIME = "There is no slider here: the time limit was reached before the model had been run for all its positions.";

function showDeletion(instance) {
  const target = byId("deletion");
  target.update = null;
  const results = instance.results.filter((result) => result.curve);
  if (!page.curves) return target.replaceChildren(html("p", { class: "note" }, NO_CURVES));
  if (!results.length && instance.results.some((result) => result.error === undefined)) {
    return target.replaceChildren(html("p", { class: "note" }, NO_TIME));
  }
  if (!results.length || !instance.size) return target.replaceChildren();
  const { lengths } = results[0].curve;
  const slider = html("input", { type: "range", id: "slider", min: 0, max: lengths.length - 1, step: 1, value: 0 });
  slider.addEventListener("input", () => setStep(Number(slider.value)));
  const label = html("label", { for: "slider" }, `Delete ${page.noun}s one after the other, those that do most together first`);
  const ends = html("p", { class: "ends", "aria-hidden": "true" }, html("span", {}, "nothing deleted"), html("span", {}, `all ${instance.size}`));
  const answer = html("p", { class: "answer", id: "answer" });
  const back = button("Show the counterfactual", () => setStep(null), { id: "show-counterfactual", "aria-pressed": "true" });
  const { chart, mark } = curveChart(results, page.noun);
  const parts = [label, chart, curveKey(instance), slider, ends, answer, back];
  const gap = lengths.findIndex((length, step) => length !== step);
  if (gap > 0) {
    const text = `Every number of deletions up to ${gap - 1} was run; beyond that the slider moves in larger steps. `;
    parts.push(html("p", { class: "note" }, text + `Single deletions were run for the first ${results[0].curve.singles.length} of the ranking.`));
  }
  target.replaceChildren(...parts);
  target.update = () => {
    const length = state.step === null || state.asked ? null : lengths[state.step];
    mark(length);
    slider.value = state.step ?? 0;
    back.setAttribute("aria-pressed", String(state.step === null && !state.asked));
    back.disabled = !instance.results.some((result) => result.counterfactual);
    const text = answerText(instance);
    slider.setAttribute("aria-valuetext", text);
    answer.textContent = text;
  };
  target.update();
}

// Which line is which method, and what full points are.
function curveKey(instance) {
  const names = instance.results.flatMap((result, place) => (result.curve ? [page.methods[place]] : []));
  const lines = names.length < 2 ? [] : names.map((name, place) => {
    const sample = svg("path", { class: `curve curve-${place % 5}`, d: "M0 4H36" });
    return html("li", {}, svg("svg", { class: "chart", viewBox: "0 0 36 8", "aria-hidden": "true" }, sample), name);
  });
  const point = svg("circle", { class: "point other", cx: 18, cy: 4, r: 3 });
  const full = html("li", {}, svg("svg", { class: "chart", viewBox: "0 0 36 8", "aria-hidden": "true" }, point), "another class is predicted");
  return html("ul", { class: "curve-key" }, ...lines, full);
}

// Such as "Without the first 2 bonds: negative, p(positive) = 0.123456".
function answerText(instance) {
  const said = instance.results.flatMap((result, place) => {
    if (!result.curve) return [];
    const view = viewOf(result);
    const predicted = className(argmax(view.probabilities));
    const name = page.methods.length > 1 ? `${page.methods[place]}: ` : "";
    return [`${name}${predicted}, p(${className(result.prediction)}) = ${exact(view.probabilities[result.prediction])}`];
  });
  const shown = instance.results.find((result) => result.curve);
  const length = state.step === null ? null : shown.curve.lengths[state.step];
  const which = length === 1 ? `Without the first ${page.noun}` : `Without the first ${length} ${page.noun}s`;
  const nothing = length === 0 || state.asked?.count === 0;
  const chosen = state.asked && `Without ${counted(state.asked.count, page.noun)} of your choice`;
  const start = nothing ? "Nothing deleted" : chosen || (length === null ? "Counterfactual" : which);
  return `${start}: ${said.join("; ")}`;
}
