// SPDX-License-Identifier: Apache-2.0
"use strict";
// A pen that writes down as SVG what a chart draws on a canvas: as much of a canvas's context as Chart.js and the page's
// own drawing use. Colours are those that the page has at the time.
globalThis.svgPen = (canvas, title) => {
  const ruler = document.createElement("canvas").getContext("2d");
  const fresh = {
    fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, lineCap: "butt", lineJoin: "miter", lineDashOffset: 0, globalAlpha: 1,
    font: "10px sans-serif", textAlign: "start", textBaseline: "alphabetic", dash: [], turn: new DOMMatrix(), within: "",
  };
  const kept = [], shapes = [], shared = new Map();
  let path = "";

  const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => "&#" + c.charCodeAt(0) + ";");
  const short = (v) => String(Math.round(v * 100) / 100);
  const attributes = (of) => Object.entries(of).map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
  const pen = { canvas, ...fresh };
  const at = (x, y) => {
    const p = new DOMPoint(x, y).matrixTransform(pen.turn);
    return short(p.x) + " " + short(p.y);
  };

  // What several shapes refer to is written once.
  function reference(prefix, body) {
    if (!shared.has(body)) shared.set(body, prefix + shared.size);
    return "url(#" + shared.get(body) + ")";
  }
  function paint(style) {
    if (!style.hatched) return style;
    return reference("hatch", `<pattern id="@" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-6 6L0 0M0 6L6 0M6 6L12 0"` +
      attributes({ stroke: style.hatched, "stroke-width": 1.6 }) + "/></pattern>");
  }
  function add(name, of, text = "") {
    if (pen.globalAlpha < 1) of.opacity = pen.globalAlpha;
    const shape = `<${name}${attributes(of)}>${text}</${name}>`;
    shapes.push(pen.within ? `<g clip-path="${pen.within}">${shape}</g>` : shape);
  }
  const isSeen = (style) => style && style !== "transparent" && style !== "rgba(0,0,0,0)" && style !== "rgba(0, 0, 0, 0)";

  const box = (x, y, w, h) => `M${at(x, y)}L${at(x + w, y)}L${at(x + w, y + h)}L${at(x, y + h)}Z`;
  const fillPath = (d, rule = "nonzero") => {
    if (d && isSeen(pen.fillStyle)) add("path", { d, fill: paint(pen.fillStyle), "fill-rule": rule });
  };
  function strokePath(d) {
    if (!d || !isSeen(pen.strokeStyle) || !(pen.lineWidth > 0)) return;
    const of = { d, fill: "none", stroke: paint(pen.strokeStyle), "stroke-width": pen.lineWidth, "stroke-linejoin": pen.lineJoin };
    if (pen.dash.length > 0) of["stroke-dasharray"] = pen.dash.join(" ");
    add("path", of);
  }
  // An arc of SVG has no two equal ends: a whole circle is two halves.
  function arc(x, y, radius, from, to, backwards = false) {
    const turn = 2 * Math.PI;
    let by = backwards ? from - to : to - from;
    by = Math.abs(by) >= turn ? turn : ((by % turn) + turn) % turn;
    const point = (share) => {
      const angle = from + (backwards ? -1 : 1) * by * share;
      return at(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
    };
    const half = (share) => `A${short(radius)} ${short(radius)} 0 0 ${backwards ? 0 : 1} ${point(share)}`;
    path += (path ? "L" : "M") + point(0) + half(0.5) + half(1);
  }

  const anchors = { start: "start", left: "start", center: "middle", right: "end", end: "end" };
  const drops = { middle: "0.35em", top: "0.8em", hanging: "0.8em", bottom: "-0.22em", alphabetic: "0" };
  function fillText(text, x, y, most = Infinity) {
    if (!isSeen(pen.fillStyle) || text === "") return;
    const [, weight, size, family] = /^(.*?)([\d.]+)px(?:\/\S+)? (.*)$/.exec(pen.font);
    const of = {
      transform: `matrix(${["a", "b", "c", "d", "e", "f"].map((k) => short(pen.turn[k] * 1000) / 1000).join(" ")})`,
      x: short(x), y: short(y), dy: drops[pen.textBaseline], "text-anchor": anchors[pen.textAlign], fill: pen.fillStyle,
      "font-size": size, "font-family": family,
    };
    if (/bold|[6-9]00/.test(weight)) of["font-weight"] = "bold";
    if (pen.measureText(text).width > most) Object.assign(of, { textLength: short(most), lengthAdjust: "spacingAndGlyphs" });
    add("text", of, escaped(text));
  }

  return Object.assign(pen, {
    save() { kept.push(Object.fromEntries(Object.keys(fresh).map((name) => [name, pen[name]]))); },
    restore() { Object.assign(pen, kept.pop()); },
    resetTransform() { pen.turn = new DOMMatrix(); },
    setTransform(...m) { pen.turn = new DOMMatrix(m); },
    translate(x, y) { pen.turn = pen.turn.translate(x, y); },
    rotate(angle) { pen.turn = pen.turn.rotate(angle * 180 / Math.PI); },
    scale(x, y) { pen.turn = pen.turn.scale(x, y); },
    beginPath() { path = ""; },
    closePath() { path += "Z"; },
    moveTo(x, y) { path += "M" + at(x, y); },
    lineTo(x, y) { path += (path ? "L" : "M") + at(x, y); },
    bezierCurveTo(a, b, c, d, x, y) { path += `C${at(a, b)} ${at(c, d)} ${at(x, y)}`; },
    quadraticCurveTo(a, b, x, y) { path += `Q${at(a, b)} ${at(x, y)}`; },
    rect(x, y, w, h) { path += box(x, y, w, h); },
    arc,
    fill(rule) { fillPath(path, rule); },
    stroke() { strokePath(path); },
    fillRect(x, y, w, h) { fillPath(box(x, y, w, h)); },
    strokeRect(x, y, w, h) { strokePath(box(x, y, w, h)); },
    clearRect() {},
    clip() { pen.within = reference("clip", `<clipPath id="@"><path d="${path}"/></clipPath>`); },
    setLineDash(dash) { pen.dash = [...dash]; },
    getLineDash() { return pen.dash; },
    measureText(text) { ruler.font = pen.font; return ruler.measureText(text); },
    fillText,
    strokeText() {},

    /// The drawing on a background of this colour.
    written(background) {
      const [w, h] = [canvas.width, canvas.height];
      const defined = [...shared].map(([body, id]) => body.replace('id="@"', `id="${id}"`)).join("");
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="img">` +
        `<title>${escaped(title)}</title><defs>${defined}</defs><path d="M0 0H${w}V${h}H0Z"${attributes({ fill: background })}/>` +
        shapes.join("\n") + "</svg>\n";
    },
  });
};
