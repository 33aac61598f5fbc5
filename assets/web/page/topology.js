// The network at the cursor: nodes, links with their load, queues, and packets at their positions.

const ACK = 1; // PacketKind
const NODE_RADIUS = 16, QUEUE_LENGTH = 24; // px, of a node, and at least of a full queue
const MOST_READ = 24;  // nodes, and links, in the description of a network

// Key of the two nodes of a link, the same for both directions.
function pair_of({ ends }) {
  return [...ends].sort().join("\n");
}

// Number of links between each pair of nodes.
function counts_of_pairs(links) {
  const counts = new Map();
  for (const link of links) counts.set(pair_of(link), (counts.get(pair_of(link)) ?? 0) + 1);
  return counts;
}

// Rate and delay of a link direction.
function values_in({ rate, delay }) {
  return [Number.isFinite(rate) ? quantity(rate, "bit/s") : say("unlimited"), quantity(delay, "s")];
}

// The first texts of a list that may be too long to be read aloud.
function listed(texts, between) {
  const rest = texts.length - MOST_READ;
  return [...texts.slice(0, MOST_READ), ...(rest > 0 ? [say("more_events", rest)] : [])].join(between);
}

class Topology {
  constructor(place, host) {
    this.host = host;
    this.canvas = element("canvas", { class: "topology", role: "img" });
    this.list = element("p", { class: "readout" });
    place.append(this.canvas, this.list);
    this.moment = null;
  }

  show(moment) {
    this.moment = moment;
    this.host.chores.want(this, () => this.draw());
  }

  draw() {
    const info = this.host.info();
    this.canvas.classList.toggle("flat", this.is_flat(info));
    const pen = pen_on(this.canvas), [width, height] = size_of(this.canvas);
    if (!pen) return;
    const at = this.positions(info, width, height);
    const lanes = this.lanes(info, at, Math.min(width, height));
    this.links = this.host.links();
    const most = Math.max(1e6, ...this.links.map((link) => (Number.isFinite(link.rate) ? link.rate : 0)));
    lanes.forEach((lane, index) => this.draw_lane(pen, lane, index, most));
    if (this.moment) this.draw_packets(pen, lanes);
    this.named = [];  // boxes of drawn labels: in a crowd, labels that would hide others are left out
    info.links.forEach((link, k) => this.draw_label(pen, lanes[2 * k], link, width));
    const downwards = new Map();  // how far the links of a node lead down, in all
    for (const { ends } of info.links)
      for (const [from, to] of [ends, [...ends].reverse()]) downwards.set(from, (downwards.get(from) ?? 0) + at.get(to)[1] - at.get(from)[1]);
    for (const node of info.nodes) this.draw_node(pen, node, at.get(node.name), width, downwards.get(node.name) > 24);
    this.tell(info);
  }

  // A row of nodes with few parallel links needs little height.
  is_flat({ nodes, links }) {
    return nodes.every((node) => node.at[1] === nodes[0].at[1]) && Math.max(...counts_of_pairs(links).values()) <= 3;
  }

  positions(info, width, height) {
    const xs = info.nodes.map((node) => node.at[0]), ys = info.nodes.map((node) => node.at[1]);
    const left = Math.min(...xs), top = Math.min(...ys);
    const wide = Math.max(...xs) - left || 1, high = Math.max(...ys) - top || 1;
    const margin_x = Math.min(90, width / 6), margin_y = 44;
    const is_flat = Math.max(...ys) === top, is_thin = Math.max(...xs) === left;
    const place = ({ at: [x, y] }) => [
      is_thin ? width / 2 : margin_x + ((x - left) / wide) * (width - 2 * margin_x),
      is_flat ? height / 2 : margin_y + ((y - top) / high) * (height - 2 * margin_y),
    ];
    return new Map(info.nodes.map((node) => [node.name, place(node)]));
  }

  // Lanes for both directions of each link, side by side. Links between the same two nodes bend apart, if the space
  // suffices; in little space their names are spread along the line.
  lanes(info, at, room) {
    const beside = counts_of_pairs(info.links), used = new Map(), lanes = [];
    for (const link of info.links) {
      const [from, to] = link.ends.map((end) => at.get(end));
      const pair = pair_of(link), count = beside.get(pair), rank = used.get(pair) ?? 0;
      used.set(pair, rank + 1);
      const turn = link.ends[0] <= link.ends[1] ? 1 : -1;
      const apart = Math.min(64, (room - 60) / Math.max(1, count - 1)), bend = turn * (rank - (count - 1) / 2) * apart;
      const name_at = apart < 40 ? 0.2 + (0.6 * rank) / (count - 1) : 0.5;
      lanes.push({ from, to, bend, side: 4, name_at, is_tight: apart < 40 }, { from: to, to: from, bend: -bend, side: 4 });
    }
    return lanes;
  }

  point(lane, share) {
    const [x1, y1] = lane.from, [x2, y2] = lane.to;
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const nx = -(y2 - y1) / length, ny = (x2 - x1) / length;
    const out = lane.side + lane.bend * 4 * share * (1 - share);
    return [x1 + (x2 - x1) * share + nx * out, y1 + (y2 - y1) * share + ny * out];
  }

