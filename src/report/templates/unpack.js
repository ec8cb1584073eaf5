// SPDX-License-Identifier: Apache-2.0
"use strict";
// Unpacks the charts, and the scripts that draw them: gzip in base64 is a third as large. Browsers unpack gzip too, but only
// later, when a page may have been printed.
(() => {
  const smallestOf = (extraBits, smallest) => extraBits.map((extra) => (smallest += 1 << extra) - (1 << extra));
  const lengthBits = Array.from({ length: 28 }, (_, i) => Math.max(0, (i >> 2) - 1));
  const distanceBits = Array.from({ length: 30 }, (_, i) => Math.max(0, (i >> 1) - 1));
  const shortest = [...smallestOf(lengthBits, 3), 258], nearest = smallestOf(distanceBits, 1);
  const orderOfLengths = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

  // RFC 1951, within a gzip file that has neither a name nor a comment.
  function inflate(file) {
    const out = new Uint8Array(new DataView(file.buffer).getUint32(file.length - 4, true));
    let at = 10, bit = 0, end = 0;
    function bits(count) {
      let value = 0;
      for (let i = 0; i < count; i += 1) {
        value |= (file[at] >> bit & 1) << i;
        bit += 1;
        if (bit === 8) { bit = 0; at += 1; }
      }
      return value;
    }
    // How many codes have each length, and what they mean, in their order.
    function codes(lengths) {
      const counts = new Array(16).fill(0);
      for (const length of lengths) counts[length] += 1;
      const meanings = lengths.map((_, meaning) => meaning).filter((m) => lengths[m] > 0);
      return { counts, meanings: meanings.sort((a, b) => lengths[a] - lengths[b] || a - b) };
    }
    function next({ counts, meanings }) {
      let code = 0, first = 0, before = 0;
      for (let length = 1; length < 16; length += 1) {
        code |= bits(1);
        if (code - first < counts[length]) return meanings[before + code - first];
        before += counts[length];
        first = first + counts[length] << 1;
        code <<= 1;
      }
      throw new Error("no such code");
    }
    function lengthsOfBlock() {
      const literals = bits(5) + 257, distances = bits(5) + 1, ofLengths = new Array(19).fill(0), all = [];
      for (let i = bits(4) + 4, k = 0; k < i; k += 1) ofLengths[orderOfLengths[k]] = bits(3);
      const packed = codes(ofLengths);
      while (all.length < literals + distances) {
        const is = next(packed);
        if (is < 16) all.push(is);
        else if (is === 16) for (let left = bits(2) + 3, last = all[all.length - 1]; left > 0; left -= 1) all.push(last);
        else for (let left = is === 17 ? bits(3) + 3 : bits(7) + 11; left > 0; left -= 1) all.push(0);
      }
      return [all.slice(0, literals), all.slice(literals)];
    }
    const fixed = () => [Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)), new Array(30).fill(5)];
    function block(literals, distances) {
      for (let is = next(literals); is !== 256; is = next(literals)) {
        if (is < 256) { out[end] = is; end += 1; continue; }
        const length = shortest[is - 257] + bits(lengthBits[is - 257] ?? 0);
        const near = next(distances), from = end - nearest[near] - bits(distanceBits[near]);
        for (let i = 0; i < length; i += 1) out[end + i] = out[from + i];
        end += length;
      }
    }
    function stored() {
      if (bit > 0) { bit = 0; at += 1; }
      const length = file[at] | file[at + 1] << 8;
      out.set(file.subarray(at + 4, at + 4 + length), end);
      at += 4 + length;
      end += length;
    }
    for (let isLast = 0; isLast === 0;) {
      isLast = bits(1);
      const kind = bits(2);
      if (kind === 0) stored();
      else block(...(kind === 1 ? fixed() : lengthsOfBlock()).map(codes));
    }
    return out;
  }

  const unpacked = (element) =>
    new TextDecoder().decode(inflate(Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0))));
  const [charts, ...scripts] = [...document.querySelectorAll("script[type='application/gzip']")].map(unpacked);
  globalThis.specs = JSON.parse(charts);
  for (const script of scripts) {
    const element = document.createElement("script");
    element.textContent = script;  // runs at once, if the page's policy has its hash
    document.body.append(element);
  }
})();
