// The page: it starts the worker, keeps the results of runs, and connects the parts.

const DEFAULT_CHARTS = ["throughput_bps", "cwnd_pkts", "srtt_s", "queue_pkts"];
const NEXT_STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
const SPEEDS = [0.01, 0.1, 1, 5, 20];

// The document as parsed, without this script and before any addition: a saved page is this document with other data.
document.currentScript.remove();
const pristine = document.documentElement.cloneNode(true);

class Page {
  constructor(data) {
    this.data = data;
    this.runs = data.runs.map((info) => new Run(info));
    this.listed = [];  // the simulated and drawn runs
    this.active = 0;  // number of the run whose network is shown and can be changed
    this.time = 0;
    this.whatif = null;
    this.chosen = new Set();
    this.charts = [];
    this.chores = new Chores();
    take_look();
    language = data.language ?? language;
    Object.assign(told_words, data.words);
    this.why = new Why(this.at("why_answer"), this.at("why_owner"), this);
  }

  // --- interface for the parts
  // ----------------------------------------------------------------------------------------

  run() { return this.runs[this.active]; }
  info() { return this.run().info; }
  duration() { return Math.max(...(this.listed.length ? this.listed : this.runs).map((run) => run.info.duration_s)); }
  cursor() { return this.time; }
  explained_run() { return this.shown_run(); }
  shown_run() { return this.whatif?.run ?? this.run(); }
  takes_trials(run) { return run === this.run(); }
  trial(change) { return this.whatif_form.trial(change); }
  event_times() {
    const times = (this.info().scenario.scenario.events ?? []).map((event) => event.at * 1e-9).filter((at) => at <= this.duration());
    if (this.whatif?.change.applied) times.push(Number(this.whatif.change.applied));
    return [...new Set(times)].slice(0, 100);
  }
  // Values of links at the cursor, after the events of the scenario and the changes.
  links() { return replayed_links(this.shown_run(), this.time * 1e9); }
  // State of a curve's owner at the cursor, as the network shows it; undefined if only samples have the quantity.
  state_of(curve) {
    const { run, state } = this.moment ?? {};
    if (run !== curve.run || Math.abs(state.now_s - this.time) > 1e-9) return undefined;
    return state[curve.quantity] ? (state[curve.quantity][curve.owner] ?? NaN) : undefined;
  }
  subflow_colour(index) { return this.run().colour_of("subflow", index); }

  // --- curves --------------------------------------------------------------------------------------------------------

  quantities() { return this.charts.map((chart) => chart.spec.quantity); }

  // Curves of all shown runs: a changed run precedes its original; dashes and numbers distinguish several runs.
  curves(quantity) {
    const shown = this.shown_run(), curves = [];
    const add = (run, rank, is_ghost) => {
      for (const curve of run.curves(quantity))
        curves.push({
          ...curve,
          label: `${curve.label}${is_ghost ? ` (${say("original")})` : ""}${this.listed.length > 1 ? ` [${rank + 1}]` : ""}`,
          dash: DASHES[rank % DASHES.length],
          key: run === shown ? curve.key : null,
          is_ghost,
          is_picked: this.chosen.has(curve.key),
        });
    };
    this.listed.forEach((run, rank) => {
      if (!run.is_shown) return;
      const is_changed = run === this.run() && this.whatif !== null;
      add(run, rank, is_changed);
      if (is_changed) add(this.whatif.run, rank, false);
    });
    const own = curves.filter((curve) => !curve.is_ghost);
    if (own.length <= MOST_CURVES && this.run().scope_of(quantity) === "subflow" && this.chosen.size)
      return curves.map((curve) => ({ ...curve, is_picked: false })).filter((curve) => curve.key === null || this.chosen.has(curve.key));
    return curves;
  }

  add_chart(quantity) {
    const spec = { quantity, unit: this.run().unit_of(quantity), curves: () => this.curves(quantity) };
    const chart = new Chart(this.at("charts"), spec, this);
    this.charts.push(chart);
    return chart;
  }

  remove_chart(chart) {
    this.charts = this.charts.filter((each) => each !== chart);
    chart.figure.remove();
    this.fill_more();
  }

  show_curves() { glide_to(this.at("charts").closest("section"), "start"); }

  async ask_samples() {
    for (const run of [...this.listed, ...(this.whatif ? [this.whatif.run] : [])]) await run.ask(this.simulator, this.quantities());
    this.draw();
  }

