// View of a step: its text, prediction, questions and hints.

const FEEDBACK_OF = (is_right) => (is_right ? "exact" : "problem");

// An element with HTML of the lab's author, converted when the page was exported; never pass text of students or runs.
function authored(tag, markup, attributes = {}) {
  const made = element(tag, attributes);
  made.innerHTML = markup;
  return made;
}

class StepView {
  constructor(place, host) {
    this.place = place;
    this.host = host;
    this.sketch = null;
    this.said = new Map();  // feedback to answers, by question
  }

  get progress() { return this.host.progress; }

  show(step) {
    if (this.step !== step) this.said.clear();
    this.step = step;
    const { data, progress } = this.host, made = progress.of(step), parts = [];
    if (step === data.steps[0]) {
      parts.push(authored("div", data.lab.introduction));
      parts.push(element("details", {}, element("summary", {}, say("goals")), element("ul", {}, ...data.lab.goals.map((goal) => element("li", {}, goal)))));
    }
    parts.push(element("h2", { tabindex: "-1" }, step.title), authored("div", step.text));
    if (step.beyond && !progress.is_passed(step)) parts.push(this.beyond(step));
    if (step.prediction) parts.push(this.prediction(step, made));
    if (step.exploration) parts.push(this.exploration(step));
    step.questions.forEach((question) => parts.push(this.question(step, question)));
    step.hints.slice(0, made.hints).forEach((hint) => parts.push(authored("p", hint, { class: "faint" })));
    parts.push(this.ending(step, made));
    keeping_focus(this.place, () => this.place.replaceChildren(...parts));
    this.sketch?.draw();
  }

  button(text, act, kind = "") {
    const made = element("button", { type: "button", class: kind || null }, text);
    made.addEventListener("click", act);
    return made;
  }

  beyond(step) {
    const save = this.button(say("save_scenario"), () => this.host.save_scenario());
    const skip = this.button(say("skip"), () => this.host.skip(step));
    const is_active = step === this.progress.active;
    return element("div", { class: "ask" }, element("p", {}, say("beyond", step.beyond)), element("div", { class: "choices" }, save, ...(is_active ? [skip] : [])));
  }

  // A formula with draggable numbers; each circle is a run of the student.
  exploration(step) {
    const { description, measured } = step.exploration, place = element("div");
    const result = description.equations[description.equations.length - 1].name, points = [];
    for (const run of this.progress.runs) {
      const { facts, runs, step_runs, sweep } = this.progress.evidence(step), values = {};
      const checks = new Checks({ facts, runs: runs.filter((each) => each.number <= run.number), step_runs, sweep, since: run.number - 1 });
      try {
        for (const [name, node] of Object.entries(measured)) values[name] = checks.value(node);
      } catch (error) {
        if (error instanceof NotThere) continue;
        throw error;
      }
      const { [result]: found, ...inputs } = values;
      if (found !== undefined) points.push({ values: inputs, result: found });
    }
    show_explorable(place, description, points);
    return place;
  }

  // --- predictions

  prediction(step, made) {
    const asked = step.prediction, box = element("div", { class: "ask", id: "prediction" }, element("h3", {}, say("predict_title")), authored("p", asked.ask));
    const is_open = !made.prediction;
    if (asked.kind === "choice") box.append(...this.choice(step, asked, made.prediction));
    else if (asked.kind === "number") box.append(...this.number(asked, made.prediction, (value) => this.host.predict(step, value), "predict", "number_predicted"));
    else box.append(...this.drawing(step, asked, made.prediction));
    if (!is_open) box.append(...this.came(asked, made.prediction));
    return box;
  }

  choice(step, asked, made) {
    const options = this.progress.options(step, asked).map((option) => {
      const button = this.button(option, () => this.host.predict(step, option), made?.value === option ? "chosen" : "");
      button.disabled = Boolean(made);
      return button;
    });
    return [element("div", { class: "options" }, ...options)];
  }

