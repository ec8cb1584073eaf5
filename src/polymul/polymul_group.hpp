// The variants on the ranks of a group, one maker for each polymul_group_<method>.cpp.
#pragma once

#include "polymul/polymul_problem.hpp"
#include "registry/ranks.hpp"

namespace tilewise::impl::polymul {

registry::variant group_naive_variant();
registry::variant group_karatsuba_variant();
registry::variant group_ntt_variant();

/// The bytes of elements [first, end).
template <class T>
constexpr backend::group::byte_range bytes_of(std::uint64_t first, std::uint64_t end) {
  return {first * sizeof(T), end * sizeof(T)};
}

}  // namespace tilewise::impl::polymul
