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
  const [name, direction] = link.split("/");
  const place = 2 * run.info.links.findIndex((each) => each.name === name) + (direction === "reverse" ? 1 : 0);
  let since = null;
  for (const mark of run.marks_between(0, time)) {
    const kind = mark_kind(mark.kind).name;
    if (mark.owner !== place || !kind.startsWith("link_")) continue;
    if (kind === "link_down") since = mark.time;
    if (kind === "link_up") since = null;
  }
  return since;
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
