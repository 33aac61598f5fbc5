// A prediction drawn as a curve before the run: by the pointer, by arrow keys, or typed as points.

const SKETCH_COLUMNS = 121, SKETCH_KEY_STEPS = 20;

class Sketch {
  // Calls `on_change` with the drawn points, each [s, SI value].
  constructor(prediction, units, duration, on_change) {
    this.prediction = prediction;
    this.worth = units[prediction.unit] ?? 1;
    this.until = prediction.until_s ?? duration;
    this.top = prediction.top ?? 100 * this.worth;
    this.heights = new Float64Array(SKETCH_COLUMNS).fill(NaN);
    this.pen = 0;
    this.last = null;
    this.came = null;
    this.on_change = on_change;
    this.canvas = element("canvas", { class: "sketch", tabindex: "0", role: "application", "aria-label": say("sketch_help") });
    this.canvas.addEventListener("pointerdown", (event) => this.on_down(event));
    this.canvas.addEventListener("pointermove", (event) => event.buttons & 1 && !this.is_closed && this.draw_to(event));
    this.canvas.addEventListener("keydown", (event) => this.on_key(event));
    addEventListener("resize", () => this.draw());
  }

  get points() {
    const found = [];
    this.heights.forEach((height, i) => Number.isNaN(height) || found.push([this.time_of(i), height]));
    return found;
  }

  time_of(column) { return (column * this.until) / (SKETCH_COLUMNS - 1); }

  // Reads a text such as "0:1, 20:80", seconds and values in the unit of the curve. Returns false if it is malformed.
  take_text(text) {
    const points = text.split(",").map((part) => /^\s*([\d.]+)\s*s?\s*:\s*([\d.]+)\s*$/.exec(part)).map((found) => found && [Number(found[1]), Number(found[2]) * this.worth]);
    if (points.length < 2 || points.includes(null) || points.some(([at], i) => i && at <= points[i - 1][0])) return false;
    this.heights.forEach((_, i) => {
      const time = this.time_of(i), is_within = time >= points[0][0] - 1e-9 && time <= points[points.length - 1][0] + 1e-9;
      this.heights[i] = is_within ? Math.min(height_at(points, time), this.top) : NaN;
    });
    this.changed();
    return true;
  }

  take_points(points) {
    this.take_text(points.map(([at, height]) => `${at}:${height / this.worth}`).join(","));
  }

  changed() {
    this.draw();
    this.on_change(this.points);
  }

  on_down(event) {
    if (this.is_closed) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.last = null;
    this.draw_to(event);
  }

  draw_to(event) {
    const { left, top, width, height } = this.area();
    const share = (value) => Math.min(Math.max(value, 0), 1);
    const [x, y] = place_of(event);
    const column = Math.round(share((x - left) / width) * (SKETCH_COLUMNS - 1)), drawn = share(1 - (y - top) / height) * this.top;
    const before = this.last ?? column, from = this.heights[before];
    // A quick stroke skips columns: interpolate between the last column and this one.
    const step = Math.sign(column - before);
    for (let i = before + step; step && i !== column; i += step) this.heights[i] = from + ((drawn - from) * (i - before)) / (column - before);
    this.heights[column] = drawn;
    this.last = this.pen = column;
    this.changed();
  }

  on_key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (this.is_closed) return;
    if (event.key === "Delete" || event.key === "Backspace") {
      this.heights.fill(NaN);
      this.pen = 0;
    } else if (moves[event.key]) {
      const [across, up] = moves[event.key], before = this.heights[this.pen] || 0;
      this.pen = Math.min(SKETCH_COLUMNS - 1, Math.max(0, this.pen + across));
      if (up || Number.isNaN(this.heights[this.pen])) this.heights[this.pen] = Math.min(this.top, Math.max(0, before + (up * this.top) / SKETCH_KEY_STEPS));
    } else return;
    event.preventDefault();
    this.changed();
  }

  area() {
    const [width, height] = size_of(this.canvas);
    return { left: 48, top: 8, width: Math.max(width - 58, 20), height: Math.max(height - 32, 20) };
  }

  // `came`: {values, interval} of the run.
  show(came) {
    this.came = came;
    if (came) this.top = Math.max(this.top, ...came.values.filter((value, i) => Number.isFinite(value) && (i + 1) * came.interval <= this.until)) * 1.02;
    this.draw();
  }

  draw() {
    const { canvas } = this, pen = pen_on(canvas);
    if (!pen) return;
    const { left, top, width, height } = this.area();
    const x = (time) => left + (width * time) / this.until, y = (value) => top + height * (1 - Math.min(value, this.top) / this.top);
    pen.fillStyle = css("--text");
    pen.strokeStyle = css("--line");
    pen.lineWidth = 1;
    const shown = this.top / this.worth, rows = nice_step(shown, Math.max(2, height / 40));
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (let value = 0; value <= shown * 1.0001; value += rows) {
      line(pen, left, y(value * this.worth), left + width, y(value * this.worth));
      pen.fillText(digits(value, 4), left - 6, y(value * this.worth));
    }
    pen.textAlign = "left";
    pen.fillText(this.prediction.unit, left + 4, top + 6);
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (let time = 0, step = nice_step(this.until, Math.max(2, width / 90)); time <= this.until * 1.0001; time += step) pen.fillText(`${digits(time, 4)} s`, Math.min(x(time), left + width - 12), top + height + 6);
    const stroke = (points, colour, dash) => {
      pen.strokeStyle = colour;
      pen.lineWidth = 2.2;
      pen.setLineDash(dash);
      pen.beginPath();
      points.forEach(([time, value], i) => (i ? pen.lineTo(x(time), y(value)) : pen.moveTo(x(time), y(value))));
      pen.stroke();
      pen.setLineDash([]);
    };
    if (this.came) {
      const points = [];
      this.came.values.forEach((value, i) => Number.isFinite(value) && (i + 1) * this.came.interval <= this.until && points.push([(i + 1) * this.came.interval, value]));
      stroke(points, css("--good"), []);
    }
    stroke(this.points, css("--accent"), this.came ? [6, 4] : []);
    if (document.activeElement === canvas && !this.is_closed) line(pen, x(this.time_of(this.pen)), top, x(this.time_of(this.pen)), top + height);
  }
}
