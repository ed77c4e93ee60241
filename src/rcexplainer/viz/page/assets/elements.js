// Elements made of text alone: names, SMILES and classes come from strangers, so nothing is ever parsed as markup.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG_SPACE, tag), attributes, children);
const byId = (id) => document.getElementById(id);

function button(text, action, attributes = {}) {
  const made = html("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", action);
  return made;
}

// Three digits to read, six to check against the Python API.
const short = (value) => (value < 0 ? "–" : value.toFixed(3));
const exact = (value) => (value < 0 ? "–" : value.toFixed(6));
const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(part === whole ? 0 : 1)} %` : "–");
const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const ordinal = (number) => {
  const last = number % 100 > 10 && number % 100 < 14 ? 0 : number % 10;
  return `${number}${["th", "st", "nd", "rd"][last] || "th"}`;
};
