// The panel "What if": a form for links and flows, its changes of a scenario, and the differences of the results in words.

const LINK_KEYS = {
  rate: { unit: "bit/s", factor: 1e6, shown: "Mbit/s", least: 1e3, most: 1e12 },
  delay: { unit: "s", factor: 1e-3, shown: "ms", least: 0, most: 60 },
  loss: { unit: "%", factor: 0.01, shown: "%", least: 0, most: 1 },
  queue: { unit: "pkt", factor: 1, shown: "pkt", least: 1, most: 1e6 },
};

// Values of a link direction at the start, in SI units as in the core.
function link_values(scenario, index) {
  const spec = scenario.links[index];
  const rate = spec.rate === undefined || spec.rate === "inf" ? Infinity : spec.rate;
  return { rate, delay: (spec.delay ?? 0) * 1e-9, loss: spec.loss ?? 0, queue: spec.queue_limit_pkts ?? null };
}

function set_link(spec, key, value) {
  if (key === "rate") spec.rate = value;
  if (key === "delay") spec.delay = Math.round(value * 1e9);
  if (key === "loss") spec.loss = value;
  if (key === "queue") {
    spec.queue_limit_pkts = Math.round(value);
    delete spec.queue_limit_bytes;
  }
}

function directions(info, edit) {
  const link = info.links[edit.link];
  return link.follows[edit.key] ? [2 * edit.link, 2 * edit.link + 1] : [2 * edit.link];
}

function flows_of(info, name) {
  return info.flows.flatMap((flow, i) => (flow.flow === name ? [i] : []));
}

function choice_named(data, info, edit) {
  const group = edit.key === "scheduler" ? data.choices[info.profile].schedulers : data.choices[info.profile].controllers;
  return group.find((each) => each.name === edit.value);
}

// Returns the scenario with the edits applied from its start.
function edited_scenario(data, info, edits) {
  const whole = structuredClone(info.scenario), scenario = whole.scenario;
  for (const edit of edits) {
    if (edit.kind === "link") {
      for (const index of directions(info, edit)) set_link(scenario.links[index], edit.key, edit.value);
    } else {
      const choice = choice_named(data, info, edit);
      for (const i of flows_of(info, edit.flow)) {
        scenario.flows[i][edit.key] = structuredClone(choice.choice);
        if (edit.key === "controller") {
          delete scenario.flows[i].decider;
          if (choice.decider) scenario.flows[i].decider = structuredClone(choice.decider);
        }
      }
    }
  }
  return whole;
}

// Returns the edits as events at a time.
function edit_events(data, info, edits) {
  const events = [];
  for (const edit of edits) {
    if (edit.kind === "link") {
      for (const index of directions(info, edit)) {
        const event = { at: 0, link: index };
        if (edit.key === "queue") event.sets_queue = true;
        set_link(event, edit.key, edit.value);
        events.push(event);
      }
    } else {
      for (const i of flows_of(info, edit.flow)) events.push({ at: 0, flow: i, controller: structuredClone(choice_named(data, info, edit).choice) });
    }
  }
  return { scenario: { events }, programs: [] };
}

function plain(value, key) {
  if (value === Infinity) return say("unlimited").toLowerCase();
  return key === "loss" ? quantity(value, "%") : quantity(value, LINK_KEYS[key].unit);
}

function describe_edit(info, edit) {
  if (edit.kind === "link") return `${info.links[edit.link].name}: ${say(edit.key)} ${arrow(plain(edit.before, edit.key), plain(edit.value, edit.key))}`;
  return `${edit.flow}: ${say(edit.key)} ${edit.before} → ${edit.value}`;
}

// The scenario file with the edits from its start, or with events for edits at a time; null if a part of the file is
// written in a way that one insertion cannot change.
function toml_with(info, change) {
  if (!change) return info.toml;
  const quoted = (text) => JSON.stringify(text);
  if (change.from === null) {
    const splices = change.edits.map((edit) => [edit, edit.kind === "link" ? info.links[edit.link].edit[edit.key] : info.flow_splices[edit.flow][edit.key]]);
    if (splices.some(([, splice]) => !splice)) return null;
    const last_first = splices.sort(([, a], [, b]) => b[0] - a[0]);
    return last_first.reduce((text, [edit, [begin, end, before, after]]) => text.slice(0, begin) + before + (edit.kind === "link" ? edit.value : quoted(edit.value)) + after + text.slice(end), info.toml);
  }
  const blocks = change.edits.map((edit) => {
    const lines = ["[[events]]", `at = ${quoted(`${change.applied}s`)}`];
    if (edit.kind === "link") {
      lines.push(`link = ${quoted(info.links[edit.link].name)}`);
      if (!info.links[edit.link].follows[edit.key]) lines.push('direction = "forward"');
      lines.push(`${edit.key} = ${edit.value}`);
    } else lines.push(`flow = ${quoted(edit.flow)}`, `controller = ${quoted(edit.value)}`);
    return lines.join("\n");
  });
  return `${info.toml.trimEnd()}\n\n${blocks.join("\n\n")}\n`;
}

