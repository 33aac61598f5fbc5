// Checks of a lab on the student's runs: the functions of features/labs/core/functions.py and figure_functions.py.

// A run, curve or value that a check needs is missing; the message names it.
class NotThere extends Error {}

const OPERATORS = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "==": (a, b) => a === b };
const ARITHMETIC = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b };

const is_close = (a, b, by = 1e-9) => Math.abs(a - b) <= by * Math.max(Math.abs(a), Math.abs(b));

function known(value) {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new NotThere(say("not_known"));
}

// `evidence`: {facts, runs, step_runs, sweep, since}, as in features/labs/core/evidence.py; runs are LabRun.
class Checks {
  constructor(evidence) {
    this.evidence = evidence;
    this.counted = evidence.runs.filter((run) => run.number > evidence.since);
  }

  // {holds, why}; why is empty if a comparison of numbers fails.
  check(node) {
    try {
      return { holds: this.value(node) === true, why: "" };
    } catch (error) {
      if (!(error instanceof NotThere)) throw error;
      return { holds: false, why: error.message };
    }
  }

  value(node) {
    if (!Array.isArray(node)) return node;
    const [operation, ...parts] = node;
    if (operation === "text") return parts[0];
    if (operation === "not") return !this.value(parts[0]);
    if (operation === "and" || operation === "or") return this.joined(parts, operation === "or");
    if (operation === "compare") {
      const [symbols, values] = [parts[0], parts[1].map((each) => this.value(each))];
      return symbols.every((symbol, i) => OPERATORS[symbol](values[i], values[i + 1]));
    }
    if (operation === "call") return this.call(parts[0], parts.slice(1).map((each) => this.value(each)));
    return known(ARITHMETIC[operation](this.value(parts[0]), this.value(parts[1])));
  }

  // Value of "and" or "or": a part with the value `settles` decides, even if other parts cannot be computed.
  joined(parts, settles) {
    let missing = null;
    for (const part of parts) {
      try {
        if (this.value(part) === settles) return settles;
      } catch (error) {
        missing ??= error;
      }
    }
    if (missing) throw missing;
    return !settles;
  }

  call(name, given) {
    if (name === "min" || name === "max") return Math[name](...given);
    if (name === "mean") return average(given);
    if (name === "sum") return sum_of(given);
    if (name === "abs") return Math.abs(given[0]);
    if (name === "ratio") return known(given[0] / given[1]);
    const measure = this.measure_named(name);
    if (measure && !(name === "drops" && this.evidence.points)) return this.measured(measure, ...given);
    return this[`call_${name}`](...given);
  }

  run_at(number) {
    const found = this.evidence.runs.find((run) => run.number === number);
    if (!found) throw new NotThere(say("no_run_yet"));
    return found;
  }

  matching(pairs) {
    return this.counted.filter((run) => {
      for (let i = 0; i + 1 < pairs.length; i += 2) {
        const found = pairs[i] === "seed" ? run.seed : run.facts[pairs[i]], wanted = pairs[i + 1];
        if (!(found === wanted || (typeof found === "number" && typeof wanted === "number" && is_close(found, wanted)))) return false;
      }
      return true;
    });
  }

  // --- runs

  call_last(...pairs) {
    const found = this.matching(pairs);
    if (found.length) return found[found.length - 1].number;
    if (!this.counted.length) throw new NotThere(say(this.evidence.since ? "no_run_since" : "no_run_yet"));
    throw new NotThere(say("no_run_with", pairs.map((each, i) => (i % 2 ? `${digits(each, 6)}`.replace("NaN", each) : each)).join(" ")));
  }
  call_run(number) {
    if (number > this.counted.length) throw new NotThere(say("no_run_yet"));
    return this.counted[number - 1].number;
  }
  call_run_of(step) {
    return this.run_at(this.evidence.step_runs[step]).number;
  }
  call_runs(...pairs) { return this.matching(pairs).length; }
  call_seeds(...pairs) { return new Set(this.matching(pairs).map((run) => run.seed)).size; }
  call_finished(run) { return Boolean(this.run_at(run)); }
  call_forked(run) { return this.run_at(run).fork !== null; }
  call_origin(run) {
    const { fork } = this.run_at(run);
    if (!fork) throw new NotThere(say("no_fork"));
    return fork.run;
  }
  call_fork_time(run) {
    this.call_origin(run);
    return this.run_at(run).fork.at_s;
  }

  // --- facts of scenarios

  fact(first, second, form = (key) => key) {
    const is_run = typeof first === "number", facts = is_run ? this.run_at(first).facts : this.evidence.facts;
    const value = facts[form(is_run ? second : first)];
    if (value === null || value === undefined) throw new NotThere(say("not_known"));
    return value;
  }
  call_value(...given) { return known(this.fact(...given)); }
  call_text(first, second) { return String(this.fact(first, second)); }
  call_is_on(first, second) { return this.fact(first, second) === true; }
  call_controller(first, second = "") { return this.fact(first, second, (flow) => `flows.${flow}.controller`); }
  call_scheduler(first, second = "") { return this.fact(first, second, (flow) => `flows.${flow}.scheduler`); }
  call_has(first, second = "") { return this.fact(first, second, (key) => `has:${key}`); }
  call_count(first, second = "") { return this.fact(first, second, (part) => `count:${part}`); }
  call_subflows(first, second = "") { return this.fact(first, second, (flow) => `subflows:${flow}`); }
  call_valid() { return true; }
  call_changed(first, second, key) { return this.run_at(first).facts[key] !== this.run_at(second).facts[key]; }
  call_same_but(first, second, ...keys) {
    const [one, other] = [first, second].map((number) => this.run_at(number).sets);
    const all = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    const found = all.filter((key) => one[key] !== other[key]);
    return this.run_at(first).scenario === this.run_at(second).scenario && found.length === keys.length && keys.every((key) => found.includes(key));
  }
  call_sweep_runs() {
    if (!this.evidence.sweep) throw new NotThere(say("no_sweep_yet"));
    return this.evidence.sweep.runs.length;
  }
  call_sweep_points() {
    if (!this.evidence.sweep) throw new NotThere(say("no_sweep_yet"));
    return this.evidence.sweep.points;
  }

