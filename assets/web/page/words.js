// The texts of the page in its languages, and how numbers are written.
const WORDS = {
  en: {
    recomputing: "Simulating …",
    exact: "✓ bit for bit the recorded run",
    differs: "✗ not the recorded run: its signature is {0}, the recorded one {1}",
    unrecorded: "no recorded signature to compare with",
    changed: "What if: {0}",
    signature: "signature",
    topology: "Network",
    topology_help: "Packets in flight at the cursor. A line's width shows the link's rate, its colour how full the queue is.",
    time: "Time",
    play: "Play", pause: "Pause", speed: "Speed",
    charts: "Curves", add_chart: "More curves …", remove: "Remove",
    events: "Events", figures: "Figures", whatif: "What if", why: "Why",
    runs: "Runs",
    from_start: "from the start", from_cursor: "from the cursor on ({0})",
    apply: "Simulate", reset: "Reset", save: "Save page", toml: "Scenario as TOML",
    toml_import: "The saved page contains changes made from the start: subflow import PAGE reads them back.",
    link: "Link", rate: "Rate", delay: "Delay", loss: "Loss", queue: "Queue",
    flow: "Flow", controller: "Controller", scheduler: "Scheduler",
    goodput: "Goodput", mean_rtt: "Mean RTT", p95_rtt: "95 % RTT", retransmits: "Retrans\u00admissions",
    completion: "Completed after", throughput: "Throughput", mean_cwnd: "Mean cwnd", subflow: "Subflow",
    utilisation: "Utilisation", drops: "Dropped", mean_queue: "Mean queue", event: "Event", owner: "Owner", value: "Value",
    original: "original", now: "now",
    why_help: "Choose a subflow and click a curve, or press w at the cursor.",
    no_decision: "No decision was made for {0} up to {1}.",
    window: "cwnd", source: "Source", cause: "Cause",
    light: "Light", dark: "Dark", language: "Deutsch",
    unsupported: "This browser cannot run the simulator ({0}). The curves as they were recorded:",
    damaged: "This page is damaged: {0}",
    recorded: "Recorded curves",
    wrong_number: "{0}: {1} is not a valid value",
    unknown_quantity: "The address asks for {0}; the choices are {1}",
    more_events: "{0} more",
    nothing_changed: "Nothing has been changed.",
    no_difference: "No difference.",
    higher: "{0}: {1} instead of {2} ({3})",
    filter: "Filter", band: "{0} curves: from the lowest to the highest, with the median",
    first_row: "First row",
    keyboard: "Keys: ← → move the cursor, Space plays, w asks why, r resets.",
    unlimited: "unlimited",
    sweep: "Sweep", figure: "Figure", point: "Point", over: "Over", nothing: "nothing",
    sweep_help: "Choose a point with a click or the arrow keys; Shift and a click choose the point over whose run it is drawn.",
    yes: "yes", no: "no", agent: "the agent", random: "It acts at random.", neutral: "It changes nothing.",
    moved: "What moved it", saw: "It saw", usual: "median", otherwise: "with the median, it would have done",
    no_reason: "No single number: with any one of them at its median, it would have done the same.",
    before_chapter: "Previous", next_chapter: "Next", run: "Run", contents: "Contents ({0})",
  },
  de: {
    recomputing: "Wird simuliert …",
    exact: "✓ Bit für Bit der aufgezeichnete Lauf",
    differs: "✗ nicht der aufgezeichnete Lauf: die Signatur ist {0}, aufgezeichnet {1}",
    unrecorded: "keine aufgezeichnete Signatur zum Vergleich",
    changed: "Was wäre, wenn: {0}",
    signature: "Signatur",
    topology: "Netz",
    topology_help: "Pakete, die zu diesem Zeitpunkt unterwegs sind. Die Breite einer Linie zeigt die Rate des Links, ihre Farbe die Füllung der Warteschlange.",
    time: "Zeit",
    play: "Abspielen", pause: "Anhalten", speed: "Tempo",
    charts: "Kurven", add_chart: "Weitere Kurven …", remove: "Entfernen",
    events: "Ereignisse", figures: "Zahlen", whatif: "Was wäre, wenn", why: "Warum",
    runs: "Läufe",
    from_start: "von Anfang an", from_cursor: "ab dem Zeitpunkt ({0})",
    apply: "Simulieren", reset: "Zurücksetzen", save: "Seite speichern", toml: "Szenario als TOML",
    toml_import: "Die gespeicherte Seite enthält Änderungen von Anfang an: subflow import SEITE übernimmt sie.",
    link: "Link", rate: "Rate", delay: "Verzögerung", loss: "Verlust", queue: "Warteschlange",
    flow: "Fluss", controller: "Controller", scheduler: "Scheduler",
    goodput: "Goodput", mean_rtt: "Mittlere RTT", p95_rtt: "95-%-RTT", retransmits: "Wieder\u00adholungen",
    completion: "Fertig nach", throughput: "Durchsatz", mean_cwnd: "Mittleres cwnd", subflow: "Subflow",
    utilisation: "Auslastung", drops: "Verworfen", mean_queue: "Mittlere Warteschlange", event: "Ereignis", owner: "Von", value: "Wert",
    original: "Original", now: "jetzt",
    why_help: "Einen Subflow wählen und eine Kurve anklicken, oder w für den gewählten Zeitpunkt drücken.",
    no_decision: "Für {0} wurde bis {1} nichts entschieden.",
    window: "cwnd", source: "Quelle", cause: "Anlass",
    light: "Hell", dark: "Dunkel", language: "English",
    unsupported: "Dieser Browser kann den Simulator nicht ausführen ({0}). Die Kurven, wie sie aufgezeichnet wurden:",
    damaged: "Diese Seite ist beschädigt: {0}",
    recorded: "Aufgezeichnete Kurven",
    wrong_number: "{0}: {1} ist kein gültiger Wert",
    unknown_quantity: "Die Adresse fragt nach {0}; zur Wahl stehen {1}",
    more_events: "{0} weitere",
    nothing_changed: "Nichts wurde geändert.",
    no_difference: "Kein Unterschied.",
    higher: "{0}: {1} statt {2} ({3})",
    filter: "Filter", band: "{0} Kurven: vom kleinsten zum größten Wert, mit dem Median",
    first_row: "Erste Zeile",
    keyboard: "Tasten: ← → verschieben den Zeitpunkt, Leertaste spielt ab, w fragt warum, r setzt zurück.",
    unlimited: "unbegrenzt",
    sweep: "Messreihe", figure: "Größe", point: "Punkt", over: "Über", nothing: "nichts",
    sweep_help: "Ein Klick oder die Pfeiltasten wählen einen Punkt, ein Klick mit Umschalttaste den Punkt, über dessen Lauf er gezeichnet wird.",
    yes: "ja", no: "nein", agent: "der Agent", random: "Er handelt zufällig.", neutral: "Er ändert nichts.",
    moved: "Was den Ausschlag gab", saw: "Er sah", usual: "Median", otherwise: "mit dem Median hätte er getan",
    no_reason: "Keine einzelne Zahl: Stünde eine von ihnen bei ihrem Median, hätte er dasselbe getan.",
    before_chapter: "Vorheriges", next_chapter: "Nächstes", run: "Lauf", contents: "Inhalt ({0})",
  },
};

