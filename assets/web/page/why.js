// Why: a decision in words, its rule, its formula and its numbers; of a learning agent, which numbers moved it.

const MOST_REASONS = 3; // of an agent, the strongest first

// What the program says of decisions: causes by their names in the core, and German by the English text.
const reason_words = { causes: {}, german: {} };

function local(text) {
  return language === "de" ? (reason_words.german[text] ?? text) : text;
}

function reasons_of(decision) {
  const parts = [element("p", {}, element("b", {}, `${seconds(decision.time_s)}: ${decision.rule ?? decision.cause}`), ` — ${say("cause")}: ${local(reason_words.causes[decision.cause] ?? decision.cause)}`)];
  if (decision.formula) parts.push(element("p", {}, element("code", {}, decision.formula)));
  const changes = [];
  if (decision.cwnd_after_pkts !== null) changes.push(`${say("window")} ${digits(decision.cwnd_before_pkts, 5)} → ${digits(decision.cwnd_after_pkts, 5)} pkt`);
  if (decision.rate_after_bps) changes.push(`${say("rate")} ${quantity(decision.rate_before_bps, "bit/s")} → ${quantity(decision.rate_after_bps, "bit/s")}`);
  if (changes.length) parts.push(element("p", {}, changes.join(", ")));
  const numbers = (decision.numbers ?? []).map(({ name, meaning, value }) => with_head(...number_of(name, value), local(meaning)));
  if (numbers.length) parts.push(element("div", { class: "wide" }, element("table", {}, element("tbody", {}, ...numbers))));
  const steps = (decision.steps ?? []).map(({ line: number, source, value }) => with_head(String(number), element("code", {}, source), digits(value, 6)));
  if (steps.length) parts.push(element("div", { class: "scroll" }, element("table", {}, element("tbody", {}, ...steps))));
  if (decision.source) parts.push(element("p", { class: "faint" }, `${say("source")}: ${decision.source}`));
  return parts;
}

const UNITS = { pkts: "pkt", pps: "pkt/s", bps: "bit/s", mbps: "Mbit/s", bytes: "B", ms: "ms", s: "s" };

// A number of a rule without its unit in its name, and its value: with the unit, a set of subflows, or whether so.
function number_of(name, value) {
  if (name.startsWith("is_")) return [name.slice(3), say(value ? "yes" : "no")];
  if (name.endsWith("_mask")) return [name.slice(0, -5), `{${[...Array(32).keys()].filter((i) => (value >>> i) & 1).map((i) => i + 1).join(", ")}}`];
  const unit = UNITS[name.slice(name.lastIndexOf("_") + 1)];
  return unit ? [name.slice(0, name.lastIndexOf("_")), `${digits(value, 6)} ${Number.isFinite(value) ? unit : ""}`] : [name, digits(value, 6)];
}

function action_text(action) {
  return action.map(({ name, value }) => (value === undefined ? name : `${name} ${value >= 0 ? "+" : ""}${digits(value, 4)}`)).join(", ");
}

// A number that an agent saw moved its action if it would have done something else with the number's median in its place.
function agent_reasons({ time_s, action, reasons, decider }) {
  const parts = [element("p", {}, element("b", {}, `${seconds(time_s)}: ${say("agent")}`), ` — ${action_text(action)}`)];
  if (decider) parts.push(element("p", {}, say(decider)));
  else if (!reasons.length) parts.push(element("p", {}, say("no_reason")));
  else {
    const rows = reasons.slice(0, MOST_REASONS).map((reason) => with_head(reason.feature, digits(reason.value), digits(reason.usual), action_text(reason.otherwise), local(reason.help)));
    parts.push(table_of(say("moved"), [say("saw"), say("value"), say("usual"), say("otherwise"), ""], rows));
  }
  return parts;
}
