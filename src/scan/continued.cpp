// SPDX-License-Identifier: Apache-2.0
// Scans of a part of a longer array. The part is cut into pieces, each a problem with a carry. A piece is valid up to
// the end of the largest aligned block that begins where it begins.
#include "call/call.hpp"
#include "order/segment.hpp"
#include "reduce/segment.hpp"
#include "scan/carry_chain.hpp"
#include "scan/cpu/small.hpp"

#include <tilewise/scan.hpp>

namespace tilewise::impl::scan {

namespace {

using call::argument;
using order::segment;

/// The longest piece. It is read twice, for its block values and for its outputs, so it should stay in the cache.
constexpr std::uint64_t most_at_once = std::uint64_t{1} << 20;

/// What all pieces of one call have in common.
struct continued {
  const registry::problem& whole;  // without a carry
  const device* on;
  registry::preferences wanted;

  op operation() const { return operation_of(whole); }
  bool leaves_choice() const { return wanted.variant.empty() && wanted.tuning.empty(); }
  void run_piece(const argument& x, const argument& carry, const argument& y) const {
    const argument in[]{x, carry};
    call::run_call(part_of(whole, x.size), on, wanted, in, {&y, 1});
  }
};

template <class T>
void scan_short_piece(const T* in, T* out, std::uint64_t count, const registry::problem& p,
                      const std::array<T, 2>& carry) {
  order::with_operator(operation_of(p), [&]<class Op>(Op) {
    const T first = starts_from_init(p) ? init_of<T>(p) : Op::template identity<T>();
    scan_small_part<T, Op>(in, out, count, carry[0], carry[1], first, !is_exclusive(p));
  });
}

template <class T>
void scan_on_host(const argument& in, const argument& out, const continued& call, segment<T>& done) {
  for (std::uint64_t at = 0, count = 0; at != in.size; at += count) {
    count = piece_length(done.end, std::min<std::uint64_t>(in.size - at, most_at_once));
    const argument x = call::part_of(in, at, count), y = call::part_of(out, at, count);
    const segment<T> blocks = reduce::segment_of<T>(x, done.end, call.operation(), call.on);
    const std::array<T, 2> carry = order::with_operator(call.operation(), [&]<class Op>(Op) {
      return carry_chain<Op, T>(done).pass([&] { order::append<Op>(done, blocks); });
    });
    if (count <= small_limit && call.leaves_choice())
      scan_short_piece(static_cast<const T*>(x.host), static_cast<T*>(y.host), count, call.whole, carry);
    else
      call.run_piece(x, detail::argument_for("the carry", carry), y);
  }
}

/// How many elements precede the next multiple of small_limit. Pieces shorter than that are faster on the host.
std::uint64_t head_length(std::uint64_t first, std::uint64_t count, const continued& call) {
  return call.leaves_choice() ? std::min(count, (small_limit - first % small_limit) % small_limit) : 0;
}

template <class T>
void scan_head(const argument& in, const argument& out, const continued& call, segment<T>& done) {
  backend::queue& queue = in.on->implementation().queue();
  std::vector<T> values(in.size);
  const argument here = detail::argument_for("the input", values);
  const backend::memory from = call::memory_of(in);
  queue.download(values.data(), from, from.bytes);
  scan_on_host(here, here, {call.whole, nullptr, {}}, done);
  queue.upload(call::memory_of(out), values.data(), from.bytes);
}

template <class T>
void scan_on_device(const argument& in, const argument& out, const continued& call, segment<T>& done) {
  const std::uint64_t head = head_length(done.end, in.size, call), rest = in.size - head;
  if (head != 0) scan_head(call::part_of(in, 0, head), call::part_of(out, 0, head), call, done);
  if (rest == 0) return;
  const std::uint64_t begin = done.end;
  const segment<T> blocks = reduce::segment_of<T>(call::part_of(in, head, rest), begin, call.operation());
  const std::vector<part<T>> parts =
      order::with_operator(call.operation(), [&]<class Op>(Op) { return carry_chain<Op, T>(done).parts_of(blocks); });
  std::vector<T> ends;
  for (const part<T>& one : parts) ends.insert(ends.end(), one.carry.begin(), one.carry.end());
  const array<T> carries = in.on->upload(ends);
  const argument carry = detail::argument_for("the carry", carries);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint64_t first = parts[i].first - begin + head, count = parts[i].count;
    call.run_piece(call::part_of(in, first, count), call::part_of(carry, 2 * i, 2), call::part_of(out, first, count));
  }
}

template <class T>
void require_continuable(const registry::problem& p, const detail::request& r, const partial<T>& carry) {
  if (carry.begin() != 0)
    throw error(errc::invalid_argument, "the carry begins at position " + std::to_string(carry.begin()) +
                                            "; merge it with the part that precedes it, so that it begins at 0");
  if (const op named = operation_of(p); named != op::sum && named != carry.operation())
    throw error(errc::invalid_argument, "the options name another operation than that of the carry, which is " +
                                            std::string(name_of(carry.operation())) +
                                            "; leave the operation out of the options");
  reduce::require_appendable(carry.end(), p.n());
  call::require_operands(scan_algorithm(), r.device, r.in, r.out);
}

template <class T>
void run(const registry::problem& p, const detail::request& r, const device& on, segment<T>& done) {
  const continued call{p, &on, call::preferences_of(r)};
  const argument &in = r.in[0], &out = r.out[0];
  const bool is_on_cpu = on.info().backend == "cpu";
  if (in.on != nullptr && !is_on_cpu) return scan_on_device(in, out, call, done);
  if (in.on == nullptr && is_on_cpu) return scan_on_host(in, out, call, done);
  if (in.on == nullptr) {
    array<T> values = on.upload(call::elements_of<T>(in));
    const argument there = detail::argument_for("the input", values);
    scan_on_device(there, there, call, done);
    return values.download(std::span(static_cast<T*>(out.host), out.size));
  }
  const auto here = [](const argument& a) {
    argument same = a;
    same.on = nullptr, same.host = call::memory_of(a).template as<T>();
    return same;
  };
  scan_on_host(here(in), here(out), call, done);
}

}  // namespace

void continues(const registry::problem& described, const detail::request& r) {
  with_type(described.type, [&]<class T>(T) {
    partial<T>& carry = *static_cast<partial<T>*>(r.carry);
    require_continuable(described, r, carry);
    registry::problem p = described;
    p.setting[0] = static_cast<std::uint8_t>(carry.operation());
    call::admit(p, {});
    segment<T> done = carry.blocks();
    const argument& in = r.in[0];
    if (in.on == nullptr && !call::names_a_place(r) && in.size <= small_limit) {
      scan_on_host(in, r.out[0], {p, nullptr, {}}, done);
    } else {
      const device on = in.on != nullptr ? *in.on : r.device != nullptr ? *r.device : open("cpu");
      registry::choose_silently(part_of(p, in.size), on.implementation(), call::preferences_of(r));
      run(p, r, on, done);
    }
    carry = partial<T>(carry.operation(), done);
  });
}

}  // namespace tilewise::impl::scan
