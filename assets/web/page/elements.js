// Elements of the document, colours of the style sheet, strokes on a canvas, and saving of files.

function line(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

// Dash patterns of several runs or lines on a canvas.
const DASHES = [[], [6, 3], [2, 2], [8, 2.5, 2, 2.5]];

// Class of the legend's swatch for a dash pattern.
function style_of(dash) {
  return dash.length ? (dash[0] > 2 ? "dashed" : "dotted") : "";
}

function swatch_of(colour, style = "") {
  const made = element("i", { class: `swatch ${style}` });
  made.style.setProperty("--colour", colour);
  return made;
}

const FONT = "12px system-ui, sans-serif"; // on canvases

// Scale of a canvas: its text and lines grow with the font size of the page.
function zoom() {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
}

function size_of(canvas) {
  return [canvas.clientWidth / zoom(), canvas.clientHeight / zoom()];
}

function place_of({ offsetX, offsetY }) {
  return [offsetX / zoom(), offsetY / zoom()];
}

// Clears a canvas in device pixels and returns a context that draws in its own pixels; null while the canvas is hidden.
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

let colours = new Map();  // read from the style sheet; emptied when the style changes

const LOOKS = ["dark", "light", "embed"];

// Words behind "#" in the address, separated by commas: looks, names of quantities to draw, chapters. An embedding page
// sets them.
function asked_words() {
  return location.hash.slice(1).split(",").filter(Boolean);
}

// Applies the requested look: dark or light, or else the reader's preference; and the figure only, if requested.
function take_look() {
  const asked = asked_words(), liked = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const root = document.documentElement;
  root.dataset.theme = asked.find((word) => ["dark", "light"].includes(word)) ?? liked;
  root.classList.toggle("framed", window !== parent);
  root.classList.toggle("embedded", asked.includes("embed"));
  if (window === parent) return;
  // An embedding page can fit the height of its frame to this message; otherwise the frame scrolls.
  const tell = () => parent.postMessage({ subflow: { height: Math.ceil(document.body.getBoundingClientRect().height) } }, "*");
  new ResizeObserver(tell).observe(document.body);
}

// While the page is printed, it is light and its details are open; `draw` draws its canvases at once.
function print_in_light(draw) {
  let before = null;
  const show = (theme, details, is_open) => {
    document.documentElement.dataset.theme = theme;
    colours = new Map();
    for (const each of details) each.open = is_open;
    draw();
  };
  addEventListener("beforeprint", () => {
    before = { theme: document.documentElement.dataset.theme, details: [...document.querySelectorAll("details.printed:not([open])")] };
    show("light", before.details, true);
  });
  addEventListener("afterprint", () => before && show(before.theme, before.details, false));
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

// Scrolls to a place, smoothly for all but readers who prefer less motion.
function glide_to(place, block) {
  place.scrollIntoView({ block, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth" });
}

// Lets a part show a shadow at its right edge while more of its content lies there.
function with_hint(place) {
  const look = () => place.classList.toggle("more", place.scrollLeft + place.clientWidth < place.scrollWidth - 1);
  const watch = new ResizeObserver(look);
  for (const each of [place, ...place.children]) watch.observe(each);
  place.addEventListener("scroll", look, { passive: true });
  return place;
}

// A part that may scroll, which keyboards reach and screen readers name.
function scrolling(kind, name, ...children) {
  return with_hint(element("div", { class: kind, tabindex: "0", role: "region", "aria-label": name }, ...children));
}

const CONTROLS = "button, input, select, summary, [tabindex]";

// Distinguishes a control from the others of its part.
function name_of_control(control) {
  const own = control.id || control.dataset.key || control.dataset.step, label = control.closest("label") ?? control;
  return own || [control.closest("[data-question]")?.dataset.question, control.tagName, control.getAttribute("aria-label"), label.textContent].join(" ");
}

// Calls `replace`, which replaces the content of a place. Keyboard focus in this place stays at the same control, or
// moves to the next one that can be used: a pressed button may be disabled or gone.
function keeping_focus(place, replace) {
  const before = [...place.querySelectorAll(CONTROLS)], focused = before.indexOf(document.activeElement), names = before.map(name_of_control);
  replace();
  if (focused < 0 || place.contains(document.activeElement)) return;
  const now = [...place.querySelectorAll(CONTROLS)].filter((each) => !each.disabled), named = new Map(now.map((each) => [name_of_control(each), each]).reverse());
  const next = names.slice(focused).find((name) => named.has(name));
  (next === undefined ? now.at(-1) : named.get(next))?.focus({ preventScroll: true });
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

// True if keys pressed in an element enter text.
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
