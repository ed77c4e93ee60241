// A page behind which a server runs the model: delete and restore edges, search, upload. It starts after everything else.

// `wanted`: what the person has deleted by clicks the model has not answered yet; a further click goes on from there.
const live = { latest: 0, wanted: null, about: html("p", { id: "live-answer", class: "answer", role: "status" }) };

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
  live.wanted = null;
  live.about.textContent = text;
  try {
    const found = await question();
    if (mine === live.latest && selected === state.selected) show(found);
  } catch (error) {
    if (mine === live.latest) live.about.textContent = `${error.message}.`;
  } finally {
    if (mine === live.latest) live.wanted = null;
  }
}

// Whoever turns to something else no longer waits for an answer.
function dropQuestion() {
  live.latest += 1;
  live.wanted = null;
  live.about.textContent = "";
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
  const answer = asking(
    "The model is asked…",
    () => post("predict", { instance: numberOf(instance), deleted }),
    (found) => {
      const chance = exact(found.probabilities[result.prediction] ?? -1);
      const start = removed.size ? `Without ${counted(removed.size, page.noun)}` : "Nothing deleted";
      const text = `${start}: ${className(found.prediction)}, p(${className(result.prediction)}) = ${chance}`;
      showAnswer(removed, removed.size, found.probabilities, text);
    },
  );
  live.wanted = removed;
  return answer;
}

const deletedNow = (instance) => live.wanted ?? viewOf(instance.results[0]).removed;

function toggle(instance, edge) {
  const removed = new Set(deletedNow(instance));
  if (!removed.delete(edge)) removed.add(edge);
  return predictWithout(instance, removed);
}

function search() {
  const instance = page.instances[state.selected];
  const wanted = byId("live-target").value;
  const body = { instance: numberOf(instance), search: "greedy" };
  if (wanted !== "") body.target_class = Number(wanted);
  if (byId("live-only").checked) {
    body.candidates = [...deletedNow(instance)].map((edge) => endsOf(instance, edge));
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

// Which node or link of an uploaded graph is asked about; nothing for models of graphs.
const INDEX_FIELDS = {
  node: { label: "Node of the graph", example: "3", read: /^\s*(\d+)\s*$/, wrong: "Give the number of a node, such as 3" },
  link: {
    label: "Link, two nodes of the graph",
    example: "0-5",
    read: /^\s*(\d+)\s*[-–—,\s]\s*(\d+)\s*$/,
    wrong: "Give the two nodes of a link, such as 0-5",
  },
};

// A graph is sent when a file is chosen and, for nodes and links, whenever the index is confirmed again.
function uploadForm() {
  const file = html("input", { type: "file", id: "live-file", accept: ".json,application/json" });
  const kind = INDEX_FIELDS[page.live.task];
  const field = kind && html("input", { type: "search", id: "live-index", autocomplete: "off", spellcheck: "false", inputmode: "text", placeholder: kind.example });
  const send = async () => {
    if (!file.files.length) return void (live.about.textContent = "Choose a file first.");
    const index = kind && field.value.match(kind.read)?.slice(1).map(Number);
    if (kind && !index) {
      field.focus();
      return void (live.about.textContent = `${kind.wrong}.`);
    }
    const about = kind ? `, "index": ${JSON.stringify(page.live.task === "node" ? index[0] : index)}` : "";
    await upload(`{"graph": ${await file.files[0].text()}${about}}`);
    if (!kind) file.value = ""; // so that the same file can be chosen again
  };
  if (!kind) file.addEventListener("change", () => file.files.length && send());
  const form = html("form", { class: "filters" }, html("label", {}, "Upload a graph (JSON)", file));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  if (kind) form.append(html("label", {}, kind.label, field), html("button", { type: "submit", id: "live-send" }, "Ask"));
  return form;
}

function makeControls() {
  const targets = [html("option", { value: "" }, "any other class"), ...page.classes.map((name, label) => html("option", { value: label }, name))];
  const only = html("input", { type: "checkbox", id: "live-only" });
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
    uploadForm(),
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
  dropQuestion();
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
on("step", () => state.asked === null && dropQuestion());
makeEdgesLive();