// Tables of results and their columns that are compared.
const COMPARED = { flows: ["completion_s", "active_goodput_bps", "goodput_bps", "mean_rtt_s", "retransmits"], links: ["utilisation"] };

// Differences between the results of two runs: those of flows first, in the order of their measures, then those of
// links; among equal measures the largest first. {size, name, key, was, is, share}.
function differences(before, after) {
  const found = [];
  Object.entries(COMPARED).forEach(([table, keys], rank) =>
    before.results[table].forEach((row, i) => {
      // Only the rate that tables show first for this flow.
      const rates = table === "flows" ? headline_keys([row]) : [];
      keys.forEach((key, place) => {
        const was = row[key], is = after.results[table][i][key];
        if (was === is || was === null || is === null || (key.endsWith("goodput_bps") && !rates.includes(key))) return;
        const share = was ? (is - was) / was : 1, name = before.label_of(table.slice(0, -1), i);
        found.push({ order: 10 * rank + place, size: Math.abs(share), name, key, was, is, share: `${share > 0 ? "+" : "−"}${digits(Math.abs(share) * 100, 2)} %` });
      });
    }),
  );
  return found.filter((each) => each.size >= 0.001).sort((a, b) => a.order - b.order || b.size - a.size);
}

function difference_text({ name, key, was, is, share }) {
  return say("higher", `${name}, ${name_of(key)}`, measure_text(key, is), measure_text(key, was), share);
}

// Only a rate or a queue can be without a limit.
const can_be_unlimited = (key) => ["rate", "queue"].includes(key);

const FLOWS_AT_A_TIME = 20;

class WhatIf {
  constructor(place, host) {
    this.host = host;
    this.place = place;
    this.inputs = [];
    this.problem = element("p", { class: "problem", role: "alert" });
    this.outcome = element("p", { class: "outcome", role: "status" });
  }

  // Tells beside the button what came of it. `found`: differences of the results; null without results.
  tell(text, found = null) {
    this.outcome.textContent = text;
    if (!found) return;
    const [first] = found, button = element("button", { type: "button", class: "quiet" }, say("see_curves"));
    button.addEventListener("click", () => this.host.show_curves());
    if (first) this.outcome.append(say("outcome", name_of(first.key), first.name, arrow(measure_text(first.key, first.was), measure_text(first.key, first.is)), first.share), " ", button);
    else this.outcome.append(say("no_difference"));
  }

  fill() {
    const info = this.host.info(), scenario = info.scenario.scenario;
    this.inputs = [];
    const links = element("table", {}, element("thead", {}, row("th", say("link"), ...Object.keys(LINK_KEYS).map((key) => `${say(key)} (${LINK_KEYS[key].shown})`))));
    const body = element("tbody");
    info.links.forEach((link, index) => {
      const values = link_values(scenario, 2 * index);
      const cells = Object.entries(LINK_KEYS).map(([key, rule]) => {
        if (!link.edit[key]) return element("td", {}, "–");
        const value = values[key];
        const shown = value === null || value === Infinity ? "" : String(Number((value / rule.factor).toPrecision(9)));
        const input = element("input", { type: "text", inputmode: "decimal", size: "6", value: shown, placeholder: can_be_unlimited(key) ? "∞" : null, "aria-label": `${link.name}: ${say(key)} (${rule.shown})` });
        this.inputs.push({ input, initial: shown, edit: { kind: "link", link: index, key, before: value } });
        return element("td", {}, input);
      });
      body.append(element("tr", {}, element("th", { scope: "row" }, link.name), ...cells));
    });
    links.append(body);
    const flows = element("div", { class: "choices scroll" });
    const start = radio("from", "start", say("from_start"), true), cursor = radio("from", "cursor", "", false);
    this.cursor_label = cursor.lastChild;
    this.start = start.firstChild;
    const apply = element("button", { type: "submit" }, say("apply")), reset = element("button", { type: "button" }, say("reset"));
    reset.addEventListener("click", () => this.host.on_reset());
    const form = element("form", {}, with_hint(element("div", { class: "scroll" }, links)), flows, element("div", { class: "choices" }, start, cursor, apply, reset), this.outcome, this.problem);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    form.addEventListener("change", () => this.follow_cursor());
    this.place.replaceChildren(form);
    this.follow_cursor();
    this.unlisted = [...new Map(info.flows.map((flow) => [flow.flow, flow])).values()].filter(({ kind }) => kind !== "cbr" && kind !== "onoff");
    this.add_flows(flows);
  }

