# SPDX-License-Identifier: Apache-2.0
# Called at build time: the content-security policy of the page, with the SHA-256 of each script and style (SCRIPTS and
# STYLES, separated by |) as the browser computes it, over the embedded bytes: the file and one newline.
set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

function(source_of file result)
  set(joined ${OUTPUT}.joined)
  configure_file(${file} ${joined} COPYONLY)
  file(APPEND ${joined} "\n")
  file(SHA256 ${joined} hex)
  set(base64 "")
  # 64 hex digits are 21 groups of three, each two characters of base64, and one digit, which ends as "x=".
  string(REGEX MATCHALL "..." groups ${hex})
  string(SUBSTRING ${hex} 63 1 last)
  list(APPEND groups "${last}00")
  foreach(group IN LISTS groups)
    math(EXPR high "0x${group} / 64")
    math(EXPR low "0x${group} % 64")
    string(SUBSTRING ${alphabet} ${high} 1 first)
    string(SUBSTRING ${alphabet} ${low} 1 second)
    string(APPEND base64 ${first}${second})
  endforeach()
  string(REGEX REPLACE ".$" "=" base64 ${base64})
  set(${result} "'sha256-${base64}'" PARENT_SCOPE)
endfunction()

foreach(kind IN ITEMS SCRIPTS STYLES)
  set(allowed_${kind} "")
  string(REPLACE "|" ";" files "${${kind}}")
  foreach(file IN LISTS files)
    source_of(${file} source)
    string(APPEND allowed_${kind} " ${source}")
  endforeach()
endforeach()
file(WRITE ${OUTPUT} "default-src 'none'; img-src data:; script-src${allowed_SCRIPTS}; style-src${allowed_STYLES}; \
base-uri 'none'; form-action 'none'")
