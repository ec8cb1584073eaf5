// What:   polymul on the ranks of a group: its variants in the order of choice, and what they share.
// Order:  that of polymul_serial.cpp on each rank.
// Shape:  polymul_group_<method>.cpp.
// Limits: those of the methods.
// Twins:  polymul_serial.cpp, polymul_cpu.cpp.
#include "polymul/polymul_group.hpp"

namespace tilewise::impl::polymul {

std::vector<registry::variant> polymul_group_variants() {
  return {group_ntt_variant(), group_naive_variant(), group_karatsuba_variant()};
}

void run_alone(const registry::problem& p, const registry::bindings& where, const registry::rank& r,
               const registry::preferences& wanted) {
  const auto whole = [&](const backend::memory& m) { return backend::group::local(m, 0, {0, m.bytes}); };
  registry::run_on_rank(r, p, {.in = {whole(where.in[0]), whole(where.in[1])}, .out = {whole(where.out[0])}}, wanted);
}

}  // namespace tilewise::impl::polymul
