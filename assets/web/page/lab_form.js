// Forms for a lab's scenario, for sweeps over it, and for events in it.

// The words for a key of a scenario: "wifi: Rate" for "links.wifi.rate".
function words_of_key(key) {
  const parts = key.split("."), last = parts.pop();
  return [...parts.slice(1), spaced(say(last))].join(": ");
}

class SettingsForm {
  constructor(host) {
    this.host = host;
    this.inputs = [];
  }

  get state() { return this.host.progress.state; }
  get place() { return this.host.data.scenarios[this.state.scenario]; }

  fill() {
    this.inputs = [];
    const { scenarios } = this.host.data, parts = [];
    if (scenarios.length > 1) {
      const menu = element("select", { id: "scenario", "aria-label": say("scenario") }, ...scenarios.map((each, i) => element("option", { value: i }, each.name)));
      menu.value = String(this.state.scenario);
      menu.addEventListener("change", () => this.change(fresh_state(Number(menu.value))));
      parts.push(element("label", {}, `${say("scenario")}: `, menu));
    }
    const reset = element("button", { type: "button", id: "reset" }, say("lab_reset")), save = element("button", { type: "button", class: "quiet" }, say("save_scenario"));
    reset.addEventListener("click", () => this.change(fresh_state(this.state.scenario)));
    save.addEventListener("click", () => this.host.save_scenario());
    const seed = this.seed();
    this.problem = element("p", { class: "problem", role: "alert" });
    this.host.at("settings").replaceChildren(element("div", { class: "choices" }, ...parts), this.links(), element("div", { class: "choices" }, ...this.menus(), seed, reset, save), this.events(), this.problem);
    this.fill_sweep();
    this.fill_event();
  }

  change(state) {
    this.host.progress.state = state;
    this.host.progress.keep();
    keeping_focus(this.host.at("bench"), () => this.fill());
    this.host.look_again();
  }

  links() {
    const numbers = this.place.settings.filter((setting) => setting.kind === "number"), { scenario } = this.place.info.scenario;
    const heads = Object.entries(LINK_KEYS).map(([key, rule]) => `${say(key)} (${rule.shown})`);
    const rows = this.place.info.links.map((link, index) => {
      const cells = Object.entries(LINK_KEYS).map(([key, rule]) => {
        const setting = numbers.find((each) => each.link === index && each.what === key);
        if (!setting) return element("td", {}, "–");
        const shown = (value) => (value === null || value === Infinity ? "" : String(Number((value / rule.factor).toPrecision(9))));
        const given = link_values(scenario, 2 * index)[key], now = this.state.sets[setting.key] ?? given;
        const input = element("input", { type: "text", inputmode: "decimal", size: "6", value: shown(now), placeholder: can_be_unlimited(key) ? "∞" : null, "data-key": setting.key, "aria-label": `${link.name}: ${say(key)} (${rule.shown})` });
        const initial = shown(given);
        this.inputs.push({ input, setting, initial, rule, name: `${link.name}, ${say(key)}` });
        return element("td", {}, input);
      });
      return with_head(link.name, ...cells.map((cell) => cell.firstChild ?? cell));
    });
    const table = element("table", {}, element("thead", {}, row("th", say("link"), ...heads)), element("tbody", {}, ...rows));
    return with_hint(element("div", { class: "scroll" }, table));
  }

  menus() {
    return this.place.settings.filter((setting) => setting.kind === "menu").map((setting) => {
      const text = words_of_key(setting.key), menu = element("select", { "data-key": setting.key, "aria-label": text }, ...setting.options.map((option, i) => element("option", { value: i }, option.label)));
      menu.value = String(this.state.sets[setting.key] ?? 0);
      this.inputs.push({ input: menu, setting, initial: "0" });
      return element("label", {}, `${text} `, menu);
    });
  }

  seed() {
    if (!this.place.takes_seeds) return element("span", { class: "faint" }, say("seeds_fixed"));
    const given = this.place.info.seed, input = element("input", { type: "text", inputmode: "numeric", size: "4", value: String(this.state.seed ?? given), "data-key": "seed", "aria-label": say("seed") });
    this.seed_input = { input, given };
    return element("label", {}, `${say("seed")} `, input);
  }

