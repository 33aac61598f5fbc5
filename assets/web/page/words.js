// Texts of the page in its languages, and formats of numbers.
const WORDS = {
  en: {
    recomputing: "Simulating …",
    exact: "✓ bit for bit the recorded run",
    differs: "✗ not the recorded run: its signature is {0}, that of the recorded run {1}",
    unrecorded: "no recorded signature to compare with",
    not_recorded: "changed: this is not the recorded run", without_change: "without the change: {0}",
    changed: "What if: {0}", // english: keep (name of the panel)
    signature: "Signature",
    topology: "Network", nodes: "Nodes", links: "Links", queues: "Queues", router: "router", is_down: "down",
    topology_help: "Packets in flight at the time of the cursor, in the colours of their subflows. The width of a line shows the rate of the link. The grey bar at its start is the queue: the longer, the fuller.",
    time: "Time",
    play: "Play", pause: "Pause", speed: "Speed", playback: "Playback",
    charts: "Curves", add_chart: "More curves …", remove: "Remove",
    events: "Events", figures: "Figures", whatif: "What if", why: "Why", // english: keep
    runs: "Runs",
    from_start: "from the start", from_cursor: "from the cursor on ({0})",
    apply: "Simulate", reset: "Reset", save: "Save page", toml: "Scenario as TOML",
    toml_import: "This file cannot take the change. Save the page: subflow import PAGE reads the change back.",
    link: "Link", rate: "Rate", delay: "Delay", loss: "Loss", queue: "Queue",
    flow: "Flow", controller: "Controller", scheduler: "Scheduler",
    subflow: "Subflow", event: "Event", owner: "Owner", value: "Value",
    formula_is: "Formula: {0}", over_period: "Over {0}.", mean: "mean {0}–{1} s: {2}", mean_is: "Mean of the curve over time, without its gaps",
    original: "original", now: "now",
    why_help: "Click a curve, choose a subflow or an event, or press w at the cursor to see the cause of a decision.",
    no_decision: "{0} made no decision up to {1}.",
    click_why: "Click a drop to see its cause.", details: "Show the details",
    cut: "ssthresh = {0} pkt ({1} % of cwnd)", cut_before: "ssthresh = {0} pkt since {1}", at_time: "{0} at {1}",
    only_windows: "No change or loss near {0}. This page explains congestion windows.",
    explain_window: "Congestion window of {0}",
    window: "cwnd", source: "Source", cause: "Cause", numbers: "Numbers of the rule", lines: "Lines of the script",
    light: "Light", dark: "Dark", language: "Deutsch",
    unsupported: "This browser cannot run the simulator ({0}). The recorded curves:",
    damaged: "This page is damaged: {0}",
    recorded: "Recorded curves",
    wrong_number: "{0}: {1} is not a valid value",
    unknown_quantity: "The address of this page names {0}; allowed: {1}",
    more_events: "{0} more",
    nothing_changed: "Nothing has been changed.",
    no_difference: "No difference.",
    higher: "{0}: {1} instead of {2} ({3})",
    outcome: "{0} of {1}: {2} ({3}).", see_curves: "See both runs in the curves",
    filter: "Filter", band: "{0} curves: from the lowest to the highest, with the median",
    first_row: "First row",
    keyboard: "Keys: ← → move the cursor, Space plays, w shows why, r resets.",
    unlimited: "unlimited",
    sweep: "Sweep", figure: "Figure", point: "Point", over: "Over", nothing: "nothing",
    sweep_help: "Choose a point with a click or the arrow keys. Shift+click selects a second point for comparison.",
    yes: "yes", no: "no", agent: "the agent", random: "The agent acts at random.", neutral: "The agent changes nothing.",
    moved: "Inputs that changed the action", saw: "Input", usual: "median", otherwise: "action with the median",
    no_reason: "No single input: with any one of them at its median, the agent would have chosen the same action.",
    before_chapter: "Previous", next_chapter: "Next", chapter: "Chapter", run: "Run", contents: "Contents ({0})",
  },
  de: {
    recomputing: "Wird simuliert …",
    exact: "✓ Bit für Bit der aufgezeichnete Lauf",
    differs: "✗ nicht der aufgezeichnete Lauf: die Signatur ist {0}, die des aufgezeichneten {1}",
    unrecorded: "keine aufgezeichnete Signatur zum Vergleich",
    not_recorded: "geändert: nicht der aufgezeichnete Lauf", without_change: "ohne die Änderung: {0}",
    changed: "Was wäre, wenn: {0}",
    signature: "Signatur",
    topology: "Netz", nodes: "Knoten", links: "Links", queues: "Warteschlangen", router: "Router", is_down: "ausgefallen",
    topology_help: "Pakete, die zu diesem Zeitpunkt unterwegs sind, in den Farben ihrer Subflows. Die Breite einer Linie zeigt die Rate des Links. Der graue Balken an ihrem Anfang ist die Warteschlange: je länger, desto voller.",
    time: "Zeit",
    play: "Abspielen", pause: "Anhalten", speed: "Tempo", playback: "Wiedergabe",
    charts: "Kurven", add_chart: "Weitere Kurven …", remove: "Entfernen",
    events: "Ereignisse", figures: "Zahlen", whatif: "Was wäre, wenn", why: "Warum",
    runs: "Läufe",
    from_start: "von Anfang an", from_cursor: "ab dem Zeitpunkt ({0})",
    apply: "Simulieren", reset: "Zurücksetzen", save: "Seite speichern", toml: "Szenario als TOML",
    toml_import: "Diese Datei kann die Änderung nicht aufnehmen. Speichern Sie die Seite: subflow import SEITE übernimmt die Änderung.",
    link: "Link", rate: "Rate", delay: "Verzögerung", loss: "Verlust", queue: "Warteschlange",
    flow: "Fluss", controller: "Controller", scheduler: "Scheduler",
    subflow: "Subflow", event: "Ereignis", owner: "Von", value: "Wert",
    formula_is: "Formel: {0}", over_period: "Über: {0}.", mean: "Mittel {0}–{1} s: {2}", mean_is: "Mittel der Kurve über die Zeit, ohne ihre Lücken",
    original: "Original", now: "jetzt",
    why_help: "Eine Kurve anklicken, einen Subflow oder ein Ereignis wählen oder w drücken, um die Ursache einer Entscheidung zu sehen.",
    no_decision: "{0} hat bis {1} nichts entschieden.",
    click_why: "Ein Klick auf einen Einbruch zeigt die Ursache.", details: "Einzelheiten zeigen",
    cut: "ssthresh = {0} pkt ({1} % von cwnd)", cut_before: "ssthresh = {0} pkt seit {1}", at_time: "{0} bei {1}",
    only_windows: "Keine Änderung und kein Verlust nahe {0}. Diese Seite erklärt Überlastfenster.",
    explain_window: "Überlastfenster von {0}",
    window: "cwnd", source: "Quelle", cause: "Anlass", numbers: "Zahlen der Regel", lines: "Zeilen des Skripts",
    light: "Hell", dark: "Dunkel", language: "English",
    unsupported: "Dieser Browser kann den Simulator nicht ausführen ({0}). Die aufgezeichneten Kurven:",
    damaged: "Diese Seite ist beschädigt: {0}",
    recorded: "Aufgezeichnete Kurven",
    wrong_number: "{0}: {1} ist kein gültiger Wert",
    unknown_quantity: "Die Adresse dieser Seite nennt {0}; erlaubt: {1}",
    more_events: "{0} weitere",
    nothing_changed: "Nichts wurde geändert.",
    no_difference: "Kein Unterschied.",
    higher: "{0}: {1} statt {2} ({3})",
    outcome: "{0} von {1}: {2} ({3}).", see_curves: "Beide Läufe in den Kurven zeigen",
    filter: "Filter", band: "{0} Kurven: vom kleinsten zum größten Wert, mit dem Median",
    first_row: "Erste Zeile",
    keyboard: "Tasten: ← → verschieben den Zeitpunkt, Leertaste spielt ab, w zeigt, warum, r setzt zurück.",
    unlimited: "unbegrenzt",
    sweep: "Messreihe", figure: "Größe", point: "Punkt", over: "Über", nothing: "nichts",
    sweep_help: "Ein Klick oder die Pfeiltasten wählen einen Punkt, ein Klick mit Umschalttaste einen zweiten zum Vergleich.",
    yes: "ja", no: "nein", agent: "der Agent", random: "Der Agent handelt zufällig.", neutral: "Der Agent ändert nichts.",
    moved: "Eingaben, die die Aktion geändert haben", saw: "Eingabe", usual: "Median", otherwise: "Aktion mit dem Median",
    no_reason: "Keine einzelne Eingabe: Mit jeder von ihnen auf ihrem Median hätte der Agent dieselbe Aktion gewählt.",
    before_chapter: "Vorheriges", next_chapter: "Nächstes", chapter: "Kapitel", run: "Lauf", contents: "Inhalt ({0})",
  },
};

