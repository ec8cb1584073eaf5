// The variants on the ranks of a group, in the order of choice: as on each of its members.
#include "polymul/polymul_group.hpp"

namespace tilewise::impl::polymul {

std::vector<registry::variant> polymul_group_variants() { return {group_naive_variant(), group_karatsuba_variant()}; }

}  // namespace tilewise::impl::polymul
