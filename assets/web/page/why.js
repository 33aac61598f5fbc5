// Why: a decision in words, its rule, its formula and its numbers; of a learning agent, which numbers moved it.

const MOST_REASONS = 3; // of an agent, the strongest first

function reasons_of(decision) {
  const parts = [element("p", {}, element("b", {}, `${seconds(decision.time_s)}: ${spaced(decision.rule ?? decision.cause)}`), ` — ${say("cause")}: ${local(told_words.causes[decision.cause] ?? decision.cause)}`)];
  if (decision.formula) parts.push(element("p", {}, element("code", {}, decision.formula)));
  const changes = [];
  if (decision.cwnd_after_pkts !== null) changes.push(`${say("window")} ${digits(decision.cwnd_before_pkts, 4)} → ${digits(decision.cwnd_after_pkts, 4)} pkt`);
  if (decision.rate_after_bps) changes.push(`${say("rate")} ${quantity(decision.rate_before_bps, "bit/s")} → ${quantity(decision.rate_after_bps, "bit/s")}`);
  if (changes.length) parts.push(element("p", {}, changes.join(", ")));
  const numbers = (decision.numbers ?? []).map(({ name, meaning, value }) => with_head(...number_of(name, value), local(meaning)));
  if (numbers.length) parts.push(element("div", { class: "wide" }, element("table", {}, element("tbody", {}, ...numbers))));
  const steps = (decision.steps ?? []).map(({ line: number, source, value }) => with_head(String(number), element("code", {}, source), digits(value, 6)));
  if (steps.length) parts.push(element("div", { class: "scroll" }, element("table", {}, element("tbody", {}, ...steps))));
  if (decision.source) parts.push(element("p", { class: "faint" }, `${say("source")}: ${decision.source}`));
  return parts;
}

// Ends of names and what they say: the unit, and how many of it a value is.
const UNITS = { pkts: ["pkt", 1], pps: ["pkt/s", 1], bps: ["bit/s", 1], mbps: ["bit/s", 1e6], bytes: ["B", 1], ms: ["s", 1e-3], s: ["s", 1] };

// A name of a rule or a number as words.
function spaced(name) {
  return name.replaceAll("_", " ");
}

// A number of a rule without its unit in its name, and its value: with the unit, a set of subflows, or whether so.
function number_of(name, value) {
  if (name.startsWith("is_")) return [spaced(name.slice(3)), say(value ? "yes" : "no")];
  if (name.endsWith("_mask")) return [spaced(name.slice(0, -5)), `{${[...Array(32).keys()].filter((i) => (value >>> i) & 1).map((i) => i + 1).join(", ")}}`];
  const [unit, worth] = UNITS[name.slice(name.lastIndexOf("_") + 1)] ?? [];
  if (!unit) return [spaced(name), digits(value, 4)];
  return [spaced(name.slice(0, name.lastIndexOf("_"))), Number.isFinite(value) ? quantity(value * worth, unit, 4) : digits(value)];
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
