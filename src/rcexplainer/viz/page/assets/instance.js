// The selected instance: a card for each method with its drawing, outcome and probabilities.

const FRAGMENTS = "Deleted bonds may leave fragments: that is the graph the model was asked about, not a proposal for a synthesis.";

let zooms = [];

function showInstance() {
  const instance = page.instances[state.selected];
  byId("instance-title").textContent = /^\d+$/.test(instance.name) ? `Instance ${instance.name}` : instance.name;
  const about = [
    instance.smiles ? html("code", {}, instance.smiles) : null,
    instance.row !== undefined ? `line ${instance.row}` : null,
    instance.nodes ? `${counted(instance.nodes, page.noun === "bond" ? "atom" : "node")}, ${counted(instance.size, page.noun)}` : null,
    instance.label !== undefined ? `labelled ${instance.label}` : null,
    instance.left_out || null,
  ].filter((part) => part);
  byId("instance-about").replaceChildren(...about.flatMap((part, place) => (place ? [" · ", part] : [part])));
  zooms = [];
  const cards = instance.results.map((result, place) => methodCard(instance, result, page.methods[place]));
  byId("cards").replaceChildren(...cards);
  byId("edge-readout").textContent = instance.edges.length
    ? `Point at ${page.noun === "bond" ? "a bond" : "an edge"}, tap it, or reach it with Tab and → to see what it does${page.curves ? " alone" : ""}.`
    : "";
  showDeletion(instance);
  showViews();
}

function methodCard(instance, result, method) {
  const outcome = outcomeOf(result);
  const card = html("article", { class: `card ${outcome}`, "aria-label": method || "Explanation" });
  const head = html("div", { class: "card-head" });
  if (method) head.append(html("h3", {}, method));
  head.append(badge(outcome), html("span", { class: "outcome-text" }, outcomeText(result)));
  card.append(head);
  if (result.error !== undefined) return card;
  const drawing = drawInstance(instance, result.scores, null, result.counterfactual?.removed);
  drawing.setAttribute("role", "group");
  drawing.setAttribute("aria-label", `Drawing of ${instance.name}: use the arrow keys to go through its ${page.noun}s`);
  makeEdgesFocusable(drawing, instance, result, method);
  const zoom = makeZoomable(drawing);
  zooms.push(zoom);
  const tools = html(
    "div",
    { class: "zoom" },
    button("1 2 3", toggleNumbers, { class: "numbers", "aria-label": `Numbers of ${page.noun === "bond" ? "atoms" : "nodes"}` }),
    button("+", zoom.in, { "aria-label": "Zoom in" }),
    button("−", zoom.out, { "aria-label": "Zoom out" }),
    button("fit", zoom.reset, { "aria-label": "Fit the drawing" }),
  );
  const bars = html("div", { class: "bars-place" });
  card.append(html("div", { class: "frame" }, drawing, tools), bars);
  card.update = () => {
    const view = viewOf(result);
    markDeleted(drawing, view.removed, instance);
    drawing.classList.toggle("all-numbers", state.numbers === true);
    drawing.classList.toggle("no-numbers", state.numbers === false);
    const chosen = state.step !== null || state.asked !== null;
    card.classList.toggle("ranking", chosen); // the frame tells how the search ended, not the slider
    const deleted = result.counterfactual || chosen;
    bars.replaceChildren(probabilityBars(result.probabilities, deleted ? view.probabilities : null));
  };
  return card;
}

// From what is shown now to its contrary: all numbers, or none.
function toggleNumbers() {
  const drawing = byId("cards").querySelector(".drawing");
  const shown = state.numbers ?? drawing?.classList.contains("numbered") ?? false;
  state.numbers = !shown;
  showViews();
}

function outcomeText(result) {
  if (result.error !== undefined) return result.error;
  const predicted = `${className(result.prediction)} (${short(result.probabilities[result.prediction])})`;
  const found = result.counterfactual;
  if (!found) return `${predicted}; no counterfactual was searched for`;
  const after = `${className(found.prediction)} (${short(found.probabilities[found.prediction])})`;
  const without = `without ${counted(found.count, page.noun)}`;
  if (!found.count) return `${predicted}; no deletion tried brings it closer to another class`;
  const notes = [
    found.minimal ? "every one is needed" : "",
    found.disputed ? "search and final run disagree" : "",
    found.exhausted ? "budget spent" : "",
    found.confidence !== undefined ? `asked for a probability of ${found.confidence}` : "",
    found.target !== undefined ? `asked for ${className(found.target)}` : "",
    result.refined ? `ranking refined with ${counted(result.refined, "model run")}` : "",
  ].filter((note) => note);
  const change = found.prediction === result.prediction ? `${predicted}, still ${after} ${without}` : `${predicted} → ${after} ${without}`;
  return notes.length ? `${change}; ${notes.join(", ")}` : change;
}

