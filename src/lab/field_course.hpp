// A document's run of which the times are a part, from its start: the field at some moments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::lab {

struct field_moment {
  std::uint64_t step;
  double simulated_time;       // in the document's unit
  double residual;             // against the analytical solution
  std::string hash;            // of the field, 16 hex digits
  std::string published_hash;  // the document's, or empty
  std::vector<std::byte> picture_png;

  bool differs_from_document() const { return !published_hash.empty() && hash != published_hash; }
};

struct field_course {
  std::vector<field_moment> moments;
  std::string stopped = {};        // why it has no further ones; empty if it has all
  std::string hash_function = {};  // of the moments' hashes: only hashes of one function can be compared

  bool differs_from_document() const {
    return std::any_of(moments.begin(), moments.end(), [](const field_moment& m) { return m.differs_from_document(); });
  }
};

}  // namespace tilewise::lab
