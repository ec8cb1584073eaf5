// SPDX-License-Identifier: Apache-2.0
// The public functions of scan for a part of a longer array. The part is cut into pieces, each a problem with a carry.
// A piece is valid up to the end of the largest aligned block that begins where it begins.
#include "base/enter.hpp"
#include "base/instantiate.hpp"
#include "order/segment.hpp"
#include "reduce/segment.hpp"
#include "registry/call.hpp"
#include "scan/cpu/small.hpp"
#include "scan/problem.hpp"

#include <tilewise/scan.hpp>

namespace tilewise {

namespace {

using impl::scan::piece_length;
using order::segment;
using registry::call_operand;

/// The longest piece. It is read twice, for its block values and for its outputs, so it should stay in the cache.
constexpr std::uint64_t most_at_once = std::uint64_t{1} << 20;

/// The arguments of one call, except its data.
template <class T>
struct request {
  op operation;
  bool exclusive;
  const T* init;  // null for none
  scan_options options;

  registry::problem piece(std::uint64_t n) const { return impl::scan::problem_of(n, operation, exclusive, init, true); }
  reduce_options reductions() const { return {.operation = operation, .device = options.device}; }
  bool leaves_choice() const { return options.variant.empty() && options.tuning.empty(); }
};

/// P(end); at the beginning of the array, the identity.
template <class T>
T prefix_after(const segment<T>& done, op operation) {
  return order::with_operator(operation, [&]<class Op>(Op) { return order::fold<Op>(done); });
}

template <class T>
void scan_short_piece(std::span<const T> in, std::span<T> out, const request<T>& r, T before, T after) {
  order::with_operator(r.operation, [&]<class Op>(Op) {
    const T start = r.exclusive ? T(Op::id == op::product ? 1 : 0) : Op::template identity<T>();
    impl::scan::scan_small_part<T, Op>(in.data(), out.data(), in.size(), before, after,
                                       r.init == nullptr ? start : *r.init, !r.exclusive);
  });
}

template <class T>
void scan_on_host(std::span<const T> in, std::span<T> out, const request<T>& r, segment<T>& done) {
  while (!in.empty()) {
    const std::uint64_t count = piece_length(done.end, std::min<std::uint64_t>(in.size(), most_at_once));
    const std::span<const T> x = in.first(count);
    const std::span<T> y = out.first(count);
    const T before = prefix_after(done, r.operation);
    const segment<T> blocks = impl::reduce::segment_of(x, done.end, r.reductions());
    order::with_operator(r.operation, [&]<class Op>(Op) { order::append<Op>(done, blocks); });
    const T carry[]{before, prefix_after(done, r.operation)};
    if (count <= impl::scan::small_limit && r.leaves_choice())
      scan_short_piece(x, y, r, carry[0], carry[1]);
    else
      registry::run_call(r.piece(count), r.options, {{"the input", x}, {"the carry", std::span<const T>(carry)}},
                         {{"the output", y}});
    in = in.subspan(count);
    out = out.subspan(count);
  }
}

/// How many elements precede the next multiple of small_limit. Pieces shorter than that are faster on the host.
template <class T>
std::uint64_t head_length(std::uint64_t first, std::uint64_t count, const request<T>& r) {
  constexpr std::uint64_t limit = impl::scan::small_limit;
  return r.leaves_choice() ? std::min(count, (limit - first % limit) % limit) : 0;
}

template <class T>
void scan_head(const array<T>& in, array<T>& out, std::uint64_t count, const request<T>& r, segment<T>& done) {
  backend::queue& queue = in.device().implementation().queue();
  std::vector<T> values(count);
  const std::uint64_t bytes = count * sizeof(T);
  queue.download(values.data(), in.storage().at(0, bytes), bytes);
  scan_on_host<T>(values, std::span<T>(values), r, done);
  queue.upload(out.storage().at(0, bytes), values.data(), bytes);
}

template <class T>
void scan_on_device(const array<T>& in, array<T>& out, const request<T>& r, segment<T>& done) {
  const std::uint64_t head = head_length(done.end, in.size(), r), rest = in.size() - head;
  if (head != 0) scan_head(in, out, head, r, done);
  if (rest == 0) return;
  const std::uint64_t begin = done.end, end = begin + rest;
  const segment<T> blocks = impl::reduce::segment_of(in, head, begin, r.reductions());
  std::vector<T> carries;
  const T* value = blocks.value.data();
  order::with_operator(r.operation, [&]<class Op>(Op) {
    while (done.end != end) {
      carries.push_back(order::fold<Op>(done));
      order::for_each_block(done.end, done.end + piece_length(done.end, end - done.end),
                            [&](std::uint64_t, unsigned level) { order::append<Op>(done, *value++, level); });
      carries.push_back(order::fold<Op>(done));
    }
  });
  const array<T> ends = in.device().upload(carries);
  const call_operand x("the input", in), y("the output", out), carry("the carry", ends);
  std::uint64_t at = begin;
  for (std::uint64_t i = 0; i < carries.size(); i += 2) {
    const std::uint64_t count = piece_length(at, end - at), first = at - begin + head;
    registry::run_call(r.piece(count), r.options, {x.part<T>(first, count), carry.part<T>(i, 2)},
                       {y.part<T>(first, count)});
    at += count;
  }
}

template <class T>
void require_continuable(const request<T>& r, const partial<T>& carry, const call_operand& in,
                         const call_operand& out) {
  const std::uint64_t count = in.bytes / sizeof(T);
  if (in.bytes != out.bytes) impl::scan::reject_sizes(count, out.bytes / sizeof(T));
  if (carry.begin() != 0)
    throw error(errc::invalid_argument, "the carry begins at position " + std::to_string(carry.begin()) +
                                            "; merge it with the part that precedes it, so that it begins at 0");
  impl::reduce::require_appendable(r.options.operation, r.operation, carry.end(), count);
  registry::admit(r.piece(count), registry::preferences_of(r.options));
  registry::require_operands(impl::scan::scan_algorithm(), r.options.device, {in}, {out});
}

template <class T>
void continue_on_spans(std::span<const T> in, std::span<T> out, request<T> r, partial<T>& carry) {
  require_continuable<T>(r, carry, {"the input", in}, {"the output", out});
  segment<T> done = carry.blocks();
  if (!registry::takes_shortcut(in, impl::scan::small_limit, r.options)) {
    if (!r.options.device) r.options.device = open("cpu");
    const device& on = *r.options.device;
    registry::choose(r.piece(in.size()), on.implementation(), registry::preferences_of(r.options));
    if (on.info().backend != "cpu") {
      array<T> values = on.upload(in);
      scan_on_device(values, values, r, done);
      values.download(out);
      carry = partial<T>(r.operation, done);
      return;
    }
  }
  scan_on_host(in, out, r, done);
  carry = partial<T>(r.operation, done);
}

template <class T>
void continue_on_arrays(const array<T>& in, array<T>& out, request<T> r, partial<T>& carry) {
  require_continuable<T>(r, carry, {"the input", in}, {"the output", out});
  r.options.device = in.device();
  if (in.device().info().backend == "cpu")
    return continue_on_spans(std::span<const T>(in.storage().template as<const T>(), in.size()),
                             std::span<T>(out.storage().template as<T>(), out.size()), r, carry);
  registry::choose(r.piece(in.size()), in.device().implementation(), registry::preferences_of(r.options));
  segment<T> done = carry.blocks();
  scan_on_device(in, out, r, done);
  carry = partial<T>(r.operation, done);
}

template <class T>
void scan_part(std::span<const T> in, std::span<T> out, bool exclusive, const T* init, partial<T>& carry,
               const scan_options& options) {
  base::enter([&] { continue_on_spans(in, out, request<T>{carry.operation(), exclusive, init, options}, carry); });
}

template <class T>
void scan_part(const array<T>& in, array<T>& out, bool exclusive, const T* init, partial<T>& carry,
               const scan_options& options) {
  base::enter([&] { continue_on_arrays(in, out, request<T>{carry.operation(), exclusive, init, options}, carry); });
}

}  // namespace

template <scalar T>
void inclusive_scan(std::span<const T> in, std::span<T> out, partial<T>& carry, const scan_options& options) {
  scan_part<T>(in, out, false, nullptr, carry, options);
}
template <scalar T>
void inclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init, partial<T>& carry,
                    const scan_options& options) {
  scan_part<T>(in, out, false, &init, carry, options);
}
template <scalar T>
void exclusive_scan(std::span<const T> in, std::span<T> out, partial<T>& carry, const scan_options& options) {
  scan_part<T>(in, out, true, nullptr, carry, options);
}
template <scalar T>
void exclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init, partial<T>& carry,
                    const scan_options& options) {
  scan_part<T>(in, out, true, &init, carry, options);
}
template <scalar T>
void inclusive_scan(const array<T>& in, array<T>& out, partial<T>& carry, const scan_options& options) {
  scan_part<T>(in, out, false, nullptr, carry, options);
}
template <scalar T>
void inclusive_scan(const array<T>& in, array<T>& out, std::type_identity_t<T> init, partial<T>& carry,
                    const scan_options& options) {
  scan_part<T>(in, out, false, &init, carry, options);
}
template <scalar T>
void exclusive_scan(const array<T>& in, array<T>& out, partial<T>& carry, const scan_options& options) {
  scan_part<T>(in, out, true, nullptr, carry, options);
}
template <scalar T>
void exclusive_scan(const array<T>& in, array<T>& out, std::type_identity_t<T> init, partial<T>& carry,
                    const scan_options& options) {
  scan_part<T>(in, out, true, &init, carry, options);
}

#define TILEWISE_INSTANTIATE(T)                                                                           \
  template void inclusive_scan<T>(std::span<const T>, std::span<T>, partial<T>&, const scan_options&);    \
  template void inclusive_scan<T>(std::span<const T>, std::span<T>, T, partial<T>&, const scan_options&); \
  template void exclusive_scan<T>(std::span<const T>, std::span<T>, partial<T>&, const scan_options&);    \
  template void exclusive_scan<T>(std::span<const T>, std::span<T>, T, partial<T>&, const scan_options&); \
  template void inclusive_scan<T>(const array<T>&, array<T>&, partial<T>&, const scan_options&);          \
  template void inclusive_scan<T>(const array<T>&, array<T>&, T, partial<T>&, const scan_options&);       \
  template void exclusive_scan<T>(const array<T>&, array<T>&, partial<T>&, const scan_options&);          \
  template void exclusive_scan<T>(const array<T>&, array<T>&, T, partial<T>&, const scan_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
