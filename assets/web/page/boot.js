// The only script that a page contains unpacked: it unpacks the others. The page's policy allows scripts by their
// hashes, also those of the unpacked ones.

// Base 85: five letters for four bytes, with the alphabet of Python's base64.b85encode and "," instead of "<".
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";

function dense(text, size) {
  const digits = new Uint8Array(128).fill(255), bytes = new Uint8Array((text.length / 5) * 4), view = new DataView(bytes.buffer);
  for (let i = 0; i < LETTERS.length; ++i) digits[LETTERS.charCodeAt(i)] = i;
  for (let i = 0, at = 0; i + 4 < text.length; i += 5, at += 4) {
    let word = 0;
    for (let k = 0; k < 5; ++k) word = word * 85 + digits[text.charCodeAt(i + k) & 127];
    view.setUint32(at, word);
  }
  return bytes.subarray(0, size);
}

async function inflated(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Text of an element whose content is packed.
async function unpacked_text(id) {
  const place = document.getElementById(id);
  return new TextDecoder().decode(await inflated(dense(place.textContent, Number(place.dataset.size))));
}

(async () => {
  try {
    const script = document.createElement("script");
    script.textContent = await unpacked_text("script");
    document.body.append(script);
  } catch (error) {
    const place = document.getElementById("cannot");
    place.hidden = false;
    place.append(` (${error.message || error})`);
    document.body.dataset.ready = "failed";
  }
})();
