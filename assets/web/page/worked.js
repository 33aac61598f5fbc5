// A rule with its numbers filled in, equivalent to features/explain/core/worked_rules.py, which supplies rules and
// units in `told_words`.

const SIGNS = { "+": ["+", 1], "-": ["−", 1], "*": ["·", 2], "/": ["/", 2], "**": ["^", 3] };
const CALCULATE = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, "**": Math.pow };
const COMPARE = { "<": (a, b) => a < b, ">": (a, b) => a > b, "==": (a, b) => a === b };
const CALLS = { min: Math.min, max: Math.max, whole: Math.floor };
const ALWAYS = 9;  // precedence above all operators: needs no parentheses

// A number as Python's format "g" writes it, with a typographic minus.
function six_digits(value) {
  if (!Number.isFinite(value)) return value > 0 ? "inf" : value < 0 ? "−inf" : "nan";
  const [mantissa, exponent] = value.toExponential(5).split("e"), power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return String(Number(value.toPrecision(6))).replace("-", "−");
  return `${Number(mantissa)}e${power < 0 ? "-" : "+"}${Math.abs(power) < 10 ? "0" : ""}${Math.abs(power)}`.replace(/-/g, "−");
}

// Value and text of an expression compiled by features/exporting/core/expression_document.py.
function filled(node, values) {
  if (!Array.isArray(node)) {
    const value = typeof node === "number" ? node : node in values ? values[node] : NaN;
    return { value, text: six_digits(value), strength: ALWAYS };
  }
  const [operation, ...parts] = node;
  if (operation === "if") {
    const { value, text } = filled(parts[filled(parts[0], values).value === true ? 1 : 2], values);
    return { value, text, strength: 0 };
  }
  if (operation === "compare") {
    const [symbols, nodes] = parts, told = nodes.map((each) => filled(each, values).value);
    return { value: symbols.every((symbol, i) => COMPARE[symbol](told[i], told[i + 1])), text: "", strength: ALWAYS };
  }
  if (operation === "call") {
    const told = parts.slice(1).map((each) => filled(each, values));
    return { value: CALLS[parts[0]](...told.map((each) => each.value)), text: `${parts[0]}(${told.map((each) => each.text).join(", ")})`, strength: ALWAYS };
  }
  const [left, right] = parts.map((each) => filled(each, values)), [sign, strength] = SIGNS[operation];
  const within = (part, least) => (part.strength < least ? `(${part.text})` : part.text);
  return { value: CALCULATE[operation](left.value, right.value), text: `${within(left, strength)} ${sign} ${within(right, strength + 1)}`, strength };
}

// Parts of a rule's number by its name: name without unit, symbol of the unit, and whether it is a set of subflows.
function number_parts(name) {
  if (name.endsWith("_mask")) return { name: name.slice(0, -5), unit: "", is_set: true };
  const ending = Object.keys(told_words.units).find((each) => name.endsWith(`_${each}`));
  return ending ? { name: name.slice(0, -ending.length - 1), unit: told_words.units[ending], is_set: false } : { name, unit: "", is_set: false };
}

// JSON has no infinity: a threshold without a value was never set.
function number_value(name, value) {
  return value === null || value === undefined ? (name === "ssthresh" ? Infinity : NaN) : value;
}

// {result, text, value, unit}; null if the rule depends on more than a decision records. `ssthresh`: threshold in
// packets of the loss or timeout that the decision carries out; null if none.
function worked_rule(decision, packet_bits, ssthresh) {
  const rule = told_words.rules[decision.rule];
  if (!rule) return null;
  const [result, expression] = rule, values = { before: number_value("before", decision.cwnd_before_pkts), packet_bits }, units = [];
  if (ssthresh !== null) values.ssthresh = ssthresh;
  for (const { name, value } of decision.numbers || []) {
    const parts = number_parts(name);
    values[parts.name] = number_value(parts.name, value);
    if ((parts.unit === "pkt/s" || parts.unit in told_words.rate_units) && !units.includes(parts.unit)) units.push(parts.unit);
  }
  const { value, text } = filled(expression, values);
  if (!Number.isFinite(value) || (result === "rate" && units.length !== 1)) return null;
  if (result !== "rate") return { result, text, value, unit: "pkt" };
  return { result, text, value: (value * (units[0] === "pkt/s" ? packet_bits : told_words.rate_units[units[0]])) / 1e6, unit: "Mbit/s" };
}

// "cwnd = 36.45 + 2 · min(1.095 / 214.5, 1 / 36.45) = 36.4602 pkt".
function worked_text({ result, text, value, unit }) {
  const amount = six_digits(value);
  return `${result} = ${text === amount ? "" : `${text} = `}${amount} ${unit}`;
}
