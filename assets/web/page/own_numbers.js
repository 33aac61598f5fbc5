// Numbers of one's own, drawn from a student's code; equivalent to features/labs/core/own_numbers.py.

function has_own_numbers(data) {
  return Object.keys(data.own.lists).length > 0;
}

// A code as it is used for drawing. Full case folding would also replace rare ligatures.
function normal_code(code) {
  return code.trim().split(/\s+/).join(" ").toLowerCase().replace(/ß/g, "ss").replace(/ς/g, "σ").replace(/ſ/g, "s");
}

// Place of the drawn value in each list; the first for an empty code.
function drawn_places(lists, code) {
  const known = normal_code(code);
  return Object.keys(lists).map((name) => {
    if (!known) return 0;
    // The first eight bytes as a number, modulo the length of the list
    return [...sha256(utf8(`${known}\0${name}`))].slice(0, 8).reduce((rest, byte) => (rest * 256 + byte) % lists[name].length, 0);
  });
}

// The drawn values by name.
function own_values({ own: { lists } }, code) {
  const places = drawn_places(lists, code);
  return Object.fromEntries(Object.entries(lists).map(([name, offered], i) => [name, offered[places[i]]]));
}

// The steps of the lab with the drawn values.
function own_steps({ own: { lists, steps: variants }, steps }, code) {
  const sizes = Object.values(lists).map((offered) => offered.length);
  const variant = variants[drawn_places(lists, code).reduce((number, place, i) => number * sizes[i] + place, 0)];
  return steps.map((step) => variant.find(({ id }) => id === step.id) ?? step);
}