  number(asked, made, take, word, id) {
    if (made) return [element("p", {}, say("predicted", this.shown(made.value, asked.unit)))];
    const input = element("input", { type: "text", inputmode: "decimal", size: "10", id, "aria-label": say(word) }), problem = element("p", { class: "problem", role: "alert" });
    const act = () => {
      const value = said_number(input.value, asked.unit, this.host.data.units);
      if (value === null) problem.textContent = say("no_number", input.value, asked.unit ? ` ${asked.unit}` : "");
      else take(value);
    };
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();  // otherwise the same key presses "Next step", which gets the focus of a judged answer
      act();
    });
    return [element("div", { class: "choices" }, element("label", {}, input, asked.unit ? ` ${asked.unit}` : ""), this.button(say(word), act, "main")), problem];
  }

  shown(value, unit) {
    return `${digits(value / (this.host.data.units[unit] ?? 1), 4)}${unit ? ` ${unit}` : ""}`;
  }

  drawing(step, asked, made) {
    const text = element("input", { type: "text", size: "24", "aria-label": say("sketch_text"), placeholder: "0:10, 12:160" }), problem = element("p", { class: "problem", role: "alert" });
    const ready = this.button(say("predict"), () => this.host.predict(step, this.sketch.points), "main");
    const kept = this.sketch?.prediction === asked ? this.sketch.points : [];
    this.sketch = new Sketch(asked, this.host.data.units, this.host.duration(), (points) => (ready.disabled = points.length < 2));
    ready.disabled = true;
    if (made) {
      this.sketch.take_points(made.value);
      this.sketch.is_closed = true;
      const runs = this.progress.runs.filter((run) => run.number > made.after_run), passed = this.progress.of(step).last_run;
      const run = passed ? runs.find((each) => each.number === passed) : runs[runs.length - 1];
      this.sketch.show(run?.curve(asked.column, asked.owner) ?? null);
      return [this.sketch.canvas];
    }
    if (kept.length > 1) this.sketch.take_points(kept);
    const take = this.button(say("sketch_take"), () => (problem.textContent = this.sketch.take_text(text.value) ? "" : say("sketch_wrong")));
    const clear = this.button(say("sketch_clear"), () => this.sketch.on_key(new KeyboardEvent("keydown", { key: "Delete" })));
    return [this.sketch.canvas, element("p", { class: "faint" }, say("sketch_help")), element("div", { class: "choices" }, element("label", {}, `${say("sketch_text")} `, text), take, clear, ready), problem];
  }

  came(asked, made) {
    if (made.came === null) return [element("p", { class: "faint" }, say("predict_waits"))];
    const parts = [];
    if (asked.kind === "choice") parts.push(element("p", { class: FEEDBACK_OF(made.is_right) }, say(made.is_right ? "came_right" : "came_wrong", made.came)));
    else parts.push(element("p", {}, say(asked.kind === "number" ? "came" : "came_sketch", this.shown(made.came, asked.unit))));
    for (const told of [mistake_of(asked, made), asked.why]) if (told) parts.push(authored("p", told));
    return parts;
  }

  // --- questions

  question(step, question) {
    const box = element("div", { class: "ask", "data-question": question.id }, authored("p", question.ask));
    const given = this.progress.of(step).answers[question.id] ?? [], is_done = this.progress.is_answered(step, question);
    const said = element("p", { role: "status" });
    const answer = async (value) => {
      said.className = "";
      said.textContent = say("judging");
      try {
        const told = await this.progress.answer(step, question, value);
        this.said.set(question.id, told);
      } catch (error) {
        if (!(error instanceof NotThere)) throw error;
        said.textContent = error.message;
        return;
      }
      this.host.look_again();
    };
    if (question.options.length) {
      const buttons = this.progress.options(step, question).map((option) => {
        const made = given.find((each) => each.value === option), button = this.button(option, () => answer(option), made ? "chosen" : "");
        button.disabled = is_done || Boolean(made);
        return button;
      });
      box.append(element("div", { class: "options" }, ...buttons));
    } else if (is_done) box.append(element("p", {}, this.shown(given[given.length - 1].value, question.unit)));
    else box.append(...this.number(question, null, answer, "answer", `number_${question.id}`));
    const last = given[given.length - 1], told = this.said.get(question.id);
    if (last) {
      said.className = FEEDBACK_OF(is_done);
      const text = typeof last.value === "number" ? this.shown(last.value, question.unit) : last.value;
      said.textContent = is_done ? say("right") : say("wrong_said", text);
      box.append(said);
      if (told?.why) box.append(element("p", {}, told.why));
      else if (is_done && !told) this.recall(step, question, last.value);
    } else box.append(said);
    return box;
  }

  // Restores the feedback to the right answer after the page was opened again.
  async recall(step, question, value) {
    if (!question.sealed) return;
    this.said.set(question.id, await opened(question, value));
    if (this.step === step) this.show(step);
  }

  // --- end of a step

  ending(step, made) {
    const { progress } = this, parts = [];
    const is_active = step === progress.active, is_passed = progress.is_passed(step), all = this.host.data.steps, next = all[all.indexOf(step) + 1];
    if (is_passed || progress.skipped.includes(step.id)) {
      if (is_passed) parts.push(element("span", { class: "exact" }, say(progress.active ? "step_passed" : "all_done")));
      if (next) parts.push(this.button(say("next_step"), () => this.host.show_step(next), "main"));
    } else if (is_active && progress.is_read_only(step)) parts.push(this.button(say("go_on"), () => this.host.go_on(step), "main"));
    else if (is_active && !step.beyond) {
      const { why, is_checked } = progress.judge(step), is_run = progress.evidence(step).runs.some((run) => run.number > progress.evidence(step).since);
      if (step.check && !is_checked && (made.prediction || !step.prediction)) parts.push(step.not_yet ? authored("span", step.not_yet) : element("span", {}, why || say(is_run ? "not_yet" : "no_run_yet")));
    }
    if (!is_passed && made.hints < step.hints.length) parts.push(this.button(say("hint"), () => this.host.hint(step)));
    return element("div", { class: "choices", id: "ending" }, ...parts);
  }
}
