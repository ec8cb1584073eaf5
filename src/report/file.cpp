#include "report/file.hpp"

#include <tilewise/error.hpp>

#include <unistd.h>
#include <fstream>
#include <string>

namespace tilewise::report {

void write_file(const std::filesystem::path& out, std::string_view text) {
  const std::filesystem::path temporary = out.string() + "." + std::to_string(getpid()) + ".part";
  {
    std::ofstream stream(temporary, std::ios::binary);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    stream.close();
    if (stream) {
      std::error_code problem;
      std::filesystem::rename(temporary, out, problem);
      if (!problem) return;
    }
  }
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  throw error(errc::io, out.string() + " cannot be written; check the folder, its rights and the free space");
}

}  // namespace tilewise::report
