// The figures of a run as tables, and its events as a list.

const MOST_ROWS = 200; // of a table of events at first

function table_of(caption, heads, rows) {
  return element("div", { class: "scroll" }, element("table", {}, element("caption", {}, caption), element("thead", {}, row("th", ...heads)), element("tbody", {}, ...rows)));
}

function result_tables(run) {
  const { flows, subflows, links } = run.results;
  return [
    table_of(say("flow"), [say("flow"), say("controller"), say("goodput"), say("mean_rtt"), say("p95_rtt"), say("loss"), say("retransmits"), say("completion")],
      flows.map((flow, i) => with_head(flow.name, run.info.flows[i].controller, quantity(flow.goodput_bps, "bit/s"), quantity(flow.mean_rtt_s, "s"), quantity(flow.p95_rtt_s, "s"), quantity(flow.loss_ratio, "%"), String(flow.retransmits), quantity(flow.completion_s, "s")))),
    table_of(say("subflow"), [say("subflow"), say("throughput"), say("goodput"), say("mean_cwnd"), say("mean_rtt"), say("loss")],
      subflows.map((subflow, i) => with_head(run.label_of("subflow", i), quantity(subflow.throughput_bps, "bit/s"), quantity(subflow.goodput_bps, "bit/s"), quantity(subflow.mean_cwnd_pkts, "pkt"), quantity(subflow.mean_rtt_s, "s"), quantity(subflow.loss_ratio, "%")))),
    table_of(say("link"), [say("link"), say("utilisation"), say("drops"), say("mean_queue")],
      links.map((link, i) => with_head(run.label_of("link", i), quantity(link.utilisation, "%"), String(link.drops_queue + link.drops_random + link.drops_down + link.drops_scripted), quantity(link.mean_queue_pkts, "pkt")))),
  ];
}

function scope_of_mark(kind) {
  return LINK_MARKS.includes(kind) ? "link" : FLOW_MARKS.includes(kind) ? "flow" : "subflow";
}

// A table of a run's events; `go` is called with the time of one that is chosen.
function show_events(place, run, go, whole = false) {
  const marks = run.marks;
  const rows = (whole ? marks : marks.slice(0, MOST_ROWS)).map(([time, kind, owner, value]) => {
    const button = element("button", { type: "button", class: "quiet" }, seconds(time));
    button.addEventListener("click", () => go(time));
    return element("tr", {}, element("td", {}, button), element("td", {}, `${MARKS[kind]?.glyph ?? "·"} ${MARKS[kind]?.[language] ?? kind}`), element("td", {}, run.label_of(scope_of_mark(kind), owner)), element("td", {}, digits(value)));
  });
  place.replaceChildren(element("table", {}, element("thead", {}, row("th", say("time"), say("event"), say("owner"), say("value"))), element("tbody", {}, ...rows)));
  if (marks.length <= MOST_ROWS || whole) return;
  const more = element("button", { type: "button" }, say("more_events", marks.length - MOST_ROWS));
  more.addEventListener("click", () => show_events(place, run, go, true));
  place.append(more);
}
