// An explorable: a formula with draggable numbers and a plot that follows. Arrow keys change the numbers, too.

"use strict";

const FORMULA_TOKEN = /\s*(?:([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)|([A-Za-z_][A-Za-z0-9_]*)|(\*\*|[-+*/(),]))/y;
const FORMULA_CALLS = { min: Math.min, max: Math.max, sqrt: Math.sqrt };

function has_own(table, key) {
  return Object.prototype.hasOwnProperty.call(table, key);
}

function formula_tokens(text) {
  const found = [];
  FORMULA_TOKEN.lastIndex = 0;
  while (text.slice(FORMULA_TOKEN.lastIndex).trim()) {
    const at = FORMULA_TOKEN.lastIndex, match = FORMULA_TOKEN.exec(text);
    if (!match) throw new SyntaxError(`column ${at + 1} of "${text}"`);
    found.push({ kind: match[1] ? "number" : match[2] ? "name" : "sign", text: match[1] || match[2] || match[3] });
  }
  return found;
}

function evaluate_formula(text, values) {
  const tokens = formula_tokens(text);
  let at = 0;
  const peek = () => (at < tokens.length ? tokens[at].text : "");
  const take = (wanted) => {
    if (peek() !== wanted) throw new SyntaxError(`"${wanted}" is missing in "${text}"`);
    ++at;
  };
  const known = (value) => (Number.isFinite(value) ? value : NaN);
  const left_to_right = (signs, part) => {
    let value = part();
    while (has_own(signs, peek())) value = known(signs[tokens[at++].text](value, part()));
    return value;
  };
  function sum() {
    return left_to_right({ "+": (a, b) => a + b, "-": (a, b) => a - b }, product);
  }
  function product() {
    return left_to_right({ "*": (a, b) => a * b, "/": (a, b) => (b === 0 ? NaN : a / b) }, signed);
  }
  function signed() {
    if (peek() !== "-") return power();
    ++at;
    return -signed();
  }
  function power() {
    const base = factor();
    if (peek() !== "**") return base;
    ++at;
    return known(base ** signed());
  }
  function factor() {
    const token = tokens[at++];
    if (!token) throw new SyntaxError(`"${text}" ends too early`);
    if (token.kind === "number") return Number(token.text);
    if (token.text === "(") {
      const value = sum();
      take(")");
      return value;
    }
    if (token.kind === "name" && peek() === "(" && has_own(FORMULA_CALLS, token.text)) {
      ++at;
      const given = [sum()];
      while (peek() === ",") {
        ++at;
        given.push(sum());
      }
      take(")");
      return known(FORMULA_CALLS[token.text](...given));
    }
    if (token.kind === "name" && has_own(values, token.text)) return values[token.text];
    throw new SyntaxError(`"${token.text}" in "${text}"`);
  };
  const value = sum();
  if (at < tokens.length) throw new SyntaxError(`"${peek()}" in "${text}"`);
  return value;
}

// All values that follow from the inputs, by name, in SI units.
function explorable_values(description, inputs) {
  const known = Object.assign({}, inputs);
  for (const each of description.equations) known[each.name] = evaluate_formula(each.formula, known);
  return known;
}

// The curve of the last equation over the range of one input: [x, y] in SI units.
function explorable_curve(description, inputs, count = 121) {
  const across = description.inputs.find((each) => each.name === description.across);
  const result = description.equations[description.equations.length - 1].name, found = [];
  for (let i = 0; i < count; ++i) {
    const x = input_at(across, i / (count - 1)) * across.worth;
    found.push([x, explorable_values(description, Object.assign({}, inputs, { [across.name]: x }))[result]]);
  }
  return found;
}

// Position (0 to 1) of an input's value between its limits, and the inverse; values in the input's unit.
function input_share(input, value) {
  if (input.is_log) return Math.log(value / input.least) / Math.log(input.most / input.least);
  return (value - input.least) / (input.most - input.least);
}

function input_at(input, share) {
  if (input.is_log) return input.least * (input.most / input.least) ** share;
  return input.least + (input.most - input.least) * share;
}

// The nearest value that a person would choose: a multiple of the input's step, or two significant digits.
function input_rounded(input, value) {
  const near = input.is_log ? Number(value.toPrecision(2)) : Number((Math.round(value / input.step) * input.step).toPrecision(6));
  return Math.min(Math.max(near, input.least), input.most);
}

function input_stepped(input, value, steps) {
  return input_rounded(input, input.is_log ? value * 10 ** (steps / 20) : value + steps * input.step);
}

// Top of the y axis: unchanged while the curve fills at least a quarter of the axis and fits into it.
function axis_top(top, most) {
  return most > top || most < top / 4 ? most * 1.25 : top;
}

// Round tick values: multiples of 1, 2 or 5 times a power of ten; on a logarithmic axis these numbers themselves.
function round_ticks(least, most, is_log) {
  const found = [];
  if (is_log) {
    for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); ++power)
      for (const part of [1, 2, 5]) found.push(part * 10 ** power);
    return found.filter((value) => value >= least * 0.999 && value <= most * 1.001);
  }
  const power = 10 ** Math.floor(Math.log10(most - least));
  const step = [0.2, 0.5, 1, 2].map((part) => part * power).find((each) => (most - least) / each < 6);
  for (let i = Math.ceil(least / step); i * step <= most * 1.000001; ++i) found.push(i * step);
  return found;
}

