// A graph or molecule as SVG. Width and darkness follow the score; deleted edges are dashed and crossed, the motif is
// outlined, and edges that go one way have an arrowhead.

const SCALE = 40; // of an edge of typical length
const LEAST_WIDTH = 9 * SCALE; // small graphs are not blown up
const LEAST_HEIGHT = 5 * SCALE;
const MOST_NUMBERED = 40; // nodes up to which all have their numbers; in larger drawings the explained ones and ends of deleted edges
const MOST_MARKED = 24; // such ends
const MOST_SPOKES = 20; // lines of full width that fit around a node

function stretched(scores) {
  const low = Math.min(...scores);
  const high = Math.max(...scores);
  return scores.map((score) => (high - low > 1e-9 ? (score - low) / (high - low) : 0.5));
}

const line = (from, to, attributes) =>
  svg("line", {
    x1: from.x.toFixed(1),
    y1: from.y.toFixed(1),
    x2: to.x.toFixed(1),
    y2: to.y.toFixed(1),
    ...attributes,
  });

// The point this far from `from` on the way to `to`, moved sideways.
function between(from, to, share, aside) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return {
    x: from.x + share * (to.x - from.x) - (aside * (to.y - from.y)) / length,
    y: from.y + share * (to.y - from.y) + (aside * (to.x - from.x)) / length,
  };
}