const QUANTITIES = {
  throughput_bps: { en: "Throughput", de: "Durchsatz" },
  goodput_bps: { en: "Goodput", de: "Goodput" },
  cwnd_pkts: { en: "Congestion window", de: "Überlastfenster (cwnd)" },
  ssthresh_pkts: { en: "Slow-start threshold", de: "Slow-Start-Schwelle" },
  srtt_s: { en: "Smoothed RTT", de: "Geglättete RTT" },
  min_rtt_s: { en: "Minimum RTT", de: "Minimale RTT" },
  inflight_pkts: { en: "In flight", de: "Unterwegs" },
  pacing_rate_bps: { en: "Pacing rate", de: "Pacing-Rate" },
  losses_pkts: { en: "Losses", de: "Verluste" },
  queue_pkts: { en: "Queue", de: "Warteschlange" },
  drops_pkts: { en: "Drops", de: "Verworfene Pakete" },
  utilisation: { en: "Utilisation", de: "Auslastung" },
  recv_buffer_bytes: { en: "Receive buffer", de: "Empfangspuffer" },
  reorder_queue_bytes: { en: "Reordering queue", de: "Umordnungspuffer" },
  hol_blocking_s: { en: "Head-of-line blocking", de: "Warten auf frühere Pakete" },
  reinjections_pkts: { en: "Reinjections", de: "Erneut gesendet" },
};

