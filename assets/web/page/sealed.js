// Hashes, answers encrypted with them, and the signature of results, equivalent to features/labs/core/sealing.py and
// result_file.py. The hashes are computed here, because browsers hide theirs from pages that a server sends without TLS.

const SEAL_ROUNDS = 20000, TOLERANCE_STEPS = 4;
const HASH_BLOCK = 64, HASH_BYTES = 32;
const utf8 = (text) => new TextEncoder().encode(text);
const hex_of = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

// First 32 bits of the fractional parts of square and cube roots of the first primes (FIPS 180-4).
const [HASH_START, HASH_ROUNDS] = (() => {
  const primes = [];
  for (let n = 2; primes.length < 64; ++n) if (primes.every((prime) => n % prime)) primes.push(n);
  const bits = (root) => ((root % 1) * 2 ** 32) | 0;
  return [Int32Array.from(primes.slice(0, 8), (p) => bits(Math.sqrt(p))), Int32Array.from(primes, (p) => bits(Math.cbrt(p)))];
})();
const hash_words = new Int32Array(64);

function hash_block(state, bytes, at) {
  const w = hash_words, turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let i = 0; i < 16; ++i, at += 4) w[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
  for (let i = 16; i < 64; ++i) {
    const x = w[i - 15], y = w[i - 2];
    w[i] = (w[i - 16] + w[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; ++i) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + HASH_ROUNDS[i] + w[i]) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d; state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

// `state`: the hash state after `before` bytes, which are whole blocks.
function sha256(bytes, state = HASH_START, before = 0) {
  const size = bytes.length, padded = new Uint8Array(Math.ceil((size + 9) / HASH_BLOCK) * HASH_BLOCK), view = new DataView(padded.buffer);
  padded.set(bytes);
  padded[size] = 0x80;
  view.setBigUint64(padded.length - 8, BigInt(before + size) * 8n);
  const now = state.slice();
  for (let at = 0; at < padded.length; at += HASH_BLOCK) hash_block(now, padded, at);
  const found = new DataView(new ArrayBuffer(HASH_BYTES));
  now.forEach((word, i) => found.setInt32(4 * i, word));
  return new Uint8Array(found.buffer);
}

// Returns a function that signs bytes with the key (HMAC-SHA-256).
function hmac(key) {
  const given = key.length > HASH_BLOCK ? sha256(key) : key;
  const state = (pad) => {
    const block = new Uint8Array(HASH_BLOCK).fill(pad), made = HASH_START.slice();
    given.forEach((byte, i) => (block[i] ^= byte));
    hash_block(made, block, 0);
    return made;
  };
  const inner = state(0x36), outer = state(0x5c);
  return (bytes) => sha256(sha256(bytes, inner, HASH_BLOCK), outer, HASH_BLOCK);
}

// PBKDF2 in slices, so that the page stays responsive.
async function stretched(name, salt, size) {
  const sign = hmac(utf8(name)), blocks = Math.ceil(size / HASH_BYTES), made = new Uint8Array(blocks * HASH_BYTES);
  for (let block = 0; block < blocks; ++block) {
    let last = sign(new Uint8Array([...utf8(salt), 0, 0, 0, block + 1]));
    const sum = last.slice();
    for (let round = 1; round < SEAL_ROUNDS; ++round) {
      last = sign(last);
      for (let i = 0; i < HASH_BYTES; ++i) sum[i] ^= last[i];
      if (round % 2000 === 0) await new Promise((go_on) => setTimeout(go_on, 0));
    }
    made.set(sum, block * HASH_BYTES);
  }
  return made.subarray(0, size);
}

function answer_name(value, tolerance) {
  if (typeof value === "string") return `text ${value}`;
  if (!tolerance || !value) return String(Number(value.toPrecision(12)));
  return `${value < 0 ? "-" : "+"}${Math.round(Math.log(Math.abs(value)) / Math.log1p(tolerance / TOLERANCE_STEPS))}`;
}

function is_near(value, other, tolerance) {
  return Math.abs(value - other) <= tolerance * Math.abs(other) + 1e-12;
}

// Decrypted feedback for an answer: {is_right, why}.
async function opened(question, value) {
  const { salt, entries, is_exact } = question.sealed;
  const key = await stretched(answer_name(value, question.options.length ? 0 : question.tolerance), salt, 48);
  const closed = entries[hex_of(key.subarray(0, 16))];
  if (closed === undefined) return { is_right: false, why: "" };
  const bytes = Uint8Array.from(closed.match(/../g) ?? [], (pair) => parseInt(pair, 16)), open = key.subarray(16);
  for (let at = 0; at < bytes.length; at += HASH_BYTES) {
    const stream = sha256(new Uint8Array([...open, 0, 0, at >> 8, at & 255]));
    for (let i = 0; i < HASH_BYTES && at + i < bytes.length; ++i) bytes[at + i] ^= stream[i];
  }
  let text = new TextDecoder().decode(bytes);
  const is_right = text[0] === "+";
  text = text.slice(1);
  if (!is_exact) return { is_right, why: text };
  const end = text.indexOf(" "), is_meant = is_near(value, Number(text.slice(0, end)), question.tolerance);
  return { is_right: is_right && is_meant, why: is_meant ? text.slice(end + 1) : "" };
}

// Options in this student's order.
function dealt(options, ...by) {
  const places = options.map((option, i) => [hex_of(sha256(utf8([...by, String(i)].join("\0")))), option]);
  return places.sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([, option]) => option);
}

// A number in Python's notation.
function python_number(value) {
  if (Number.isInteger(value) || Math.abs(value) >= 1e-4) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

// JSON as Python writes it, with sorted keys and in ASCII.
function canonical(value) {
  if (typeof value === "number") return python_number(value);
  if (typeof value === "string") return JSON.stringify(value).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${canonical(name)}:${canonical(value[name])}`).join(",")}}`;
}

function digest_of(document, key) {
  const text = utf8(canonical(document));
  return hex_of(key ? hmac(utf8(key))(text) : sha256(text));
}