  events() {
    const items = this.state.events.map((event, i) => {
      const remove = element("button", { type: "button", class: "quiet" }, say("event_remove"));
      remove.addEventListener("click", () => this.take() && this.change({ ...this.state, events: this.state.events.filter((_, k) => k !== i) }));
      return element("li", {}, `${event_words(this.place.info, event)} `, remove);
    });
    return element("ul", {}, ...items);
  }

  // Takes the values of the form into the state; returns false if a value is not allowed.
  take() {
    const sets = {};
    for (const { input, setting, initial, rule, name } of this.inputs) {
      const given = input.value.trim().replace(",", ".");
      input.classList.toggle("changed", given !== initial);
      if (given === initial) continue;
      if (setting.kind === "menu") {
        sets[setting.key] = Number(given);
        continue;
      }
      const value = number_in(given, rule);
      if (value === null) return this.refuse(input, `${say("wrong_number", name, `“${given}”`, name)} (${range_of(rule)})`);
      sets[setting.key] = value;
    }
    let { seed } = this.state;
    if (this.place.takes_seeds) {
      const { input, given } = this.seed_input, said = input.value.trim();
      if (!/^\d{1,15}$/.test(said)) return this.refuse(input, say("wrong_number", say("seed"), `“${said}”`, say("seed")));
      seed = said === given ? null : Number(said);
    }
    this.problem.textContent = "";
    this.host.progress.state = { ...this.state, sets, seed };
    this.host.progress.keep();
    return true;
  }

  refuse(input, text) {
    this.problem.textContent = text;
    input.focus();
    return false;
  }

  // --- sweeps

  fill_sweep() {
    const form = this.host.at("sweep"), { settings } = this.place;
    const key = element("select", { id: "sweep_key" }, ...settings.map((setting, i) => element("option", { value: i }, `${words_of_key(setting.key)} (${setting.key})`)));
    const values = element("input", { type: "text", id: "sweep_values", size: "28" }), seeds = element("input", { type: "text", id: "sweep_seeds", size: "6", value: this.place.info.seed });
    const unit = element("span"), problem = element("p", { class: "problem", role: "alert" });
    const show = () => {
      const setting = settings[Number(key.value)];
      unit.textContent = setting.kind === "number" ? ` ${LINK_KEYS[setting.what].shown}` : "";
      values.placeholder = setting.kind === "number" ? "8, 17, 42" : setting.options.map((option) => option.label).join(", ");
    };
    key.addEventListener("change", show);
    show();
    const rows = [element("label", {}, `${say("sweep_key")} `, key), element("label", {}, `${say("sweep_values")} `, values, unit)];
    if (this.place.takes_seeds) rows.push(element("label", {}, `${say("sweep_seeds")} `, seeds));
    form.replaceChildren(element("div", { class: "choices" }, ...rows, element("button", { type: "submit" }, say("sweep_go"))), element("p", { class: "faint" }, say("sweep_help")), problem);
    form.onsubmit = async (event) => {
      event.preventDefault();
      if (this.host.is_busy || !this.take()) return;
      const setting = settings[Number(key.value)], found = this.values_of(setting, values.value), numbers = seeds_of(seeds.value);
      if (!found?.length || !numbers || found.length * numbers.length > MOST_SWEEP_RUNS) {
        problem.textContent = say("wrong_number", say(found?.length ? "sweep_seeds" : "sweep_values"), `“${found?.length ? seeds.value : values.value}”`, setting.key);
        return;
      }
      problem.textContent = "";
      const state = (value, seed) => ({ ...structuredClone(this.state), sets: { ...this.state.sets, [setting.key]: value }, seed: String(seed) === this.place.info.seed ? null : seed });
      const made = await this.host.simulate(found.flatMap((value) => numbers.map((seed) => ({ state: state(value, seed), fork: null }))));
      if (!made) return;
      this.host.progress.sweeps = [...this.host.progress.sweeps, { points: found.length, runs: made.map((run) => run.number) }];
      this.host.progress.keep();
      this.host.look_again();
    };
  }

  values_of(setting, text) {
    const said = text.split(setting.kind === "number" ? /[,;]/ : ";").flatMap((each) => (setting.kind === "menu" && !setting.options.some((option) => option.label === each.trim()) ? each.split(",") : [each]));
    const found = said.map((each) => {
      if (setting.kind === "number") return number_in(each.trim().replace(new RegExp(`\\s*${LINK_KEYS[setting.what].shown}$`), ""), LINK_KEYS[setting.what]);
      const rank = setting.options.findIndex((option) => option.label === each.trim());
      return rank < 0 ? null : rank;
    });
    return found.includes(null) ? null : [...new Set(found)];
  }