const EXPLORABLE_STYLE = /* english: keep (class names) */ `
.explorable { border: 1px solid var(--line, #8886); border-radius: 6px; padding: 0.8em 1em; margin: 1em 0; }
.explorable h4 { margin: 0 0 0.3em; }
.explorable .formula { line-height: 2; margin: 0.2em 0; }
.explorable .drag { display: inline-flex; align-items: baseline; white-space: nowrap; color: var(--accent, #1f6fc0); }
.explorable .drag input { font: inherit; color: inherit; background: none; border: 0; border-bottom: 1.5px dashed currentColor;
  padding: 0 0.1em; text-align: right; cursor: ew-resize; touch-action: none; border-radius: 2px; }
.explorable .drag input:focus { outline: 2px solid currentColor; outline-offset: 1px; }
.explorable svg { width: 100%; height: auto; max-width: 40em; display: block; }
.explorable .says { margin: 0.4em 0 0; }
`;

// A style sheet object of the document: pages may have a policy that forbids style elements made by scripts.
let explorable_style = null;

function use_explorable_style() {
  if (explorable_style) return;
  explorable_style = new CSSStyleSheet();
  explorable_style.replaceSync(EXPLORABLE_STYLE);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, explorable_style];
}

function explorable_element(tag, attributes = {}, ...children) {
  const is_drawn = ["svg", "path", "line", "circle", "text"].includes(tag);
  const made = is_drawn ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function explorable_number(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))).replaceAll("-", "−") : "?";
}

