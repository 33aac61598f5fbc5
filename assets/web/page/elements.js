// Elements of the document, colours of its style, strokes on a canvas, and files that are saved.

function line(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

// Of several runs or lines on a canvas.
const DASHES = [[], [6, 3], [2, 2], [8, 2.5, 2, 2.5]];

// How a legend shows such a line.
function style_of(dash) {
  return dash.length ? (dash[0] > 2 ? "dashed" : "dotted") : "";
}

function swatch_of(colour, style = "") {
  const made = element("i", { class: `swatch ${style}` });
  made.style.setProperty("--colour", colour);
  return made;
}

const FONT = "12px system-ui, sans-serif"; // on canvases

// How many pixels of the page one of a canvas takes: what is drawn is as large as what is written beside it.
function zoom() {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
}

function size_of(canvas) {
  return [canvas.clientWidth / zoom(), canvas.clientHeight / zoom()];
}

function place_of({ offsetX, offsetY }) {
  return [offsetX / zoom(), offsetY / zoom()];
}

// An empty canvas in the pixels of the screen, to draw on in its own; null while it is not seen.
function pen_on(canvas) {
  const ratio = devicePixelRatio || 1, scale = ratio * zoom();
  const size = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  if (!size[0] || !size[1]) return null;
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.font = FONT;
  return pen;
}

let colours = new Map(); // of the style, as they were read: emptied when it changes

const LOOKS = ["dark", "light", "embed"];

// What the page around asks for behind "#", by commas: looks, and names of quantities to draw.
function asked_words() {
  return location.hash.slice(1).split(",").filter(Boolean);
}

// Dark or light as it is asked for, or as the reader likes it; the figure alone, if that is asked for.
function take_look() {
  const asked = asked_words(), liked = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const root = document.documentElement;
  root.dataset.theme = asked.find((word) => ["dark", "light"].includes(word)) ?? liked;
  root.classList.toggle("framed", window !== parent);
  root.classList.toggle("embedded", asked.includes("embed"));
  if (window === parent) return;
  // A page around that listens can make the frame as high as this; where it does not, the frame scrolls.
  const tell = () => parent.postMessage({ subflow: { height: Math.ceil(document.body.getBoundingClientRect().height) } }, "*");
  new ResizeObserver(tell).observe(document.body);
}

function is_dark() {
  return document.documentElement.dataset.theme === "dark";
}

function css(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colours.get(name);
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function radio(name, value, label, checked) {
  const input = element("input", { type: "radio", name, value });
  input.checked = checked;
  return element("label", {}, input, element("span", {}, label));
}

function row(tag, ...cells) {
  return element("tr", {}, ...cells.map((cell) => element(tag, tag === "th" ? { scope: "col" } : {}, cell)));
}

function with_head(name, ...cells) {
  return element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell)));
}

// Whether what is typed there is text.
function is_typing(place) {
  const field = place.closest("input, textarea");
  return field !== null && !["range", "checkbox", "radio"].includes(field.type);
}

function file_name(name) {
  return name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase() || "subflow";
}

function download(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
}