  // --- events

  // An action that enters a change of the last run into the form of events; null if the form cannot express it.
  trial({ link, direction, key, value, at }) {
    const { links } = this.place.info, index = links.findIndex(({ name }) => name === link), { edit, follows } = links[index];
    const is_possible = key === "up" || (edit[key] && value !== null && (direction === "forward" || follows[key]));
    if (!is_possible) return null;
    return () => {
      const part = this.host.at("event_part"), what = this.host.at("event_what"), fork = this.host.at("event_fork");
      part.open = true;
      this.host.at("event_time").value = String(at);
      this.host.at("event_link").value = String(index);
      what.value = key === "up" ? "back" : key;
      what.dispatchEvent(new Event("change"));
      this.host.at("event_value").value = key === "up" ? "" : String(Number((value / LINK_KEYS[key].factor).toPrecision(9)));
      part.scrollIntoView({ block: "center" });
      fork.focus({ preventScroll: true });
    };
  }

  fill_event() {
    const form = this.host.at("event"), { info } = this.place;
    const time = element("input", { type: "text", inputmode: "decimal", id: "event_time", size: "6" });
    const link = element("select", { id: "event_link" }, ...info.links.map((each, i) => element("option", { value: i }, each.name)));
    const what = element("select", { id: "event_what" }, element("option", { value: "down" }, say("goes_down")), element("option", { value: "back" }, say("goes_up")), ...Object.entries(LINK_KEYS).map(([key, rule]) => element("option", { value: key }, `${say(key)} (${rule.shown})`)));
    const value = element("input", { type: "text", inputmode: "decimal", id: "event_value", size: "6" }), problem = element("p", { class: "problem", role: "alert" });
    const add = element("button", { type: "submit" }, say("event_add")), fork = element("button", { type: "button", id: "event_fork" }, say("event_fork"));
    const show = () => (value.disabled = !LINK_KEYS[what.value]);
    what.addEventListener("change", show);
    show();
    const read = () => {
      const at = Number(time.value.trim().replace(",", ".").replace(/\s*s$/, "")), rule = LINK_KEYS[what.value];
      const number = rule ? number_in(value.value.trim().replace(",", "."), rule) : what.value === "back";
      const is_time = time.value.trim() !== "" && at >= 0 && at <= info.duration_s, is_possible = !rule || info.links[link.value].edit[what.value];
      if (is_time && number !== null && is_possible) {
        problem.textContent = "";
        return { at, link: Number(link.value), what: rule ? what.value : "up", value: number };
      }
      problem.textContent = is_time ? `${say("wrong_number", say("value_of_event"), `“${value.value}”`, what.value)} (${rule ? range_of(rule) : ""})` : `${say("wrong_number", say("at_time"), `“${time.value}”`, say("at_time"))} (0–${info.duration_s} s)`;
      return null;
    };
    form.replaceChildren(element("div", { class: "choices" }, element("label", {}, `${say("at_time")} `, time, " s"), element("label", {}, `${say("link")} `, link), element("label", {}, `${say("what")} `, what), element("label", {}, `${say("value_of_event")} `, value), add, fork), problem);
    form.onsubmit = (event) => {
      event.preventDefault();
      const made = read();
      if (made && this.take()) this.change({ ...this.state, events: [...this.state.events, made] });
    };
    fork.addEventListener("click", () => {
      const made = read();
      if (made) this.host.fork(made);
    });
  }
}

function number_in(text, rule) {
  const value = text === "" ? NaN : Number(text) * rule.factor;
  return value >= rule.least && value <= rule.most ? value : null;
}

function range_of(rule) {
  return `${digits(rule.least / rule.factor)}–${digits(rule.most / rule.factor)} ${rule.shown}`;
}

// Seeds of a text such as "3", "1..5" or "1, 4"; null if it is not a list of seeds.
function seeds_of(text) {
  const found = text.split(",").flatMap((part) => {
    const range = /^\s*(\d{1,15})(?:\s*(?:\.\.|-)\s*(\d{1,15}))?\s*$/.exec(part);
    if (!range || Number(range[2] ?? range[1]) - Number(range[1]) > MOST_SWEEP_RUNS) return [null];
    const first = Number(range[1]), last = Number(range[2] ?? range[1]);
    return last < first ? [null] : Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
  return found.includes(null) ? null : found;
}
