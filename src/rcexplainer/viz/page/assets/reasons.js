// Deleted substructures that come up again and again: what they are, how often, how often they flip, and where.

const REASONS_AT_FIRST = 8;
const EXAMPLES_AT_FIRST = 6;

function thumbnail(reason) {
  const [number, edges] = reason.examples.find(([, drawn]) => drawn.length) ?? [];
  if (number === undefined) return html("span", { class: "thumbnail note" }, "not in the drawn part");
  const instance = page.instances[number];
  const nodes = new Set(edges.flatMap((edge) => instance.edges[edge].slice(0, 2)));
  const around = new Set();
  instance.edges.forEach(([u, v], edge) => {
    if (nodes.has(u) || nodes.has(v)) around.add(edge);
  });
  if (around.size > 60) edges.forEach((edge) => around.add(edge));
  const drawing = drawInstance(instance, null, around.size > 60 ? new Set(edges) : around);
  drawing.classList.add("thumbnail");
  drawing.setAttribute("aria-hidden", "true");
  markDeleted(drawing, new Set(edges), instance);
  return drawing;
}

function exampleButtons(reason) {
  const place = html("div", { class: "examples" });
  const show = (number) => {
    const made = reason.examples.slice(0, number).map(([instance]) =>
      button(page.instances[instance].name, () => {
        select(instance);
        byId("instance").scrollIntoView({ block: "start" });
      }),
    );
    const more = reason.examples.length - number;
    if (more > 0) made.push(button(`+ ${more}`, () => show(reason.examples.length), { "aria-label": `${more} more examples` }));
    else if (reason.count > reason.examples.length) made.push(html("span", {}, `and ${reason.count - reason.examples.length} more`));
    place.replaceChildren(...made);
  };
  show(EXAMPLES_AT_FIRST);
  return place;
}

function reasonCard(reason) {
  const rate = html("span", { class: "meter", "aria-hidden": "true" }, bar("after", reason.flipped / reason.count));
  return html(
    "li",
    { class: "reason" },
    thumbnail(reason),
    html(
      "div",
      {},
      html("p", { class: "what" }, reason.smiles ? html("code", {}, reason.text) : reason.text),
      html("p", {}, html("strong", {}, counted(reason.count, "instance")), ` predicted ${className(reason.prediction)}`),
      html("p", { class: "rate" }, rate, `${reason.flipped} of ${reason.count} flipped (${percent(reason.flipped, reason.count)})`),
      exampleButtons(reason),
    ),
  );
}

function showReasons(number = REASONS_AT_FIRST) {
  const { predicted } = state.filter;
  const all = page.reasons[state.method].filter((reason) => predicted === "" || reason.prediction === Number(predicted));
  const about = [`What counterfactuals delete, with what is around it${page.methods[state.method] ? `, by ${page.methods[state.method]}` : ""}.`];
  if (all.some((reason) => reason.smiles)) about.push("In a SMILES, ~ marks a deleted bond.");
  if (predicted !== "") about.push(`Only for graphs predicted ${className(Number(predicted))}, as in the table.`);
  if (page.reasons_left_out[state.method]) about.push(`${page.reasons_left_out[state.method]} rarer ones are left out.`);
  byId("reasons-about").textContent = all.length ? about.join(" ") : "No counterfactual deletes anything here.";
  const list = html("ul", { class: "reason-list" }, ...all.slice(0, number).map(reasonCard));
  const more = all.length - number;
  byId("reasons").replaceChildren(list);
  if (more > 0) byId("reasons").append(button(`Show ${more} more`, () => showReasons(all.length), { id: "more-reasons" }));
}

function startReasons() {
  let shown = null;
  on("rows", () => {
    const now = `${state.method} ${state.filter.predicted}`;
    if (now !== shown) showReasons();
    shown = now;
  });
}
