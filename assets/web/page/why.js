// "Why": a decision in words with its rule, formula and numbers; for a learning agent, the observations that moved its
// action; for a curve that no decision sets, the events near the point.

const MOST_REASONS = 3; // of an agent, the strongest first
const MOST_NAMED = 4;  // events near a point, and subflows whose windows are suggested there
const PICTURE = { width: 300, floor: 48 };  // of a queue: its curve, in the units of the picture
const INSTANT = 0.5e-9;  // s; nearer times count as equal

// The loss or timeout that a decision answers or carries out: {mark, is_now}; null if none.
function cut_behind(run, owner, decision) {
  const mark = run.turn_before(owner, decision.time_s, ({ value }) => value.startsWith("ssthresh"));
  const rule = told_words.rules[decision.rule];
  if (!mark) return null;
  const is_now = Math.abs(mark.time - decision.time_s) < INSTANT;
  return is_now || (rule && rule[1] === "ssthresh") ? { mark, is_now } : null;
}

// Cause of a decision; for a loss, how the sender detected it, equivalent to `detected` of the program.
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
  if (decision.cwnd_after_pkts !== null) changes.push(`${say("window")} ${change_text(decision.cwnd_before_pkts, decision.cwnd_after_pkts, "pkt")}`);
  if (decision.rate_after_bps) changes.push(`${say("rate")} ${change_text(decision.rate_before_bps, decision.rate_after_bps, "bit/s")}`);
  return changes;
}

function cut_text(cut, decision) {
  const { value, time } = cut.mark, share = value / decision.cwnd_before_pkts;
  if (!cut.is_now) return say("cut_before", digits(value, 4), seconds(time));
  return share <= 1 ? say("cut", digits(value, 4), digits(100 * share, 2)) : `ssthresh = ${digits(value, 4)} pkt`;
}

// A decision in one line. After a loss the window falls gradually with each delivery to its threshold, after a timeout
// at once.
function decision_line(run, owner, decision) {
  const cut = cut_behind(run, owner, decision), is_cut = cut?.is_now, is_gradual = is_cut && decision.cwnd_after_pkts > cut.mark.value;
  const event = is_cut ? local(mark_kind(cut.mark.kind).title) : cause_text(run, decision);
  return `${seconds(decision.time_s)}: ${[event, ...(is_cut ? [cut_text(cut, decision)] : []), ...(is_gradual ? [] : changes_of(decision))].join(", ")}`;
}

// The picture of a queue around a drop or mark: its curve, its limit as a dashed line, and the packet as a cross.
function queue_picture({ loss, times }, pkts) {
  const { fate_s, queue_pkts, limit_pkts } = loss, [first, last] = [times[0], times[times.length - 1]], top = Math.max(...pkts, queue_pkts, limit_pkts ?? 0, 1);
  const x = (time) => ((PICTURE.width * (time - first)) / Math.max(last - first, 1)).toFixed(1), y = (count) => (PICTURE.floor - (count / top) * (PICTURE.floor - 10)).toFixed(1);
  const drop = `translate(${x(fate_s * 1e9)} ${y(queue_pkts)})`, made = element("div", { class: "queue", role: "img", "aria-label": story_text("picture", 0, { link: loss.link.split("/")[0], count: queue_pkts, time: digits(fate_s, 6) }) });
  const limit = limit_pkts === null ? "" : `<path class="limit" d="M0 ${y(limit_pkts)}h${PICTURE.width}"/><text x="${PICTURE.width + 6}" y="${y(limit_pkts)}" dy="4">${story_text("picture", 1, { count: limit_pkts })}</text>`;
  made.innerHTML = `<svg viewBox="0 0 ${PICTURE.width + 90} ${PICTURE.floor + 4}"><path class="held" d="M0 ${PICTURE.floor}L${pkts.map((count, i) => `${x(times[i])} ${y(count)}`).join("L")}L${PICTURE.width} ${PICTURE.floor}z"/>${limit}<path class="drop" transform="${drop}" d="M-4-4 4 4M-4 4 4-4"/></svg>`;
  return made;
}

// Buttons for the changes that would avoid the cause; the command of the terminal for those without a control here.
function trial_parts(run, decision, host) {
  const changes = host.takes_trials(run) ? tries_of(run, decision) : [];
  return changes.map((change) => {
    const act = host.trial(change), command = `subflow fork RUN --at ${change.at}s --set links.${change.link}.${change.direction}.${change.key}=${change.shown}`;
    if (!act) return element("p", {}, `${change.text}: `, element("code", {}, command));
    const button = element("button", { type: "button", "data-try": change.key }, change.text);
    button.addEventListener("click", act);
    return button;
  });
}

function reasons_of(run, owner, decision, picture = null) {
  const cut = cut_behind(run, owner, decision);
  const parts = [element("p", {}, element("b", {}, `${seconds(decision.time_s)}: ${spaced(decision.rule ?? decision.cause)}`), ` — ${say("cause")}: ${cause_text(run, decision)}`)];
  const changes = changes_of(decision);
  const steps_before = story_of(run, decision).map(([title, text]) => element("p", { class: "story" }, element("b", {}, title), text ? ` — ${text}` : ""));
  if (picture) steps_before.splice(1, 0, picture);
  parts.unshift(...steps_before);
  if (cut) parts.push(element("p", {}, cut_text(cut, decision)));
  if (changes.length) parts.push(element("p", {}, changes.join(", ")));
  if (decision.formula) parts.push(element("p", {}, element("code", {}, decision.formula)));
  const worked = worked_rule(decision, run.info.packet_bits, cut ? cut.mark.value : null);
  if (worked) parts.push(element("p", { class: "worked" }, element("code", {}, worked_text(worked))));
  const numbers = (decision.numbers ?? []).map(({ name, meaning, value }) => with_head(...number_of(name, value), meaning_text(name, meaning)));
  if (numbers.length) parts.push(scrolling("wide", say("numbers"), element("table", {}, element("tbody", {}, ...numbers))));
  const steps = (decision.steps ?? []).map(({ line: number, source, value }) => with_head(String(number), element("code", {}, source), digits(value, 6)));
  if (steps.length) parts.push(scrolling("scroll", say("lines"), element("table", {}, element("tbody", {}, ...steps))));
  if (decision.source) parts.push(element("p", { class: "faint" }, `${say("source")}: ${decision.source}`));
  return parts;
}

