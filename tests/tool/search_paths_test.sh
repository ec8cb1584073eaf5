#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/tool/search_paths_test.sh: what scripts/check_hardening says of programs whose search paths were planted.
# shellcheck disable=SC2016  # $ORIGIN is the loader's own word
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{bin,lib,CMakeFiles}
cd "$work"
echo 'int main() {}' >program.cpp
g++ -c program.cpp -o program.o

link() {
  g++ program.o -o "$1" "${@:2}"
}

# fine: what ours are like, and what is none of ours
link bin/none
link bin/origin '-Wl,-rpath,$ORIGIN'
link bin/beside '-Wl,-rpath,$ORIGIN/../lib'
link bin/slashes '-Wl,-rpath,$ORIGIN///////'
link bin/two '-Wl,-rpath,$ORIGIN:$ORIGIN/../lib/'
link bin/static -static-pie
link CMakeFiles/trial -Wl,-rpath,/foreign
"$root/scripts/check_hardening" --search-paths .
fine=$(find bin -type f | wc -l)

link bin/empty-last '-Wl,-rpath,$ORIGIN:'
link bin/empty-first '-Wl,-rpath,:$ORIGIN'
link bin/empty-between '-Wl,-rpath,$ORIGIN::$ORIGIN/../lib'
link bin/empty-alone -Wl,-rpath,
link bin/relative -Wl,-rpath,lib
link bin/here -Wl,-rpath,.
link bin/foreign -Wl,-rpath,/foreign
link bin/absolute "-Wl,-rpath,$work/lib"
link bin/out '-Wl,-rpath,$ORIGIN/../..'
link bin/lookalike '-Wl,-rpath,$ORIGINAL'
link bin/old '-Wl,--disable-new-dtags,-rpath,$ORIGIN:'
link bin/bracket '-Wl,-rpath,$ORIGIN/a]:/foreign'
link bin/loader -Wl,--dynamic-linker=ld.so
link bin/loader-here -Wl,--dynamic-linker=./ld-linux-x86-64.so.2
link bin/loader-elsewhere -Wl,--dynamic-linker=/foreign/ld-linux-x86-64.so.2
link bin/filter -shared -Wl,-F,./other.so
link bin/auxiliary -shared -Wl,-f,lib/other.so
link bin/audit -Wl,--audit,./other.so
link bin/audit-of-needed -Wl,--depaudit,lib/other.so
g++ -shared -fPIC -x c++ /dev/null -o lib/unnamed.so
link bin/needed-by-path -Wl,--no-as-needed lib/unnamed.so
if "$root/scripts/check_hardening" --search-paths . >said; then cat said; exit 1; fi
planted=$(($(find bin -type f | wc -l) - fine))
refused=$(cut -d: -f1 said | sort -u | wc -l)
[[ $refused -eq $planted ]] || { cat said; exit 1; }
