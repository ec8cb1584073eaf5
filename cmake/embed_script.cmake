# SPDX-License-Identifier: Apache-2.0
# Called by embed.cmake at build time: FILES (separated by |) become OUTPUT.
string(REPLACE "|" ";" files "${FILES}")
set(bytes "")
foreach(file IN LISTS files)
  file(READ ${file} hex HEX)
  string(APPEND bytes "${hex}0a")
endforeach()
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,){32})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <string_view>
namespace tilewise::embedded {
static const unsigned char bytes_of_${NAME}[] = {
${bytes}};
extern const std::string_view ${NAME};
const std::string_view ${NAME}(reinterpret_cast<const char*>(bytes_of_${NAME}), sizeof bytes_of_${NAME});
}
")
