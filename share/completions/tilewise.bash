# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What fits is said by the tool itself. Where it says nothing, or is not there in time, file names are offered.

_tilewise() {
  local cur words cword
  _get_comp_words_by_ref -n =: cur words cword || return
  mapfile -t COMPREPLY < <(timeout 2 "${1/#\~\//$HOME/}" complete -- "${words[@]:1:cword}" 2>/dev/null | cut -f1)
  # Bash takes what stands before the last = or : of the word as typed.
  COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*[=:]}"}"}")
}
complete -o bashdefault -o default -F _tilewise tilewise
