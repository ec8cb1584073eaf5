#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Opens the report in headless Chromium: the charts are drawn, each can be saved, the console stays silent, nothing is
# requested from a network, hostile text stays text, and a phone shows no line that is wider than itself.
# Nor are names of bars, or words beside them, cut off there, or ticks of an axis drawn over one another.
# usage: report_browser_test.sh CHROMIUM PAGE_WRITER
set -euo pipefail
chromium=$1 writer=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "$1" >&2; exit 1; }

# browse PAGE OPTION...: its DOM after the scripts have run, and what the console said in $folder/log.
browse() {
  "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$folder/profile" --virtual-time-budget=10000 \
    --enable-logging=stderr "${@:2}" --dump-dom "file://$1" 2> "$folder/log"
}

# number NAME: the value of the document's attribute data-NAME in $folder/dom.
number() { grep -o "<html[^>]*" "$folder/dom" | grep -o "data-$1=\"[0-9]*\"" | grep -o '[0-9]*' || echo 0; }

"$writer" "$folder/page.html"
sed -i 's/<details class="panel"/& open/' "$folder/page.html"  # charts are drawn once a reader opens what they are in
browse "$folder/page.html" --log-net-log="$folder/netlog" > "$folder/dom"
if grep "CONSOLE" "$folder/log"; then fail "the console is not silent"; fi
if grep -q "injected.invalid" "$folder/netlog"; then fail "a network request"; fi
if grep -q "<injected-element\|data-broken=" "$folder/dom"; then fail "a record became markup"; fi
charts=$(grep -o '<canvas data-chart=' "$folder/dom" | wc -l)
[ "$charts" -ge 20 ] || fail "the page has only $charts charts"
[ "$(number charts)" -eq "$charts" ] || fail "$(number charts) of $charts charts were drawn"
told=$(grep -o '<canvas [^>]*role="img" aria-label="[^"]' "$folder/dom" | wc -l || true)
[ "$told" -eq "$charts" ] || fail "$told of $charts charts are told to those who do not see them"

# A page is printed as soon as it is loaded: its charts are drawn by then.
"$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" --print-to-pdf="$folder/page.pdf" \
  "file://$folder/page.html" 2> "$folder/log"
pictures=$(grep -ac '/Subtype /Image' "$folder/page.pdf" || true)
[ "$pictures" -ge $((charts / 2)) ] || fail "the printed page has $pictures pictures of $charts charts"  # equal ones are one

# The page's policy lets no script of a test run, so this one is in a copy without it: it presses every button.
sed 's/http-equiv="Content-Security-Policy"/name="policy"/' "$folder/page.html" > "$folder/pressed.html"
cat >> "$folder/pressed.html" <<'END'
<script>
  const is = document.documentElement.dataset, saved = new Set();
  const isWhole = (href) => {
    if (href.startsWith("data:image/png;base64,iVBOR")) return href.length > 5000;
    const text = decodeURIComponent(href.slice("data:image/svg+xml;charset=utf-8,".length));
    const drawing = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    return drawing.localName === "svg" && drawing.querySelectorAll("path, text").length > 10 &&
      !drawing.querySelector("injected-element, script") && !/="[^"]*(NaN|undefined|var\()/.test(text);
  };
  HTMLAnchorElement.prototype.click = function () { if (isWhole(this.href)) saved.add(this.download); };
  setTimeout(() => {  // charts out of sight are drawn after the others
    document.querySelectorAll("figure button").forEach((button) => button.click());
    is.saved = saved.size;
    is.width = document.body.scrollWidth;
    is.room = document.body.clientWidth;
    const shown = [...document.querySelectorAll("canvas")].map((canvas) => Chart.getChart(canvas));
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = "11px " + getComputedStyle(document.body).fontFamily;
    const widthOf = (tick) => pen.measureText(tick.label).width;
    const wide = [...document.querySelectorAll(".scroll")].filter((t) => t.scrollWidth > t.clientWidth);
    const isShaded = (style) => style.overflowX === "auto" && style.backgroundAttachment.includes("local");
    is.wide = wide.length;
    is.cut = wide.filter((t) => !isShaded(getComputedStyle(t))).length;
    is.collisions = shown.filter(({ scales: { x } }) => x.ticks.some((tick, i) => i > 0 &&
      x.getPixelForTick(i) - x.getPixelForTick(i - 1) < (widthOf(tick) + widthOf(x.ticks[i - 1])) / 2)).length;
    is.clipped = shown.filter(({ scales: { y } }) => y.type === "category" && y.options.display &&
      Math.max(...y.ticks.map(widthOf)) > y.width).length;
    pen.font = pen.font.replace("11px", "12px");
    is.remarks = shown.flatMap((chart) => chart.data.datasets[0].notes ?? []).filter((n) => n.endsWith("operands")).length;
    is.beyond = shown.filter((chart) => (chart.data.datasets[0].notes ?? []).some((note, i) =>
      chart.getDatasetMeta(0).data[i].x + 7 + pen.measureText(note).width > chart.width)).length;
  }, 5000);
  document.documentElement.style.width = "400px";  // a window is at least 500 wide
  is.dark = getComputedStyle(document.body).backgroundColor === "rgb(21, 24, 28)" ? 1 : 0;
</script>
END
browse "$folder/pressed.html" --window-size=400,800 --blink-settings=preferredColorScheme=0 > "$folder/dom"
[ "$(number saved)" -eq $((2 * charts)) ] || fail "$(number saved) of $charts charts can be saved, as PNG and as SVG"
[ "$(number width)" -le "$(number room)" ] || fail "the page is $(number width) wide where a screen has $(number room)"
[ "$(number wide)" -ge 1 ] || fail "no table is wider than a phone"
[ "$(number cut)" -eq 0 ] || fail "$(number cut) tables are cut where nothing shows that they go on"
[ "$(number collisions)" -eq 0 ] || fail "$(number collisions) charts have ticks that collide"
[ "$(number clipped)" -eq 0 ] || fail "$(number clipped) charts cut the names of bars off"
[ "$(number remarks)" -ge 1 ] || fail "no bar has a remark"
[ "$(number beyond)" -eq 0 ] || fail "$(number beyond) charts cut off what stands beside a bar"
[ "$(number dark)" -eq 1 ] || fail "the page is not dark where a reader wants it to be"