function show_explorable(place, description, points = []) {
  const make = explorable_element, inputs = {}, fields = {}, results = {};
  for (const input of description.inputs) inputs[input.name] = input.value * input.worth;
  const last = description.equations[description.equations.length - 1];
  let top = 0;

  use_explorable_style();

  function set_value(name, value) {
    inputs[name] = value * description.inputs.find((each) => each.name === name).worth;
    follow();
  }

  // A number in the formula: dragged, typed, or changed with the keys. Several equations may contain it.
  const field_of = (input) => {
    const field = make("input", {
      type: "text", inputmode: "decimal", role: "spinbutton", autocomplete: "off", title: input.label,
      "aria-label": `${input.label}${input.unit ? `, ${input.unit}` : ""}`, "aria-valuemin": input.least, "aria-valuemax": input.most,
    });
    const value = () => inputs[input.name] / input.worth;
    const keys = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };
    field.addEventListener("keydown", (event) => {
      const edits_text = field.value !== shown(input) && event.key.startsWith("Arrow");
      if (event.key in keys && !edits_text) set_value(input.name, input_stepped(input, value(), keys[event.key]));
      else if (event.key === "Home") set_value(input.name, input.least);
      else if (event.key === "End") set_value(input.name, input.most);
      else if (event.key === "Enter") field.dispatchEvent(new Event("change"));
      else return;
      event.preventDefault();
    });
    field.addEventListener("change", () => {
      const typed = Number(field.value.replace(",", ".").replaceAll("−", "-"));
      if (field.value.trim() && Number.isFinite(typed)) set_value(input.name, Math.min(Math.max(typed, input.least), input.most));
      else follow();
    });
    field.addEventListener("blur", () => follow());
    let from = null;
    field.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, share: input_share(input, value()), is_moved: false };
      field.setPointerCapture(event.pointerId);
    });
    field.addEventListener("pointermove", (event) => {
      if (!from || (!from.is_moved && Math.abs(event.clientX - from.x) < 3)) return;
      from.is_moved = true;
      const share = Math.min(Math.max(from.share + (event.clientX - from.x) / 250, 0), 1);
      set_value(input.name, input_rounded(input, input_at(input, share)));
      event.preventDefault();
    });
    for (const end of ["pointerup", "pointercancel"])
      field.addEventListener(end, () => {
        if (from && !from.is_moved) field.select();
        from = null;
      });
    fields[input.name] = (fields[input.name] || []).concat(field);
    return make("span", { class: "drag" }, field, input.unit ? `\u00a0${input.unit}` : "");
  };

  function shown(input) {
    return explorable_number(inputs[input.name] / input.worth);
  }
  const SIGNS = { "*": " · ", "-": " − ", "+": " + ", "/": " / ", ",": ", " };
  const line_of = (equation, is_filled) => {
    const line = make("p", { class: "formula" }, make("var", {}, equation.name), " = ");
    const tokens = formula_tokens(equation.formula);
    tokens.forEach((token, i) => {
      const input = description.inputs.find((each) => each.name === token.text);
      if (i && tokens[i - 1].text === "**") line.append(make("sup", {}, token.text));
      else if (is_filled && input) line.append(field_of(input));
      else if (token.text === "**") return;
      else if (token.text === "sqrt") line.append("√");
      else line.append(token.kind === "name" && !(token.text in FORMULA_CALLS) ? make("var", {}, token.text) : SIGNS[token.text] || token.text);
    });
    if (is_filled) line.append(" = ", (results[equation.name] = make("strong", {})));
    return line;
  };

  const plot = make("svg", { viewBox: "0 0 480 240", role: "img" });
  const frame = make("div", { class: "explorable" }, make("h4", {}, description.title));
  for (const each of description.equations) frame.append(line_of(each, false));
  for (const each of description.equations) frame.append(line_of(each, true));
  frame.append(plot, make("p", { class: "says" }, description.says));
  place.replaceChildren(frame);

  function follow() {
    const known = explorable_values(description, inputs);
    for (const input of description.inputs)
      for (const field of fields[input.name] || []) {
        field.value = shown(input);
        field.size = Math.max(field.value.length, 2);
        field.style.width = `${Math.max(field.value.length, 2) + 0.6}ch`;
        field.setAttribute("aria-valuenow", field.value);
        field.setAttribute("aria-valuetext", `${field.value} ${input.unit}`.trim());
      }
    for (const each of description.equations) {
      const number = known[each.name] / each.worth;
      results[each.name].textContent = `${explorable_number(Number(number.toPrecision(3)))} ${each.unit}`.trim();
    }
    draw(known);
  }

  function draw(known) {
    const across = description.inputs.find((each) => each.name === description.across);
    const curve = explorable_curve(description, inputs).filter(([, y]) => Number.isFinite(y));
    top = description.top || axis_top(top, Math.max(...curve.map(([, y]) => y), 0) || 1);
    const left = 52, right = 468, upper = 22, lower = 196;
    const to_x = (x) => left + (right - left) * input_share(across, x / across.worth);
    const to_y = (y) => lower - ((lower - upper) * Math.min(y, top)) / top;
    const text = (x, y, said, anchor = "middle") =>
      make("text", { x, y, "text-anchor": anchor, "font-size": 12, fill: "currentColor", opacity: 0.8 }, said);
    const parts = [];
    const lines = (x1, x2, y1, y2) => make("line", { x1, x2, y1, y2, stroke: "currentColor", opacity: 0.15 });
    for (const value of round_ticks(0, top / last.worth, false)) {
      const y = to_y(value * last.worth);
      parts.push(lines(left, right, y, y), text(left - 6, y + 4, explorable_number(value), "end"));
    }
    for (const value of round_ticks(across.least, across.most, across.is_log)) {
      const x = to_x(value * across.worth);
      parts.push(lines(x, x, upper, lower), text(x, lower + 17, explorable_number(value)));
    }
    parts.push(text(left, 12, `${last.label}${last.unit ? ` (${last.unit})` : ""}`, "start"));
    parts.push(text((left + right) / 2, 234, `${across.label}${across.unit ? ` (${across.unit})` : ""}`));
    const path = curve.map(([x, y], i) => `${i ? "L" : "M"}${to_x(x).toFixed(1)} ${to_y(y).toFixed(1)}`).join("");
    parts.push(make("path", { d: path, fill: "none", stroke: "var(--accent, #1f6fc0)", "stroke-width": 2 }));
    const is_near = (name, value) => Math.abs(value - inputs[name]) <= 0.02 * Math.abs(inputs[name]);
    for (const point of points) {
      if (!Object.entries(point.values).every(([name, value]) => name === across.name || is_near(name, value))) continue;
      const x = point.values[across.name], share = input_share(across, x / across.worth);
      if (share >= 0 && share <= 1)
        parts.push(make("circle", { class: "measured", cx: to_x(x), cy: to_y(point.result), r: 4, fill: "none", stroke: "currentColor", "stroke-width": 1.5 }));
    }
    if (Number.isFinite(known[last.name]))
      parts.push(make("circle", { class: "chosen", cx: to_x(inputs[across.name]), cy: to_y(known[last.name]), r: 5, fill: "var(--accent, #1f6fc0)" }));
    plot.replaceChildren(...parts);
    plot.setAttribute("aria-label", `${last.label}: ${results[last.name].textContent}`);
  }

  follow();
  return {
    values: () => explorable_values(description, inputs),
    set_value,
    set_points: (found) => {
      points = found;
      follow();
    },
  };
}

if (typeof document !== "undefined")
  document.addEventListener("DOMContentLoaded", () => {
    for (const place of document.querySelectorAll(".explorable-here")) {
      const found = JSON.parse(place.querySelector("script[type='application/json']").textContent);
      show_explorable(place, found.description, found.points);
    }
  });
