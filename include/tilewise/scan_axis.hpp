// SPDX-License-Identifier: Apache-2.0
// Scans of each row or each column of a matrix at once, in the pairwise order.
#pragma once

#include <tilewise/matrix.hpp>
#include <tilewise/scan.hpp>

namespace tilewise {

/// With axis::rows, row i of the output is `inclusive_scan` of row i of A, bit for bit; with axis::columns, column j is
/// that of column j. `init` applies to each row or column. The output has as many rows and columns as A. It is either A
/// itself, with the same layout, or does not overlap A; otherwise throws `invalid_argument`. Elements between its rows
/// are not changed. Throws `unsupported` for a group of devices. Throws before it writes anything.
template <scalar T>
TILEWISE_API void inclusive_scan_axis(std::span<const T> a, matrix_layout of_a, axis which, std::span<T> out,
                                      matrix_layout of_out, const scan_options& options = {});
template <scalar T>
TILEWISE_API void inclusive_scan_axis(std::span<const T> a, matrix_layout of_a, axis which, std::span<T> out,
                                      matrix_layout of_out, std::type_identity_t<T> init,
                                      const scan_options& options = {});

/// The same with `exclusive_scan`: each row or column begins with `init`. Without `init`, a sum starts from 0 and a
/// product from 1; min and max require `init`.
template <scalar T>
TILEWISE_API void exclusive_scan_axis(std::span<const T> a, matrix_layout of_a, axis which, std::span<T> out,
                                      matrix_layout of_out, const scan_options& options = {});
template <scalar T>
TILEWISE_API void exclusive_scan_axis(std::span<const T> a, matrix_layout of_a, axis which, std::span<T> out,
                                      matrix_layout of_out, std::type_identity_t<T> init,
                                      const scan_options& options = {});

/// The same on a device, asynchronous in its queue.
template <scalar T>
TILEWISE_API void inclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, array<T>& out,
                                      matrix_layout of_out, const scan_options& options = {});
template <scalar T>
TILEWISE_API void inclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, array<T>& out,
                                      matrix_layout of_out, std::type_identity_t<T> init,
                                      const scan_options& options = {});
template <scalar T>
TILEWISE_API void exclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, array<T>& out,
                                      matrix_layout of_out, const scan_options& options = {});
template <scalar T>
TILEWISE_API void exclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, array<T>& out,
                                      matrix_layout of_out, std::type_identity_t<T> init,
                                      const scan_options& options = {});

template <host_range A, host_output<element_of<A>> Out>
void inclusive_scan_axis(const A& a, matrix_layout of_a, axis which, Out&& out, matrix_layout of_out,
                         const scan_options& options = {}) {
  tilewise::inclusive_scan_axis(as_input(a), of_a, which, as_output(out), of_out, options);
}
template <host_range A, host_output<element_of<A>> Out>
void inclusive_scan_axis(const A& a, matrix_layout of_a, axis which, Out&& out, matrix_layout of_out,
                         element_of<A> init, const scan_options& options = {}) {
  tilewise::inclusive_scan_axis(as_input(a), of_a, which, as_output(out), of_out, init, options);
}
/// Returns a matrix without gaps between its rows.
template <host_range A>
std::vector<element_of<A>> inclusive_scan_axis(const A& a, matrix_layout of_a, axis which,
                                               const scan_options& options = {}) {
  const matrix_layout packed(of_a.rows, of_a.columns);
  auto out = host_result<element_of<A>>(packed_elements(packed));
  tilewise::inclusive_scan_axis(as_input(a), of_a, which, as_output(out), packed, options);
  return out;
}
template <host_range A>
std::vector<element_of<A>> inclusive_scan_axis(const A& a, matrix_layout of_a, axis which, element_of<A> init,
                                               const scan_options& options = {}) {
  const matrix_layout packed(of_a.rows, of_a.columns);
  auto out = host_result<element_of<A>>(packed_elements(packed));
  tilewise::inclusive_scan_axis(as_input(a), of_a, which, as_output(out), packed, init, options);
  return out;
}
template <scalar T>
array<T> inclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, const scan_options& options = {}) {
  const matrix_layout packed(of_a.rows, of_a.columns);
  array<T> out = a.device().template allocate<T>(packed_elements(packed));
  tilewise::inclusive_scan_axis(a, of_a, which, out, packed, options);
  return out;
}
template <scalar T>
array<T> inclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, std::type_identity_t<T> init,
                             const scan_options& options = {}) {
  const matrix_layout packed(of_a.rows, of_a.columns);
  array<T> out = a.device().template allocate<T>(packed_elements(packed));
  tilewise::inclusive_scan_axis(a, of_a, which, out, packed, init, options);
  return out;
}

template <host_range A, host_output<element_of<A>> Out>
void exclusive_scan_axis(const A& a, matrix_layout of_a, axis which, Out&& out, matrix_layout of_out,
                         const scan_options& options = {}) {
  tilewise::exclusive_scan_axis(as_input(a), of_a, which, as_output(out), of_out, options);
}
template <host_range A, host_output<element_of<A>> Out>
void exclusive_scan_axis(const A& a, matrix_layout of_a, axis which, Out&& out, matrix_layout of_out,
                         element_of<A> init, const scan_options& options = {}) {
  tilewise::exclusive_scan_axis(as_input(a), of_a, which, as_output(out), of_out, init, options);
}
template <host_range A>
std::vector<element_of<A>> exclusive_scan_axis(const A& a, matrix_layout of_a, axis which,
                                               const scan_options& options = {}) {
  const matrix_layout packed(of_a.rows, of_a.columns);
  auto out = host_result<element_of<A>>(packed_elements(packed));
  tilewise::exclusive_scan_axis(as_input(a), of_a, which, as_output(out), packed, options);
  return out;
}
template <host_range A>
std::vector<element_of<A>> exclusive_scan_axis(const A& a, matrix_layout of_a, axis which, element_of<A> init,
                                               const scan_options& options = {}) {
  const matrix_layout packed(of_a.rows, of_a.columns);
  auto out = host_result<element_of<A>>(packed_elements(packed));
  tilewise::exclusive_scan_axis(as_input(a), of_a, which, as_output(out), packed, init, options);
  return out;
}
template <scalar T>
array<T> exclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, const scan_options& options = {}) {
  const matrix_layout packed(of_a.rows, of_a.columns);
  array<T> out = a.device().template allocate<T>(packed_elements(packed));
  tilewise::exclusive_scan_axis(a, of_a, which, out, packed, options);
  return out;
}
template <scalar T>
array<T> exclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, std::type_identity_t<T> init,
                             const scan_options& options = {}) {
  const matrix_layout packed(of_a.rows, of_a.columns);
  array<T> out = a.device().template allocate<T>(packed_elements(packed));
  tilewise::exclusive_scan_axis(a, of_a, which, out, packed, init, options);
  return out;
}

}  // namespace tilewise
