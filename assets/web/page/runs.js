// A run: its description, its simulation, and its curves.

class Run {
  // `info`: as features/exporting/core/web_page.py writes it: scenario, seed, duration_s, interval_ns, names and
  // colours.
  constructor(info) {
    this.info = info;
    this.forget();
  }

  forget() {
    this.is_shown = true;
    this.samples = new Map(); // by the number of the column
    this.means = new Map();  // mean over the measured interval, by the number of the column
    this.columns = [];
    this.scenario = this.info.scenario.scenario;  // the scenario as opened, and later events
    this.later = [];
    this.id = this.error = this.signature = this.results = this.marks = undefined;
  }

  get is_open() { return this.id !== undefined; }
  get mark_count() { return (this.marks?.length ?? 0) / 4; }

  // Time, kind, owner and value.
  mark(number) { return this.marks.subarray(4 * number, 4 * number + 4); }

  // Marks between two times, both included: {time, kind, owner, value}, in order of time.
  *marks_between(from, until) {
    let low = 0, high = this.mark_count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.marks[4 * middle] < from - 1e-9) low = middle + 1;
      else high = middle;
    }
    for (; low < this.mark_count && this.marks[4 * low] <= until + 1e-9; ++low) {
      const [time, kind, owner, value] = this.mark(low);
      yield { time, kind, owner, value };
    }
  }

  // The nearest loss, timeout or similar turn of a subflow; null if none lies within reach.
  turn_near(owner, time, reach) {
    let best = null;
    for (const mark of this.marks_between(time - reach, time + reach)) {
      if (mark.owner !== owner || !mark_kind(mark.kind).is_turn) continue;
      if (!best || Math.abs(mark.time - time) < Math.abs(best.time - time)) best = mark;
    }
    return best;
  }

  // The last turn up to a time whose kind fits.
  turn_before(owner, time, fits) {
    let last = null;
    for (const mark of this.marks_between(0, time)) {
      const kind = mark_kind(mark.kind);
      if (mark.owner === owner && kind.is_turn && fits(kind)) last = mark;
    }
    return last;
  }

  // Numbers of the subflows behind a curve: the subflow itself, those of a flow, those that use a link.
  subflows_of(scope, owner) {
    const { links, flows, subflows } = this.info, numbers = [...subflows.keys()];
    if (scope === "subflow") return [owner];
    if (scope === "flow") return numbers.filter((i) => subflows[i].name.slice(0, subflows[i].name.lastIndexOf("/")) === flows[owner].name);
    return numbers.filter((i) => subflows[i].path.includes(links[owner >> 1].name));
  }

  // Opens the run at time 0, with another scenario if given.
  async open(simulator, scenario = this.info.scenario) {
    const { seed, interval_ns } = this.info;
    const { run, columns } = await simulator.call("open", { scenario: JSON.stringify(scenario), seed, interval: interval_ns });
    Object.assign(this, { id: run, columns, scenario: scenario.scenario, later: [] });
  }

  // Opens the run as a fork of another run at a time in seconds, with events at this time. Returns the exact time.
  async fork(simulator, base, time, events) {
    const forked = await simulator.call("fork", { run: base.id, at: Math.round(time * 1e9), events: JSON.stringify(events) });
    const later = [...base.later, ...events.scenario.events.map((event) => ({ ...event, at: forked.at }))];
    Object.assign(this, { id: forked.run, columns: forked.columns, scenario: base.scenario, later });
    return forked.at;
  }

  // Simulates to the end; calls `on_progress` whenever the curves of these quantities have grown.
  async finish(simulator, quantities, on_progress = () => {}) {
    const columns = this.numbers_of(quantities), until = this.info.duration_s * 1e9;
    const { signature, results, marks, samples } = await simulator.call("finish", { run: this.id, until, columns, tell: true }, (progress) => {
      this.take_samples(columns, progress.samples);
      on_progress();
    });
    this.take_samples(columns, samples);
    for (const [i, flow] of results.flows.entries()) flow.has_subflows = !["cbr", "onoff"].includes(this.info.flows[i].kind);
    Object.assign(this, { signature, results, marks });
  }

  // Fetches the curves of further quantities.
  async ask(simulator, quantities) {
    const columns = this.numbers_of(quantities).filter((number) => !this.samples.has(number));
    if (this.is_open && columns.length) this.take_samples(columns, await simulator.call("samples", { run: this.id, columns }));
  }

  // Frees the run in the simulator; it can be opened again.
  async close(simulator) {
    const run = this.id, was_open = this.is_open;
    this.forget();
    if (was_open) await simulator.call("close", { run });
  }

  numbers_of(quantities) {
    const wanted = new Set(quantities), numbers = [];
    this.columns.forEach((column, number) => wanted.has(column.name) && numbers.push(number));
    return numbers;
  }

  take_samples(numbers, { values, means }) {
    numbers.forEach((number, i) => {
      this.samples.set(number, values[i]);
      this.means.set(number, means[i]);
    });
  }

  unit_of(quantity) {
    return this.columns.find((column) => column.name === quantity)?.unit ?? "";
  }

  scope_of(quantity) {
    const scopes = new Set(this.columns.filter((column) => column.name === quantity).map((column) => column.scope));
    return ["subflow", "flow", "link"].find((scope) => scopes.has(scope));
  }

  label_of(scope, owner) {
    const { links, flows, subflows } = this.info;
    if (scope === "link") return `${links[owner >> 1].name} ${owner % 2 ? "←" : "→"}`;
    if (scope === "flow") return flows[owner].name;
    const { name, path } = subflows[owner];
    return path.length ? `${name} (${path.join("–")})` : name;
  }

  colour_of(scope, owner) {
    return this.info.colours[scope][owner]?.[is_dark() ? 1 : 0] ?? "#888888";
  }

  // Link directions that carry data; all others carry only ACKs.
  data_links() {
    this.carriers ??= new Set(this.info.scenario.scenario.flows.flatMap((flow) => flow.paths.flatMap((path) => path.forward)));
    return this.carriers;
  }

  // Curves for charts; for a quantity of links only of the links that carry data.
  curves(quantity) {
    const scope = this.scope_of(quantity), curves = [];
    this.columns.forEach(({ name, scope: of, owner }, number) => {
      const values = this.samples.get(number);
      if (name !== quantity || of !== scope || !values || (scope === "link" && !this.data_links().has(owner))) return;
      curves.push({
        label: this.label_of(scope, owner),
        colour: this.colour_of(scope, owner),
        dash: [],
        values,
        mean: this.means.get(number),
        run: this,
        quantity,
        owner,
        interval: this.info.interval_ns * 1e-9,
        key: `${scope}/${owner}`,
        is_ghost: false,
        is_picked: false,
      });
    });
    return curves;
  }
}
