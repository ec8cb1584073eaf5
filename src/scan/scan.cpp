// SPDX-License-Identifier: Apache-2.0
// How a call of scan is described and, for few elements, computed at once.
#include <tilewise/scan.hpp>

#include "base/instantiate.hpp"
#include "call/call.hpp"
#include "scan/cpu/small.hpp"
#include "scan/problem.hpp"

namespace tilewise {

namespace {

/// Not inlined, so that a call without an initial value does not pay for the conversion.
template <class T>
[[gnu::noinline]] void scan_onto(const number& init, const T* in, T* out, std::uint64_t count, bool is_inclusive,
                                 op operation) {
  const T first = call::converted(init, dtype_of<T>, "init").template as<T>();
  impl::scan::scan_small(in, out, count, &first, is_inclusive, operation);
}

}  // namespace

template <class T>
bool detail::scan_few(const T* in, T* out, std::uint64_t count, scan_kind kind, op operation, const number& init) {
  const bool is_inclusive = kind == scan_kind::inclusive;
  if (!are_few(in, count) || operation > op::max || out == nullptr || !(is_inclusive || init.is_given()) ||
      call::overlap_in_part(in, out, count))
    return false;
  if (init.is_given())
    scan_onto(init, in, out, count, is_inclusive, operation);
  else
    impl::scan::scan_small<T>(in, out, count, nullptr, is_inclusive, operation);
  return true;
}

registry::problem impl::scan::describe(const detail::request& r) {
  const std::uint64_t in = r.in[0].size, out = r.out[0].size;
  if (in != out)
    throw error(errc::invalid_argument, "the output of a scan must have the size of its input: " + std::to_string(in) +
                                            " elements, not " + std::to_string(out));
  return call::described(scan_algorithm(), r, {in});
}

bool impl::scan::few(const detail::request& r) {
  const detail::argument &in = r.in[0], &out = r.out[0];
  if (in.on != nullptr || r.carry != nullptr || in.size != out.size || call::names_a_place(r)) return false;
  return with_type(in.type, [&]<class T>(T) {
    return detail::scan_few(static_cast<const T*>(in.host), static_cast<T*>(out.host), in.size,
                            static_cast<detail::scan_kind>(r.settings[1].value), static_cast<op>(r.settings[0].value),
                            call::number_of(r, "init"));
  });
}

#define TILEWISE_INSTANTIATE(T) \
  template bool detail::scan_few<T>(const T*, T*, std::uint64_t, scan_kind, op, const number&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
