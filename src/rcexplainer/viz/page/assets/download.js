// What the page shows as a file: the answer as JSON, the drawing as SVG or PNG with its looks written into it.

const LOOKS = [
  "fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "opacity", "display", "visibility",
  "font-family", "font-size", "font-weight", "text-anchor", "paint-order",
];
const PNG_SCALE = 2;

function save(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = html("a", { download: name, href: URL.createObjectURL(blob) });
  link.click();
  URL.revokeObjectURL(link.href);
}

function drawingFile() {
  const shown = byId("cards").querySelector("svg.drawing");
  const copy = shown.cloneNode(true);
  const [from, to] = [shown, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((node, place) => {
    const looks = getComputedStyle(node);
    for (const name of ["class", "tabindex", "role", "aria-label", "data-edge", "data-node"]) to[place].removeAttribute(name);
    for (const name of LOOKS) to[place].setAttribute(name, looks.getPropertyValue(name));
  });
  const [x, y, width, height] = shown.getAttribute("viewBox").split(" ").map(Number);
  const ground = getComputedStyle(byId("instance")).backgroundColor;
  copy.prepend(svg("rect", { x, y, width, height, fill: ground }));
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

async function savePng() {
  const { text, width, height } = drawingFile();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = html("canvas", { width: Math.round(PNG_SCALE * width), height: Math.round(PNG_SCALE * height) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save("drawing.png", blob), "image/png");
}

function saveJson() {
  const instance = page.instances[state.selected];
  const view = viewOf(instance.results[0]);
  const deleted = [...view.removed].map((edge) => endsOf(instance, edge));
  const values = { name: instance.name, smiles: instance.smiles, classes: page.classes, deleted, probabilities: view.probabilities };
  save("answer.json", JSON.stringify(values, null, 1), "application/json");
}

const downloads = () => [
  button("JSON", saveJson, { "aria-label": "Download JSON" }),
  button("SVG", () => save("drawing.svg", drawingFile().text, "image/svg+xml"), { "aria-label": "Download SVG" }),
  button("PNG", savePng, { "aria-label": "Download PNG" }),
];