  // Adds a few flows at a time: each needs menus with all controllers and schedulers.
  add_flows(place) {
    const choices = this.host.data.choices[this.host.info().profile];
    for (const flow of this.unlisted.splice(0, FLOWS_AT_A_TIME)) {
      const menus = { controller: choices.controllers.filter((each) => each.kinds.includes(flow.kind)) };
      if (flow.kind === "mptcp") menus.scheduler = choices.schedulers;
      for (const [key, all] of Object.entries(menus)) {
        const select = element("select", { "aria-label": `${flow.flow}: ${say(key)}` });
        const names = [...new Set([flow[key], ...all.map((each) => each.name)])];
        select.append(...names.map((each) => element("option", { value: each }, each)));
        select.value = flow[key];
        this.inputs.push({ input: select, initial: flow[key], edit: { kind: "flow", flow: flow.flow, key, before: flow[key] } });
        place.append(element("label", {}, `${flow.flow}: ${say(key)} `, select));
      }
    }
    if (this.unlisted.length) this.host.chores.want("flows", () => this.add_flows(place));
    else this.show(this.host.whatif?.change ?? null);
  }

  // A change of the scheduler applies from the start: a connection keeps its scheduler.
  follow_cursor() {
    if (!this.cursor_label) return;
    this.cursor_label.textContent = say("from_cursor", seconds(this.host.cursor()));
    const is_fixed = this.inputs.some(({ input, initial, edit }) => edit.key === "scheduler" && input.value !== initial);
    const cursor = this.place.querySelector("input[value=cursor]");
    cursor.disabled = is_fixed;
    if (is_fixed && cursor.checked) this.start.checked = true;
  }

  // An action that applies a change from its time on; null if no field of the form sets its value.
  trial({ link, direction, key, value, at }) {
    const { links } = this.host.info(), index = links.findIndex(({ name }) => name === link);
    const field = this.inputs.find(({ edit }) => edit.link === index && edit.key === key);
    if (!field || value === null || (direction === "reverse" && !links[index].follows[key])) return null;
    return () => {
      this.host.move_to(at);
      field.input.value = String(Number((value / LINK_KEYS[key].factor).toPrecision(9)));
      this.place.querySelector("input[value=cursor]").checked = true;
      this.submit();
      this.place.scrollIntoView({ block: "center" });
    };
  }

  show(change) {
    for (const each of this.inputs) {
      const found = change?.edits.find((edit) => edit.key === each.edit.key && edit.link === each.edit.link && edit.flow === each.edit.flow);
      if (!found) each.input.value = each.initial;
      else each.input.value = found.kind === "flow" ? found.value : String(Number((found.value / LINK_KEYS[found.key].factor).toPrecision(9)));
    }
    this.problem.textContent = "";
  }

  submit() {
    const edits = [];
    for (const { input, initial, edit } of this.inputs) {
      const given = input.value.trim().replace(",", ".");
      if (given === initial) continue;
      if (edit.kind === "flow") {
        edits.push({ ...edit, value: given });
        continue;
      }
      const rule = LINK_KEYS[edit.key], value = given === "" ? NaN : Number(given) * rule.factor;
      if (!(value >= rule.least && value <= rule.most)) {
        const range = `${digits(rule.least / rule.factor)}–${digits(rule.most / rule.factor)} ${rule.shown}`;
        this.problem.textContent = `${say("wrong_number", `${this.host.info().links[edit.link].name}, ${say(edit.key)}`, `“${given}”`, say(edit.key))} (${range})`;
        input.focus();
        return;
      }
      edits.push({ ...edit, value });
    }
    this.problem.textContent = edits.length ? "" : say("nothing_changed");
    if (edits.length) this.host.on_change({ from: this.start.checked ? null : this.host.cursor(), edits });
  }
}