// By the number of MarkKind.
const MARKS = [
  { en: "loss", de: "Verlust", glyph: "▼" },
  { en: "timeout", de: "Timeout", glyph: "✖" },
  { en: "recovered", de: "erholt", glyph: "△" },
  { en: "subflow opened", de: "Subflow geöffnet", glyph: "●" },
  { en: "subflow closed", de: "Subflow geschlossen", glyph: "○" },
  { en: "completed", de: "fertig", glyph: "■" },
  { en: "link up", de: "Link wieder da", glyph: "↑" },
  { en: "link down", de: "Link ausgefallen", glyph: "↓" },
  { en: "link changed", de: "Link geändert", glyph: "◆" },
  { en: "penalised", de: "gebremst", glyph: "▽" },
  { en: "data-level timeout", de: "Timeout der Verbindung", glyph: "✖" },
  { en: "action of an agent", de: "Aktion eines Agenten", glyph: "·" },
  { en: "controller changed", de: "Controller gewechselt", glyph: "◆" },
  { en: "scripted drop", de: "Verlust nach Plan", glyph: "▼" },
  { en: "address announced", de: "Adresse angekündigt", glyph: "●" },
  { en: "refused", de: "abgewiesen", glyph: "○" },
  { en: "stale", de: "unbrauchbar", glyph: "○" },
  { en: "reduced by marks", de: "durch Markierung verkleinert", glyph: "▽" },
];
const LINK_MARKS = [6, 7, 8], FLOW_MARKS = [5, 10, 12];

let language = navigator.language.startsWith("de") ? "de" : "en";

function say(key, ...values) {
  const pattern = WORDS[language][key] ?? WORDS.en[key] ?? key;
  return values.reduce((text, value, i) => text.replaceAll(`{${i}}`, value), pattern);
}

function name_of(quantity) {
  return QUANTITIES[quantity]?.[language] ?? quantity;
}

const formats = new Map(); // of numbers: making one takes a hundred times as long as using it

function number_text(value, rule, count) {
  const name = `${language} ${rule} ${count}`;
  if (!formats.has(name)) formats.set(name, new Intl.NumberFormat(language, { [rule]: count, useGrouping: false }));
  return formats.get(name).format(value);
}

const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];

function digits(value, places = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return number_text(value, "maximumSignificantDigits", places);
}

// A value with its unit, as people write it.
function quantity(value, unit) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (unit === "s") return Math.abs(value) < 1 && value !== 0 ? `${digits(value * 1e3)} ms` : `${digits(value, 4)} s`;
  if (unit === "bit/s" || unit === "B") {
    for (const [factor, prefix] of PREFIXES)
      if (Math.abs(value) >= factor) return `${digits(value / factor)} ${prefix}${unit}`;
    return `${digits(value)} ${unit}`;
  }
  if (unit === "%") return `${digits(value * 100)} %`;
  return unit ? `${digits(value)} ${unit}` : digits(value);
}

function seconds(time) {
  return `${number_text(time, "maximumFractionDigits", 3)} s`;
}
