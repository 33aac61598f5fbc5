// Events of a run in words: the value of each event, and the events near a point of a curve.

// Value of an event; for a change the values before and after. Empty for a kind without a value.
function value_words(run, { time, kind, owner, value }) {
  const { name, scope, value: pattern } = mark_kind(kind);
  if (name === "link_change" || name === "controller_change") return changes_in(run).get(`${Math.round(time * 1e9)} ${scope} ${owner}`)?.join(", ") ?? "";
  if (!pattern || Number.isNaN(value)) return "";
  return local(pattern).replace(/\{(\w+)\}/g, (_, word) => (word === "number" ? digits(value + 1, 9) : digits(value, 4)));
}

// Values of link directions at a time in ns, after the events of the scenario and of "What if". Calls `tell` for each
// change with the event, a key of `LINK_KEYS`, and the values before and after.
function replayed_links(run, until, tell = () => {}) {
  const { links, events = [] } = run.scenario, values = links.map((_, i) => link_values(run.scenario, i));
  for (const event of [...events, ...run.later].sort((a, b) => a.at - b.at)) {
    if (event.at > until || event.link === undefined) continue;
    const now = values[event.link], next = link_values({ links: [event] }, 0);
    for (const [key, name] of Object.entries({ rate: "rate", delay: "delay", loss: "loss", queue: "queue_limit_pkts" })) {
      if (event[name] === undefined) continue;
      tell(event, key, now[key], next[key]);
      now[key] = next[key];
    }
  }
  return values;
}

const known_changes = new WeakMap();  // by the array of the run's later events: {language, changes}

// Changes of links and controllers: texts by time in ns, scope and owner.
function changes_in(run) {
  const known = known_changes.get(run.later);
  if (known?.language === language) return known.changes;
  const changes = new Map(), { flows, events = [] } = run.scenario, names = flows.map((flow) => flow.controller?.name);
  const add = ({ at }, owner, key, before, after) => {
    const name = `${at} ${owner}`;
    changes.set(name, [...(changes.get(name) ?? []), `${small(key)} ${arrow(before, after)}`]);
  };
  for (const event of [...events, ...run.later]) {
    if (event.flow === undefined || !event.controller) continue;
    add(event, `flow ${event.flow}`, "controller", names[event.flow] ?? "", event.controller.name);
    names[event.flow] = event.controller.name;
  }
  replayed_links(run, Infinity, (event, key, before, after) => add(event, `link ${event.link}`, key, plain(before, key), plain(after, key)));
  known_changes.set(run.later, { language, changes });
  return changes;
}

const OF_LINKS = ["link_change", "link_up", "link_down"];

// Events near a point that may have shaped the curve there, nearest first: {time, text}. A curve of a link has the
// changes of this link; other curves have the changes on their paths. All include the losses and timeouts of their
// subflows.
function named_near(run, scope, owner, time, reach) {
  const { links, subflows } = run.info, beneath = run.subflows_of(scope, owner), found = [];
  const own = new Set(scope === "link" ? [links[owner >> 1].name] : beneath.flatMap((i) => subflows[i].path));
  const marks = [...run.marks_between(time - reach, time + reach)];
  for (const mark of marks) {
    const { name, scope: on, title, is_turn } = mark_kind(mark.kind), words = value_words(run, mark);
    const text = name === "link_change" && words ? words : local(title);
    let who;
    if (on === "link" && OF_LINKS.includes(name) && own.has(links[mark.owner >> 1].name)) {
      // A change of both directions at once is named as a change of the link.
      const is_other = (each) => each.kind === mark.kind && each.owner === (mark.owner ^ 1) && each.time === mark.time && value_words(run, each) === words;
      who = marks.some(is_other) ? links[mark.owner >> 1].name : run.label_of("link", mark.owner);
    } else if (on === "subflow" && is_turn && beneath.includes(mark.owner)) who = run.label_of("subflow", mark.owner);
    else continue;
    found.push({ time: mark.time, text: `${who}: ${say("at_time", text, seconds(mark.time))}` });
  }
  return found.sort((a, b) => Math.abs(a.time - time) - Math.abs(b.time - time));
}
