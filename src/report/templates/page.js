// SPDX-License-Identifier: Apache-2.0
"use strict";
// Draws the charts that the page describes (`specs`), when a reader comes to them, and saves them. Their numbers are in the
// page's tables, so that nothing is lost without this script. Text from records is only ever drawn on a canvas.
(() => {
  const isNarrow = (canvas) => canvas.parentElement.clientWidth < 520;
  const chartOn = (canvas) =>
    chartOf(specs[canvas.dataset.chart], isNarrow(canvas), canvas.parentElement.clientWidth);
  const drawn = new Map();
  function draw(canvas) {
    if (drawn.has(canvas)) drawn.get(canvas).destroy();
    else addSaving(canvas);
    drawn.set(canvas, new Chart(canvas, chartOn(canvas)));
    document.documentElement.dataset.charts = drawn.size;
  }

  // A PNG of the chart on the page's own background.
  function picture(canvas) {
    const copy = document.createElement("canvas");
    copy.width = canvas.width;
    copy.height = canvas.height;
    const pen = copy.getContext("2d");
    pen.fillStyle = ink("paper");
    pen.fillRect(0, 0, copy.width, copy.height);
    pen.drawImage(canvas, 0, 0);
    return copy.toDataURL("image/png");
  }
  // The same chart, drawn once more.
  function drawing(canvas) {
    const copy = document.createElement("canvas");
    copy.width = canvas.clientWidth;
    copy.height = canvas.clientHeight;
    const pen = svgPen(copy, canvas.getAttribute("aria-label"));
    copy.getContext = () => pen;
    const config = chartOn(canvas);
    Object.assign(config.options, { responsive: false, devicePixelRatio: 1, events: [] });
    for (const set of config.data.datasets) set.segment = {};  // else Chart.js keeps lines as paths that no pen can read
    const chart = new Chart(copy, config);
    const text = pen.written(ink("paper"));
    chart.destroy();
    return "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  }
  function addSaving(canvas) {
    const after = canvas.parentElement;
    for (const [kind, content] of [["SVG", drawing], ["PNG", picture]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Save as " + kind;
      button.setAttribute("aria-label", "Save as " + kind + ": " + canvas.getAttribute("aria-label"));
      button.addEventListener("click", () => {
        const link = document.createElement("a");
        link.href = content(canvas);
        link.download = "tilewise-chart-" + (Number(canvas.dataset.chart) + 1) + "." + kind.toLowerCase();
        link.click();
      });
      after.after(button);
    }
  }

  const isHidden = (element) => {
    const fold = element.parentElement.closest("details");
    return fold !== null && (!fold.open || isHidden(fold));
  };
  // Before anything is drawn, so that nothing moves when it is. What is read aloud is what stands above the chart.
  document.querySelectorAll("canvas").forEach((canvas) => {
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", canvas.closest("figure").querySelector("figcaption").textContent);
    const spec = specs[canvas.dataset.chart];
    const bars = spec.kind === "bars" ? spec.bars.length : spec.kind === "stack" ? spec.labels.length + 1 : 0;
    const each = spec.kind === "bars" && isNarrow(canvas) ? 40 : 26;
    if (bars > 0) canvas.parentElement.style.height = 64 + each * bars + "px";
  });

  // What a reader sees comes first; all else one by one, so that the page answers in between.
  const waiting = () => [...document.querySelectorAll("canvas")].filter((c) => !drawn.has(c) && !isHidden(c));
  const isNear = (element) => element.getBoundingClientRect().top < 2 * innerHeight;
  let left = [];
  function drawLeft() {
    const next = left.shift();
    if (next && !drawn.has(next)) draw(next);
    if (left.length > 0) setTimeout(drawLeft);
  }
  function drawNew() {
    const isWorking = left.length > 0;
    left = waiting();
    left.filter(isNear).forEach(draw);
    left = left.filter((c) => !drawn.has(c));
    if (left.length > 0 && !isWorking) setTimeout(drawLeft);
  }
  const drawAgain = () => [...drawn.keys()].forEach(draw);

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.color = ink("soft");
  drawNew();
  document.addEventListener("toggle", drawNew, true);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", drawAgain);
  // Paper is white and narrow: while a page is printed, its charts have a column's width and the light page's colours.
  const onPaper = (is) => () => {
    document.documentElement.toggleAttribute("data-on-paper", is);
    drawAgain();
    waiting().forEach(draw);
  };
  addEventListener("beforeprint", onPaper(true));
  addEventListener("afterprint", onPaper(false));
})();
