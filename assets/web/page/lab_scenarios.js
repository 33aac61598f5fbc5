// A student's changes of a scenario, as input for the core, as a file and as facts for checks; and the runs of it.

// A scenario with its changes: {scenario, sets, events, seed}. `sets` maps keys to numbers, or to ranks in a menu.
function fresh_state(scenario = 0) {
  return { scenario, sets: {}, events: [], seed: null };
}

function applied(target, patch) {
  for (const [path, ...value] of patch) {
    const last = path[path.length - 1], holder = path.slice(0, -1).reduce((here, step) => here[step], target);
    if (value.length) holder[last] = structuredClone(value[0]);
    else delete holder[last];
  }
}

// The document that opens a run, with all that its pictures need, as features/exporting/core/web_page.py writes it.
function info_of(data, state) {
  const place = data.scenarios[state.scenario], info = structuredClone(place.info);
  for (const setting of place.settings) {
    const value = state.sets[setting.key];
    if (value === undefined) continue;
    if (setting.kind === "menu") applied(info, setting.options[value].patch);
  }
  const { scenario } = info.scenario;
  for (const setting of place.settings) {
    const value = state.sets[setting.key];
    if (value === undefined || setting.kind === "menu") continue;
    for (const index of directions(info, { link: setting.link, key: setting.what })) set_link(scenario.links[index], setting.what, value);
  }
  if (state.events.length) {
    const made = state.events.flatMap((event) => core_events(info, event));
    scenario.events = [...(scenario.events ?? []), ...made].map((event, i) => [event, i]).sort((a, b) => a[0].at - b[0].at || a[1] - b[1]).map(([event]) => event);
  }
  info.seed = String(state.seed ?? info.seed);
  return info;
}

// Events for the core from an event {at, link, what, value}; what is "up" or a key of links.
function core_events(info, event) {
  const both = event.what === "up" || info.links[event.link].follows[event.what];
  return (both ? [2 * event.link, 2 * event.link + 1] : [2 * event.link]).map((index) => {
    const made = { at: Math.round(event.at * 1e9), link: index };
    if (event.what === "up") made.up = event.value;
    else {
      if (event.what === "queue") made.sets_queue = true;
      set_link(made, event.what, event.value);
    }
    return made;
  });
}

function event_toml(info, event) {
  const link = info.links[event.link], lines = ["[[events]]", `at = ${JSON.stringify(`${event.at}s`)}`, `link = ${JSON.stringify(link.name)}`];
  if (event.what !== "up" && !link.follows[event.what]) lines.push('direction = "forward"');
  lines.push(`${event.what} = ${event.value}`);
  return `\n${lines.join("\n")}\n`;
}

// The scenario file with the changes.
function toml_of(data, state) {
  const place = data.scenarios[state.scenario], splices = [];
  for (const setting of place.settings) {
    const value = state.sets[setting.key];
    if (value === undefined) continue;
    if (setting.kind === "menu") {
      if (setting.options[value].splice) splices.push(setting.options[value].splice);
    } else {
      const [begin, end, before, after] = setting.splice;
      splices.push([begin, end, `${before}${value}${after}`]);
    }
  }
  let text = place.toml;
  for (const [begin, end, part] of splices.sort((a, b) => b[0] - a[0])) text = text.slice(0, begin) + part + text.slice(end);
  return text.trimEnd() + "\n" + state.events.map((event) => event_toml(place.info, event)).join("");
}

// Facts of the changed scenario for checks.
function facts_of(data, state) {
  const place = data.scenarios[state.scenario], facts = { ...place.facts };
  for (const setting of place.settings) {
    const value = state.sets[setting.key];
    if (value === undefined) continue;
    if (setting.kind === "menu") Object.assign(facts, setting.options[value].facts);
    else Object.assign(facts, { [setting.key]: value, [`has:${setting.key}`]: true });
  }
  if (typeof facts["count:events"] === "number") facts["count:events"] += state.events.length;
  return facts;
}

function described(data, state) {
  const place = data.scenarios[state.scenario];
  const parts = place.settings.filter(({ key }) => state.sets[key] !== undefined).map((setting) => {
    const value = state.sets[setting.key], name = setting.key.split(".").slice(1).join(" ") || setting.key;
    return `${name} ${setting.kind === "menu" ? setting.options[value].label : plain(value, setting.what)}`;
  });
  parts.push(...state.events.map((event) => event_words(place.info, event)));
  if (state.seed !== null) parts.push(`seed ${state.seed}`);
  return parts.join(", ");
}

function event_words(info, event) {
  const what = event.what === "up" ? say(event.value ? "goes_up" : "goes_down") : `${say(event.what)} ${plain(event.value, event.what)}`;
  return `${seconds(event.at)}: ${info.links[event.link].name} ${what}`;
}

// A run of the lab: its state and its results.
class LabRun {
  // `kept`: {number, state, fork, started_at, signature}, as the progress keeps it.
  constructor(data, kept) {
    Object.assign(this, kept);
    this.data = data;
    this.scenario = kept.state.scenario;
    this.sets = kept.state.sets;
    this.facts = facts_of(data, kept.state);
    this.info = info_of(data, kept.state);
    this.seed = Number(this.info.seed);
    this.run = new Run(this.info);
  }

  get results() { return this.run.results; }
  get text() { return toml_of(this.data, this.state); }
  get title() { return `${this.number}: ${described(this.data, this.state) || this.data.scenarios[this.scenario].title}`; }

  async make(simulator, on_progress = () => {}) {
    await this.run.open(simulator);
    await this.run.finish(simulator, this.run.columns.map((column) => column.name), on_progress);
  }

  // Frees the memory of the run in the simulator; its results stay.
  async rest(simulator) {
    const run = this.run.id;
    this.run.id = undefined;
    await simulator.call("close", { run });
  }

  owner_name(scope, owner) {
    const { flows, subflows, links } = this.info;
    return scope === "link" ? `${links[owner >> 1].name}/${owner % 2 ? "reverse" : "forward"}` : scope === "flow" ? flows[owner].name : subflows[owner].name;
  }

  curve(column, owner) {
    const number = this.run.columns.findIndex((each) => each.name === column && this.owner_name(each.scope, each.owner) === owner);
    return number < 0 ? null : { values: this.run.samples.get(number), interval: this.info.interval_ns * 1e-9 };
  }

  named_marks() {
    this.marks_by_name ??= Array.from({ length: this.run.mark_count }, (_, i) => {
      const [time, kind, owner] = this.run.mark(i);
      return { time, kind: mark_kind(kind).name, owner: this.owner_name(mark_kind(kind).scope, owner) };
    });
    return this.marks_by_name;
  }
}
