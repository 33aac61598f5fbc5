// A sweep: its figures over a parameter with 95 % confidence intervals, and a choice of points whose runs are shown.

class Sweep {
  // `data.sweep`: as features/exporting/core/sweep_page.py writes it. `host`: list(numbers of runs).
  constructor(place, data, host) {
    this.sweep = data.sweep;
    this.host = host;
    this.chosen = 0;
    this.over = null;
    this.place = place;
    place.hidden = false;
    this.heading = element("h2");
    this.figure = element("select");
    this.canvas = element("canvas", { class: "sweep", tabindex: "0", role: "img" });
    this.readout = element("p", { class: "readout", role: "status" });
    this.keys = element("p", { class: "readout" });
    this.point = element("select");
    this.beneath = element("select");
    this.labels = ["figure", "point", "over"].map(() => element("span"));
    this.help = element("p", { class: "faint" });
    const label = (i, select) => element("label", {}, this.labels[i], " ", select);
    place.append(this.heading, element("div", { class: "choices" }, label(0, this.figure)), this.canvas, this.keys, this.readout, element("div", { class: "choices" }, label(1, this.point), label(2, this.beneath)), this.help);
    this.figure.append(...this.sweep.figures.map((figure, i) => element("option", { value: i }, figure.title)));
    this.figure.addEventListener("change", () => this.draw());
    this.point.addEventListener("change", () => this.choose(Number(this.point.value), this.over));
    this.beneath.addEventListener("change", () => this.choose(this.chosen, this.beneath.value === "" ? null : Number(this.beneath.value)));
    this.canvas.addEventListener("click", (event) => this.pick(event));
    this.canvas.addEventListener("pointermove", (event) => this.tell(this.nearest(event)));
    this.canvas.addEventListener("pointerleave", () => this.tell(null));
    this.canvas.addEventListener("keydown", (event) => this.on_key(event));
    this.write();
  }

  // Chooses the point shown at first: that of the given run, or the first point of the first line.
  first(number) {
    const start = this.marks()[0]?.point ?? 0;
    this.chosen = number === null ? start : Math.max(0, this.sweep.points.findIndex((point) => point.run === number));
    this.draw();
    return { runs: [this.sweep.points[this.chosen].run], at: null };
  }

  choose(point, over) {
    if (over === point) over = null;
    Object.assign(this, { chosen: point, over });
    this.draw();
    this.host.list([point, over].filter((each) => each !== null).map((each) => this.sweep.points[each].run));
  }

  shown() { return this.sweep.figures[Number(this.figure.value) || 0]; }

  marks() {
    return this.shown().lines.flatMap((line, rank) => line.points.map((point) => ({ ...point, rank })));
  }

  write() {
    this.heading.textContent = say("sweep");
    ["figure", "point", "over"].forEach((key, i) => (this.labels[i].textContent = say(key)));
    this.help.textContent = [this.shown().note, say("sweep_help")].filter(Boolean).join(" ");
    const options = () => this.sweep.points.map((point, i) => element("option", { value: i }, point.label));
    this.point.replaceChildren(...options());
    this.beneath.replaceChildren(element("option", { value: "" }, say("nothing")), ...options());
    this.point.value = String(this.chosen);
    this.beneath.value = this.over === null ? "" : String(this.over);
  }

  // Positions of marks and ranges of the axes.
  frame() {
    const { x, lines, least } = { ...this.sweep, ...this.shown() }, marks = this.marks();
    const [width, height] = size_of(this.canvas);
    const along = x.is_log ? Math.log10 : (value) => value;
    const ends = marks.map((mark) => along(mark.x)), aside = x.names ? 0.5 : 0;
    let left = Math.min(...ends) - aside, right = Math.max(...ends) + aside;
    if (!(right > left)) [left, right] = [left - 0.5, right + 0.5];
    const margin = x.names ? 0 : 0.03 * (right - left);
    left -= margin;
    right += margin;
    let low = Math.min(...marks.map((mark) => mark.low)), high = Math.max(...marks.map((mark) => mark.y + (mark.half ?? 0)));
    const missing = Math.max(0, (least || 1e-9) - (high - low));
    low -= missing / 2;
    high += missing / 2;
    if (low > 0 && low < 0.4 * high) low = 0;
    high += 0.05 * (high - low);
    const room = { left: 64, right: width - 14, top: 10, bottom: height - 42 };
    return {
      ...room, width, height, lines, low, high, first: left, last: right, x_axis: x,
      at_x: (value) => room.left + ((along(value) - left) / (right - left)) * (room.right - room.left),
      at_y: (value) => room.bottom - ((value - low) / (high - low)) * (room.bottom - room.top),
    };
  }

