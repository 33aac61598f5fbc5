// Searches the guide: ranks pages by where they have the words that were asked for, and shows the best passage of each.
//
// Sphinx reads the question and finds pages with parts of words. It would rank a page by its best word alone, and fetch
// each page for an excerpt, which browsers refuse on a disk. The texts come as a script instead (guide_search.py).
"use strict";

(() => {
  const TITLE = 8, HEADING = 5, TEXT = 3;  // weight of a word by its place
  const PHRASE = { title: 12, heading: 8, text: 4 };  // weight of all words in a row
  const SATURATION = 1.2, LENGTH_SHARE = 0.75; // k1 and b of BM25 (Robertson and Zaragoza, 2009)
  const EXCERPT = 240, BEFORE = 60; // characters
  const WORD = /[\p{Letter}\p{Number}_]+/gu;

  const stemmer = new Stemmer(), stems = new Map();

  function stem(word) {
    if (!stems.has(word)) stems.set(word, stemmer.stemWord(word));
    return stems.get(word);
  }

  const stems_of = (text) => (text.toLowerCase().match(WORD) ?? []).map(stem);
  const plain = (text) => ` ${stems_of(text).join(" ")} `;

  // Each page with its sections: the stems of headings and texts, and how often each occurs.
  function read_pages(texts) {
    const pages = new Map();
    for (const [name, sections] of Object.entries(texts)) {
      const read = sections.map(([anchor, heading, text]) => {
        const counts = new Map(), words = stems_of(text);
        for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
        return { anchor, heading, text, counts, length: words.length, in_heading: new Set(stems_of(heading)) };
      });
      pages.set(name, { title: sections[0][1], sections: read, in_title: read[0].in_heading });
    }
    return pages;
  }

  let known = null;

  function guide() {
    if (known !== null) return known;
    const pages = read_pages(search_texts), pages_with = new Map(); // by stem
    let sections = 0, length = 0;
    for (const page of pages.values()) {
      page.words = new Set(page.sections.flatMap(({ counts, in_heading }) => [...counts.keys(), ...in_heading]));
      sections += page.sections.length;
      for (const section of page.sections) length += section.length;
      for (const word of page.words) pages_with.set(word, (pages_with.get(word) ?? 0) + 1);
    }
    known = { pages, mean_length: length / sections, rarity: (word) => Math.log(1 + pages.size / (pages_with.get(word) ?? 1)) };
    return known;
  }

  function section_score(page, section, words, phrase) {
    const { mean_length, rarity } = guide();
    let score = 0;
    for (const word of words) {
      const count = section.counts.get(word) ?? 0;
      const spread = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * section.length) / mean_length);
      const places = (page.in_title.has(word) ? TITLE : 0) + (section.in_heading.has(word) ? HEADING : 0);
      score += rarity(word) * (places + (TEXT * count) / (count + spread));
    }
    if (words.length < 2) return score;
    if (plain(page.title).includes(phrase)) score += PHRASE.title;
    if (plain(section.heading).includes(phrase)) score += PHRASE.heading;
    if (plain(section.text).includes(phrase)) score += PHRASE.text;
    return score;
  }

  // The best section of a page, and what it is worth.
  function best_section(page, words, phrase) {
    let best = null;
    for (const section of page.sections) {
      const score = section_score(page, section, words, phrase);
      if (best === null || score > best.score) best = { section, score };
    }
    return best;
  }

  // The passage of a section, or of the next one with a text, in which the most of the words are near each other.
  function excerpt_of(page, section, words) {
    const { text } = page.sections.slice(page.sections.indexOf(section)).find((each) => each.text) ?? section;
    const hits = [...text.matchAll(WORD)].filter(([word]) => words.includes(stem(word.toLowerCase())));
    let start = 0, most = 0;
    hits.forEach((hit, first) => {
      const near = hits.slice(first).filter(({ index }) => index < hit.index + EXCERPT - BEFORE);
      const found = new Set(near.map(([word]) => stem(word.toLowerCase()))).size;
      if (found > most) [start, most] = [Math.max(0, hit.index - BEFORE), found];
    });
    if (start > 0) start = text.indexOf(" ", start) + 1;
    const rest = text.slice(start, start + EXCERPT), is_cut = start + EXCERPT < text.length;
    return (start > 0 ? "… " : "") + (is_cut ? `${rest.slice(0, rest.lastIndexOf(" "))} …` : rest);
  }

  function with_marks(text, words) {
    const parts = [];
    let end = 0;
    for (const hit of text.matchAll(WORD)) {
      if (!words.includes(stem(hit[0].toLowerCase()))) continue;
      const mark = document.createElement("span");
      mark.className = "highlighted";
      mark.textContent = hit[0];
      parts.push(text.slice(end, hit.index), mark);
      end = hit.index + hit[0].length;
    }
    return [...parts, text.slice(end)];
  }

  function item_of({ name, page, section }, words) {
    const item = document.createElement("li"), link = document.createElement("a"), passage = document.createElement("p");
    const is_top = section === page.sections[0], address = `${name}${DOCUMENTATION_OPTIONS.LINK_SUFFIX}`;
    link.href = is_top || !section.anchor ? address : `${address}#${section.anchor}`;
    link.textContent = is_top ? page.title : `${page.title} › ${section.heading}`;
    passage.className = "context";
    passage.append(...with_marks(excerpt_of(page, section, words), words));
    item.append(link, passage);
    return item;
  }

  // Of a longer question, a page may lack one word.
  function has_enough(page, words) {
    const found = words.filter((word) => page.words.has(word)).length;
    return found > 0 && found >= words.length - (words.length > 2 ? 1 : 0);
  }

  function found_pages(query) {
    const parsed = Search._parseQuery(query), words = [...parsed[1]], excluded = [...parsed[2]];
    const { pages } = guide(), phrase = ` ${stems_of(query).filter((word) => words.includes(word)).join(" ")} `;
    const names = new Set(Search._performSearch(...parsed).map(([name]) => name));
    for (const [name, page] of pages)
      if (has_enough(page, words) && !excluded.some((word) => page.words.has(word))) names.add(name);
    const found = [...names].filter((name) => pages.has(name)).map((name) => ({ name, page: pages.get(name), ...best_section(pages.get(name), words, phrase) }));
    return { words, found: found.sort((a, b) => b.score - a.score || a.page.title.localeCompare(b.page.title)) };
  }

  Search.query = (query) => {
    const { words, found } = found_pages(query);
    Search.output.replaceChildren(...found.map((each) => item_of(each, words)));
    _finishSearch(found.length);
  };
})();
