// A student's progress through a lab: the next step, predictions, answers, and the result to hand in. Equivalent to
// features/labs/core/session.py and result_file.py; kept in the browser's storage if the browser allows it.

const RESULT = { kind: "subflow lab result", format: 1 };
const EMPTY_STEP = { passed_at: "", hints: 0, prediction: null, answers: {}, last_run: 0 };

const time_text = () => `${new Date().toISOString().slice(0, 19)}+00:00`;

class Progress {
  constructor(data) {
    this.data = data;
    this.place = `subflow/${data.lab.name}/${data.lab.hash}`;
    this.runs = []; // LabRun
    this.begin();
    try {
      const kept = JSON.parse(localStorage.getItem(this.place));
      // Pages of older versions had the numbers of the book.
      if (kept?.format === RESULT.format) Object.assign(this, Object.keys(kept.progress.steps).length ? { code: "" } : {}, kept.progress);
    } catch {
      this.is_forgotten = true;
    }
  }

  // `code`: of the student's own numbers; null until it is asked for.
  begin() {
    const deal = hex_of(crypto.getRandomValues(new Uint8Array(8)));
    Object.assign(this, { deal, begun_at: time_text(), finished_at: "", steps: {}, skipped: [], kept_runs: [], sweeps: [], state: fresh_state(), student: "", shown: "", code: has_own_numbers(this.data) ? null : "" });
  }

  keep() {
    const { deal, begun_at, finished_at, steps, skipped, kept_runs, sweeps, state, student, shown, code } = this;
    try {
      localStorage.setItem(this.place, JSON.stringify({ format: RESULT.format, progress: { deal, begun_at, finished_at, steps, skipped, kept_runs, sweeps, state, student, shown, code } }));
    } catch {
      this.is_forgotten = true;
    }
  }

  forget() {
    this.runs = [];
    this.begin();
    this.keep();
  }

  // Draws the student's own numbers from a code.
  take_code(code) {
    this.code = code.trim();
    this.student ||= this.code;
    this.keep();
  }

  // --- state

  of(step) { return this.steps[step.id] ?? EMPTY_STEP; }
  is_passed(step) { return Boolean(this.of(step).passed_at); }
  get active() { return this.data.steps.find((step) => !this.is_passed(step) && !this.skipped.includes(step.id)) ?? null; }
  get passed() { return this.data.steps.filter((step) => this.is_passed(step)).length; }
  is_answered(step, question) { return (this.of(step).answers[question.id] ?? []).some((each) => each.is_right); }
  is_read_only(step) { return !step.check && !step.prediction && !step.questions.length; }
  options(step, asked) { return dealt(asked.options, this.deal, this.data.lab.name, step.id, asked.id ?? ""); }
  get last_run() { return this.kept_runs.length; }

  evidence(step) {
    const passed = Object.entries(this.steps).filter(([, made]) => made.last_run);
    return {
      facts: facts_of(this.data, this.state),
      runs: this.runs,
      step_runs: Object.fromEntries(passed.map(([id, made]) => [id, made.last_run])),
      sweep: this.sweeps[this.sweeps.length - 1] ?? null,
      since: this.of(step).prediction?.after_run ?? 0,
    };
  }

  // Judgement of a step: {why, is_done, came}; why is empty if the step shows its own message.
  judge(step) {
    const made = this.of(step), checks = new Checks(this.evidence(step));
    if (step.prediction && !made.prediction) return { why: "", is_done: false, came: null };
    const told = step.check ? checks.check(step.check) : { holds: true, why: "" };
    let came = null, is_done = told.holds, why = told.why;
    if (step.prediction && is_done) {
      try {
        came = came_of(step.prediction, made.prediction.value, checks);
      } catch (error) {
        if (!(error instanceof NotThere)) throw error;
        [is_done, why] = [false, error.message];
      }
    }
    return { why, is_checked: is_done, is_done: is_done && step.questions.every((question) => this.is_answered(step, question)), came };
  }

  // --- changes

  set(step, change) {
    this.steps = { ...this.steps, [step.id]: { ...this.of(step), ...change } };
    if (!this.finished_at && this.data.steps.every((each) => this.is_passed(each))) this.finished_at = time_text();
    this.keep();
  }

  // Passes the step if its conditions hold; returns true if it has been passed by this call.
  take(step) {
    const { is_done, came } = this.judge(step), made = this.of(step);
    if (came && JSON.stringify(made.prediction) !== JSON.stringify({ ...made.prediction, ...came })) this.set(step, { prediction: { ...made.prediction, ...came } });
    if (!is_done || this.is_read_only(step) || this.is_passed(step) || step !== this.active) return false;
    this.set(step, { passed_at: time_text(), last_run: this.last_run });
    return true;
  }

  go_on(step) { this.set(step, { passed_at: time_text() }); }

  skip(step) {
    this.skipped = [...this.skipped, step.id];
    this.keep();
  }

