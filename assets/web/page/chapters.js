// What a page tells beside its runs, in chapters of which each has runs of its own: experiments, or a claim that fails.

class Chapters {
  // `data.chapters`: {group, title, texts, tables, runs, at}; `data.summary`: the same without runs, of all of them.
  // `host`: list(numbers of runs), on_pick(time, key).
  constructor(place, data, host) {
    this.chapters = data.chapters;
    this.summary = data.summary;
    this.host = host;
    this.number = 0;
    place.hidden = false;
    this.menu = element("select", { "aria-label": "Chapter" });
    this.before = element("button", { type: "button" }, "←");
    this.after = element("button", { type: "button" }, "→");
    this.text = element("div");
    this.menu.addEventListener("change", () => this.turn(Number(this.menu.value)));
    this.before.addEventListener("click", () => this.turn(this.number - 1));
    this.after.addEventListener("click", () => this.turn(this.number + 1));
    if (this.summary) place.append(...this.told(this.summary));
    if (this.chapters.length > 1) place.append(element("div", { class: "choices" }, this.before, this.menu, this.after));
    place.append(this.text);
    for (const [i, { group, title }] of this.chapters.entries()) {
      let under = this.menu.lastElementChild;
      if (under?.label !== group) this.menu.append((under = element("optgroup", { label: group })));
      under.append(element("option", { value: i }, title));
    }
  }

  first(number) {
    const found = number === null ? 0 : this.chapters.findIndex((chapter) => chapter.runs.includes(number));
    this.number = Math.max(0, found);
    this.draw();
    return this.chapters[this.number];
  }

  async turn(number) {
    if (!this.chapters[number]) return;
    this.number = number;
    this.draw();
    const { runs, at } = this.chapters[number];
    await this.host.list(runs);
    if (at && this.number === number) this.host.on_pick(at.time_s, at.key);
  }

  told({ title, texts, tables }) {
    const parts = [element("h2", {}, title), ...texts.map((text) => element("p", {}, text))];
    for (const { caption, heads, rows } of tables) parts.push(table_of(caption, heads, rows.map(([head, ...cells]) => with_head(head, ...cells))));
    return parts;
  }

  draw() {
    this.menu.value = String(this.number);
    this.before.disabled = this.number === 0;
    this.after.disabled = this.number === this.chapters.length - 1;
    this.before.setAttribute("aria-label", say("before_chapter"));
    this.after.setAttribute("aria-label", say("next_chapter"));
    this.text.replaceChildren(...this.told(this.chapters[this.number]));
  }
}
