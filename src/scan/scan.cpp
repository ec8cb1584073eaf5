// SPDX-License-Identifier: Apache-2.0
// The public functions of scan: check what only their arguments show, describe the problem, hand it to registry/call.
#include <tilewise/scan.hpp>

#include "base/instantiate.hpp"
#include "registry/call.hpp"
#include "scan/cpu/small.hpp"
#include "scan/problem.hpp"

namespace tilewise {

namespace {

enum class kind : std::uint8_t { inclusive, exclusive };

template <class T>
registry::problem describe(std::uint64_t n, kind which, const T* init, op operation) {
  return impl::scan::problem_of(n, operation, which == kind::exclusive, init, false);
}

using impl::scan::reject_sizes;

/// Not inlined, so that the shortcut does not pay for its stack frame.
template <class T>
[[gnu::noinline]] void scan_by_call(std::span<const T> in, std::span<T> out, kind which, const T* init,
                                    const scan_options& options) {
  registry::run_call(describe(in.size(), which, init, options.operation), options, {{"the input", in}},
                     {{"the output", out}});
}

template <class T>
void scan_host(std::span<const T> in, std::span<T> out, kind which, const T* init, const scan_options& options) {
  if (in.size() != out.size()) reject_sizes(in.size(), out.size());
  if (registry::takes_shortcut(in, impl::scan::small_limit, options) && options.operation <= op::max &&
      (which == kind::inclusive || init != nullptr) && out.data() != nullptr && !registry::overlap_in_part<T>(in, out))
    return impl::scan::scan_small(in.data(), out.data(), in.size(), init, which == kind::inclusive, options.operation);
  scan_by_call(in, out, which, init, options);
}

template <class T>
void scan_array(const array<T>& in, array<T>& out, kind which, const T* init, const scan_options& options) {
  if (in.size() != out.size()) reject_sizes(in.size(), out.size());
  registry::run_call(describe(in.size(), which, init, options.operation), options, {{"the input", in}},
                     {{"the output", out}});
}

}  // namespace

template <scalar T>
void inclusive_scan(std::span<const T> in, std::span<T> out, const scan_options& options) {
  scan_host<T>(in, out, kind::inclusive, nullptr, options);
}
template <scalar T>
void inclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                    const scan_options& options) {
  scan_host<T>(in, out, kind::inclusive, &init, options);
}
template <scalar T>
void exclusive_scan(std::span<const T> in, std::span<T> out, const scan_options& options) {
  scan_host<T>(in, out, kind::exclusive, nullptr, options);
}
template <scalar T>
void exclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                    const scan_options& options) {
  scan_host<T>(in, out, kind::exclusive, &init, options);
}
template <scalar T>
void inclusive_scan(const array<T>& in, array<T>& out, const scan_options& options) {
  scan_array<T>(in, out, kind::inclusive, nullptr, options);
}
template <scalar T>
void inclusive_scan(const array<T>& in, array<T>& out, std::type_identity_t<T> init, const scan_options& options) {
  scan_array<T>(in, out, kind::inclusive, &init, options);
}
template <scalar T>
void exclusive_scan(const array<T>& in, array<T>& out, const scan_options& options) {
  scan_array<T>(in, out, kind::exclusive, nullptr, options);
}
template <scalar T>
void exclusive_scan(const array<T>& in, array<T>& out, std::type_identity_t<T> init, const scan_options& options) {
  scan_array<T>(in, out, kind::exclusive, &init, options);
}

#define TILEWISE_INSTANTIATE(T)                                                              \
  template void inclusive_scan<T>(std::span<const T>, std::span<T>, const scan_options&);    \
  template void inclusive_scan<T>(std::span<const T>, std::span<T>, T, const scan_options&); \
  template void exclusive_scan<T>(std::span<const T>, std::span<T>, const scan_options&);    \
  template void exclusive_scan<T>(std::span<const T>, std::span<T>, T, const scan_options&); \
  template void inclusive_scan<T>(const array<T>&, array<T>&, const scan_options&);          \
  template void inclusive_scan<T>(const array<T>&, array<T>&, T, const scan_options&);       \
  template void exclusive_scan<T>(const array<T>&, array<T>&, const scan_options&);          \
  template void exclusive_scan<T>(const array<T>&, array<T>&, T, const scan_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