  predict(step, value) {
    this.set(step, { prediction: { value, at: time_text(), after_run: this.last_run, came: null, is_right: null } });
  }

  // Feedback for an answer, {is_right, why}; a wrong answer given before gets its feedback again.
  async answer(step, question, value) {
    const told = question.sealed ? await opened(question, value) : this.open_answer(step, question, value);
    const given = this.of(step).answers[question.id] ?? [];
    if (given.every((each) => each.value !== value)) {
      const answered = { value, is_right: told.is_right, at: time_text(), right: "" };
      this.set(step, { answers: { ...this.of(step).answers, [question.id]: [...given, answered] } });
    }
    return told;
  }

  // Feedback for a question whose right answer depends on the student's own runs.
  open_answer(step, question, value) {
    const right = new Checks(this.evidence(step)).value(question.answer);
    if (is_near(value, right, question.tolerance)) return { is_right: true, why: question.why };
    return { is_right: false, why: question.mistakes.find(([said]) => is_near(value, said, question.tolerance))?.[1] ?? "" };
  }

  add_run(run) {
    this.runs.push(run);
    const { number, state, fork, started_at, signature } = run;
    this.kept_runs = [...this.kept_runs, { number, state, fork, started_at, signature }];
    this.keep();
  }

  result() {
    const { data, deal, begun_at, finished_at } = this, { lab } = data;
    const runs = this.runs.map((run) => ({
      number: run.number,
      name: data.scenarios[run.scenario].title,
      seed: run.seed,
      version: data.version,
      started_at: run.started_at,
      sample_interval_s: data.interval_s,
      fork: run.fork,
      signature: run.signature,
      scenario_hash: hex_of(sha256(utf8(run.text))),
      scenario: run.text,
    }));
    const document = {
      ...RESULT,
      version: data.version,
      student: this.student,
      lab: { name: lab.name, title: lab.title, hash: lab.hash, begun_with: lab.hash },
      own: { code: this.code ?? "", values: own_values(data, this.code ?? "") },
      deal, begun_at, finished_at,
      written_at: time_text(),
      passed: this.passed,
      of: data.steps.length,
      steps: data.steps.map((step) => ({ id: step.id, title: step.title, ...this.of(step) })),
      runs,
      sweeps: this.sweeps,
    };
    return { ...document, signed: { method: lab.course ? "hmac-sha256" : "sha256", digest: digest_of(document, lab.course) } };
  }
}

function came_of(prediction, value, checks) {
  if (prediction.kind === "choice") {
    const came = prediction.options.filter((_, i) => checks.check(prediction.holds[i]).holds);
    if (!came.length) throw new NotThere(say("none_came"));
    return { came: came.join(", "), is_right: came.includes(value) };
  }
  if (prediction.kind === "number") return { came: checks.value(prediction.number), is_right: null };
  const run = checks.counted[checks.counted.length - 1];
  if (!run) throw new NotThere(say("no_run_since"));
  return { came: sketch_gap(value, checks.curve(run.number, prediction.column, prediction.owner)), is_right: null };
}

// HTML feedback for a prediction that did not come true; empty without one in the lab.
function mistake_of(asked, made) {
  if (made.is_right || made.came === null) return "";
  const is_meant = (said) => is_near(made.value, said, 0.1);
  if (asked.kind === "number" && is_meant(made.came)) return "";
  const drawn = new Checks({ runs: [], since: 0, points: made.value });
  const is_said = { choice: (said) => said === made.value, number: is_meant, sketch: (claim) => drawn.check(claim).holds }[asked.kind];
  return asked.mistakes.find(([said]) => is_said(said))?.[1] ?? "";
}

// Mean deviation of a drawn curve from the run's curve.
function sketch_gap(points, { values, interval }) {
  let sum = 0, count = 0;
  values.forEach((value, i) => {
    const time = (i + 1) * interval;
    if (!Number.isFinite(value) || time < points[0][0] - 1e-9 || time > points[points.length - 1][0] + 1e-9) return;
    sum += Math.abs(height_at(points, time) - value);
    count += 1;
  });
  if (!count) throw new NotThere(say("not_known"));
  return sum / count;
}

function height_at(points, time) {
  const next = points.findIndex(([at]) => at >= time);
  if (next < 0) return points[points.length - 1][1];
  if (!next) return points[0][1];
  const [[t0, y0], [t1, y1]] = [points[next - 1], points[next]];
  return y0 + ((y1 - y0) * (time - t0)) / (t1 - t0);
}

// SI value of a number that a person typed: "83", "83 pkt", "2,5 Mbit/s"; null if the text is not a number.
function said_number(said, unit, units) {
  const found = /^\s*([-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[-+]?\d+)?)\s*(\S*)\s*$/i.exec(said);
  const worth = found && (found[2] ? units[found[2]] : (units[unit] ?? 1));
  return worth ? Number(found[1].replace(",", ".")) * worth : null;
}
