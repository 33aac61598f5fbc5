// The figures of a run and its events as tables.

const MOST_ROWS = 100; // of a table in the document: laying out ten thousand takes a second

function table_of(caption, heads, rows) {
  return element("div", { class: "scroll" }, element("table", {}, caption && element("caption", {}, caption), element("thead", {}, row("th", ...heads)), element("tbody", {}, ...rows)));
}

// A table of which some rows are in the document, with what leads to the others.
function long_table(caption, heads, count, row_at) {
  const made = table_of(caption, heads, []), body = made.querySelector("tbody");
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

// When a flow was completed has a column where one was.
function flow_table({ info, results: { flows } }) {
  const is_any_complete = flows.some((flow) => Number.isFinite(flow.completion_s));
  const heads = ["flow", "controller", "goodput", "mean_rtt", "p95_rtt", "loss", "retransmits", ...(is_any_complete ? ["completion"] : [])].map((key) => say(key));
  return long_table(say("flow"), heads, flows.length, (i) => {
    const flow = flows[i];
    return with_head(flow.name, info.flows[i].controller, quantity(flow.goodput_bps, "bit/s"), quantity(flow.mean_rtt_s, "s"), quantity(flow.p95_rtt_s, "s"), quantity(flow.loss_ratio, "%"), String(flow.retransmits), ...(is_any_complete ? [quantity(flow.completion_s, "s")] : []));
  });
}

function subflow_table(run) {
  const heads = ["subflow", "throughput", "goodput", "mean_cwnd", "mean_rtt", "loss"].map((key) => say(key));
  return long_table(say("subflow"), heads, run.results.subflows.length, (i) => {
    const subflow = run.results.subflows[i];
    return with_head(run.label_of("subflow", i), quantity(subflow.throughput_bps, "bit/s"), quantity(subflow.goodput_bps, "bit/s"), quantity(subflow.mean_cwnd_pkts, "pkt"), quantity(subflow.mean_rtt_s, "s"), quantity(subflow.loss_ratio, "%"));
  });
}

function link_table(run) {
  const heads = ["link", "utilisation", "drops", "mean_queue"].map((key) => say(key));
  return long_table(say("link"), heads, run.results.links.length, (i) => {
    const link = run.results.links[i], drops = link.drops_queue + link.drops_random + link.drops_down + link.drops_scripted;
    return with_head(run.label_of("link", i), quantity(link.utilisation, "%"), String(drops), quantity(link.mean_queue_pkts, "pkt"));
  });
}

function scope_of_mark(kind) {
  return LINK_MARKS.includes(kind) ? "link" : FLOW_MARKS.includes(kind) ? "flow" : "subflow";
}

// A table of a run's events; `go` is called with the time of one that is chosen.
function event_table(run, go) {
  const heads = ["time", "event", "owner", "value"].map((key) => say(key));
  const row_at = (number) => {
    const [time, kind, owner, value] = run.mark(number);
    const button = element("button", { type: "button", class: "quiet" }, seconds(time));
    button.addEventListener("click", () => go(time));
    return element("tr", {}, element("td", {}, button), element("td", {}, `${MARKS[kind]?.glyph ?? "·"} ${MARKS[kind]?.[language] ?? kind}`), element("td", {}, run.label_of(scope_of_mark(kind), owner)), element("td", {}, digits(value)));
  };
  return long_table("", heads, run.mark_count, row_at);
}

const TABLES = [flow_table, subflow_table, link_table];

// Fills the places of a run's figures and events; `run_now`: which run that is when their turn comes.
function show_results(chores, tables, events, run_now, go) {
  TABLES.forEach((make, i) =>
    chores.want(make, () => {
      const place = tables.children[i] ?? tables.appendChild(element("div")), run = run_now();
      place.replaceChildren(run?.results ? make(run) : "");
    }),
  );
  chores.want(event_table, () => events.replaceChildren(run_now()?.results ? event_table(run_now(), go) : ""));
}
