#!/bin/bash
# Opens the report in headless Chromium: the charts are drawn, the console stays silent, nothing is requested from a
# network, and hostile text stays text.  usage: report_browser_test.sh CHROMIUM PAGE_WRITER
set -euo pipefail
chromium=$1 writer=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "$1" >&2; exit 1; }

"$writer" "$folder"
for page in plain hostile; do
  "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$folder/$page-profile" --virtual-time-budget=10000 \
    --enable-logging=stderr --log-net-log="$folder/$page.netlog" --dump-dom "file://$folder/$page.html" \
    > "$folder/$page.dom" 2> "$folder/$page.log"
  if grep "CONSOLE" "$folder/$page.log"; then fail "$page.html: the console is not silent"; fi
  if grep -q "injected.invalid" "$folder/$page.netlog"; then fail "$page.html: a network request"; fi
  if grep -q "<injected-element\|data-broken=" "$folder/$page.dom"; then fail "$page.html: a record became markup"; fi
  drawn=$(grep -o '<html[^>]*data-charts="[0-9]*"' "$folder/$page.dom" | grep -o '[0-9]*' || true)
  [ "${drawn:-0}" -gt 20 ] || fail "$page.html: only ${drawn:-0} charts were drawn"
done