// A name of a rule or a number in words.
function spaced(name) {
  return name.replaceAll("_", " ");
}

// Meaning of a rule's number; of a claim, which is displayed as yes or no, "yes where …" for "1 where …".
function meaning_text(name, meaning) {
  return name.startsWith("is_") ? local(meaning).replace(/^1 /, `${say("yes")} `) : local(meaning);
}

// Name of a rule's number without its unit, and its value: with its unit, as a set of subflows, or yes or no.
function number_of(name, value) {
  if (name.startsWith("is_")) return [spaced(name.slice(3)), say(value ? "yes" : "no")];
  const parts = number_parts(name), amount = number_value(parts.name, value);
  if (parts.is_set) return [spaced(parts.name), `{${[...Array(32).keys()].filter((i) => (value >>> i) & 1).map((i) => i + 1).join(", ")}}`];
  return [spaced(parts.name), Number.isFinite(amount) ? quantity(amount, parts.unit, 4) : digits(amount)];
}

function action_text(action) {
  return action.map(({ name, value }) => (value === undefined ? spaced(name) : `${spaced(name)} ${value >= 0 ? "+" : ""}${digits(value, 4)}`)).join(", ");
}

// Shows the observations that moved an agent's action: with the observation's median instead, the action would differ.
function agent_reasons({ time_s, action, reasons, decider }) {
  const parts = [element("p", {}, element("b", {}, `${seconds(time_s)}: ${say("agent")}`), ` — ${action_text(action)}`)];
  if (decider) parts.push(element("p", {}, say(decider)));
  else if (!reasons.length) parts.push(element("p", {}, say("no_reason")));
  else {
    const rows = reasons.slice(0, MOST_REASONS).map((reason) => with_head(spaced(reason.feature), digits(reason.value), digits(reason.usual), action_text(reason.otherwise), local(reason.help)));
    parts.push(table_of(say("moved"), [say("saw"), say("value"), say("usual"), say("otherwise"), ""], rows));
  }
  return parts;
}

// Shows answers in their section of the page, and in one line above the clicked curves.
class Why {
  // `menu`: menu of subflows; null in a page without it. `host`: simulator, charts, explained_run(), move_to(time),
  // takes_trials(run): whether changes of this run can be tried, and trial(change): the action that tries a change, null
  // without a control for it.
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

  // Repeats the last answer in another language, or for the changed run; after a change to another run clears it.
  answer_again() {
    if (this.last && this.last.info === this.run.info) return this.answer(false);
    if (!this.last) return;
    this.last = null;
    this.show([], "", null, false);
  }

  get run() { return this.host.explained_run(); }

  // Explains a point. key: owner of a curve or event, null for the chosen subflow; chart: the clicked chart, if any;
  // is_shown: whether the page scrolls to the answer.
  async pick(time, key, chart = null, is_shown = true) {
    const run = this.run, { info } = run, [scope, owner] = key ? [key.split("/")[0], Number(key.split("/")[1])] : ["subflow", this.owner];
    if (scope === "subflow") {
      this.owner = owner;
      if (this.menu) this.menu.value = String(owner);
    }
    const reach = chart ? chart.reach_s(run) : 0, is_decided = scope === "subflow" && (!chart || DECIDED.includes(chart.spec.quantity));
    const at = is_decided ? (run.turn_near(owner, time, reach)?.time ?? time) : (named_near(run, scope, owner, time, reach)[0]?.time ?? time);
    this.last = { time: at, scope, owner, chart, reach, is_decided, info };
    this.host.move_to(at);
    await this.answer(is_shown);
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
      const wanted = decision && picture_of(run, decision), seen = wanted && (await this.host.simulator.call("queue", { run: run.id, link: wanted.link, times: wanted.times }));
      if (number !== this.asked) return;  // another question came meanwhile
      const nothing = say("no_decision", run.label_of("subflow", owner), seconds(time));
      const parts = decision ? reasons_of(run, owner, decision, wanted && queue_picture(wanted, seen.pkts)) : [element("p", {}, nothing)];
      if (decision) parts.push(...trial_parts(run, decision, this.host));
      this.show([...parts, ...(agent ? agent_reasons(agent) : [])], decision ? decision_line(run, owner, decision) : nothing, chart, is_shown);
    } catch (error) {
      this.show([error.message], error.message, chart, is_shown);
    }
  }

  // Names changes of links and losses near a point of a curve that no decision sets, and suggests windows to explain
  // there.
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
    for (const each of charts) each.answer(each === where ? text : "", () => glide_to(this.place, "center"), each === where ? offers : []);
    // Do not scroll while the answer or its line is visible.
    if (is_shown && !is_in_sight(this.place) && !(where && is_in_sight(where.line))) (chart?.line ?? this.place).scrollIntoView({ block: "nearest" });
  }
}

// True if the top of an element is visible below the bar that stays on top.
function is_in_sight(place) {
  const { top, bottom } = place.getBoundingClientRect();
  return top > 40 && bottom > top && top + Math.min(bottom - top, 40) <= innerHeight;
}