  // Quantities that the address names; undefined if it names none.
  asked_charts() {
    const known = new Set(this.run().columns.map((column) => column.name));
    const chapters = (this.data.chapters ?? []).map(({ id }) => id);
    const asked = asked_words().filter((word) => !LOOKS.includes(word) && !chapters.includes(word));
    const unknown = asked.filter((word) => !known.has(word));
    if (unknown.length) this.problem_of_address = say("unknown_quantity", unknown.join(", "), [...LOOKS, ...known].join(", "));
    return unknown.length < asked.length ? [...new Set(asked)].filter((word) => known.has(word)) : undefined;
  }

  // --- simulating -----------------------------------------------------------------------------------------------------

  async simulate(run) {
    if (!this.charts.length) {
      for (const quantity of this.asked_charts() ?? this.data.charts ?? DEFAULT_CHARTS) this.add_chart(quantity);
      this.fill_more();
    }
    await run.finish(this.simulator, this.quantities(), () => this.draw());
    this.draw();
  }

  async start() {
    const begun = performance.now();
    this.prepare();
    try {
      this.simulator = await Simulator.start(this.data.policies);
    } catch (error) {
      return this.give_up(error);
    }
    document.getElementById("recorded").hidden = true;
    document.getElementById("app").hidden = false;
    const saved = this.data.change, number = saved?.run ?? 0;
    this.guide = this.data.sweep ? new Sweep(this.at("guide"), this.data, this) : this.data.chapters ? new Chapters(this.at("guide"), this.data, this) : null;
    const first = this.guide?.first(saved ? number : null) ?? { runs: this.runs.map((_, i) => i), at: null };
    await this.list(first.runs, saved ? number : first.runs[0]);
    this.took = performance.now() - begun;
    if (saved && this.runs[number]) {
      await this.on_change(saved);
      this.whatif_form.show(saved);
    }
    if (first.at) await this.on_pick(first.at.time_s, first.at.key, null, false);  // a page opens at its top
  }

  // Simulates and draws only these runs of the page. A call during a simulation replaces waiting calls.
  list(numbers, active = numbers[0] ?? this.active) {
    this.wish = { numbers, active };
    this.listing ??= this.grant_wishes().finally(() => (this.listing = null));
    return this.listing;
  }

  async grant_wishes() {
    document.body.dataset.ready = "";
    while (this.wish) {
      const { numbers, active } = this.wish, listed = numbers.map((number) => this.runs[number]);
      this.wish = null;
      await this.forget_change();
      for (const run of this.listed) if (!listed.includes(run)) await run.close(this.simulator);
      Object.assign(this, { listed, active, chosen: new Set() });
      document.body.classList.toggle("idle", !listed.length);
      if (!listed.length) continue;
      this.prepare();
      for (const run of listed) {
        if (!run.is_open && !run.error)
          try {
            await run.open(this.simulator);
            await this.simulate(run);
          } catch (error) {
            run.error = error.message;
          }
        this.tell_state();
      }
      this.fill();
      this.move_to(Math.min(this.time, this.duration()));
      if (!this.wish) await this.chores.done();
    }
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
    this.whatif_form.tell(say("recomputing"));
    try {
      const run = new Run(info), before = this.whatif;
      let made = scenario;
      if (change.from === null) {
        made = edited_scenario(this.data, info, change.edits);
        await run.open(this.simulator, made);
      } else {
        const at = await run.fork(this.simulator, base, change.from, edit_events(this.data, info, change.edits));
        change = { ...change, applied: (at / 1e9).toFixed(9) };
      }
      this.whatif = { run, change, scenario: made };
      before?.run.close(this.simulator);
      await this.simulate(run);
    } catch (error) {
      this.whatif_form.problem.textContent = error.message;
    }
    this.fill_results();
    this.tell_state();
    this.look();
    this.why.answer_again();
    await this.chores.done();
    document.body.dataset.ready = "yes";
  }

  async forget_change() {
    const before = this.whatif;
    this.whatif = null;
    await before?.run.close(this.simulator);
  }

  async on_reset() {
    await this.forget_change();
    this.whatif_form.show(null);
    this.fill_results();
    this.tell_state();
    this.draw();
    this.look();
    this.why.answer_again();
  }

  // --- the cursor -----------------------------------------------------------------------------------------------------

  move_to(time) {
    this.time = Math.min(Math.max(time, 0), this.duration());
    const bar = this.at("time");
    bar.value = String(this.time);
    bar.setAttribute("aria-valuetext", seconds(this.time));
    this.at("now").textContent = seconds(this.time);
    this.whatif_form?.follow_cursor();
    this.draw(false);
    this.look();
  }

