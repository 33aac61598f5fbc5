// The page of a lab: the simulator, the student's progress, the scenario's form, and the curves of the runs.

const LAB_CHARTS = ["throughput_bps", "cwnd_pkts", "srtt_s", "queue_pkts"];
const PLOTS = { cwnd: "cwnd_pkts", queue: "queue_pkts", rtt: "srtt_s", throughput: "throughput_bps", goodput: "goodput_bps", utilisation: "utilisation", inflight: "inflight_pkts", losses: "losses_pkts", drops: "drops_pkts" };
const MOST_SWEEP_RUNS = 200, MOST_OPEN = 4;

document.currentScript.remove();

class Lab {
  constructor(data) {
    this.data = data;
    this.charts = [];
    this.shown_runs = [];
    this.time = 0;
    this.chores = new Chores();
    take_look();
    language = data.language;
    Object.assign(told_words, data.words);
    this.progress = new Progress(data);
    this.steps = new StepView(this.at("step"), this);
    this.why = new Why(this.at("why_answer"), null, this);
  }

  at(id) { return document.getElementById(id); }

  // --- interface for charts

  newest() { return this.shown_runs[this.shown_runs.length - 1] ?? null; }
  duration() { return Math.max(0, ...this.shown_runs.map((run) => run.info.duration_s)) || this.data.scenarios[this.progress.state.scenario].info.duration_s; }
  cursor() { return this.time; }
  event_times() {
    const events = this.newest()?.info.scenario.scenario.events ?? [];
    return [...new Set(events.map((event) => event.at * 1e-9))].slice(0, 100);
  }
  on_key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (step) this.time = Math.min(Math.max(this.time + (step * this.duration()) / 200, 0), this.duration());
    else if (event.key === "w" || event.key === "Enter") this.on_pick(this.time, null);
    else return;
    event.preventDefault();
    this.draw();
  }
  explained_run() { return this.newest().run; }
  takes_trials() { return this.newest() === this.progress.runs[this.progress.runs.length - 1]; }
  trial(change) { return this.newest().scenario === this.progress.state.scenario ? this.form.trial(change) : null; }
  move_to(time) {
    this.time = time;
    this.draw();
  }
  async on_pick(time, key, chart) {
    if (!this.newest()) return;
    this.at("why_part").hidden = false;
    await this.why.pick(time, key, chart);
  }
  curves(quantity) {
    const newest = this.newest();
    return this.shown_runs.flatMap((lab_run) => {
      const number = this.shown_runs.length > 1 ? ` [${lab_run.number}]` : "";
      return lab_run.run.curves(quantity).map((curve) => ({ ...curve, label: `${curve.label}${number}`, is_ghost: lab_run !== newest, key: lab_run === newest ? curve.key : null }));
    });
  }
  add_chart(quantity) {
    const run = this.newest();
    if (!run || this.charts.some((chart) => chart.spec.quantity === quantity) || !run.run.columns.some((column) => column.name === quantity)) return;
    this.charts.push(new Chart(this.at("charts"), { quantity, unit: run.run.unit_of(quantity), curves: () => this.curves(quantity) }, this));
    this.fill_more();
  }
  remove_chart(chart) {
    this.charts = this.charts.filter((each) => each !== chart);
    chart.figure.remove();
    this.fill_more();
  }
  fill_more() {
    const run = this.newest(), shown = new Set(this.charts.map((chart) => chart.spec.quantity));
    const names = [...new Set((run?.run.columns ?? []).map((column) => column.name))].filter((name) => !shown.has(name));
    this.at("more").replaceChildren(element("option", { value: "" }, say("add_chart")), ...names.map((name) => element("option", { value: name }, name_of(name))));
    this.at("more").hidden = !run;
  }
  draw() {
    draw_charts(this.chores, this.charts, true);
    this.chores.want("sketch", () => this.steps.sketch?.draw());
  }

  // --- beginning

  async start() {
    this.prepare();
    try {
      this.simulator = await Simulator.start(this.data.policies);
    } catch (error) {
      this.at("recorded").prepend(element("p", { class: "problem", role: "alert" }, say("unsupported", error.message || String(error)).split(/(?<=\.) /)[0]));
      document.body.dataset.ready = "failed";
      return;
    }
    this.at("recorded").hidden = true;
    this.at("app").hidden = false;
    if (this.progress.code === null) await this.ask_code();
    if (has_own_numbers(this.data)) this.data.steps = own_steps(this.data, this.progress.code);
    await this.restore();
    this.form = new SettingsForm(this);
    this.fill();
    await this.chores.done();
    document.body.dataset.ready = "yes";
  }

  // Asks for the name or number from which the student's own numbers are drawn.
  async ask_code() {
    const parts = ["bench", "hand_in"].map((name) => this.at(name)), input = element("input", { type: "text", id: "code", autocomplete: "name", maxlength: "200" });
    const ask = element("div", { class: "choices" }, element("label", {}, `${say("own_code")} `, input), element("button", { type: "submit", class: "main" }, say("own_go")));
    const form = element("form", {}, element("h2", {}, say("own_title")), element("p", {}, say("own_help")), ask);
    this.at("step").replaceChildren(form);
    this.is_busy = true;
    for (const part of parts) part.hidden = true;
    input.focus();
    document.body.dataset.ready = "yes";
    const event = await new Promise((go) => form.addEventListener("submit", go));
    event.preventDefault();
    document.body.dataset.ready = "";
    for (const part of parts) part.hidden = false;
    this.is_busy = false;
    this.progress.take_code(input.value);
    this.at("student").value = this.progress.student;
  }

  // Repeats the runs made before the page was closed; their results are identical bit by bit.
  async restore() {
    const kept = this.progress.kept_runs;
    if (kept.length) this.tell(say("restoring", kept.length));
    for (const each of kept) {
      const run = new LabRun(this.data, each);
      await run.make(this.simulator);
      if (run.run.signature !== each.signature) this.tell(say("changed_core", each.number, run.run.signature, each.signature), true);
      this.progress.runs.push(run);
      await this.show_run(run);
    }
    if (kept.length) this.tell("");
  }

  prepare() {
    document.documentElement.lang = language;
    for (const place of document.querySelectorAll("[data-say]")) place.textContent = say(place.dataset.say);
    const theme = () => (this.at("theme").textContent = say(is_dark() ? "light" : "dark"));
    theme();
    this.at("theme").addEventListener("click", () => {
      document.documentElement.dataset.theme = is_dark() ? "light" : "dark";
      colours = new Map();
      theme();
      this.fill_runs();
      this.draw();
    });
    this.at("run").addEventListener("click", () => this.run());
    this.at("write").addEventListener("click", () => this.write());
    this.at("student").value = this.progress.student;
    this.at("student").addEventListener("change", () => {
      this.progress.student = this.at("student").value.trim();
      this.progress.keep();
    });
    this.at("anew").addEventListener("click", () => {
      if (!confirm(say("begin_anew_sure"))) return;
      this.progress.forget();
      location.reload();
    });
    this.at("more").setAttribute("aria-label", say("add_chart"));
    this.at("more").addEventListener("change", (event) => {
      this.add_chart(event.target.value);
      this.draw();
    });
    addEventListener("resize", () => this.draw());
    // Before a field takes the Enter; F5 belongs to the browser.
    const on_key = (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopPropagation();
      this.run();
    };
    addEventListener("keydown", on_key, { capture: true });
    print_in_light(() => {
      for (const chart of this.charts) draw_now(chart);
      this.steps.sketch?.draw();
    });
  }

  tell(text, is_problem = false) {
    this.at("state").textContent = text;
    this.at("state").className = is_problem ? "problem" : "";
  }

  // --- runs

  async run() {
    if (this.is_busy || !this.form.take()) return;
    await this.simulate([{ state: structuredClone(this.progress.state), fork: null }]);
  }

  // Forks the last run at the time of an event.
  async fork(event) {
    const parent = this.progress.runs[this.progress.runs.length - 1];
    if (this.is_busy || !parent) return this.tell(say("no_run_yet"), true);
    const state = structuredClone(parent.state);
    state.events.push(event);
    await this.simulate([{ state, fork: { run: parent.number, at_s: event.at } }]);
  }

  // Simulates the given runs; returns true if all of them finished.
  async simulate(wanted) {
    this.is_busy = true;
    document.body.dataset.ready = "";
    this.at("run").setAttribute("aria-disabled", "true");  // a disabled button would lose the keyboard focus
    const made = [];
    try {
      for (const each of wanted) {
        const number = this.progress.last_run + 1;
        this.tell(say("running", number));
        const run = new LabRun(this.data, { number, ...each, started_at: time_text() });
        await run.make(this.simulator);
        run.signature = run.run.signature;
        this.progress.add_run(run);
        await this.show_run(run);
        made.push(run);
      }
      this.tell(say("ran", this.progress.last_run));
    } catch (error) {
      this.tell(error.message, true);
    }
    this.is_busy = false;
    this.at("run").removeAttribute("aria-disabled");
    this.look_again();
    await this.chores.done();
    document.body.dataset.ready = "yes";
    return made.length === wanted.length ? made : null;
  }

  // Shows the newest run over the previous run of the same scenario, if any.
  async show_run(run) {
    const before = this.shown_runs.filter((each) => each.scenario === run.scenario).slice(-1);
    this.shown_runs = [...before, run];
    const open = this.progress.runs.filter((each) => each.run.is_open && each !== run);
    for (const each of open.slice(0, Math.max(0, open.length - MOST_OPEN))) await each.rest(this.simulator);
  }

  fill_runs() {
    const boxes = this.progress.runs.map((run) => {
      const box = element("input", { type: "checkbox" });
      box.checked = this.shown_runs.includes(run);
      box.addEventListener("change", () => {
        this.shown_runs = this.progress.runs.filter((each) => (each === run ? box.checked : this.shown_runs.includes(each)));
        this.fill_runs();
      });
      return element("label", {}, box, ` ${run.title}`);
    });
    keeping_focus(this.at("runs"), () => this.at("runs").replaceChildren(...(boxes.length ? boxes : [element("span", { class: "faint" }, say("no_run_yet"))])));
    const newest = this.newest();
    if (newest) {
      if (!this.charts.length) LAB_CHARTS.forEach((quantity) => this.add_chart(quantity));
      show_results(this.chores, this.at("tables"), this.at("events"), () => this.newest()?.run, (time, key) => this.on_pick(time, key));
    }
    this.fill_more();
    this.draw();
  }

  // --- steps

  fill() {
    this.form.fill();
    this.fill_runs();
    const all = this.data.steps;
    this.show_step(all.find((step) => step.id === this.progress.shown) ?? this.progress.active ?? all[all.length - 1], false);
    if (this.progress.is_forgotten) this.tell(say("forgotten"), true);
  }

  show_step(step, is_moved = true) {
    this.progress.shown = step.id;
    this.progress.keep();
    this.progress.take(step);
    this.steps.show(step);
    this.fill_steps();
    document.querySelectorAll(".spot").forEach((place) => place.classList.remove("spot"));
    for (const [kind, name] of step.shows) {
      if (kind === "field") document.querySelector(`[data-key="${CSS.escape(name)}"]`)?.classList.add("spot");
      if (kind === "plot" && PLOTS[name]) this.add_chart(PLOTS[name]);
    }
    if (!is_moved) return;
    this.at("step").querySelector("h2").focus({ preventScroll: true });
    this.at("steps_part").scrollIntoView({ block: "start" });
  }

  fill_steps() {
    const { progress } = this, reached = this.data.steps.indexOf(progress.active ?? this.data.steps[this.data.steps.length - 1]);
    const items = this.data.steps.map((step, i) => {
      const state = progress.is_passed(step) ? "✓ " : progress.skipped.includes(step.id) ? "– " : "";
      const button = element("button", { type: "button", "data-step": step.id, title: step.title, "aria-label": `${state}${i + 1}: ${step.title}`, "aria-current": step === this.steps.step ? "step" : null }, `${state}${i + 1}`);
      button.disabled = i > reached;
      button.addEventListener("click", () => this.show_step(step));
      return element("li", {}, button);
    });
    keeping_focus(this.at("steps"), () => this.at("steps").replaceChildren(...items));
    this.at("progress").textContent = `${say("lab_progress", progress.passed, this.data.steps.length)} · ${say("lab_minutes", this.data.lab.minutes)}${progress.code ? ` · ${say("own_of", progress.code)}` : ""}`;
  }

  // After an action of the student: may pass the active step.
  look_again() {
    const { active } = this.progress;
    if (active) this.progress.take(active);
    this.steps.show(this.steps.step);
    this.fill_steps();
    this.fill_runs();
  }

  predict(step, value) {
    this.progress.predict(step, value);
    this.look_again();
  }
  go_on(step) {
    this.progress.go_on(step);
    this.look_again();
    if (this.progress.active) this.show_step(this.progress.active);
  }
  skip(step) {
    this.progress.skip(step);
    this.show_step(this.progress.active ?? step);
  }
  hint(step) {
    this.progress.set(step, { hints: this.progress.of(step).hints + 1 });
    this.look_again();
  }

  // --- saving

  save_scenario() {
    if (!this.form.take()) return;
    const { state } = this.progress;
    download(new Blob([toml_of(this.data, state)], { type: "text/plain" }), `${file_name(this.data.scenarios[state.scenario].name)}.toml`);
  }

  write() {
    const { progress } = this, student = this.at("student").value.trim(), told = this.at("written");
    told.className = student ? "" : "problem";
    if (!student) {
      told.textContent = say("name_first");
      return this.at("student").focus();
    }
    progress.student = student;
    progress.keep();
    const document = progress.result(), name = `${this.data.lab.name}-${file_name(student)}.json`;
    download(new Blob([`${JSON.stringify(document, null, 1)}\n`], { type: "application/json" }), name);
    told.textContent = say("wrote", name, document.passed, document.of, document.runs.length);
  }
}

async function begin_lab() {
  let data;
  try {
    const { format } = JSON.parse(document.getElementById("data").textContent);
    if (format !== 1) throw new Error(`format ${format}`);
    data = JSON.parse(await unpacked_text("told"));
  } catch (error) {
    document.getElementById("recorded").prepend(element("p", { class: "problem", role: "alert" }, say("damaged", error.message)));
    document.body.dataset.ready = "failed";
    return;
  }
  new Lab(data).start();
}

begin_lab();
