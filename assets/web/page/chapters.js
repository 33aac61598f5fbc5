// Chapters of a page, each with its runs: experiments, or a claim and its counterexamples.

class Chapters {
  // `data.chapters`: {group, title, texts, tables, runs, at}; `data.summary`: the same for all chapters together,
  // without runs. Optional in a chapter: `id`, its name in the page's address and in the file name of its recorded
  // picture; `mark`, its outcome as a symbol; `shown`, the number of runs shown at first, for a chapter with more runs,
  // of which the reader chooses two. `host`: list(numbers of runs), on_pick(time, key).
  constructor(place, data, host) {
    this.chapters = data.chapters;
    this.summary = data.summary;
    this.host = host;
    this.names = data.runs.map((info) => info.name);
    this.number = 0;
    place.hidden = false;
    this.menu = element("select");
    this.before = element("button", { type: "button" }, "←");
    this.after = element("button", { type: "button" }, "→");
    this.text = element("div");
    this.own = element("select");
    this.beneath = element("select");
    this.labels = [element("span"), element("span")];
    this.pair = element("div", { class: "choices" }, element("label", {}, this.labels[0], " ", this.own), element("label", {}, this.labels[1], " ", this.beneath));
    for (const menu of [this.own, this.beneath]) menu.addEventListener("change", () => host.list(this.shown()));
    this.menu.addEventListener("change", () => this.turn(Number(this.menu.value)));
    this.before.addEventListener("click", () => this.turn(this.number - 1));
    this.after.addEventListener("click", () => this.turn(this.number + 1));
    addEventListener("hashchange", () => {
      this.turn(this.asked());
      this.show_asked();
    });
    if (this.summary) place.append(...this.told(this.summary));
    if (this.chapters.length > 1) place.append((this.contents = element("details", {}, element("summary"), this.list())), element("div", { class: "choices" }, this.before, this.menu, this.after));
    place.append(this.text, this.pair);
    for (const [i, { group, title }] of this.chapters.entries()) {
      let under = this.menu.lastElementChild;
      if (under?.label !== group) this.menu.append((under = element("optgroup", { label: group })));
      under.append(element("option", { value: i }, title));
    }
  }

  first(number) {
    const found = number === null ? this.asked() : this.chapters.findIndex((chapter) => chapter.runs.includes(number));
    if (this.contents) this.contents.open = found < 0;
    this.number = Math.max(0, found);
    this.fill_pair();
    this.draw();
    if (number === null) this.show_asked();
    return { ...this.chapters[this.number], runs: this.shown() };
  }

  // Number of the chapter that the page's address names; -1 if none.
  asked() {
    const words = asked_words();
    return this.chapters.findIndex(({ id }) => words.includes(id));
  }

  // The summary above stays in reach: the page scrolls to the menu of the chapter that the address names.
  show_asked() {
    if (this.summary && this.asked() >= 0) this.menu.scrollIntoView();
  }

  // All chapters in their groups, each as a button.
  list() {
    const groups = new Map();
    this.chapters.forEach(({ group, title, mark }, i) => {
      const button = element("button", { type: "button", class: "quiet" }, title);
      button.addEventListener("click", () => {
        this.contents.open = false;
        this.turn(i);
        this.menu.scrollIntoView();
      });
      if (!groups.has(group)) groups.set(group, element("ul"));
      groups.get(group).append(element("li", {}, button, element("span", {}, mark ?? "")));
    });
    return element("div", { class: "contents" }, ...[...groups].map(([group, rows]) => element("section", {}, element("h2", {}, group), rows)));
  }

  // Numbers of the runs to simulate: all runs of the chapter, or the two that the reader chose.
  shown() {
    const { runs } = this.chapters[this.number];
    if (this.pair.hidden) return runs;
    const chosen = [this.own.value, this.beneath.value].filter((value) => value !== "").map(Number);
    return [...new Set(chosen)];
  }

  fill_pair() {
    const { runs, shown } = this.chapters[this.number];
    this.pair.hidden = !(shown < runs.length);
    if (this.pair.hidden) return;
    const options = () => runs.map((number) => element("option", { value: number }, this.names[number]));
    this.own.replaceChildren(...options());
    this.beneath.replaceChildren(element("option", { value: "" }), ...options());
    this.beneath.value = String(runs[1]);
  }

  async turn(number) {
    if (!this.chapters[number]) return;
    this.number = number;
    this.fill_pair();
    this.draw();
    const { at } = this.chapters[number];
    await this.host.list(this.shown());
    if (at && this.number === number) this.host.on_pick(at.time_s, at.key, null, false);
  }

  told({ id, title, texts, tables }) {
    const parts = [...(title ? [element("h2", {}, title)] : []), ...texts.map((text) => element("p", {}, text))];
    const picture = document.getElementById(`figure-${id}`)?.cloneNode();
    if (picture) {
      picture.removeAttribute("id");
      parts.push(element("figure", {}, picture, element("p", { class: "faint" }, picture.alt)));
    }
    for (const { caption, heads, rows } of tables) parts.push(table_of(caption, heads, rows.map(([head, ...cells]) => with_head(head, ...cells))));
    return parts;
  }

  draw() {
    this.menu.value = String(this.number);
    this.before.disabled = this.number === 0;
    this.after.disabled = this.number === this.chapters.length - 1;
    this.menu.setAttribute("aria-label", say("chapter"));
    this.before.setAttribute("aria-label", say("before_chapter"));
    this.after.setAttribute("aria-label", say("next_chapter"));
    ["run", "over"].forEach((key, i) => (this.labels[i].textContent = say(key)));
    if (this.beneath.firstChild) this.beneath.firstChild.textContent = say("nothing");
    if (this.contents) this.contents.firstChild.textContent = say("contents", this.chapters.length);
    this.text.replaceChildren(...this.told(this.chapters[this.number]));
  }
}
