#include "report/file.hpp"

#include "io/replacement_file.hpp"

namespace tilewise::report {

void write_file(const std::filesystem::path& out, std::string_view text) {
  io::replacement_file file(out.string());
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace tilewise::report
