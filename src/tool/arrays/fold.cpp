// SPDX-License-Identifier: Apache-2.0
#include "tool/arrays/fold.hpp"

#include "order/segment.hpp"
#include "reduce/problem.hpp"
#include "registry/call.hpp"
#include "scan/problem.hpp"
#include "tool/arrays/stream.hpp"

#include <tilewise/partial.hpp>
#include <tilewise/scan.hpp>

namespace tilewise::cli {

namespace {

/// Each chunk is reduced as soon as it is read.
template <class T>
T reduce_chunks(const registry::problem& p, io::array_input& x, data_run& run) {
  const op operation = impl::reduce::operation_of(p);
  const device one_thread = open("cpu:serial");
  partial<T> all(operation);
  turns order;
  const auto work = [&](const chunk& part) {
    const clock::time_point start = clock::now();
    partial<T> own(operation, part.begin / sizeof(T));
    own.push(part.as<T>(), {.device = one_thread});
    const double computed = ns_since(start);
    order.take(part.number, [&] { all.merge(own); });
    return chunk_times{.computed = computed};
  };
  for_each_chunk(x, run, work, [&] { order.give_up(); });
  const T value = all.value();
  return impl::reduce::has_init(p) ? reduce<T>(std::span(&value, 1), p.number[0].as<T>(), {.operation = operation})
                                   : value;
}

/// Chunks take their carries in order, and where results go into a pipe or a digest, these too.
struct scan_turns {
  turns carries, results;
  void give_up() { carries.give_up(), results.give_up(); }
};

/// In place, between the prefixes before and after the chunk, which is an aligned block or the beginning of one.
template <class T>
void scan_chunk(std::span<T> values, const registry::problem& p, const std::array<T, 2>& carry, const device& on) {
  registry::run_call(impl::scan::part_of(p, values.size()), on, registry::preferences{},
                     {{"the input", values}, {"the carry", std::span<const T>(carry)}}, {{"the output", values}});
}

/// Each chunk is reduced as soon as it is read; then, with all that precedes it, it can be scanned.
template <class T>
void scan_chunks(const registry::problem& p, io::array_input& x, io::array_output& y, data_run& run, lab::digest* sum) {
  const op operation = impl::scan::operation_of(p);
  const device one_thread = open("cpu:serial");
  partial<T> all(operation);
  const auto prefix = [&] {
    return order::with_operator(operation, [&]<class Op>(Op) { return order::fold<Op>(all.blocks()); });
  };
  scan_turns in_order;
  const auto work = [&](const chunk& part) {
    const std::span<T> values = part.as<T>();
    const clock::time_point start = clock::now();
    partial<T> own(operation, part.begin / sizeof(T));
    std::array<T, 2> carry;
    own.push(values, {.device = one_thread});
    in_order.carries.take(part.number, [&] {
      carry[0] = prefix();
      all.merge(own);
      carry[1] = prefix();
    });
    scan_chunk<T>(values, p, carry, one_thread);
    chunk_times spent{.computed = ns_since(start)};
    const clock::time_point done = clock::now();
    const auto write = [&] {
      if (sum != nullptr) sum->add(part.elements);
      y.write(part.begin, part.elements);
    };
    sum != nullptr || y.is_pipe() ? in_order.results.take(part.number, write) : write();
    spent.written = ns_since(done);
    return spent;
  };
  for_each_chunk(x, run, work, [&] { in_order.give_up(); });
}

}  // namespace

base::scalar_value reduce_in_chunks(const registry::problem& p, io::array_input& x, data_run& run) {
  return with_type(p.type, [&]<class T>(T) { return base::scalar_value::of<T>(reduce_chunks<T>(p, x, run)); });
}

void scan_in_chunks(const registry::problem& p, io::array_input& x, io::array_output& y, data_run& run,
                    lab::digest* sum) {
  with_type(p.type, [&]<class T>(T) { scan_chunks<T>(p, x, y, run, sum); });
}

}  // namespace tilewise::cli
