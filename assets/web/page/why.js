// Why: a decision in words, its rule, its formula and its numbers; of a learning agent, which numbers moved it; and what
// lies behind a curve that no decision sets.

const MOST_REASONS = 3; // of an agent, the strongest first
const MOST_NAMED = 4; // events near a point, and subflows whose windows are offered there
const INSTANT = 0.5e-9; // two times that are nearer than this are the same, s

// The loss or timeout that a decision answers, or carries out: {mark, is_now}; null: there is none.
function cut_behind(run, owner, decision) {
  const mark = run.turn_before(owner, decision.time_s, ({ value }) => value.startsWith("ssthresh"));
  const rule = told_words.rules[decision.rule];
  if (!mark) return null;
  const is_now = Math.abs(mark.time - decision.time_s) < INSTANT;
  return is_now || (rule && rule[1] === "ssthresh") ? { mark, is_now } : null;
}

// What a decision was because of: of a loss, how the sender came to act on it, as `detected` of the program has it.
function cause_text(run, decision) {
  const { cause, rule, numbers } = decision, { causes } = told_words;
  let key = cause;
  if (cause === "loss") {
    const is_going_on = (numbers ?? []).some(({ name, value }) => name === "prr_out_pkts" && value > 0);
    const found_by = run.info.scenario.scenario.transport?.loss_detection === "rack" ? "reordering_window" : "duplicate_acks";
    key = rule === "probe_repaired" ? "tail_loss_probe" : is_going_on ? "recovery" : found_by;
  }
  return local(causes[key] ?? cause);
}

function changes_of(decision) {
  const changes = [];
  if (decision.cwnd_after_pkts !== null) changes.push(`${say("window")} ${arrow(`${digits(decision.cwnd_before_pkts, 6)} pkt`, `${digits(decision.cwnd_after_pkts, 6)} pkt`)}`);
  if (decision.rate_after_bps) changes.push(`${say("rate")} ${arrow(quantity(decision.rate_before_bps, "bit/s"), quantity(decision.rate_after_bps, "bit/s"))}`);
  return changes;
}

function cut_text(cut, decision) {
  const { value, time } = cut.mark, share = value / decision.cwnd_before_pkts;
  if (!cut.is_now) return say("cut_before", digits(value, 4), seconds(time));
  return share <= 1 ? say("cut", digits(value, 4), digits(100 * share, 2)) : `ssthresh = ${digits(value, 4)} pkt`;
}

// In one line: after a loss the window goes to its threshold with what is delivered, after a timeout at once.
function decision_line(run, owner, decision) {
  const cut = cut_behind(run, owner, decision), is_cut = cut?.is_now, is_gradual = is_cut && decision.cwnd_after_pkts > cut.mark.value;
  const event = is_cut ? local(mark_kind(cut.mark.kind).title) : cause_text(run, decision);
  return `${seconds(decision.time_s)}: ${[event, ...(is_cut ? [cut_text(cut, decision)] : []), ...(is_gradual ? [] : changes_of(decision))].join(", ")}`;
}

function reasons_of(run, owner, decision) {
  const cut = cut_behind(run, owner, decision);
  const parts = [element("p", {}, element("b", {}, `${seconds(decision.time_s)}: ${spaced(decision.rule ?? decision.cause)}`), ` — ${say("cause")}: ${cause_text(run, decision)}`)];
  const changes = changes_of(decision);
  if (cut) parts.push(element("p", {}, cut_text(cut, decision)));
  if (changes.length) parts.push(element("p", {}, changes.join(", ")));
  if (decision.formula) parts.push(element("p", {}, element("code", {}, decision.formula)));
  const worked = worked_rule(decision, run.info.packet_bits, cut ? cut.mark.value : null);
  if (worked) parts.push(element("p", { class: "worked" }, element("code", {}, worked_text(worked))));
  const numbers = (decision.numbers ?? []).map(({ name, meaning, value }) => with_head(...number_of(name, value), local(meaning)));
  if (numbers.length) parts.push(element("div", { class: "wide" }, element("table", {}, element("tbody", {}, ...numbers))));
  const steps = (decision.steps ?? []).map(({ line: number, source, value }) => with_head(String(number), element("code", {}, source), digits(value, 6)));
  if (steps.length) parts.push(element("div", { class: "scroll" }, element("table", {}, element("tbody", {}, ...steps))));
  if (decision.source) parts.push(element("p", { class: "faint" }, `${say("source")}: ${decision.source}`));
  return parts;
}

// A name of a rule or a number as words.
function spaced(name) {
  return name.replaceAll("_", " ");
}

