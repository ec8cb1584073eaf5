#!/bin/bash
# Opens the report in headless Chromium: the charts are drawn, the console stays silent, nothing is requested from a
# network, and hostile text stays text.  usage: report_browser_test.sh CHROMIUM PAGE_WRITER
set -euo pipefail
chromium=$1 writer=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "$1" >&2; exit 1; }

"$writer" "$folder/page.html"
"$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$folder/profile" --virtual-time-budget=10000 \
  --enable-logging=stderr --log-net-log="$folder/netlog" --dump-dom "file://$folder/page.html" \
  > "$folder/dom" 2> "$folder/log"
if grep "CONSOLE" "$folder/log"; then fail "the console is not silent"; fi
if grep -q "injected.invalid" "$folder/netlog"; then fail "a network request"; fi
if grep -q "<injected-element\|data-broken=" "$folder/dom"; then fail "a record became markup"; fi
drawn=$(grep -o '<html[^>]*data-charts="[0-9]*"' "$folder/dom" | grep -o '[0-9]*' || true)
charts=$(grep -o '<canvas data-chart=' "$folder/dom" | wc -l)
[ "$charts" -ge 20 ] || fail "the page has only $charts charts"
[ "${drawn:-0}" -eq "$charts" ] || fail "${drawn:-0} of $charts charts were drawn"