  draw_lane(pen, lane, index, most) {
    const spec = this.links[index], state = this.moment?.state;
    const rate = Number.isFinite(spec.rate) ? spec.rate : most;
    const is_up = !state || state.is_up[index];
    const limit = spec.queue, queued = state ? state.queue_pkts[index] : 0;
    const fill = limit ? Math.min(1, queued / limit) : Math.min(1, queued / 200);
    pen.lineWidth = 1.5 + 4 * Math.sqrt(Math.min(1, rate / most));
    pen.strokeStyle = css(is_up ? "--wire" : "--down");
    pen.setLineDash(is_up ? [] : [3, 5]);
    pen.beginPath();
    for (let i = 0; i <= 16; ++i) {
      const [x, y] = this.point(lane, i / 16);
      if (i) pen.lineTo(x, y);
      else pen.moveTo(x, y);
    }
    pen.stroke();
    pen.setLineDash([]);
    if (!state || queued < 1) return;
    // A bar on the line shows the queue before it: its length is the share of the queue that is full. It lies on its own
    // line, because lines of other links may be near on both sides, and begins beyond the node.
    const length = Math.hypot(lane.to[0] - lane.from[0], lane.to[1] - lane.from[1]) || 1;
    const begin = Math.max(0.1, NODE_RADIUS / length), most_of_lane = Math.max(0.16, QUEUE_LENGTH / length);
    const steps = Math.max(1, Math.round(fill * 8));
    pen.strokeStyle = css("--full");
    pen.lineWidth = 7;
    pen.beginPath();
    for (let i = 0; i <= steps; ++i) {
      const [x, y] = this.point(lane, begin + (most_of_lane * i) / 8);
      if (i) pen.lineTo(x, y);
      else pen.moveTo(x, y);
    }
    pen.stroke();
  }

  draw_packets(pen, lanes) {
    const { link, subflow, kind, progress, position } = this.moment.packets;
    const every = Math.ceil(link.length / 4000);
    for (let i = 0; i < link.length; i += every) {
      if (position[i] >= 0) continue;
      const [x, y] = this.point(lanes[link[i]], progress[i]);
      const is_ack = kind[i] === ACK;
      pen.fillStyle = this.host.subflow_colour(subflow[i]);
      pen.globalAlpha = is_ack ? 0.5 : 1;
      pen.beginPath();
      pen.arc(x, y, is_ack ? 1.6 : 3, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  draw_label(pen, lane, link, width) {
    const [x, y] = this.point({ ...lane, side: 0 }, lane.name_at);
    if (lane.is_tight && this.named.some((box) => Math.abs(box.x - x) < 48 && Math.abs(box.y - y) < 16)) return;
    const index = this.host.info().links.indexOf(link), spec = this.links[2 * index];
    const parts = [link.name];
    if (width > 560 && !lane.is_tight) parts.push(values_in(spec).join(" · "));
    // A label without space between its nodes moves above them.
    const gap = Math.abs(lane.to[0] - lane.from[0]) - 32, is_above = !lane.bend && Math.abs(lane.to[1] - lane.from[1]) < 24 && parts.some((text) => pen.measureText(text).width > gap);
    const middle = is_above ? y - 16 - 8 * parts.length : y;
    parts.forEach((text, i) => this.write(pen, text, x, middle + (i - (parts.length - 1) / 2) * 16));
  }

  // Writes with a background, because lines and packets may lie below.
  write(pen, text, x, y) {
    const half = pen.measureText(text).width / 2 + 4;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = css("--back");
    pen.globalAlpha = 0.82;
    pen.fillRect(x - half, y - 8, 2 * half, 16);
    pen.globalAlpha = 1;
    pen.fillStyle = css("--text");
    pen.fillText(text, x, y);
    this.named.push({ x, y, half });
  }

  // True if a text would hide a label.
  is_taken(pen, text, x, y) {
    const half = pen.measureText(text).width / 2;
    return this.named.some((box) => Math.abs(box.x - x) < box.half + half && Math.abs(box.y - y) < 16);
  }

  draw_node(pen, node, [x, y], width, is_above) {
    pen.fillStyle = css("--node");
    pen.strokeStyle = css("--text");
    pen.lineWidth = 1.5;
    pen.beginPath();
    if (node.kind === "router") pen.arc(x, y, 12, 0, 2 * Math.PI);
    else pen.rect(x - 13, y - 10, 26, 20);
    pen.fill();
    pen.stroke();
    // The name is on the side without links, or on the other where it would hide a link's name.
    const half = pen.measureText(node.name).width / 2 + 4, middle = Math.min(Math.max(x, half), width - half);
    const [liked, other] = is_above ? [y - 22, y + 22] : [y + 22, y - 22];
    const is_free = !this.is_taken(pen, node.name, middle, liked) || this.is_taken(pen, node.name, middle, other);
    this.write(pen, node.name, middle, is_free ? liked : other);
  }

  // Describes the picture in words for screen readers: nodes, links with their values, and full queues.
  tell(info) {
    const state = this.moment?.state;
    if (!state) return;
    const full = info.links
      .flatMap((link, k) => [0, 1].map((side) => [`${link.name}${side ? " ←" : " →"}`, state.queue_pkts[2 * k + side]]))
      .filter(([, queued]) => queued > 0)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 6)
      .map(([name, queued]) => `${name} ${queued}`);
    this.list.textContent = `${seconds(state.now_s)} · ${say("queue")}: ${full.join(", ") || "0"}`;
    const nodes = info.nodes.map(({ name, kind }) => (kind === "router" ? `${name} (${say("router")})` : name));
    const links = info.links.map(({ name, ends }, k) => {
      const is_up = state.is_up[2 * k] || state.is_up[2 * k + 1];
      return `${name}: ${ends.join(" – ")}, ${is_up ? values_in(this.links[2 * k]).join(", ") : say("is_down")}`;
    });
    const parts = [say("topology"), seconds(state.now_s), `${say("nodes")}: ${listed(nodes, ", ")}`, `${say("links")}: ${listed(links, "; ")}`, `${say("queues")}: ${full.join(", ") || "0"}`];
    this.canvas.setAttribute("aria-label", `${parts.join(". ")}.`);
  }
}