// Every edge can be pointed at or focused; the arrow keys walk along the ranking.
function makeEdgesFocusable(drawing, instance, result, method) {
  const groups = [...drawing.querySelectorAll(".edge")];
  const ranked = [...groups].sort((one, other) => result.ranks[one.dataset.edge] - result.ranks[other.dataset.edge]);
  for (const group of groups) {
    const edge = Number(group.dataset.edge);
    const text = edgeText(instance, result, edge);
    const show = () => {
      byId("edge-readout").textContent = method && page.methods.length > 1 ? `${method}: ${text}` : text;
      groups.forEach((other) => other.classList.toggle("active", other === group));
    };
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", text);
    group.setAttribute("tabindex", group === ranked[0] ? "0" : "-1");
    group.addEventListener("pointerenter", show);
    group.addEventListener("focus", show);
    group.addEventListener("click", show);
    group.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      const next = ranked[ranked.indexOf(group) + by];
      if (!next) return;
      group.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  }
}

// Such as "c4–N7: score 0.981, 1st of 21 to delete; deleted alone: negative, p(positive) 0.961234 → 0.123456".
function edgeText(instance, result, edge) {
  const [u, v] = instance.edges[edge];
  const rank = result.ranks[edge];
  const joint = instance.one_way.includes(edge) ? "→" : "–";
  const parts = [`${instance.names[u]}${joint}${instance.names[v]}: score ${short(result.scores[edge])}, ${ordinal(rank + 1)} of ${instance.size} to delete`];
  if (result.relevance) parts.push(`relevance ${short(result.relevance[edge])}`);
  if (instance.motif.includes(edge)) parts.push("in the motif");
  const alone = result.curve?.singles[rank];
  if (alone) {
    const [before, after] = [result.probabilities, alone].map((values) => exact(values[result.prediction]));
    parts.push(`deleted alone: ${className(argmax(alone))}, p(${className(result.prediction)}) ${before} → ${after}`);
  } else if (result.curve) {
    parts.push("its deletion alone was not run");
  }
  return parts.join("; ");
}

function showViews() {
  for (const card of byId("cards").children) card.update?.();
  byId("deletion").update?.();
}

function showLegend() {
  const instance = page.instances.find((one) => one.edges.length);
  if (!instance) return;
  const sample = (kind, text) => {
    const molecule = instance.molecule ? "molecule" : "graph";
    const drawing = svg("svg", { class: `drawing ${molecule}`, viewBox: "0 0 60 14", "aria-hidden": "true" });
    const edge = (from, to, strength) => {
      const points = [{ x: from, y: 7 }, { x: to, y: 7 }];
      const pattern = { molecule: instance.molecule, edges: [[0, 1, 1]], texts: [], one_way: kind === "arrow" ? [0] : [], motif: [0] };
      if (kind === "motif") drawing.append(...motifShapes(pattern, points, 0.3));
      const shape = edgeShape(pattern, points, [[1], [0]], 0, strength);
      if (kind === "deleted") shape.classList.add("deleted");
      drawing.append(shape);
    };
    if (kind === "score") [0, 0.5, 1].forEach((strength, place) => edge(4 + 21 * place, 12 + 21 * place, strength));
    if (kind === "deleted") edge(8, 52, 0.6);
    if (kind === "arrow") edge(8, 52, 0.4);
    if (kind === "motif") edge(12, 48, 0);
    if (kind === "root") drawing.append(svg("circle", { class: "root", cx: 30, cy: 7, r: 6 }));
    return html("li", {}, drawing, text);
  };
  const items = [sample("score", "low to high score, within each drawing"), sample("deleted", "deleted")];
  if (page.instances.some((one) => one.roots.length)) items.push(sample("root", "what is explained"));
  if (page.instances.some((one) => one.motif.length)) items.push(sample("motif", "known motif"));
  if (page.instances.some((one) => one.one_way.length)) items.push(sample("arrow", "in one direction only"));
  if (page.noun === "bond") items.push(html("li", {}, FRAGMENTS));
  byId("legend").replaceChildren(...items);
}

function startInstance() {
  showLegend();
  on("selection", showInstance);
  on("step", showViews);
}