  async look() {
    const run = this.shown_run();
    if (!run.is_open || this.is_looking) {
      this.looks_again = this.is_looking;
      return;
    }
    this.is_looking = true;
    try {
      this.topology.show(await this.simulator.call("look", { run: run.id, at: Math.round(this.time * 1e9) }));
      this.moment = { run, state: this.topology.moment.state };
      for (const chart of this.charts) this.chores.want(chart.readout, () => chart.tell());
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

  on_pick(time, key, chart, is_shown) {
    return this.why.pick(time, key, chart, is_shown);
  }

  // --- building the page ----------------------------------------------------------------------------------------------

  at(id) { return document.getElementById(id); }

  prepare() {
    document.documentElement.lang = language;
    for (const place of document.querySelectorAll("[data-say]")) place.textContent = say(place.dataset.say);
    for (const place of document.querySelectorAll("[data-label]")) place.setAttribute("aria-label", say(place.dataset.label));
    this.at("theme").textContent = say(is_dark() ? "light" : "dark");
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
    this.at("theme").addEventListener("click", () => this.change_theme());
    this.at("language").addEventListener("click", () => this.change_language());
    this.at("save").addEventListener("click", () => this.save());
    this.at("toml").addEventListener("click", () => this.save_toml());
    this.at("more").addEventListener("change", (event) => {
      if (event.target.value) this.add_chart(event.target.value);
      this.fill_more();
      this.ask_samples();
    });
    this.at("filter").addEventListener("input", () => this.fill_picker());
    addEventListener("resize", () => {
      this.draw();
      this.guide?.draw();
    });
    print_in_light(() => {
      this.topology.draw();
      for (const chart of this.charts) draw_now(chart);
      this.draw_marks();
      this.guide?.draw();
    });
    addEventListener("keydown", (event) => {
      if (event.defaultPrevented || is_typing(event.target)) return;
      // Keys pressed in a control belong to the control, except w, which no control uses.
      const is_control = event.target.closest("input, select, button, canvas, summary, [role=region]") !== null;
      if (!is_control || event.key === "w") this.on_key(event);
    });
  }

  change_theme() {
    document.documentElement.dataset.theme = is_dark() ? "light" : "dark";
    colours = new Map();
    this.prepare();
    this.draw();
    this.chores.want("picker", () => this.fill_picker());
    this.guide?.draw();
  }

  change_language() {
    language = language === "de" ? "en" : "de";
    this.prepare();
    if (this.listed.some((run) => run.results)) this.fill();
    else this.draw();
    this.guide?.draw();
  }

  fill() {
    this.fill_runs();
    this.tell_state();
    this.draw();
    this.fill_results();
    this.chores.want("more", () => this.fill_more());
    this.chores.want("form", () => this.whatif_form.fill());
    this.chores.want("why", () => this.why.fill());
    this.chores.want("picker", () => this.fill_picker());
  }

  fill_more() {
    const shown = new Set(this.charts.map((chart) => chart.spec.quantity));
    const names = [...new Set(this.run().columns.map((column) => column.name))].filter((name) => !shown.has(name));
    this.at("more").replaceChildren(element("option", { value: "" }, say("add_chart")), ...names.map((name) => element("option", { value: name }, name_of(name))));
  }

  fill_picker() {
    const info = this.info(), filter = this.at("filter").value.toLowerCase();
    const boxes = info.subflows.map((_, i) => {
      const label = this.run().label_of("subflow", i), box = element("input", { type: "checkbox" }), key = `subflow/${i}`;
      if (!label.toLowerCase().includes(filter)) return null;
      box.checked = this.chosen.has(key);
      box.addEventListener("change", () => {
        if (box.checked) this.chosen.add(key);
        else this.chosen.delete(key);
        this.draw();
      });
      const swatch = swatch_of(this.run().colour_of("subflow", i));
      return element("label", {}, box, swatch, label);
    });
    this.at("picker").replaceChildren(...boxes.filter(Boolean));
  }

  fill_runs() {
    const place = this.at("runs");
    this.at("runs_part").hidden = this.listed.length < 2;
    const boxes = this.listed.map((run, i) => {
      const number = this.runs.indexOf(run);
      const choose = radio("run", String(i), `[${i + 1}] ${run.info.name}`, number === this.active);
      choose.firstChild.addEventListener("change", async () => {
        await this.forget_change();
        this.active = number;
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
    });
    keeping_focus(place, () => place.replaceChildren(...boxes));
  }

  tell_state() {
    const run = this.run(), place = this.at("state");
    let text = "", kind = "";
    if (run.error) [text, kind] = [run.error, "problem"];
    else if (!run.signature) text = say("recomputing");
    else if (!run.info.signature) text = say("unrecorded");
    else if (run.signature === run.info.signature) [text, kind] = [say("exact"), "exact"];
    else [text, kind] = [say("differs", run.signature, run.info.signature), "problem"];
    const change = this.whatif?.change;
    // A changed run differs from the recorded one, even if the recorded result was reproduced.
    if (change && !run.error) [text, kind] = [`${say("not_recorded")} (${say("without_change", text)})`, "changed"];
    place.className = kind;
    place.textContent = text;
    this.at("signature").textContent = run.signature ? `${say("signature")}${change ? ` (${say("original")})` : ""} ${run.signature}` : "";
    this.at("changed").textContent = change ? `${say("changed", change.edits.map((edit) => describe_edit(run.info, edit)).join("; "))} — ${change.from === null ? say("from_start") : say("from_cursor", seconds(change.from))}` : "";
    this.at("changed_signature").textContent = this.whatif?.run.signature ?? "";
    this.at("changed_run").hidden = !this.whatif?.run.signature;
    this.at("toml").disabled = toml_with(run.info, change) === null;
    this.at("note").textContent = this.at("toml").disabled ? say("toml_import") : this.problem_of_address ?? "";
  }

  fill_results() {
    const base = this.run(), list = this.at("differences");
    list.replaceChildren();
    this.whatif_form.tell("");
    if (this.whatif?.run.results && base.results) {
      const found = differences(base, this.whatif.run), texts = found.slice(0, 8).map(difference_text);
      this.whatif_form.tell("", found);
      list.append(...(found.length ? texts : [say("no_difference")]).map((text) => element("li", {}, text)));
      if (found.length > 8) list.append(element("li", {}, say("more_events", found.length - 8)));
    }
    show_results(this.chores, this.at("tables"), this.at("events"), () => this.shown_run(), (time, key) => this.on_pick(time, key));
  }

  draw_marks() {
    const canvas = this.at("marks"), pen = pen_on(canvas), [width, height] = size_of(canvas);
    if (!pen) return;
    const run = this.shown_run(), duration = this.duration(), drawn = new Set();
    for (let i = 0; i < run.mark_count; ++i) {
      const [time, kind, owner] = run.mark(i);
      const { name, scope } = mark_kind(kind), is_link = scope === "link", top = is_link ? 0 : name === "rto" ? 2 : 6;
      if (name === "recovered" || name === "action") continue;
      const x = (width * time) / duration, place = Math.round(x) * 8 + top;
      if (drawn.has(place)) continue;  // only the first of several marks in one pixel column
      drawn.add(place);
      pen.strokeStyle = is_link ? css("--text") : this.run().colour_of(scope, owner);
      pen.lineWidth = is_link || name === "rto" ? 2.5 : 1;
      line(pen, x, top, x, height);
    }
  }

  // Draws everything, or only the parts that move with the cursor.
  draw(is_whole = true) {
    this.chores.want(this.topology, () => this.topology.draw());
    if (is_whole) this.chores.want("marks", () => this.draw_marks());
    draw_charts(this.chores, this.charts, is_whole);
  }

  // --- saving
  // ---------------------------------------------------------------------------------------------------------

  save() {
    const change = this.whatif ? { ...this.whatif.change, run: this.active, signature: this.whatif.run.signature } : null;
    // "<" is escaped, so that no text of a scenario can end its script element.
    const data = JSON.stringify({ ...this.data.own, change, language }).replaceAll("<", "\\u003c");
    const page = `<!doctype html>\n${pristine.outerHTML}`;
    const begin = page.indexOf(">", page.indexOf('id="data"')) + 1, end = page.indexOf("<\/script>", begin);
    download(new Blob([page.slice(0, begin), data, page.slice(end)], { type: "text/html" }), `${file_name(this.info().name)}.html`);
  }

  save_toml() {
    download(new Blob([toml_with(this.info(), this.whatif?.change)], { type: "text/plain" }), `${file_name(this.info().name)}.toml`);
  }
}

async function begin() {
  let data;
  try {
    const own = JSON.parse(document.getElementById("data").textContent);  // the data that a saved page contains
    if (own.format !== 1) throw new Error(`format ${own.format}`);
    data = { ...own, own, ...JSON.parse(await unpacked_text("told")) };
  } catch (error) {
    document.getElementById("recorded").prepend(element("p", { class: "problem", role: "alert" }, say("damaged", error.message)));
    document.body.dataset.ready = "failed";
    return;
  }
  new Page(data).start();
}

begin();
