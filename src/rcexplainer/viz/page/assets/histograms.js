// Distributions over all instances of the chosen method: sizes, deleted edges, flips by class.

const MOST_BINS = 12;
const HISTOGRAM = { width: 320, height: 150, left: 8, right: 8, top: 16, bottom: 22 };

// Bins of whole numbers, of the same round width.
function binned(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const widths = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];
  const width = widths.find((one) => Math.floor(high / one) - Math.floor(low / one) < MOST_BINS) ?? Math.ceil((high - low + 1) / MOST_BINS);
  const start = low === 1 ? 1 : 0; // "1–2, 3–4" rather than "0–1, 2–3" if there is no 0
  const first = Math.floor((low - start) / width);
  const number = Math.floor((high - start) / width) - first + 1;
  const names = [...Array(number).keys()].map((place) => {
    const least = start + (first + place) * width;
    return width === 1 ? String(least) : `${least}–${least + width - 1}`;
  });
  return { names, binOf: (value) => Math.floor((value - start) / width) - first };
}

function histogram(title, names, flipped, others) {
  const { width, height, left, right, top, bottom } = HISTOGRAM;
  const most = Math.max(1, ...flipped.map((count, place) => count + others[place]));
  const step = (width - left - right) / names.length;
  const tall = (count) => (count / most) * (height - top - bottom);
  const chart = svg("svg", { class: "histogram", viewBox: `0 0 ${width} ${height}`, role: "img" });
  const said = [];
  const every = Math.ceil((6.5 * (1 + Math.max(...names.map((name) => Math.min(name.length, 14))))) / step); // labels must not overlap
  names.forEach((name, place) => {
    const [x, room] = [left + place * step + 0.1 * step, 0.8 * step];
    const [low, high] = [tall(flipped[place]), tall(others[place])];
    const base = height - bottom;
    const total = flipped[place] + others[place];
    chart.append(
      svg("rect", { class: "flipped", x, y: base - low, width: room, height: low }),
      svg("rect", { class: "other", x, y: base - low - high, width: room, height: high }),
    );
    if (total) chart.append(svg("text", { x: x + room / 2, y: base - low - high - 4, "text-anchor": "middle" }, String(total)));
    const short = name.length > 14 ? `${name.slice(0, 13)}…` : name;
    if (place % every === 0) chart.append(svg("text", { x: x + room / 2, y: height - 6, "text-anchor": "middle" }, short));
    said.push(`${name}: ${flipped[place]} flipped, ${others[place]} not`);
  });
  chart.setAttribute("aria-label", `${title}. ${said.join("; ")}`);
  return html("figure", {}, html("figcaption", {}, title), chart);
}

function stacked(title, instances, keyOf, names) {
  const [flipped, others] = [names.map(() => 0), names.map(() => 0)];
  for (const number of instances) (outcomeOf(resultOf(number)) === "flipped" ? flipped : others)[keyOf(number)] += 1;
  return histogram(title, names, flipped, others);
}

function showHistograms() {
  const good = page.instances.map((_, number) => number).filter((number) => resultOf(number).error === undefined);
  const figures = [];
  if (good.length) {
    const sizes = binned(good.map((number) => page.instances[number].size));
    figures.push(stacked(`Size: number of ${page.noun}s`, good, (number) => sizes.binOf(page.instances[number].size), sizes.names));
    const searched = good.filter((number) => resultOf(number).counterfactual);
    if (searched.length) {
      const counts = binned(searched.map((number) => resultOf(number).counterfactual.count));
      const binOf = (number) => counts.binOf(resultOf(number).counterfactual.count);
      figures.push(stacked(`Deleted ${page.noun}s`, searched, binOf, counts.names));
    }
    const labels = [...new Set(good.map((number) => resultOf(number).prediction))].sort((one, other) => one - other);
    figures.push(stacked("Predicted class", good, (number) => labels.indexOf(resultOf(number).prediction), labels.map(className)));
  }
  const key = html(
    "p",
    { class: "key" },
    html("span", { class: "swatch flipped" }),
    "flipped ",
    html("span", { class: "swatch other" }),
    "not flipped or not searched",
  );
  byId("histograms").replaceChildren(...figures, key);
}

function showSummary() {
  const good = page.instances.map((_, number) => number).filter((number) => resultOf(number).error === undefined);
  const searched = good.filter((number) => resultOf(number).counterfactual);
  const flipped = searched.filter((number) => resultOf(number).counterfactual.flipped);
  const parts = [counted(page.instances.length, "instance")];
  if (searched.length) parts.push(`prediction verified to change for ${flipped.length} of ${searched.length} (${percent(flipped.length, searched.length)})`);
  if (good.length < page.instances.length) parts.push(`${page.instances.length - good.length} could not be explained`);
  const name = page.methods[state.method];
  byId("summary").textContent = (name ? `${name}: ` : "") + parts.join(" · ");
}

function startHistograms() {
  const show = () => {
    showSummary();
    showHistograms();
  };
  on("method", show);
  show();
}