  draw() {
    this.write();
    const pen = pen_on(this.canvas);
    if (!pen || !this.marks().length) return;
    const frame = this.frame();
    this.draw_axes(pen, frame);
    frame.lines.forEach((line, rank) => this.draw_line(pen, frame, line, rank));
    const swatch = (line, rank) => {
      const made = swatch_of(line.colour[is_dark() ? 1 : 0], style_of(DASHES[rank % DASHES.length]));
      return element("span", { class: "key" }, made, line.label);
    };
    this.keys.replaceChildren(...(frame.lines.length > 1 ? frame.lines.map(swatch) : []));
    this.tell(null);
  }

  draw_axes(pen, frame) {
    const { left, right, top, bottom, low, high, at_x, at_y, x_axis } = frame;
    pen.fillStyle = css("--text");
    pen.strokeStyle = css("--line");
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const step = nice_step(high - low, Math.max(2, (bottom - top) / 40));
    for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
      line(pen, left, at_y(value), right, at_y(value));
      pen.fillText(digits(value, 4), left - 6, at_y(value));
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    let free = -Infinity;  // left end of the space for the next label
    const values = [...new Set(x_axis.names ? x_axis.names.map((_, i) => i) : this.marks().map((mark) => mark.x))].sort((a, b) => a - b);
    for (const value of values) {
      const text = x_axis.names ? x_axis.names[value] : digits(value, 4), x = at_x(value), half = pen.measureText(text).width / 2;
      line(pen, x, bottom, x, bottom + 4);
      if (x - half < free) continue;
      pen.fillText(text, Math.min(Math.max(x, half), frame.width - half), bottom + 6);
      free = x + half + 8;
    }
    pen.fillText(x_axis.title, (left + right) / 2, bottom + 24);
  }

  draw_line(pen, { at_x, at_y, x_axis }, { colour, points }, rank) {
    pen.strokeStyle = pen.fillStyle = colour[is_dark() ? 1 : 0];
    pen.lineWidth = 1.6;
    pen.setLineDash(DASHES[rank % DASHES.length]);
    if (!x_axis.names) {
      pen.beginPath();
      points.forEach((mark) => pen.lineTo(at_x(mark.x), at_y(mark.y)));
      pen.stroke();
    }
    pen.setLineDash([]);
    for (const mark of points) {
      const x = at_x(mark.x), y = at_y(mark.y);
      if (mark.half) {
        const [low, high] = [at_y(mark.low), at_y(mark.y + mark.half)];
        line(pen, x, low, x, high);
        for (const end of [low, high]) line(pen, x - 5, end, x + 5, end);
      }
      pen.beginPath();
      pen.arc(x, y, 4, 0, 2 * Math.PI);
      pen.fill();
      if (mark.point !== this.chosen && mark.point !== this.over) continue;
      pen.setLineDash(mark.point === this.over ? [3, 3] : []);
      pen.beginPath();
      pen.arc(x, y, 9, 0, 2 * Math.PI);
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  nearest(event) {
    const [x, y] = place_of(event);
    const { at_x, at_y } = this.frame();
    let best = null, least = 40;
    for (const mark of this.marks()) {
      const far = Math.hypot(at_x(mark.x) - x, at_y(mark.y) - y);
      if (far < least) [least, best] = [far, mark];
    }
    return best;
  }

  pick(event) {
    const mark = this.nearest(event);
    if (mark) this.choose(event.shiftKey ? this.chosen : mark.point, event.shiftKey ? mark.point : this.over);
  }

  // Moves the choice along a line, or to the nearest point of the neighbouring line.
  on_key(event) {
    const marks = this.marks(), now = marks.find((mark) => mark.point === this.chosen) ?? marks[0];
    const own = marks.filter((mark) => mark.rank === now.rank), ranks = this.shown().lines.length;
    const along = { ArrowLeft: -1, ArrowRight: 1 }[event.key], across = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    let next = null;
    if (along) next = own[own.indexOf(now) + along];
    else if (across) {
      const others = marks.filter((mark) => mark.rank === (now.rank + across + ranks) % ranks);
      next = others.sort((a, b) => Math.abs(a.x - now.x) - Math.abs(b.x - now.x))[0];
    } else return;
    event.preventDefault();
    event.stopPropagation();
    if (next) this.choose(next.point, this.over);
  }

  tell(mark) {
    const shown = mark ?? this.marks().find((each) => each.point === this.chosen);
    this.readout.textContent = shown?.text ?? this.sweep.points[this.chosen].label;
    this.canvas.setAttribute("aria-label", `${this.shown().title}: ${this.readout.textContent}`);
  }
}
