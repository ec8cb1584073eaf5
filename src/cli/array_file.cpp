#include "cli/array_file.hpp"

#include "base/printable.hpp"

#include <tilewise/error.hpp>

namespace tilewise::cli {

std::string array_file::sentence() const {
  std::string text = base::printable(path) + " is ";
  if (array.shape.empty()) return text + "a single value";
  if (array.shape.size() == 1) return text + "an array of " + std::to_string(array.shape[0]);
  for (std::size_t d = 0; d < array.shape.size(); ++d) text += (d == 0 ? "" : "x") + std::to_string(array.shape[d]);
  return text;
}

array_file read_array(const std::string& path) { return {path, io::read_npy(path)}; }

void require_dimensions(const array_file& file, std::size_t dimensions, const std::string& advice) {
  if (file.array.shape.size() != dimensions) throw error(errc::invalid_argument, file.sentence() + "; " + advice);
}

void require_one_type(const array_file& a, const array_file& b) {
  if (a.array.type != b.array.type)
    throw error(errc::invalid_argument, base::printable(a.path) + " holds " + std::string(name_of(a.array.type)) +
                                            " and " + base::printable(b.path) + " holds " +
                                            std::string(name_of(b.array.type)) + "; convert one to the other's type");
}

}  // namespace tilewise::cli