// A number of a rule without its unit in its name, and its value: with the unit, a set of subflows, or whether so.
function number_of(name, value) {
  if (name.startsWith("is_")) return [spaced(name.slice(3)), say(value ? "yes" : "no")];
  const parts = number_parts(name), amount = number_value(parts.name, value);
  if (parts.is_set) return [spaced(parts.name), `{${[...Array(32).keys()].filter((i) => (value >>> i) & 1).map((i) => i + 1).join(", ")}}`];
  return [spaced(parts.name), `${digits(amount, 6)}${parts.unit && Number.isFinite(amount) ? ` ${parts.unit}` : ""}`];
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

// Answers in a place of the page, and in one line above the curves that were clicked.
class Why {
  // `menu`: of the subflow; null: the page has none. `host`: simulator, charts, explained_run(), and move_to(time).
  constructor(place, menu, host) {
    Object.assign(this, { place, menu, host });
    this.owner = 0;
    this.asked = 0;
    this.last = null;
    menu?.addEventListener("change", () => this.pick(host.cursor(), `subflow/${menu.value}`));
  }

  fill() {
    const { info } = this.run;
    if (!info.subflows[this.owner]) this.owner = 0;
    this.menu?.replaceChildren(...info.subflows.map((_, i) => element("option", { value: i }, this.run.label_of("subflow", i))));
    if (this.menu) this.menu.value = String(this.owner);
    this.answer_again();
  }

  // In another language, or of the run as it was changed; of another run nothing was asked yet.
  answer_again() {
    if (this.last && this.last.info === this.run.info) return this.answer(false);
    if (!this.last) return;
    this.last = null;
    this.show([], "", null, false);
  }

  get run() { return this.host.explained_run(); }

  // Of a point: a time, the key of a curve or of an event's owner, null: the chosen subflow, and the chart, if in one.
  async pick(time, key, chart = null) {
    const run = this.run, { info } = run, [scope, owner] = key ? [key.split("/")[0], Number(key.split("/")[1])] : ["subflow", this.owner];
    if (scope === "subflow") {
      this.owner = owner;
      if (this.menu) this.menu.value = String(owner);
    }
    const reach = chart ? chart.reach_s(run) : 0, is_decided = scope === "subflow" && (!chart || DECIDED.includes(chart.spec.quantity));
    const at = is_decided ? (run.turn_near(owner, time, reach)?.time ?? time) : (named_near(run, scope, owner, time, reach)[0]?.time ?? time);
    this.last = { time: at, scope, owner, chart, reach, is_decided, info };
    this.host.move_to(at);
    await this.answer(true);
  }

  async answer(is_shown) {
    if (!this.run.is_open) return;
    if (this.last.is_decided) await this.explain(this.run, this.last, is_shown);
    else this.name(this.run, this.last, is_shown);
  }

  async explain(run, { owner, time, chart }, is_shown) {
    const number = ++this.asked;
    try {
      const { decision, agent } = await this.host.simulator.call("explain", { run: run.id, owner, at: Math.round(time * 1e9) });
      if (number !== this.asked) return; // something else was asked meanwhile
      const nothing = say("no_decision", run.label_of("subflow", owner), seconds(time));
      const parts = decision ? reasons_of(run, owner, decision) : [element("p", {}, nothing)];
      this.show([...parts, ...(agent ? agent_reasons(agent) : [])], decision ? decision_line(run, owner, decision) : nothing, chart, is_shown);
    } catch (error) {
      this.show([error.message], error.message, chart, is_shown);
    }
  }

  // Changes of links and losses at a point of a curve that no decision sets, and the windows that are explained there.
  name(run, { scope, owner, time, reach, chart }, is_shown) {
    ++this.asked;
    const found = named_near(run, scope, owner, time, reach).slice(0, MOST_NAMED).sort((a, b) => a.time - b.time);
    const texts = [...new Set(found.map((each) => each.text))], parts = texts.map((text) => element("p", { class: "named" }, text));
    if (!found.length) parts.push(element("p", {}, say("only_windows", seconds(time))));
    const subflows = run.subflows_of(scope, owner).slice(0, MOST_NAMED), offer = (subflow) => {
      const button = element("button", { type: "button", "data-subflow": subflow }, say("explain_window", run.label_of("subflow", subflow)));
      button.addEventListener("click", () => this.pick(time, `subflow/${subflow}`));
      return button;
    };
    if (subflows.length) parts.push(element("div", { class: "choices" }, ...subflows.map(offer)));
    this.show(parts, texts.join("; ") || say("only_windows", seconds(time)), chart, is_shown, found.length ? [] : subflows.slice(0, 1).map(offer));
  }

  show(parts, text, chart, is_shown, offers = []) {
    this.place.replaceChildren(...parts);
    const { charts } = this.host, where = chart ?? charts.find((each) => DECIDED.includes(each.spec.quantity)) ?? charts[0];
    for (const each of charts) each.answer(each === where ? text : "", () => this.place.scrollIntoView({ block: "center", behavior: "smooth" }), each === where ? offers : []);
    // Nothing moves while the answer or its line can be seen.
    if (is_shown && !is_in_sight(this.place) && !(where && is_in_sight(where.line))) (chart?.line ?? this.place).scrollIntoView({ block: "nearest" });
  }
}

// Whether its beginning is within the window, below the bar that stays on top.
function is_in_sight(place) {
  const { top, bottom } = place.getBoundingClientRect();
  return top > 40 && bottom > top && top + Math.min(bottom - top, 40) <= innerHeight;
}