let language = navigator.language.startsWith("de") ? "de" : "en";

function say(key, ...values) {
  const pattern = WORDS[language][key] ?? WORDS.en[key] ?? key;
  return values.reduce((text, value, i) => text.replaceAll(`{${i}}`, value), pattern);
}

const formats = new Map();  // making a format takes a hundred times as long as using it

function number_text(value, rule, count) {
  const name = `${language} ${rule} ${count}`;
  if (!formats.has(name)) formats.set(name, new Intl.NumberFormat(language, { [rule]: count, useGrouping: false }));
  return formats.get(name).format(value);
}

// A fixed number of decimals; ties round to even, as in the program.
function fixed_text(value, places) {
  const name = `${language} fixed ${places}`;
  if (!formats.has(name)) formats.set(name, new Intl.NumberFormat(language, { minimumFractionDigits: places, maximumFractionDigits: places, useGrouping: false, roundingMode: "halfEven" }));
  return formats.get(name).format(value);
}

const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"]], PREFIXED = ["bit/s", "B"];
const SMALLER = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];  // prefixes of seconds

function digits(value, places = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return number_text(value, "maximumSignificantDigits", places);
}

// A value with its unit in a readable notation.
function quantity(value, unit, places = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (unit === "s") {
    const [factor, prefix] = SMALLER.find(([least]) => value === 0 || Math.abs(value) >= least) ?? SMALLER.at(-1);
    return `${digits(value / factor, prefix ? places : Math.max(places, 4))} ${prefix}s`;
  }
  if (PREFIXED.includes(unit)) {
    for (const [factor, prefix] of PREFIXES)
      if (Math.abs(value) >= factor) return `${digits(value / factor, places)} ${prefix}${unit}`;
    return `${digits(value, places)} ${unit}`;
  }
  if (unit === "%") return `${digits(value * 100, places)} %`;
  return unit ? `${digits(value, places)} ${unit}` : digits(value, places);
}

// A change of a value, with more digits than usual only if the two values would look alike.
function change_text(before, after, unit) {
  const texts = (places) => [before, after].map((value) => quantity(value, unit, places));
  const pairs = [4, 5, 6].map(texts);
  return arrow(...(pairs.find(([was, is]) => was !== is) ?? pairs[0]));
}

// A change of a text with a unit; a unit common to both is written once.
function arrow(before, after) {
  const unit = after.slice(after.lastIndexOf(" ") + 1), is_same = after.includes(" ") && before.endsWith(` ${unit}`);
  return `${is_same ? before.slice(0, -unit.length - 1) : before} → ${after}`;
}

// A word within a sentence: German nouns keep their capital.
function small(key) {
  return language === "en" ? say(key).toLowerCase() : say(key);
}

function seconds(time) {
  return `${number_text(time, "maximumFractionDigits", 3)} s`;
}