// The side of an edge on which more of its neighbours are: a double bond's second line belongs inside the ring.
function innerSide(points, near, u, v) {
  let side = 0;
  for (const other of [...near[u], ...near[v]]) {
    if (other === u || other === v) continue;
    const [a, b, c] = [points[u], points[v], points[other]];
    side += Math.sign((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
  }
  return side < 0 ? -1 : 1;
}

const shortText = (text) => (text.length > 10 ? `${text.slice(0, 9)}…` : text);

// Half the room that a text takes, across and down.
const roomOf = (text) => [Math.max(0.22, 0.05 + 0.14 * text.length) * SCALE, 0.27 * SCALE];

// The end of a bond, moved away from the text at its atom.
function clearOf(text, here, there) {
  if (!text) return here;
  const [across, down] = roomOf(text);
  const [dx, dy] = [there.x - here.x, there.y - here.y];
  const length = Math.hypot(dx, dy) || 1;
  const reach = 1 / Math.hypot(dx / length / across, dy / length / down);
  return between(here, there, Math.min(0.45, reach / length), 0);
}

function bondLines(instance, points, near, u, v, order) {
  const from = clearOf(instance.texts[u], points[u], points[v]);
  const to = clearOf(instance.texts[v], points[v], points[u]);
  const parallel = (aside, inset, extra = {}) =>
    line(between(from, to, inset, aside), between(from, to, 1 - inset, aside), { class: "bond", ...extra });
  const side = innerSide(points, near, u, v) * 0.16 * SCALE;
  if (order === 2 && (near[u].length === 1 || near[v].length === 1)) {
    return [parallel(0.08 * SCALE, 0), parallel(-0.08 * SCALE, 0)];
  }
  if (order === 2) return [parallel(0, 0), parallel(side, 0.14)];
  if (order === 3) return [parallel(0, 0), parallel(side, 0.1), parallel(-side, 0.1)];
  if (order === 4) return [parallel(0, 0), parallel(side, 0.14, { "stroke-dasharray": "4 3" })];
  return [parallel(0, 0)];
}

// Lines and dots of a crowded drawing are thinner.
const thinness = (edges) => Math.min(1, Math.sqrt(45 / Math.max(edges, 1)));

function cross(from, to, thin) {
  const middle = between(from, to, 0.5, 0);
  const arm = 0.15 * SCALE * thin;
  return svg("path", {
    class: "cross",
    d: `M${middle.x - arm} ${middle.y - arm}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}`,
  });
}

// Past the middle, where the cross of a deleted edge is, and short of the node.
function arrowhead(from, to, width, thin, opacity) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const size = Math.min(0.28 * SCALE * thin + width, 0.26 * length);
  const half = Math.max(0.4 * size, 0.5 * width + 0.1 * SCALE * thin);
  const base = 0.56;
  const corners = [[base + size / length, 0], [base, half], [base, -half]].map(([share, aside]) => between(from, to, share, aside));
  const d = `M${corners.map((one) => `${one.x.toFixed(1)} ${one.y.toFixed(1)}`).join("L")}Z`;
  return svg("path", { class: "arrow", d, "fill-opacity": opacity });
}

// All outlines first, then all insides, so that the motif has one outline around all its edges.
function motifShapes(instance, points, thin) {
  const inside = (instance.molecule ? 0.66 * thin : Math.max(0.4 * thin, 0.22)) * SCALE;
  const layer = (name, width) =>
    instance.motif.map((edge) => {
      const [u, v] = instance.edges[edge];
      return line(points[u], points[v], { class: name, "stroke-width": width.toFixed(1) });
    });
  return [...layer("motif-outline", inside + 4), ...layer("motif-inside", inside)];
}

function edgeShape(instance, points, near, edge, strength, thin = 1) {
  const [u, v, order] = instance.edges[edge];
  const [from, to] = [points[u], points[v]];
  const group = svg("g", { class: "edge", "data-edge": edge });
  group.append(line(from, to, { class: "hit", "stroke-width": (0.6 * SCALE * thin).toFixed(1) }));
  if (instance.molecule) {
    const width = (0.14 + 0.42 * strength) * SCALE;
    const band = { class: "band", "stroke-width": width.toFixed(1), "stroke-opacity": (0.12 + 0.88 * strength).toFixed(2) };
    group.append(line(from, to, band), ...bondLines(instance, points, near, u, v, order));
  } else {
    const width = (0.045 + 0.15 * strength) * SCALE * thin;
    const look = { class: "bond", "stroke-width": width.toFixed(1), "stroke-opacity": (0.28 + 0.72 * strength).toFixed(2) };
    group.append(line(from, to, look));
    if (instance.one_way.includes(edge)) group.append(arrowhead(from, to, width, thin, look["stroke-opacity"]));
  }
  group.append(cross(from, to, Math.max(thin, 0.5)));
  return group;
}

const SHORT_TEXT = 3; // a longer name of a node would hide its edges: it stands beside a dot
const standsBeside = (instance, node) => !instance.molecule && (instance.texts[node]?.length ?? 0) > SHORT_TEXT;

// Where the number of a node stands: in the widest gap between its edges, clear of its text. Null if what is written at
// the node is its label already.
function numberPlace(instance, points, near, node, size) {
  if (standsBeside(instance, node) || (instance.texts[node] && instance.texts[node] === instance.names[node])) return null;
  const turns = near[node].map((other) => Math.atan2(points[other].y - points[node].y, points[other].x - points[node].x));
  const gap = (turn) => Math.min(...turns.map((other) => Math.abs(Math.atan2(Math.sin(turn - other), Math.cos(turn - other)))), Math.PI);
  const tried = Array.from({ length: 16 }, (_, step) => (step * Math.PI) / 8 - Math.PI / 4);
  const turn = tried.reduce((best, one) => (gap(one) > gap(best) + 1e-9 ? one : best));
  const bare = (instance.molecule ? 0.2 : 0.1) * SCALE;
  const [across, down] = instance.texts[node] ? roomOf(shortText(instance.texts[node])) : [bare, bare];
  const aside = (instance.roots.includes(node) ? 0.25 * SCALE : 0) + 0.8 * size;
  return { x: points[node].x + Math.cos(turn) * (across + aside), y: points[node].y + Math.sin(turn) * (down + aside) };
}

function numberShape(number, at, size) {
  const place = { x: at.x.toFixed(1), y: at.y.toFixed(1), dy: "0.35em", "text-anchor": "middle" };
  return svg("g", { "font-size": size.toFixed(1) }, svg("text", { class: "number", ...place }, String(number))); // of 1em
}

const cornersAround = (point, across, down) => [
  { x: point.x - across, y: point.y - down },
  { x: point.x + across, y: point.y + down },
];

// A name beside its node, on the side where there are no neighbours.
function besideNode(text, points, near, node) {
  const here = points[node];
  const others = near[node].map((other) => points[other]);
  const away = others.reduce((sum, other) => ({ x: sum.x + here.x - other.x, y: sum.y + here.y - other.y }), { x: 0, y: 0 });
  const length = Math.hypot(away.x, away.y);
  const [dx, dy] = length > 0.1 * SCALE ? [away.x / length, away.y / length] : [0, -1];
  const anchor = dx > 0.5 ? "start" : dx < -0.5 ? "end" : "middle";
  const place = { x: (here.x + 0.2 * SCALE * dx).toFixed(1), y: (here.y + 0.34 * SCALE * dy).toFixed(1) };
  return svg("text", { class: "beside", ...place, dy: "0.35em", "text-anchor": anchor }, shortText(text));
}

// The room that a node and its text take.
function nodeCorners(instance, point, node) {
  const wide = standsBeside(instance, node) ? 2 : 1; // its name is on one side of it
  const across = instance.texts[node] ? wide * roomOf(shortText(instance.texts[node]))[0] + 0.1 * SCALE : 0;
  return cornersAround(point, Math.max(0.7 * SCALE, across), 0.7 * SCALE);
}

function nodeShape(instance, points, near, node, thin) {
  const text = instance.texts[node];
  const point = points[node];
  const place = { cx: point.x.toFixed(1), cy: point.y.toFixed(1) };
  const group = svg("g", { class: "node", "data-node": node });
  if (instance.roots.includes(node)) group.append(svg("circle", { class: "root", r: 0.36 * SCALE, ...place }));
  if (standsBeside(instance, node)) {
    group.append(svg("circle", { class: "dot", r: (0.11 * SCALE * thin).toFixed(1), ...place }), besideNode(text, points, near, node));
  } else if (text) {
    const shown = shortText(text);
    const [across, down] = roomOf(shown);
    if (!instance.molecule) group.append(svg("ellipse", { class: "ground", rx: across, ry: down, ...place }));
    group.append(
      svg("text", { x: point.x.toFixed(1), y: point.y.toFixed(1), dy: "0.35em", "text-anchor": "middle" }, shown),
    );
  } else if (!instance.molecule) {
    group.append(svg("circle", { class: "dot", r: (0.11 * SCALE * thin).toFixed(1), ...place }));
  }
  return group;
}

// An SVG of some edges of an instance; `only` leaves out the others and the nodes they alone have. High scores are drawn
// above low ones, and the edges of `above` on top.
function drawInstance(instance, scores, only = null, above = []) {
  const points = instance.x.map((x, node) => ({ x: x * SCALE, y: instance.y[node] * SCALE }));
  const near = points.map(() => []);
  const drawn = instance.edges.map((_, edge) => edge).filter((edge) => !only || only.has(edge));
  const nodes = new Set(only ? [] : points.keys());
  for (const edge of drawn) {
    const [u, v] = instance.edges[edge];
    near[u].push(v);
    near[v].push(u);
    nodes.add(u).add(v);
  }
  const thin = instance.molecule ? 1 : thinness(drawn.length);
  const strengths = scores ? stretched(scores) : instance.edges.map(() => 0);
  const root = svg("svg", { class: instance.molecule ? "drawing molecule" : "drawing graph" });
  root.classList.toggle("dense", thin < 0.8);
  if (!only) root.append(...motifShapes(instance, points, thin));
  const height = (edge) => (above.includes(edge) ? 2 : strengths[edge]);
  drawn.sort((one, other) => height(one) - height(other));
  const spokes = Math.max(1, ...near.map((own) => own.length));
  const narrow = instance.molecule ? 1 : thin * Math.max(0.3, Math.min(1, MOST_SPOKES / spokes)); // lines at a hub must not merge
  root.append(...drawn.map((edge) => edgeShape(instance, points, near, edge, strengths[edge], narrow)));
  const shapes = [...nodes].map((node) => nodeShape(instance, points, near, node, thin));
  root.append(...shapes);
  const least = only ? [3 * SCALE, 2 * SCALE] : [LEAST_WIDTH, LEAST_HEIGHT];
  const corners = [...nodes].flatMap((node) => nodeCorners(instance, points[node], node));
  let box = boxAround(corners, least);
  if (!only && instance.numbers.length) {
    const size = Math.max(10, 0.016 * Math.max(box[2], 1.5 * box[3])); // as large on the screen in a wide drawing
    root.classList.toggle("numbered", nodes.size <= MOST_NUMBERED);
    [...nodes].forEach((node, place) => {
      const at = numberPlace(instance, points, near, node, size);
      if (!at) return;
      shapes[place].append(numberShape(instance.numbers[node], at, size));
      corners.push(...cornersAround(at, 0.9 * size, 0.7 * size));
    });
    box = boxAround(corners, least);
  }
  root.setAttribute("viewBox", box.map((value) => value.toFixed(1)).join(" "));
  return root;
}

function boxAround(points, [leastWidth, leastHeight]) {
  const [xs, ys] = [points.map((point) => point.x), points.map((point) => point.y)];
  const [left, right] = points.length ? [Math.min(...xs), Math.max(...xs)] : [0, 0];
  const [top, bottom] = points.length ? [Math.min(...ys), Math.max(...ys)] : [0, 0];
  const width = Math.max(right - left, leastWidth);
  const height = Math.max(bottom - top, leastHeight);
  return [(left + right - width) / 2, (top + bottom - height) / 2, width, height];
}

function markDeleted(root, removed, instance) {
  const ends = new Set([...removed].flatMap((edge) => instance.edges[edge].slice(0, 2)));
  const few = ends.size <= MOST_MARKED;
  for (const group of root.querySelectorAll(".node")) {
    const node = Number(group.dataset.node);
    group.classList.toggle("end", (few && ends.has(node)) || instance.roots.includes(node));
  }
  for (const group of root.querySelectorAll(".edge")) {
    group.classList.toggle("deleted", removed.has(Number(group.dataset.edge)));
  }
}

// Zoom by buttons, keys and Ctrl with the wheel; a zoomed drawing can be dragged.
function makeZoomable(root) {
  const whole = root.getAttribute("viewBox").split(" ").map(Number);
  let [x, y, width, height] = whole;
  const show = () => {
    root.setAttribute("viewBox", [x, y, width, height].map((value) => value.toFixed(1)).join(" "));
    root.classList.toggle("zoomed", width < 0.99 * whole[2]);
  };
  const zoom = (factor) => {
    const next = Math.min(Math.max(width / factor, whole[2] / 12), whole[2]);
    const ratio = next / width;
    [x, y, width, height] = [x + (width - width * ratio) / 2, y + (height - height * ratio) / 2, next, height * ratio];
    if (next === whole[2]) [x, y, width, height] = whole;
    show();
  };
  root.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2);
    },
    { passive: false },
  );
  let last = null;
  root.addEventListener("pointerdown", (event) => {
    last = root.classList.contains("zoomed") ? event : null;
  });
  root.addEventListener("pointermove", (event) => {
    if (!last || !event.buttons) return;
    const size = root.getBoundingClientRect();
    const unit = Math.max(width / size.width, height / size.height);
    [x, y] = [x - (event.clientX - last.clientX) * unit, y - (event.clientY - last.clientY) * unit];
    last = event;
    show();
  });
  const reset = () => {
    [x, y, width, height] = whole;
    show();
  };
  return { in: () => zoom(1.4), out: () => zoom(1 / 1.4), reset };
}
