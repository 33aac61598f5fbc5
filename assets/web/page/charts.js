// Curves over time on a canvas: one chart per quantity, with a crosshair, means, and events as lines.

const MOST_CURVES = 12; // more are drawn as a band
const DECIDED = ["cwnd_pkts", "ssthresh_pkts", "pacing_rate_bps"]; // quantities that decisions set
// distance in which a click selects an event: an event is an instant, and hardly any pixel matches it
const SNAP_PX = 6;

function hex_mix(hex, amount) {
  const towards = amount >= 0 ? 255 : 0, share = Math.abs(amount);
  const part = (i) => Math.round(parseInt(hex.slice(i, i + 2), 16) * (1 - share) + towards * share);
  return `rgb(${part(1)},${part(3)},${part(5)})`;
}

function nice_step(range, count) {
  const rough = range / count, power = 10 ** Math.floor(Math.log10(rough));
  const part = rough / power;
  return (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10) * power;
}

// Distance of a point from a line segment, in pixels.
function distance([x, y], [x1, y1], [x2, y2]) {
  const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
  const share = length ? Math.min(Math.max(((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length, 0), 1) : 0;
  return Math.hypot(x1 + share * (x2 - x1) - x, y1 + share * (y2 - y1) - y);
}

class Chart {
  // `place`: the element to append to. `spec`: {quantity, unit, curves}; `curves()` returns the same as Run.curves().
  // `host`: chores, duration(), cursor() and event_times() in seconds, on_pick(time, key, chart), on_key(event), and
  // remove_chart(chart) if charts can be removed.
  constructor(place, spec, host) {
    this.spec = spec;
    this.host = host;
    this.figure = element("figure", { class: "chart" });
    this.caption = element("figcaption");
    this.canvas = element("canvas", { tabindex: "0", role: "img" });
    this.readout = element("p", { class: "readout", "aria-live": "off" });
    this.line = element("p", { class: "answer" });
    this.figure.append(this.caption, this.line, this.canvas, this.readout);
    place.append(this.figure);
    this.pointer = null;
    this.still = element("canvas");  // the picture without cursors: cursor movements redraw only the cursors
    this.is_stale = true;
    const point = (time) => {
      this.pointer = time;
      draw_charts(host.chores, [this], false);
    };
    this.canvas.addEventListener("pointermove", (event) => point(this.time_at(place_of(event)[0])));
    this.canvas.addEventListener("pointerleave", () => point(null));
    this.canvas.addEventListener("click", (event) => host.on_pick(this.time_at(place_of(event)[0]), this.nearest(place_of(event)), this));
    this.canvas.addEventListener("keydown", (event) => host.on_key(event));
  }

  time_at(x) {
    const { left, width, end } = this.frame();
    return Math.min(Math.max((x - left) / width, 0), 1) * end;
  }

  // Distance in seconds in which a click selects an event: some pixels, or the sample interval across which a drop is
  // drawn.
  reach_s(run) {
    const { width, end } = this.frame();
    return Math.max((SNAP_PX * end) / width, run.info.interval_ns * 1e-9);
  }

  // Answer to a click: one line that leads to the details. If empty, charts whose curves decisions set show how to get
  // an answer.
  answer(text, go, offers = []) {
    this.answered = text;
    const button = text ? element("button", { type: "button", class: "quiet", title: say("details") }, text) : say("click_why");
    if (text) button.addEventListener("click", go);
    this.line.replaceChildren(...(text || DECIDED.includes(this.spec.quantity) ? [button] : []), ...offers);
  }

  frame() {
    const [width, height] = size_of(this.canvas);
    return { left: 56, width: Math.max(width - 64, 20), top: 6, height: Math.max(height - 26, 20), end: this.host.duration() };
  }

  nearest([x, y]) {
    const curves = this.spec.curves().filter((curve) => curve.key && !curve.is_ghost);
    const { left, width, top, height, end } = this.frame();
    let best = null, least = Infinity;
    for (const { values, interval, key } of curves) {
      const at = (i) => [left + (width * (i + 1) * interval) / end, top + height * (1 - Math.min(values[i], this.most) / this.most)];
      const place = (each) => Math.round(((each - left) / width) * (end / interval)) - 1;
      const last = Math.min(values.length - 1, place(x + SNAP_PX) + 1);
      // A drop is drawn as a steep line: measure the distance to segments, not to samples.
      for (let i = Math.max(0, place(x - SNAP_PX) - 1); i <= last; ++i) {
        if (Number.isNaN(values[i])) continue;
        const far = distance([x, y], at(i), at(i < last && !Number.isNaN(values[i + 1]) ? i + 1 : i));
        if (far < least) [least, best] = [far, key];
      }
    }
    return best;
  }

  // Draws everything, or only the cursors over the kept picture if nothing else has changed.
  draw() {
    const pen = pen_on(this.canvas);
    if (!pen) return;
    const is_as_large = this.still.width === this.canvas.width && this.still.height === this.canvas.height;
    if (this.is_stale || !is_as_large) this.draw_still(pen);
    else pen.drawImage(this.still, 0, 0, ...size_of(this.canvas));
    this.draw_cursor(pen, this.host.cursor(), "--cursor");
    if (this.pointer !== null) this.draw_cursor(pen, this.pointer, "--faint");
  }

  draw_still(pen) {
    this.is_stale = false;
    if (!this.answered) this.answer("");
    const curves = this.spec.curves();
    this.most = this.largest(curves);
    this.draw_axes(pen);
    this.draw_events(pen);
    const own = curves.filter((curve) => !curve.is_ghost);
    if (own.length > MOST_CURVES) this.draw_band(pen, own);
    const told = own.length > MOST_CURVES ? curves.filter((curve) => curve.is_picked) : curves;
    for (const curve of told) this.draw_curve(pen, curve);
    this.told = told;
    this.count = own.length;
    [this.still.width, this.still.height] = [this.canvas.width, this.canvas.height];
    this.still.getContext("2d").drawImage(this.canvas, 0, 0);
  }

  largest(curves) {
    const most = Math.max(0, ...curves.map((curve) => extent_of(curve.values).most));
    return most === 0 ? 1 : most * 1.06;
  }

  draw_axes(pen) {
    const { left, width, top, height, end } = this.frame();
    pen.fillStyle = css("--text");
    pen.strokeStyle = css("--line");
    pen.lineWidth = 1;
    const rows = nice_step(this.most, Math.max(2, height / 40));
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const [factor, unit] = this.scale();
    for (let value = 0; value <= this.most; value += rows) {
      const y = Math.round(top + height * (1 - value / this.most)) + 0.5;
      line(pen, left, y, left + width, y);
      pen.fillText(digits(value / factor), left - 6, y);
    }
    const step = nice_step(end, Math.max(2, width / 90));
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (let time = 0; time <= end * 1.0001; time += step) {
      const x = Math.round(left + (width * time) / end) + 0.5;
      line(pen, x, top + height, x, top + height + 4);
      pen.fillText(digits(time, 6), Math.min(x, left + width - 8), top + height + 6);
    }
    const title = `${name_of(this.spec.quantity)}${unit ? ` (${unit})` : ""}`;
    if (this.caption.firstChild?.textContent !== title) {
      this.caption.replaceChildren(element("span", {}, title));
      if (!this.host.remove_chart) return;
      const remove = element("button", { type: "button", class: "quiet", title: say("remove"), "aria-label": `${say("remove")}: ${title}` });
      remove.textContent = "×";
      remove.addEventListener("click", () => this.host.remove_chart(this));
      this.caption.append(remove);
    }
  }

  // SI units per unit of the axis, and the name of this unit, as the program shows the quantity.
  scale() {
    const { unit, scale } = measure_of(this.spec.quantity);
    return unit || scale !== 1 ? [1 / scale, local(unit)] : [1, this.spec.unit];
  }

  draw_events(pen) {
    const { left, width, top, height, end } = this.frame();
    pen.strokeStyle = css("--event");
    pen.setLineDash([2, 3]);
    for (const time of this.host.event_times()) {
      const x = Math.round(left + (width * time) / end) + 0.5;
      line(pen, x, top, x, top + height);
    }
    pen.setLineDash([]);
  }

  // At most two points per pixel column: minimum and maximum of its samples.
  draw_curve(pen, curve) {
    const { left, width, top, height, end } = this.frame();
    const { values, interval } = curve;
    if (this.is_blot(values)) return this.draw_blot(pen, curve);
    pen.strokeStyle = curve.colour;
    pen.globalAlpha = curve.is_ghost ? 0.55 : 1;
    pen.lineWidth = curve.is_picked ? 2.6 : 1.6;
    pen.setLineDash(curve.is_ghost ? [5, 4] : curve.dash);
    pen.beginPath();
    const per_column = Math.max(1, Math.floor(values.length / width));
    let is_down = false;
    const to = (i, value) => {
      const x = left + (width * (i + 1) * interval) / end, y = top + height * (1 - Math.min(value, this.most) / this.most);
      if (is_down) pen.lineTo(x, y);
      else pen.moveTo(x, y);
      is_down = true;
    };
    for (let i = 0; i < values.length; i += per_column) {
      let low = Infinity, high = -Infinity, last = NaN;
      for (let k = i; k < Math.min(i + per_column, values.length); ++k) {
        const value = values[k];
        if (Number.isNaN(value)) continue;
        if (value < low) low = value;
        if (value > high) high = value;
        last = value;
      }
      if (Number.isNaN(last)) is_down = false;
      else if (per_column === 1) to(i, last);
      else {
        to(i, low);
        to(i, high);
      }
    }
    pen.stroke();
    pen.globalAlpha = 1;
    pen.setLineDash([]);
  }

  // True if the line of a curve would fill more than half of the area that it crosses.
  is_blot(values) {
    const { width, height } = this.frame(), { least, most, way } = extent_of(values);
    const unit = height / this.most;
    return way * unit * 1.6 > 0.5 * width * (most - least) * unit && way * unit > 10 * width;
  }

  // Draws a line of means over the range from minimum to maximum of each interval.
  draw_blot(pen, curve) {
    const { left, width, top, height, end } = this.frame(), { values, interval } = curve;
    const count = Math.max(1, Math.ceil((6 * end) / (width * interval))), pieces = [[]];
    for (let i = 0; i < values.length; i += count) {
      const { least, most, mean } = extent_of(values.subarray(i, i + count));
      if (Number.isNaN(mean)) pieces.push([]);
      else pieces.at(-1).push([left + (width * (i + (Math.min(count, values.length - i) + 1) / 2) * interval) / end, least, mean, most]);
    }
    const y = (value) => top + height * (1 - Math.min(value, this.most) / this.most);
    pen.fillStyle = pen.strokeStyle = curve.colour;
    pen.globalAlpha = 0.2;
    for (const parts of pieces) {
      pen.beginPath();
      for (const [x, , , most] of parts) pen.lineTo(x, y(most));
      for (const [x, least] of [...parts].reverse()) pen.lineTo(x, y(least));
      pen.fill();
    }
    pen.globalAlpha = curve.is_ghost ? 0.55 : 1;
    pen.lineWidth = curve.is_picked ? 2.6 : 1.6;
    pen.setLineDash(curve.is_ghost ? [5, 4] : curve.dash);
    for (const parts of pieces) {
      pen.beginPath();
      for (const [x, , mean] of parts) pen.lineTo(x, y(mean));
      pen.stroke();
    }
    pen.globalAlpha = 1;
    pen.setLineDash([]);
  }

  draw_band(pen, curves) {
    const { left, width, top, height, end } = this.frame();
    const interval = curves[0].interval, count = Math.max(...curves.map((curve) => curve.values.length));
    const step = Math.max(1, Math.floor(count / width)), pieces = [[]], column = new Float32Array(curves.length);
    for (let i = 0; i < count; i += step) {
      let n = 0;
      for (const { values } of curves) if (values[i] === values[i] && i < values.length) column[n++] = values[i];
      const there = column.subarray(0, n).sort();
      if (n) pieces.at(-1).push([i, there[0], there[there.length >> 1], there[there.length - 1]]);
      else pieces.push([]);
    }
    const x = (i) => left + (width * (i + 1) * interval) / end, y = (value) => top + height * (1 - Math.min(value, this.most) / this.most);
    pen.fillStyle = css("--band");
    pen.strokeStyle = css("--text");
    pen.lineWidth = 1.6;
    for (const rows of pieces) {
      pen.beginPath();
      rows.forEach(([i, , , high]) => pen.lineTo(x(i), y(high)));
      [...rows].reverse().forEach(([i, low]) => pen.lineTo(x(i), y(low)));
      pen.closePath();
      pen.fill();
      pen.beginPath();
      rows.forEach(([i, , middle]) => pen.lineTo(x(i), y(middle)));
      pen.stroke();
    }
  }

  draw_cursor(pen, time, colour) {
    const { left, width, top, height, end } = this.frame();
    pen.strokeStyle = css(colour);
    pen.lineWidth = 1;
    const x = Math.round(left + (width * time) / end) + 0.5;
    line(pen, x, top, x, top + height);
  }

  // Value of the state at the cursor, or else the last sample up to the time.
  value_of(curve, time) {
    const state = this.pointer === null ? this.host.state_of?.(curve) : undefined;
    return state ?? curve.values[Math.min(curve.values.length, Math.floor(time / curve.interval + 1e-6)) - 1];
  }

  // Writes the legend with the values at the crosshair, or else at the cursor, and the mean of each curve over the
  // measured interval.
  tell() {
    if (!this.told) return;
    const time = this.pointer ?? this.host.cursor();
    const parts = [];
    if (this.count > MOST_CURVES) parts.push(element("span", { class: "key" }, say("band", this.count)));
    for (const curve of this.told) {
      const swatch = swatch_of(curve.colour, curve.is_ghost ? "ghost" : style_of(curve.dash));
      const text = (value) => measure_text(this.spec.quantity, value);
      const { results, info } = curve.run;
      const mean = results ? ` (${say("mean", digits(results.measured_from_s, 4), digits(info.duration_s, 4), text(curve.mean))})` : "";
      parts.push(element("span", { class: "key", title: say("mean_is") }, swatch, `${curve.label} ${text(this.value_of(curve, time))}${mean}`));
    }
    this.readout.replaceChildren(element("b", {}, seconds(time)), ...parts);
    this.canvas.setAttribute("aria-label", `${name_of(this.spec.quantity)}: ${[...this.readout.children].map((each) => each.textContent).join("; ")}`);
  }
}

const extents = new WeakMap(); // by the values

// Minimum, maximum, mean, and total length of all rises and falls. Ignores values of a threshold that was never set:
// they are as large as can be and would flatten every other curve.
function extent_of(values) {
  let known = extents.get(values);
  if (known) return known;
  let least = Infinity, most = 0, sum = 0, count = 0, way = 0, last = NaN;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    sum += value;
    ++count;
    if (value >= 1e15) continue;
    if (value > most) most = value;
    if (value < least) least = value;
    if (!Number.isNaN(last)) way += Math.abs(value - last);
    last = value;
  }
  known = { least, most, way, mean: count ? sum / count : NaN };
  extents.set(values, known);
  return known;
}

// Draws a chart with its legend at once.
function draw_now(chart) {
  chart.is_stale = true;
  chart.draw();
  chart.tell();
}

// Draws charts in the next animation frames. Legends follow after all canvases, because written text makes the browser
// compute sizes anew.
function draw_charts(chores, charts, is_whole) {
  for (const chart of charts) {
    chart.is_stale ||= is_whole;
    chores.want(chart, () => chart.draw());
  }
  for (const chart of charts) chores.want(chart.readout, () => chart.tell());
}
