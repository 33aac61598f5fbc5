// Measures and kinds of events from the program (vocabulary/measures.py, features/explain/core/run_events.py): names,
// units, definitions and digits, and how values of several flows combine into one.

// The program's texts on decisions, measures and events; German texts by their English text.
const told_words = { causes: {}, story: {}, fates: [], german: {}, measures: { measures: {}, periods: {} }, marks: [], rules: {}, units: {}, rate_units: {} };

function local(text) {
  return language === "de" ? (told_words.german[text] ?? text) : text;
}

const NO_MEASURE = { symbol: "", unit: "", scale: 1, decimals: null, definition: "", formula: "", over: "", of: "", function: "", combine: null, default_for: [], source: "" };

function measure_of(key) {
  return { ...NO_MEASURE, title: key, ...told_words.measures.measures[key] };
}

function name_of(key) {
  return local(measure_of(key).title);
}

// An SI value in the unit of its measure, with the program's number of digits.
function measure_text(key, value, has_unit = true) {
  const { unit, scale, decimals } = measure_of(key);
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  const text = decimals === null ? digits(value * scale, 6) : fixed_text(value * scale, decimals);
  return unit && has_unit ? `${text} ${local(unit)}` : text;
}

// Tooltip of a measure's name: definition, formula and period.
function measure_tip(key) {
  const { definition, formula, over } = measure_of(key), period = told_words.measures.periods[over];
  const parts = [definition && local(definition), formula && say("formula_is", local(formula)), period && say("over_period", local(period))];
  return parts.filter(Boolean).join("\n");
}

function measure_head(key) {
  // Narrow columns show the symbol instead of the name, which the tooltip then includes.
  const { unit, symbol } = measure_of(key), head = symbol || name_of(key), tip = measure_tip(key);
  return element("span", { title: symbol ? `${name_of(key)}\n${tip}` : tip }, unit ? `${head} (${local(unit)})` : head);
}

const kind_of_flow = (flow) => (flow.size_bytes === null || flow.size_bytes === undefined ? "endless" : "sized");

// Keys of the first columns in a table of flows: for flows with a size completion time and goodput while active.
function headline_keys(flows) {
  const kinds = new Set(flows.map(kind_of_flow)), all = Object.keys(told_words.measures.measures).map((key) => [key, measure_of(key)]);
  const keys = ["sized", "endless"].filter((kind) => kinds.has(kind)).flatMap((kind) => {
    const own = all.filter(([, measure]) => measure.of === "flow" && measure.default_for.includes(kind));
    return [...own].sort(([, a], [, b]) => (a.over !== "transfer") - (b.over !== "transfer")).map(([key]) => key);
  });
  return [...new Set(keys)];
}

const sum_of = (numbers) => numbers.reduce((sum, each) => sum + each, 0);
const average = (numbers) => sum_of(numbers) / numbers.length;
const is_number = (value) => typeof value === "number" && Number.isFinite(value);

// One SI value for several flows, subflows or links; null if no part has the measure. Equivalent to
// Combination.of_parts.
function combined(measure, key, parts) {
  const having = parts.filter((part) => is_number(part[key])), values = having.map((part) => part[key]);
  if (!measure.combine) return parts.length === 1 && values.length === 1 ? values[0] : null;
  const { how, keys } = measure.combine, all = (name) => parts.length > 0 && parts.every((part) => is_number(part[name]));
  if (how === "span") {
    if (!all("start_s") || !all("completion_s")) return null;
    return Math.max(...parts.map((part) => part.start_s + part.completion_s)) - Math.min(...parts.map((part) => part.start_s));
  }
  if (how === "ratio" && keys.every(all)) {
    const [counted, total] = keys.map((name) => sum_of(parts.map((part) => part[name])));
    return total ? counted / total : 0;
  }
  if (!values.length) return null;
  if (how === "sum") return sum_of(values);
  if (how === "max") return Math.max(...values);
  if (how === "jain") return values.some(Boolean) ? sum_of(values) ** 2 / (values.length * sum_of(values.map((value) => value * value))) : null;
  if (how === "weighted")
    for (const name of keys) {
      const weights = having.map((part) => part[name]);
      if (weights.every(is_number) && sum_of(weights) > 0) return sum_of(values.map((value, i) => value * weights[i])) / sum_of(weights);
    }
  return average(values);
}

// Flows that count for a measure of a whole run: flows with a size for the makespan, flows that sent under a controller
// for the fairness.
function flows_counted(measure, flows) {
  if (measure.combine?.how === "span") return flows.filter((flow) => kind_of_flow(flow) === "sized");
  if (measure.combine?.how === "jain") return flows.filter((flow) => flow.active_s !== 0 && flow.has_subflows);
  return flows;
}

const GLYPHS = { loss: "▼", rto: "✖", recovered: "△", established: "●", closed: "○", completed: "■", link_up: "↑", link_down: "↓", link_change: "◆", penalised: "▽", meta_rto: "✖", controller_change: "◆", scripted_drop: "▼", announced: "●", refused: "○", stale: "○", marked: "▽" };

// Description of a MarkKind: {name, title, scope}, a pattern for its value, and whether it is a turn of the subflow.
function mark_kind(number) {
  return told_words.marks[number] ?? { name: String(number), title: String(number), scope: "subflow" };
}

function mark_text(number) {
  const { name, title } = mark_kind(number);
  return `${GLYPHS[name] ?? "·"} ${local(title)}`;
}
