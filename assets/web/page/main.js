// The page: it starts the worker, keeps what the runs have given, and joins the parts.

const DEFAULT_CHARTS = ["throughput_bps", "cwnd_pkts", "srtt_s", "queue_pkts"];
const NEXT_STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
const SPEEDS = [0.01, 0.1, 1, 5, 20];
const MOST_ROWS = 200; // of a table of events at first
const DASHES = [[], [6, 3], [2, 2], [8, 2.5, 2, 2.5]];

// As the browser has read it, before anything was added: what is saved is this with other data.
const pristine = `<!doctype html>\n${document.documentElement.outerHTML}`;

function decoded(base64) {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

// Five letters for four bytes: the alphabet of Python's base64.b85encode, with "," in place of "<".
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";

function dense(text, size) {
  const digits = new Uint8Array(128).fill(255), bytes = new Uint8Array((text.length / 5) * 4), view = new DataView(bytes.buffer);
  for (let i = 0; i < LETTERS.length; ++i) digits[LETTERS.charCodeAt(i)] = i;
  for (let i = 0, at = 0; i + 4 < text.length; i += 5, at += 4) {
    let word = 0;
    for (let k = 0; k < 5; ++k) word = word * 85 + digits[text.charCodeAt(i + k) & 127];
    view.setUint32(at, word);
  }
  return bytes.subarray(0, size);
}

async function unpacked(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Calls of the worker, each a promise.
class Engine {
  constructor(source) {
    this.worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    this.waiting = new Map();
    this.next = 1;
    this.worker.onmessage = ({ data }) => {
      const entry = this.waiting.get(data.id);
      if (!entry) return;
      if (data.progress) return entry.on_progress?.(data.progress);
      this.waiting.delete(data.id);
      if (data.error !== undefined) entry.fail(new Error(data.error));
      else entry.done(data.result);
    };
    this.worker.onerror = (event) => {
      for (const { fail } of this.waiting.values()) fail(new Error(event.message || "worker"));
      this.waiting.clear();
    };
  }

  call(name, given = {}, on_progress = null) {
    return new Promise((done, fail) => {
      const id = this.next++;
      this.waiting.set(id, { done, fail, on_progress });
      this.worker.postMessage({ id, call: name, given });
    });
  }
}

class Page {
  constructor(data) {
    this.data = data;
    this.runs = data.runs.map((info) => ({ info, is_shown: true, samples: null, columns: [] }));
    this.active = 0;
    this.time = 0;
    this.whatif = null;
    this.chosen = new Set();
    this.charts = [];
    this.is_dark = matchMedia("(prefers-color-scheme: dark)").matches;
    language = data.language ?? (navigator.language.startsWith("de") ? "de" : "en");
  }

  // --- what the parts ask for ------------------------------------------------------------------------------------------

  run() { return this.runs[this.active]; }
  info() { return this.run().info; }
  duration() { return Math.max(...this.runs.map((run) => run.info.duration_s)); }
  cursor() { return this.time; }
  shown_run() { return this.whatif?.run ?? this.run(); }
  event_times() {
    const times = (this.info().scenario.scenario.events ?? []).map((event) => event.at * 1e-9).filter((at) => at <= this.duration());
    if (this.whatif?.change.applied) times.push(Number(this.whatif.change.applied));
    return [...new Set(times)].slice(0, 100);
  }
  // As they are at the cursor, the events of the scenario and the changes included.
  links() {
    const { scenario } = this.whatif?.change.from === null ? this.whatif.scenario : this.info().scenario;
    const links = scenario.links.map((_, index) => link_values(scenario, index));
    const events = [...(scenario.events ?? [])];
    if (this.whatif && this.whatif.change.from !== null) {
      const at = Number(this.whatif.change.applied) * 1e9;
      events.push(...edit_events(this.data, this.info(), this.whatif.change.edits).scenario.events.map((event) => ({ ...event, at })));
    }
    for (const event of events) {
      if (event.at > this.time * 1e9 || event.link === undefined) continue;
      if (event.rate !== undefined) links[event.link].rate = event.rate === "inf" ? Infinity : event.rate;
      if (event.delay !== undefined) links[event.link].delay = event.delay * 1e-9;
      if (event.queue_limit_pkts !== undefined) links[event.link].queue = event.queue_limit_pkts;
    }
    return links;
  }
  colour_of(scope, owner, info = this.info()) {
    return info.colours[scope][owner]?.[this.is_dark ? 1 : 0] ?? "#888888";
  }
  subflow_colour(index) { return this.colour_of("subflow", index); }

  // --- curves --------------------------------------------------------------------------------------------------------

  wanted(run) {
    const wanted = new Set(this.charts.map((chart) => chart.spec.quantity));
    const numbers = [];
    run.columns.forEach((column, number) => wanted.has(column.name) && numbers.push(number));
    return numbers;
  }

  take_samples(run, numbers, { values }) {
    run.samples ??= new Map();
    numbers.forEach((number, i) => run.samples.set(number, values[i]));
  }

  scope_of(quantity) {
    const scopes = new Set(this.run().columns.filter((column) => column.name === quantity).map((column) => column.scope));
    return ["subflow", "flow", "link"].find((scope) => scopes.has(scope));
  }

  label_of(scope, owner, info = this.info()) {
    if (scope === "link") return `${info.links[owner >> 1].name} ${owner % 2 ? "←" : "→"}`;
    if (scope === "flow") return info.flows[owner].name;
    const { name, path } = info.subflows[owner];
    return path.length ? `${name} (${path.join("–")})` : name;
  }

  // Link directions that carry data somewhere: the others only have ACKs.
  data_links(info) {
    return new Set(info.scenario.scenario.flows.flatMap((flow) => flow.paths.flatMap((path) => path.forward)));
  }

  curves(quantity) {
    const scope = this.scope_of(quantity), curves = [];
    const add = (run, rank, is_ghost) => {
      if (!run.samples) return;
      const used = scope === "link" ? this.data_links(run.info) : null;
      run.columns.forEach((column, number) => {
        const values = run.samples.get(number);
        if (column.name !== quantity || column.scope !== scope || !values || (used && !used.has(column.owner))) return;
        const key = scope === "link" ? null : `${scope}/${column.owner}`;
        curves.push({
          label: `${this.label_of(scope, column.owner, run.info)}${is_ghost ? ` (${say("original")})` : ""}${this.runs.length > 1 ? ` [${rank + 1}]` : ""}`,
          colour: this.colour_of(scope, column.owner, run.info),
          dash: DASHES[rank % DASHES.length],
          values,
          interval: run.info.interval_ns * 1e-9,
          key: run === this.shown_run() ? key : null,
          is_ghost,
          is_picked: this.chosen.has(key),
        });
      });
    };
    this.runs.forEach((run, rank) => {
      if (!run.is_shown) return;
      if (run === this.run() && this.whatif) {
        add(run, rank, true);
        add(this.whatif.run, rank, false);
      } else add(run, rank, false);
    });
    const own = curves.filter((curve) => !curve.is_ghost);
    if (own.length <= MOST_CURVES && scope === "subflow" && this.chosen.size)
      return curves.map((curve) => ({ ...curve, is_picked: false })).filter((curve) => curve.key === null || this.chosen.has(curve.key));
    return curves;
  }

  add_chart(quantity) {
    const column = this.run().columns.find((each) => each.name === quantity);
    const chart = new Chart(this.at("charts"), { quantity, unit: column?.unit ?? "", curves: () => this.curves(quantity) }, this);
    this.charts.push(chart);
    return chart;
  }

  remove_chart(chart) {
    this.charts = this.charts.filter((each) => each !== chart);
    chart.figure.remove();
    this.fill_more();
  }

  async ask_samples() {
    for (const run of [...this.runs, ...(this.whatif ? [this.whatif.run] : [])]) {
      if (run.id === undefined) continue;
      const numbers = this.wanted(run).filter((number) => !run.samples?.has(number));
      if (numbers.length) this.take_samples(run, numbers, await this.engine.call("samples", { run: run.id, columns: numbers }));
    }
    this.draw();
  }

  // --- simulating -----------------------------------------------------------------------------------------------------

  async simulate(run, opened) {
    Object.assign(run, { id: opened.run, columns: opened.columns });
    if (!this.charts.length) {
      for (const quantity of DEFAULT_CHARTS) this.add_chart(quantity);
      this.fill_more();
    }
    const numbers = this.wanted(run);
    const show = (told) => {
      this.take_samples(run, numbers, told);
      this.draw();
    };
    const until = run.info.duration_s * 1e9;
    const ended = await this.engine.call("finish", { run: run.id, until, columns: numbers, tell: true }, (progress) => show(progress.samples));
    this.take_samples(run, numbers, ended.samples);
    Object.assign(run, { signature: ended.signature, results: ended.results, marks: ended.marks });
    this.draw();
  }

  async start() {
    const begun = performance.now();
    this.prepare();
    try {
      const policies = this.data.policies.map(decoded);
      this.engine = new Engine(document.getElementById("worker").textContent);
      const core = document.getElementById("core");
      const module = await unpacked(dense(core.textContent, Number(core.dataset.size)));
      await this.engine.call("boot", { module, policies });
    } catch (error) {
      return this.give_up(error);
    }
    document.getElementById("recorded").hidden = true;
    document.getElementById("app").hidden = false;
    for (const run of this.runs) {
      try {
        const { scenario, seed, interval_ns } = run.info;
        await this.simulate(run, await this.engine.call("open", { scenario: JSON.stringify(scenario), seed, interval: interval_ns }));
      } catch (error) {
        run.error = error.message;
      }
      this.tell_state();
    }
    this.took = performance.now() - begun;
    this.fill();
    if (this.data.change && this.runs[this.data.change.run ?? 0]) {
      this.active = this.data.change.run ?? 0;
      this.fill();
      await this.on_change(this.data.change);
      this.whatif_form.show(this.data.change);
    }
    this.look();
    document.body.dataset.ready = "yes";
  }

  give_up(error) {
    const reason = element("p", { class: "problem", role: "alert" }, say("unsupported", error.message || String(error)));
    const recorded = document.getElementById("recorded");
    recorded.hidden = false;
    recorded.prepend(reason);
    document.body.dataset.ready = "failed";
  }

  async on_change(change) {
    document.body.dataset.ready = "";
    const base = this.run(), info = base.info, scenario = info.scenario;
    this.at("state").textContent = say("recomputing");
    try {
      const run = { info, is_shown: true, samples: null, columns: [] };
      let opened, made = null;
      if (change.from === null) {
        made = edited_scenario(this.data, info, change.edits);
        opened = await this.engine.call("open", { scenario: JSON.stringify(made), seed: info.seed, interval: info.interval_ns });
      } else {
        const events = JSON.stringify(edit_events(this.data, info, change.edits));
        opened = await this.engine.call("fork", { run: base.id, at: Math.round(change.from * 1e9), events });
        change = { ...change, applied: (opened.at / 1e9).toFixed(9) };
      }
      if (this.whatif) this.engine.call("close", { run: this.whatif.run.id });
      this.whatif = { run, change, scenario: made ?? scenario };
      await this.simulate(run, opened);
    } catch (error) {
      this.whatif_form.problem.textContent = error.message;
    }
    this.fill_results();
    this.tell_state();
    this.look();
    document.body.dataset.ready = "yes";
  }

  async on_reset() {
    if (this.whatif) await this.engine.call("close", { run: this.whatif.run.id });
    this.whatif = null;
    this.whatif_form.show(null);
    this.fill_results();
    this.tell_state();
    this.draw();
    this.look();
  }

  // --- the cursor -----------------------------------------------------------------------------------------------------

  move_to(time) {
    this.time = Math.min(Math.max(time, 0), this.duration());
    const bar = this.at("time");
    bar.value = String(this.time);
    bar.setAttribute("aria-valuetext", seconds(this.time));
    this.at("now").textContent = seconds(this.time);
    this.whatif_form?.follow_cursor();
    this.draw();
    this.look();
  }

  async look() {
    const run = this.shown_run();
    if (run.id === undefined || this.is_looking) {
      this.looks_again = this.is_looking;
      return;
    }
    this.is_looking = true;
    try {
      this.topology.show(await this.engine.call("look", { run: run.id, at: Math.round(this.time * 1e9) }));
    } catch (error) {
      this.topology.list.textContent = error.message;
    }
    this.is_looking = false;
    if (this.looks_again) {
      this.looks_again = false;
      this.look();
    }
  }

  play() {
    const button = this.at("play");
    this.is_playing = !this.is_playing;
    button.textContent = say(this.is_playing ? "pause" : "play");
    if (!this.is_playing) return;
    if (this.time >= this.duration()) this.move_to(0);
    let before = performance.now();
    const step = (now) => {
      if (!this.is_playing) return;
      this.move_to(this.time + ((now - before) / 1000) * Number(this.at("speed").value));
      before = now;
      if (this.time >= this.duration()) this.play();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  on_key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = NEXT_STEPS[event.key];
    if (step) this.move_to(this.time + (step * this.duration()) / 200);
    else if (event.key === "Home") this.move_to(0);
    else if (event.key === "End") this.move_to(this.duration());
    else if (event.key === " ") this.play();
    else if (event.key === "w") this.on_pick(this.time, null);
    else if (event.key === "r") this.on_reset();
    else return;
    event.preventDefault();
  }

  async on_pick(time, key) {
    this.move_to(time);
    const menu = this.at("why_owner");
    if (key?.startsWith("subflow/")) menu.value = key.slice(8);
    const owner = Number(menu.value), run = this.shown_run();
    if (run.id === undefined || menu.value === "") return;
    try {
      const decision = await this.engine.call("explain", { run: run.id, owner, at: Math.round(this.time * 1e9) });
      this.at("why_answer").replaceChildren(...this.reasons(decision, owner));
    } catch (error) {
      this.at("why_answer").textContent = error.message;
    }
  }

  reasons(decision, owner) {
    if (!decision) return [element("p", {}, say("no_decision", this.label_of("subflow", owner), seconds(this.time)))];
    const parts = [element("p", {}, element("b", {}, `${seconds(decision.time_s)}: ${decision.rule ?? decision.cause}`), ` — ${say("cause")}: ${decision.cause.replaceAll("_", " ")}`)];
    if (decision.formula) parts.push(element("p", {}, element("code", {}, decision.formula)));
    const changes = [];
    if (decision.cwnd_after_pkts !== null) changes.push(`${say("window")} ${digits(decision.cwnd_before_pkts, 5)} → ${digits(decision.cwnd_after_pkts, 5)} pkt`);
    if (decision.rate_after_bps) changes.push(`${say("rate")} ${quantity(decision.rate_before_bps, "bit/s")} → ${quantity(decision.rate_after_bps, "bit/s")}`);
    if (changes.length) parts.push(element("p", {}, changes.join(", ")));
    const numbers = (decision.numbers ?? []).map(({ name, meaning, value }) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, digits(value, 6)), element("td", {}, meaning)));
    if (numbers.length) parts.push(element("table", {}, element("tbody", {}, ...numbers)));
    const steps = (decision.steps ?? []).map(({ line: number, source, value }) => element("tr", {}, element("th", { scope: "row" }, String(number)), element("td", {}, element("code", {}, source)), element("td", {}, digits(value, 6))));
    if (steps.length) parts.push(element("div", { class: "scroll" }, element("table", {}, element("tbody", {}, ...steps))));
    if (decision.source) parts.push(element("p", { class: "faint" }, `${say("source")}: ${decision.source}`));
    return parts;
  }

  // --- building the page ----------------------------------------------------------------------------------------------

  at(id) { return document.getElementById(id); }

  prepare() {
    document.documentElement.lang = language;
    document.documentElement.dataset.theme = this.is_dark ? "dark" : "light";
    for (const place of document.querySelectorAll("[data-say]")) place.textContent = say(place.dataset.say);
    this.at("theme").textContent = say(this.is_dark ? "light" : "dark");
    this.at("time").max = String(this.duration());
    this.at("time").step = String(this.duration() / 2000);
    this.at("now").textContent = seconds(this.time);
    if (this.topology) return;
    this.topology = new Topology(this.at("network"), this);
    this.whatif_form = new WhatIf(this.at("whatif_place"), this);
    this.at("time").addEventListener("input", (event) => this.move_to(Number(event.target.value)));
    this.at("play").addEventListener("click", () => this.play());
    this.at("speed").append(...SPEEDS.map((speed) => element("option", { value: speed }, `${speed}×`)));
    this.at("speed").value = "1";
    this.at("theme").addEventListener("click", () => this.change_look(() => (this.is_dark = !this.is_dark)));
    this.at("language").addEventListener("click", () => this.change_look(() => (language = language === "de" ? "en" : "de")));
    this.at("save").addEventListener("click", () => this.save());
    this.at("toml").addEventListener("click", () => this.save_toml());
    this.at("more").addEventListener("change", (event) => {
      if (event.target.value) this.add_chart(event.target.value);
      this.fill_more();
      this.ask_samples();
    });
    this.at("filter").addEventListener("input", () => this.fill_picker());
    addEventListener("resize", () => this.draw());
    addEventListener("keydown", (event) => {
      if (event.target.closest("input, select, button, textarea, canvas, summary") === null) this.on_key(event);
    });
  }

  change_look(change) {
    change();
    colours = new Map();
    this.prepare();
    if (this.runs.some((run) => run.results)) this.fill();
    this.topology.draw();
  }

  fill() {
    this.fill_more();
    this.fill_picker();
    this.fill_runs();
    this.whatif_form.fill();
    this.whatif_form.show(this.whatif?.change ?? null);
    const menu = this.at("why_owner"), before = menu.value;
    menu.replaceChildren(...this.info().subflows.map((_, i) => element("option", { value: i }, this.label_of("subflow", i))));
    if (before) menu.value = before;
    this.fill_results();
    this.tell_state();
    this.draw();
  }

  fill_more() {
    const shown = new Set(this.charts.map((chart) => chart.spec.quantity));
    const names = [...new Set(this.run().columns.map((column) => column.name))].filter((name) => !shown.has(name));
    this.at("more").replaceChildren(element("option", { value: "" }, say("add_chart")), ...names.map((name) => element("option", { value: name }, name_of(name))));
  }

  fill_picker() {
    const info = this.info(), filter = this.at("filter").value.toLowerCase();
    const boxes = info.subflows.map((_, i) => {
      const label = this.label_of("subflow", i), box = element("input", { type: "checkbox" }), key = `subflow/${i}`;
      if (!label.toLowerCase().includes(filter)) return null;
      box.checked = this.chosen.has(key);
      box.addEventListener("change", () => {
        if (box.checked) this.chosen.add(key);
        else this.chosen.delete(key);
        this.draw();
      });
      const swatch = element("i", { class: "swatch" });
      swatch.style.setProperty("--colour", this.colour_of("subflow", i));
      return element("label", {}, box, swatch, label);
    });
    this.at("picker").replaceChildren(...boxes.filter(Boolean));
  }

  fill_runs() {
    const place = this.at("runs");
    this.at("runs_part").hidden = this.runs.length < 2;
    place.replaceChildren(
      ...this.runs.map((run, i) => {
        const choose = radio("run", String(i), `[${i + 1}] ${run.info.name}`, i === this.active);
        choose.firstChild.addEventListener("change", async () => {
          await this.on_reset();
          this.active = i;
          this.fill();
          this.look();
        });
        const box = element("input", { type: "checkbox", "aria-label": run.info.name });
        box.checked = run.is_shown;
        box.addEventListener("change", () => {
          run.is_shown = box.checked;
          this.draw();
        });
        return element("span", {}, box, choose, run.error ? ` ${run.error}` : "");
      }),
    );
  }

  tell_state() {
    const run = this.run(), place = this.at("state");
    let text = "", kind = "";
    if (run.error) [text, kind] = [run.error, "problem"];
    else if (!run.signature) text = say("recomputing");
    else if (!run.info.signature) text = say("unrecorded");
    else if (run.signature === run.info.signature) [text, kind] = [say("exact"), "exact"];
    else [text, kind] = [say("differs", run.signature, run.info.signature), "problem"];
    place.className = kind;
    place.textContent = text;
    this.at("signature").textContent = run.signature ? `${say("signature")} ${run.signature}` : "";
    const change = this.whatif?.change;
    this.at("changed").textContent = change ? `${say("changed", change.edits.map((edit) => describe_edit(run.info, edit)).join("; "))} — ${change.from === null ? say("from_start") : say("from_cursor", seconds(change.from))}` : "";
    this.at("changed_signature").textContent = this.whatif?.run.signature ?? "";
  }

  fill_results() {
    const base = this.run(), shown = this.shown_run(), results = shown.results;
    const list = this.at("differences");
    list.replaceChildren();
    if (this.whatif?.run.results && base.results) {
      const found = differences(base.results, results);
      list.append(...(found.length ? found.slice(0, 8) : [say("no_difference")]).map((text) => element("li", {}, text)));
      if (found.length > 8) list.append(element("li", {}, say("more_events", found.length - 8)));
    }
    if (!results) return;
    const info = this.info();
    const table = (caption, heads, rows) => element("div", { class: "scroll" }, element("table", {}, element("caption", {}, caption), element("thead", {}, row("th", ...heads)), element("tbody", {}, ...rows)));
    const with_head = (name, ...cells) => element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell)));
    this.at("tables").replaceChildren(
      table(say("flow"), [say("flow"), say("controller"), say("goodput"), say("mean_rtt"), say("p95_rtt"), say("loss"), say("retransmits"), say("completion")],
        results.flows.map((flow, i) => with_head(flow.name, info.flows[i].controller, quantity(flow.goodput_bps, "bit/s"), quantity(flow.mean_rtt_s, "s"), quantity(flow.p95_rtt_s, "s"), quantity(flow.loss_ratio, "%"), String(flow.retransmits), quantity(flow.completion_s, "s")))),
      table(say("subflow"), [say("subflow"), say("throughput"), say("goodput"), say("mean_cwnd"), say("mean_rtt"), say("loss")],
        results.subflows.map((subflow, i) => with_head(this.label_of("subflow", i), quantity(subflow.throughput_bps, "bit/s"), quantity(subflow.goodput_bps, "bit/s"), quantity(subflow.mean_cwnd_pkts, "pkt"), quantity(subflow.mean_rtt_s, "s"), quantity(subflow.loss_ratio, "%")))),
      table(say("link"), [say("link"), say("utilisation"), say("drops"), say("mean_queue")],
        results.links.map((link, i) => with_head(this.label_of("link", i), quantity(link.utilisation, "%"), String(link.drops_queue + link.drops_random + link.drops_down + link.drops_scripted), quantity(link.mean_queue_pkts, "pkt")))),
    );
    this.fill_events(shown.marks, false);
  }

  owner_of(kind, owner) {
    return this.label_of(LINK_MARKS.includes(kind) ? "link" : FLOW_MARKS.includes(kind) ? "flow" : "subflow", owner);
  }

  fill_events(marks, whole) {
    const place = this.at("events");
    const rows = (whole ? marks : marks.slice(0, MOST_ROWS)).map(([time, kind, owner, value]) => {
      const go = element("button", { type: "button", class: "quiet" }, seconds(time));
      go.addEventListener("click", () => this.move_to(time));
      return element("tr", {}, element("td", {}, go), element("td", {}, `${MARKS[kind]?.glyph ?? "·"} ${MARKS[kind]?.[language] ?? kind}`), element("td", {}, this.owner_of(kind, owner)), element("td", {}, digits(value)));
    });
    place.replaceChildren(element("table", {}, element("thead", {}, row("th", say("time"), say("event"), say("owner"), say("value"))), element("tbody", {}, ...rows)));
    if (marks.length <= MOST_ROWS || whole) return;
    const more = element("button", { type: "button" }, say("more_events", marks.length - MOST_ROWS));
    more.addEventListener("click", () => this.fill_events(marks, true));
    place.append(more);
  }

  draw_marks() {
    const canvas = this.at("marks"), ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const [time, kind, owner] of this.shown_run().marks ?? []) {
      const is_link = LINK_MARKS.includes(kind), is_flow = FLOW_MARKS.includes(kind);
      if (kind === 2 || kind === 11) continue;
      pen.strokeStyle = is_link ? css("--text") : this.colour_of(is_flow ? "flow" : "subflow", owner);
      pen.lineWidth = is_link || kind === 1 ? 2.5 : 1;
      const x = (width * time) / this.duration();
      line(pen, x, is_link ? 0 : kind === 1 ? 2 : 6, x, height);
    }
  }

  draw() {
    if (this.is_drawing) return;
    this.is_drawing = true;
    requestAnimationFrame(() => {
      this.is_drawing = false;
      for (const chart of this.charts) chart.draw();
      this.draw_marks();
      this.topology.draw();
    });
  }

  // --- taking it away -------------------------------------------------------------------------------------------------

  save() {
    const change = this.whatif ? { ...this.whatif.change, run: this.active, signature: this.whatif.run.signature } : null;
    // "<" as an escape: no text of a scenario can end the element that it stands in.
    const data = JSON.stringify({ ...this.data, change, language }).replaceAll("<", "\\u003c");
    const begin = pristine.indexOf(">", pristine.indexOf('id="data"')) + 1, end = pristine.indexOf("<\/script>", begin);
    download(new Blob([pristine.slice(0, begin), data, pristine.slice(end)], { type: "text/html" }), `${file_name(this.info().name)}.html`);
  }

  save_toml() {
    const text = toml_with(this.info(), this.whatif?.change);
    if (text === null) this.at("note").textContent = say("toml_import");
    else download(new Blob([text], { type: "text/plain" }), `${file_name(this.info().name)}.toml`);
  }
}

function file_name(name) {
  return name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase() || "subflow";
}

function download(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

function begin() {
  let data;
  try {
    data = JSON.parse(document.getElementById("data").textContent);
    if (data.format !== 1) throw new Error(`format ${data.format}`);
  } catch (error) {
    document.getElementById("recorded").prepend(element("p", { class: "problem", role: "alert" }, say("damaged", error.message)));
    document.body.dataset.ready = "failed";
    return;
  }
  new Page(data).start();
}

begin();
