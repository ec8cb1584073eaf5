// Arrays from files, with what messages about them need: their names and shapes.
#pragma once

#include "io/npy.hpp"

namespace tilewise::cli {

struct array_file {
  std::string path;
  io::npy_array array;

  /// "a.npy is 3x4"; with one dimension "x.npy is an array of 5".
  std::string sentence() const;
};
array_file read_array(const std::string& path);

/// Throws `invalid_argument`, with the shape and this advice, unless the array has this many dimensions.
void require_dimensions(const array_file& file, std::size_t dimensions, const std::string& advice);
/// Throws `invalid_argument`, naming both types, unless the two types are equal.
void require_one_type(const array_file& a, const array_file& b);

}  // namespace tilewise::cli
