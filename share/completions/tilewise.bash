# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What fits is said by the tool itself. Where it says nothing, or is not there in time, file names are offered.

_tilewise() {
  local cur words cword
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n =: cur words cword || return
  else  # without the package bash-completion: bash itself also splits words at = and :
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} != *[[:blank:]] ]] || words+=("")
    cword=$((${#words[@]} - 1)) cur=${words[-1]}
  fi
  mapfile -t COMPREPLY < <(timeout 2 "${1/#\~\//$HOME/}" complete -- "${words[@]:1:cword}" 2>/dev/null | cut -f1)
  # Bash takes what stands before the last = or : of the word as typed.
  COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*[=:]}"}"}")
}
complete -o bashdefault -o default -F _tilewise tilewise
