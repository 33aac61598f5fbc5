// Tables of a run's figures and events.

const MOST_ROWS = 100;  // of one table in the document: the layout of ten thousand rows takes a second

function table_of(caption, heads, rows, name = caption || heads.join(", ")) {
  return scrolling("scroll", name, element("table", {}, caption && element("caption", {}, caption), element("thead", {}, row("th", ...heads)), element("tbody", {}, ...rows)));
}

// A table with some of its rows in the document, and controls that lead to the others.
function long_table(caption, heads, count, row_at, name = caption) {
  const made = table_of(caption, heads, [], name), body = made.querySelector("tbody");
  const first = element("input", { type: "number", min: 1, max: count, "aria-label": say("first_row") }), told = element("span");
  const show = (from) => {
    const begin = Math.min(Math.max(from, 0), count - 1), end = Math.min(begin + MOST_ROWS, count);
    body.replaceChildren(...Array.from({ length: end - begin }, (_, i) => row_at(begin + i)));
    made.scrollTop = 0;
    first.value = begin + 1;
    told.textContent = `– ${end} / ${count}`;
    before.disabled = begin === 0;
    after.disabled = end === count;
  };
  const [before, after] = [["before_chapter", "←", -MOST_ROWS], ["next_chapter", "→", MOST_ROWS]].map(([name, sign, step]) => {
    const button = element("button", { type: "button", "aria-label": say(name) }, sign);
    button.addEventListener("click", () => show(Number(first.value) - 1 + step));
    return button;
  });
  first.addEventListener("change", () => show(Math.floor(Number(first.value)) - 1));
  show(0);
  return count > MOST_ROWS ? element("div", {}, made, element("div", { class: "choices" }, before, first, told, after)) : made;
}

// Rows of values with the names of their measures as head.
function measured_table(caption, first, keys, parts, name_at) {
  const heads = [...first.map((key) => say(key)), ...keys.map(measure_head)];
  return long_table(caption, heads, parts.length, (i) => with_head(...name_at(i), ...keys.map((key) => measure_text(key, parts[i][key], false))));
}

function flow_table({ info, results: { flows } }) {
  const keys = [...headline_keys(flows), "mean_rtt_s", "p95_rtt_s", "loss_ratio", "retransmits"];
  return measured_table(say("flow"), ["flow", "controller"], keys, flows, (i) => [flows[i].name, info.flows[i].controller]);
}

function subflow_table(run) {
  const keys = ["throughput_bps", "goodput_bps", "active_mean_cwnd_pkts", "mean_rtt_s", "loss_ratio"];
  return measured_table(say("subflow"), ["subflow"], keys, run.results.subflows, (i) => [run.label_of("subflow", i)]);
}

function link_table(run) {
  const dropped = (link) => link.drops_queue + link.drops_random + link.drops_down + link.drops_scripted;
  const links = run.results.links.map((link) => ({ ...link, drops: dropped(link) }));
  return measured_table(say("link"), ["link"], ["utilisation", "drops", "mean_queue_pkts", "max_queue_pkts"], links, (i) => [run.label_of("link", i)]);
}

// A table of a run's events; a click on an event calls `go` with its time and the key of its owner.
function event_table(run, go) {
  const heads = ["time", "event", "owner", "value"].map((key) => say(key));
  const row_at = (number) => {
    const [time, kind, owner, value] = run.mark(number);
    const button = element("button", { type: "button", class: "quiet" }, seconds(time));
    button.addEventListener("click", () => go(time, `${mark_kind(kind).scope}/${owner}`));
    return element("tr", {}, element("td", {}, button), element("td", {}, mark_text(kind)), element("td", {}, run.label_of(mark_kind(kind).scope, owner)), element("td", {}, value_words(run, { time, kind, owner, value })));
  };
  return long_table("", heads, run.mark_count, row_at, say("events"));
}

const TABLES = [flow_table, subflow_table, link_table];

// Fills the tables of figures and events; `run_now` returns the run to show when the work begins.
function show_results(chores, tables, events, run_now, go) {
  TABLES.forEach((make, i) =>
    chores.want(make, () => {
      const place = tables.children[i] ?? tables.appendChild(element("div")), run = run_now();
      place.replaceChildren(run?.results ? make(run) : "");
    }),
  );
  chores.want(event_table, () => events.replaceChildren(run_now()?.results ? event_table(run_now(), go) : ""));
}