  // --- figures

  flows(number, flow) {
    const { info, results } = this.run_at(number);
    const pattern = new RegExp(`^${flow.replace(/[.+^${}()|\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".")}$`);
    const found = results.flows.map((each, i) => ({ ...each, flow: info.flows[i].name })).filter(({ flow: name }) => name === flow || name.replace(/\.[^.]*$/, "") === flow || pattern.test(name));
    if (!found.length) throw new NotThere(say("not_known"));
    return found;
  }
  measure_named(name) {
    this.named ??= new Map(Object.keys(told_words.measures.measures).map((key) => ({ ...measure_of(key), key })).map((each) => [each.function, each]));
    return name ? this.named.get(name) : undefined;
  }
  // A measure of a run for a flow, a link or one subflow, as in features/labs/core/figure_functions.py.
  measured(measure, number, owner = "*", which = 0) {
    const key = measure.source || measure.key;
    if (measure.of === "link") return this.of_link(number, owner, key);
    const flows = measure.of === "run" ? flows_counted(measure, this.run_at(number).results.flows) : this.flows(number, owner);
    return known(combined(measure, key, which || measure.of === "subflow" ? this.subflows(number, flows, which) : flows));
  }
  subflows(number, flows, which) {
    const { info, results } = this.run_at(number);
    return flows.flatMap(({ flow }) => {
      const own = results.subflows.filter((_, i) => info.subflows[i].name.startsWith(`${flow}/`));
      if (which > own.length) throw new NotThere(say("not_known"));
      return which ? own.slice(which - 1, which) : own;
    });
  }
  of_link(number, link, key) {
    const { results } = this.run_at(number), name = link.includes("/") ? link : `${link}/forward`;
    return known(results.links.find((each) => each.name === name)?.[key]);
  }
  call_over(figure, what = "", ...pairs) {
    const found = this.matching(pairs);
    if (!found.length) throw new NotThere(say("no_run_with", pairs.join(" ")));
    return average(found.map((run) => this.call(figure, [run.number, ...(what ? [what] : [])])));
  }

  // --- a curve drawn by the student, evidence.points, as in features/labs/core/misconceptions.py

  drawn(since, until) {
    const found = this.evidence.points.filter(([time]) => since <= time && time <= until).map(([, height]) => height);
    if (!found.length) throw new NotThere(say("not_known"));
    return found;
  }
  call_highest(...given) { return Math.max(...this.drawn(...given)); }
  call_lowest(...given) { return Math.min(...this.drawn(...given)); }
  // Number of falls to at most four fifths of the last peak, each followed by a rise.
  call_drops() {
    let count = 0, peak = 0, trough = Infinity;
    for (const [, height] of this.evidence.points) {
      if (trough === Infinity) {
        peak = Math.max(peak, height);
        if (height <= 0.8 * peak) [count, trough] = [count + 1, height];
      } else if (height >= 1.1 * trough && height > trough) [peak, trough] = [height, Infinity];
      else trough = Math.min(trough, height);
    }
    return count;
  }

  // --- curves

  // {values, interval}; sample i has the time (i + 1) * interval.
  curve(number, column, owner) {
    const found = this.run_at(number).curve(column, owner);
    if (!found) throw new NotThere(say("no_curve", column, owner));
    return found;
  }
  part(number, column, owner, since = 0, until = Infinity) {
    const { values, interval } = this.curve(number, column, owner), found = [];
    values.forEach((value, i) => {
      const time = (i + 1) * interval;
      if (time > since - 1e-9 && time <= until + 1e-9 && Number.isFinite(value)) found.push(value);
    });
    if (!found.length) throw new NotThere(say("not_known"));
    return found;
  }
  call_mean_of(...given) { return average(this.part(...given)); }
  call_max_of(...given) { return Math.max(...this.part(...given)); }
  call_min_of(...given) { return Math.min(...this.part(...given)); }
  call_spread_of(...given) { return this.call_max_of(...given) - this.call_min_of(...given); }
  call_value_at(number, column, owner, time) {
    const { values, interval } = this.curve(number, column, owner);
    return known(values[Math.min(Math.floor((time + 1e-9) / interval), values.length) - 1]);
  }
  marks_of(number, kind, owner, since, until) {
    return this.run_at(number).named_marks().filter((mark) => mark.kind === kind && (owner === "*" || owner === mark.owner || owner === mark.owner.split("/")[0]) && since <= mark.time && mark.time <= until);
  }
  call_losses(run, owner, since = 0, until = Infinity) { return this.marks_of(run, "loss", owner, since, until).length; }
  call_marks(run, kind, owner = "*") { return this.marks_of(run, kind, owner, 0, Infinity).length; }
  call_time_of(run, kind, owner, since = 0) {
    return known(this.run_at(run).named_marks().find((mark) => mark.kind === kind && mark.owner === owner && mark.time >= since)?.time);
  }
}
