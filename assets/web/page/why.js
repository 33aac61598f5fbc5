// Why: a decision in words, its rule, its formula and its numbers.

function reasons_of(decision) {
  const parts = [element("p", {}, element("b", {}, `${seconds(decision.time_s)}: ${decision.rule ?? decision.cause}`), ` — ${say("cause")}: ${decision.cause.replaceAll("_", " ")}`)];
  if (decision.formula) parts.push(element("p", {}, element("code", {}, decision.formula)));
  const changes = [];
  if (decision.cwnd_after_pkts !== null) changes.push(`${say("window")} ${digits(decision.cwnd_before_pkts, 5)} → ${digits(decision.cwnd_after_pkts, 5)} pkt`);
  if (decision.rate_after_bps) changes.push(`${say("rate")} ${quantity(decision.rate_before_bps, "bit/s")} → ${quantity(decision.rate_after_bps, "bit/s")}`);
  if (changes.length) parts.push(element("p", {}, changes.join(", ")));
  const numbers = (decision.numbers ?? []).map(({ name, meaning, value }) => with_head(name, digits(value, 6), meaning));
  if (numbers.length) parts.push(element("table", {}, element("tbody", {}, ...numbers)));
  const steps = (decision.steps ?? []).map(({ line: number, source, value }) => with_head(String(number), element("code", {}, source), digits(value, 6)));
  if (steps.length) parts.push(element("div", { class: "scroll" }, element("table", {}, element("tbody", {}, ...steps))));
  if (decision.source) parts.push(element("p", { class: "faint" }, `${say("source")}: ${decision.source}`));
  return parts;
}
