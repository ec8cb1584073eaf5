// SPDX-License-Identifier: Apache-2.0
// Inclusive and exclusive scans (prefix sums, products, minima, maxima) of an array, or of each row or column of a
// matrix, in the pairwise order.
#pragma once

#include <tilewise/call.hpp>
#include <tilewise/partial.hpp>

namespace tilewise {

/// The partial from which a scan continues, given as its address: `{.carry = &part}`.
class carry_of_scan {
 public:
  /// None. It is not constexpr, so that compilers set the options one by one: clearing them all at once takes longer
  /// than a scan of few elements.
  carry_of_scan() : address_(nullptr), type_(dtype::f32) {}
  template <scalar T>
  carry_of_scan(partial<T>* carry) : address_(carry), type_(dtype_of<T>) {}
  bool is_given() const { return address_ != nullptr; }  ///< whether there is one
  void* address() const { return address_; }             ///< of the partial; null for none
  dtype type() const { return type_; }                   ///< of its elements

 private:
  void* address_;
  dtype type_;
};

/// What `inclusive_scan` and `exclusive_scan` compute, where and how.
///
/// `carry` scans a part of a longer array: it holds the reduction of all elements before it, and the call appends the
/// part to it. So an array can be scanned in parts of any length, with the bits of one call. `op` must then be op::sum
/// (its default) or the carry's operation, which is used in both cases. Throws `invalid_argument` for another operation
/// or another element type, for a matrix, or if the carry does not begin at 0; the carry is then unchanged. On a device
/// the call waits until the carry is updated; the scan itself is asynchronous.
struct scan_options {
  tilewise::op op = tilewise::op::sum;          ///< the operator that combines the elements
  number init = {};                             ///< the first operand, if given
  carry_of_scan carry = {};                     ///< the partial of what comes before; see above
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "lookback"; default: chosen
  std::string_view tuning = {};                 ///< such as "group_size=256"; never changes a bit
};

namespace detail {

/// Whether each result includes the element at its position.
enum class scan_kind : std::uint8_t { inclusive, exclusive };

/// Scans few elements on the calling thread. Returns false, and leaves it to call(), if it is not for this shortcut:
/// many elements or none, null pointers, memory that overlaps in part, another floating-point mode.
template <class T>
TILEWISE_API bool scan_few(const T* in, T* out, std::uint64_t count, scan_kind kind, op operation, const number& init);

inline void scan(const argument& in, const argument& out, scan_kind kind, const scan_options& options) {
  if (options.carry.is_given() && options.carry.type() != in.type)
    throw error(errc::invalid_argument, "the carry is of " + std::string(name_of(options.carry.type())) +
                                            " and the input of " + std::string(name_of(in.type)) +
                                            "; pass a partial of the input's type");
  const setting settings[]{{"op", static_cast<unsigned>(options.op)}, {"kind", static_cast<unsigned>(kind)}};
  const named_number numbers[]{{"init", options.init}};
  call({.algorithm = in.which ? "scan_axis" : "scan",
        .in = {&in, 1},
        .out = {&out, 1},
        .settings = settings,
        .numbers = numbers,
        .carry = options.carry.address()},
       options);
}

/// Not inlined, so that a call of few elements does not pay for it.
template <class In, class Out>
[[gnu::noinline]] void scan_many(const In& in, const Out& out, scan_kind kind, const scan_options& options) {
  scan(argument_for(input_name<In>, in), argument_for("the output", out), kind, options);
}

template <class In, class Out>
void scan(const In& in, Out& out, scan_kind kind, const scan_options& options) {
  if constexpr (host_range<In> && host_range<Out>)
    if (is_left_open(options) && !options.carry.is_given() && std::ranges::size(in) == std::ranges::size(out) &&
        scan_few(data_of(in), data_of(out), std::ranges::size(in), kind, options.op, options.init))
      return;
  scan_many(in, out, kind, options);
}

}  // namespace detail

/// out[i] is reduce(in[0..i]), bit for bit: P(i+1) of docs/order.md. With `init`: init + P(i+1). `out` has the size of
/// `in`; it is either `in` itself or does not overlap it. Otherwise throws `invalid_argument`. Asynchronous on a
/// device. Of a matrix that along() makes, each row or column is scanned by itself, and `init` applies to each; the
/// output has as many rows and columns. Elements between its rows are not changed. Throws before it writes anything.
template <operand In, output_beside<In> Out>
void inclusive_scan(const In& in, Out&& out, const scan_options& options = {}) {
  detail::scan(in, out, detail::scan_kind::inclusive, options);
}
/// Returns the results. Those of a matrix have no gaps between the rows.
template <operand In>
auto inclusive_scan(const In& in, const scan_options& options = {}) {
  auto out = detail::result_like(in);
  detail::scan(in, out, detail::scan_kind::inclusive, options);
  return out;
}
/// The same with an operator and no other options.
template <operand In, output_beside<In> Out>
void inclusive_scan(const In& in, Out&& out, op operation) {
  tilewise::inclusive_scan(in, out, scan_options{.op = operation});
}
template <operand In>
auto inclusive_scan(const In& in, op operation) {
  return tilewise::inclusive_scan(in, scan_options{.op = operation});
}

/// The same with out[0] = init, out[i] = init + P(i). Without `init`, a sum starts from 0 and a product from 1; min and
/// max require `init`.
template <operand In, output_beside<In> Out>
void exclusive_scan(const In& in, Out&& out, const scan_options& options = {}) {
  detail::scan(in, out, detail::scan_kind::exclusive, options);
}
template <operand In>
auto exclusive_scan(const In& in, const scan_options& options = {}) {
  auto out = detail::result_like(in);
  detail::scan(in, out, detail::scan_kind::exclusive, options);
  return out;
}

TILEWISE_REFUSE_OTHERS(inclusive_scan)
TILEWISE_REFUSE_OTHERS(exclusive_scan)

}  // namespace tilewise
