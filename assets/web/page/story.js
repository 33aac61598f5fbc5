// The cause of a decision in the network and the sign by which the sender noticed, equivalent to
// features/explain/core/causes.py and story.py, which supply the texts.

// Text of a story from the program, with values for its placeholders.
function story_text(key, place, values = {}) {
  const text = local(told_words.story[key]?.[place] ?? "");
  return Object.entries(values).reduce((shown, [name, value]) => shown.split(`{${name}}`).join(value), text);
}

// Kind of the cause of a loss, equivalent to `_kind_of` of the program.
function kind_of_loss({ fate, fate_s, time_s, overtaken_s, lost_acks }) {
  const name = told_words.fates[fate];
  if (name === "under_way") return overtaken_s === null ? name : "reordered";
  if (name !== "arrived") return name;
  if (overtaken_s !== null) return "reordered";
  if (fate_s > time_s) return "late";
  return lost_acks ? "lost_acks" : "unreported";
}

const LEAST_CURVE = 0.02, CURVE_POINTS = 61; // of the picture of a queue: half width in s, and points
const IS_LOST = new Set(["queue_full", "queue_law", "random", "collision", "down", "scripted", "marked"]);

// The packet that represents the losses behind a decision: one of the most frequent cause in the network.
function first_loss(decision) {
  const losses = decision.losses ?? [], counts = new Map();
  for (const each of losses) {
    const key = `${each.link} ${kind_of_loss(each)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const dropped = losses.filter((each) => IS_LOST.has(kind_of_loss(each)));
  const is_rare = decision.cause === "rto" && 2 * dropped.length < losses.length;
  const among = dropped.length && !is_rare ? dropped : losses;
  return among.reduce((best, each) => {
    const more = best ? counts.get(`${each.link} ${kind_of_loss(each)}`) - counts.get(`${best.link} ${kind_of_loss(best)}`) : 1;
    return more > 0 || (more === 0 && each.seq < best.seq) ? each : best;
  }, null);
}

// Start of the outage of a link direction, s; null without an event.
function down_since(run, link, time) {
  const place = direction_number(run, link);
  let since = null;
  for (const mark of run.marks_between(0, time)) {
    const kind = mark_kind(mark.kind).name;
    if (mark.owner !== place || !kind.startsWith("link_")) continue;
    if (kind === "link_down") since = mark.time;
    if (kind === "link_up") since = null;
  }
  return since;
}

// Number of a link direction such as "lte/reverse".
function direction_number(run, direction) {
  const [name, side] = direction.split("/");
  return 2 * run.info.links.findIndex((each) => each.name === name) + (side === "reverse" ? 1 : 0);
}

// The picture of the queue that dropped or marked the packet behind a decision: the number of its link direction, times
// in ns from one round trip before until after the notice, and the loss; null if a queue took no part. Equivalent to
// `queue_curve` of the program.
function picture_of(run, decision) {
  const loss = first_loss(decision);
  if (!loss || !loss.link || loss.fate_s === null) return null;
  const before = Math.max(loss.time_s - loss.sent_s, LEAST_CURVE), first = Math.max(0, loss.fate_s - before);
  const last = Math.min(Math.max(Math.min(decision.time_s, loss.time_s), loss.fate_s + before / 4), run.info.duration_s);
  const times = Array.from({ length: CURVE_POINTS }, (_, i) => first + ((last - first) * i) / (CURVE_POINTS - 1));
  return { loss, link: direction_number(run, loss.link), times: [...times, loss.fate_s].map((time) => Math.round(time * 1e9)).sort((a, b) => a - b) };
}

// Changes of the network that would avoid the cause of a decision, equivalent to `_tries` of the program: text, time,
// link, direction, key, and value in SI units (null if pages cannot set it) and as in a scenario file.
function tries_of(run, decision) {
  const loss = first_loss(decision), kind = loss && kind_of_loss(loss), through = kind === "lost_acks" ? loss.ack_link : loss?.link;
  if (!through) return [];
  const [link, direction] = through.split("/"), spec = run.scenario.links[direction_number(run, through)], found = [];
  const offer = (place, key, value, shown, at = Math.max(0, (loss.fate_s ?? loss.time_s) - 1e-6)) => found.push({ text: story_text("tries", place, { link }), at: Number(at.toFixed(9)), link, direction, key, value, shown });
  if (kind === "queue_full" && loss.limit_pkts !== null) offer(0, "queue", 2 * loss.limit_pkts, `${2 * loss.limit_pkts}pkt`);
  else if (kind === "queue_full") offer(0, "queue", null, `${2 * spec.queue_limit_bytes}B`);
  if ((kind === "queue_law" || kind === "marked") && Number.isFinite(spec.rate)) offer(1, "rate", 2 * spec.rate, `${(2 * spec.rate) / 1e6}Mbit/s`);
  if (kind === "random") offer(2, "loss", 0, "0%");
  const since = kind === "down" ? down_since(run, through, loss.fate_s) : kind === "lost_acks" ? down_since(run, through, loss.time_s) : null;
  if (since !== null) offer(3, "up", true, "true", since + 1e-3);
  return found;
}

// The cause in the network and the sign by which the sender noticed: pairs of a title and a text, in order of time.
function story_of(run, decision) {
  const loss = first_loss(decision);
  if (!loss) return ["ack", "interval", "action"].includes(decision.cause) ? [[story_text("none", 0), ""]] : [];
  const kind = kind_of_loss(loss), through = loss.link || loss.ack_link, link = through.split("/")[0];
  const held = loss.limit_pkts === null ? story_text("packets", 1, { count: loss.queue_pkts }) : story_text("packets", 0, { count: loss.queue_pkts, limit: loss.limit_pkts });
  const since = kind === "down" ? down_since(run, through, loss.fate_s) : null;
  const gap = loss.fate_s === null ? 0 : Math.abs(loss.fate_s - loss.time_s);
  const values = { link, held, since: since === null ? "" : seconds(since), time: seconds(loss.overtaken_s ?? 0), late: quantity(gap, "s"), early: quantity(gap, "s") };
  const title = kind === "down" && since === null ? story_text("down_before", 0, values) : story_text(kind, 0, values);
  const texts = [story_text(kind, 1, values)];
  if (decision.loss_count > 1) {
    const counts = new Map();
    for (const each of decision.losses) {
      const [name] = each.link.split("/"), key = [name, spaced(kind_of_loss(each))].filter(Boolean).join(", ");
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const parts = [...counts].map(([key, count]) => `${count} (${key})`).join("; ");
    texts.push(story_text("none", 1, { count: decision.loss_count, parts }));
  }
  const is_lost = IS_LOST.has(kind), delay = quantity(loss.time_s - (is_lost ? loss.fate_s : loss.sent_s), "s");
  const rto = (decision.numbers ?? []).find(({ name }) => name === "rto_s")?.value;
  const noticed = [story_text("signs", loss.sign, { rto: rto === undefined ? "" : quantity(rto, "s") })];
  if (loss.time_s < decision.time_s - INSTANT) noticed.push(story_text("noticed", 2));
  const at = is_lost ? loss.fate_s : loss.sent_s;
  return [[`${seconds(at)}: ${title}`, texts.join(" ")], [`${seconds(loss.time_s)}: ${story_text("noticed", is_lost ? 0 : 1, { delay })}`, noticed.join(" ")]];
}
