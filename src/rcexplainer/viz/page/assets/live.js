// A page behind which a server runs the model: delete and restore edges, search, upload. It starts after everything else.

const live = { latest: 0, about: html("p", { id: "live-answer", class: "answer", role: "status" }) };

const numberOf = (instance) => instance.number ?? page.instances.indexOf(instance);
const endsOf = (instance, edge) => instance.edges[edge].slice(0, 2).map((node) => instance.numbers[node]);

async function post(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const values = await response.json();
  if (!response.ok) throw new Error(values.error);
  return values;
}

// Only the answer to the latest question is shown, and only where it was asked.
async function asking(text, question, show) {
  const [mine, selected] = [(live.latest += 1), state.selected];
  live.about.textContent = text;
  try {
    const found = await question();
    if (mine === live.latest && selected === state.selected) show(found);
  } catch (error) {
    if (mine === live.latest) live.about.textContent = `${error.message}.`;
  }
}

function showAnswer(removed, count, probabilities, text) {
  const values = probabilities.map((value) => value ?? -1);
  state.step = null;
  state.asked = { removed, count, probabilities: values };
  live.about.textContent = text;
  tell("step");
}

function predictWithout(instance, removed) {
  const deleted = [...removed].map((edge) => endsOf(instance, edge));
  const result = instance.results[0];
  return asking(
    "The model is asked…",
    () => post("predict", { instance: numberOf(instance), deleted }),
    (found) => {
      const chance = exact(found.probabilities[result.prediction] ?? -1);
      const text = `Without ${counted(removed.size, page.noun)}: ${className(found.prediction)}, p(${className(result.prediction)}) = ${chance}`;
      showAnswer(removed, removed.size, found.probabilities, text);
    },
  );
}

function toggle(instance, edge) {
  const removed = new Set(viewOf(instance.results[0]).removed);
  if (!removed.delete(edge)) removed.add(edge);
  return predictWithout(instance, removed);
}

function search() {
  const instance = page.instances[state.selected];
  const wanted = byId("live-target").value;
  const body = { instance: numberOf(instance), search: "greedy" };
  if (wanted !== "") body.target_class = Number(wanted);
  if (byId("live-only").checked) {
    body.candidates = [...viewOf(instance.results[0]).removed].map((edge) => endsOf(instance, edge));
  }
  return asking("Searching…", () => post("explain", body), (found) => {
    const other = found.counterfactual;
    const gone = new Set(other.removed.map((pair) => [...pair].sort((a, b) => a - b).join()));
    const removed = instance.edges.flatMap((_, edge) => (gone.has(endsOf(instance, edge).sort((a, b) => a - b).join()) ? [edge] : []));
    const without = `without ${counted(other.removed.length, page.noun)}`;
    const notes = [other.minimal ? "every one is needed" : "", other.exhausted ? "the time was up: the best so far" : ""].filter((note) => note);
    const text = other.flipped ? `Found: ${className(other.prediction)} ${without}` : `Not found: still ${className(other.prediction)} ${without}`;
    showAnswer(new Set(removed), other.removed.length, other.probabilities, [text, ...notes].join("; "));
  });
}

function upload(body) {
  return asking("The model is asked…", () => post("instances", body), (shown) => {
    page.instances.push(shown);
    state.filter = { predicted: "", outcome: "", text: "" };
    byId("filters").reset();
    arrange();
    select(page.instances.length - 1);
    live.about.textContent = "Uploaded.";
  });
}

function makeControls() {
  const targets = [html("option", { value: "" }, "any other class"), ...page.classes.map((name, label) => html("option", { value: label }, name))];
  const only = html("input", { type: "checkbox", id: "live-only" });
  const file = html("input", { type: "file", id: "live-file", accept: ".json,application/json" });
  file.addEventListener("change", async () => {
    if (file.files.length) await upload(`{"graph": ${await file.files[0].text()}}`);
    file.value = "";
  });
  const parts = [
    html("p", { class: "note" }, `Click ${page.noun === "bond" ? "a bond" : "an edge"} (or focus it and press Enter) to delete or restore it: the model answers.`),
    live.about,
    html(
      "div",
      { class: "filters" },
      button("Restore all", () => predictWithout(page.instances[state.selected], new Set()), { id: "live-restore" }),
      button("Find the smallest change", search, { id: "live-search" }),
      html("label", {}, "Towards", html("select", { id: "live-target" }, ...targets)),
      html("label", { class: "inline" }, only, `Only among the ${page.noun}s crossed out`),
    ),
    html("div", { class: "filters" }, html("span", { class: "note" }, "Download"), ...downloads()),
    html("div", { class: "filters" }, html("label", {}, "Upload a graph (JSON)", file)),
  ];
  if (page.live.smiles) {
    const field = html("input", { type: "search", id: "live-smiles", autocomplete: "off", spellcheck: "false" });
    const form = html("form", { class: "filters" }, html("label", { class: "grow" }, "Ask about a SMILES", field), html("button", { type: "submit" }, "Ask"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      upload({ smiles: field.value });
    });
    parts.push(form);
  }
  byId("deletion").before(html("div", { id: "live", role: "group", "aria-label": "Ask the model" }, ...parts));
}

function makeEdgesLive() {
  live.latest += 1;
  live.about.textContent = "";
  const instance = page.instances[state.selected];
  byId("live").hidden = instance.results[0].error !== undefined;
  for (const option of byId("live-target").options) option.disabled = option.value === String(instance.results[0].prediction);
  if (byId("live-target").selectedOptions[0]?.disabled) byId("live-target").value = "";
  for (const group of byId("cards").querySelectorAll(".edge")) {
    const edge = Number(group.dataset.edge);
    group.addEventListener("click", () => toggle(instance, edge));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(instance, edge);
    });
  }
}

makeControls();
on("selection", makeEdgesLive);
makeEdgesLive();
