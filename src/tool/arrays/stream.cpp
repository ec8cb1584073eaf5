// SPDX-License-Identifier: Apache-2.0
#include "tool/arrays/stream.hpp"

#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "call/call.hpp"
#include "order/segment.hpp"
#include "reduce/problem.hpp"
#include "scan/carry_chain.hpp"

#include <tilewise/partial.hpp>
#include <tilewise/reduce.hpp>
#include <tilewise/scan.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>

namespace tilewise::cli {

namespace {

/// Half of a usual second-level cache, and large enough that system calls take little of the time.
constexpr std::uint64_t chunk_bytes = 512 << 10;

/// A shorter array is faster to read at once.
constexpr std::uint64_t shortest_stream = 4 * chunk_bytes;

/// Lets chunks do something one at a time, in order: each waits until its predecessor has done it.
class turns {
 public:
  template <class Act>
  void take(std::uint64_t number, const Act& act) {
    wait_for(number);
    act();
    end(number);
  }
  /// Ends all waiting: a take() that would wait throws `given_up`.
  void give_up() {
    next_.store(never);
    next_.notify_all();
  }
  struct given_up {};

 private:
  void wait_for(std::uint64_t number) const {
    for (std::uint64_t now = next_.load(); now != number; now = next_.load()) {
      if (now == never) throw given_up();
      next_.wait(now);
    }
  }
  void end(std::uint64_t number) {
    next_.compare_exchange_strong(number, number + 1);  // does nothing after give_up()
    next_.notify_all();
  }

  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::atomic<std::uint64_t> next_{0};
};

struct chunk {
  std::uint64_t number;
  std::uint64_t begin;  // offset of its first byte in the array's elements
  std::span<std::byte> elements;

  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(elements.data()), elements.size() / sizeof(T)};
  }
};

/// The time that one thread spent on a chunk, in nanoseconds.
struct chunk_times {
  double computed = 0, written = 0;
};

/// Reads each chunk and gives it to `work` on the same thread. Chunks are read in parallel, or from a pipe in order;
/// they begin at multiples of a power of two. `work` returns the time that it spent. The first exception calls
/// `give_up`, ends all chunks, and is thrown here. Sets the times of the run.
void for_each_chunk(io::array_input& from, data_run& run, const std::function<chunk_times(const chunk&)>& work,
                    const std::function<void()>& give_up) {
  auto& team = static_cast<backend::cpu::queue&>(run.device->queue());
  std::vector<io::host_block> rooms(team.threads());
  turns reading;
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> has_failed{false};
  std::atomic<double> read_ns{0}, computed_ns{0}, written_ns{0};
  const clock::time_point start = clock::now();
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::current_exception();
    has_failed = true;
    reading.give_up();
    give_up();
  };
  team.for_each_tile(ceil_div(from.bytes(), chunk_bytes), [&](std::uint64_t number, unsigned worker) {
    if (has_failed) return;
    try {
      if (rooms[worker].size() == 0) rooms[worker] = io::host_block(chunk_bytes);
      const std::uint64_t begin = number * chunk_bytes, length = std::min(chunk_bytes, from.bytes() - begin);
      const std::span<std::byte> elements = std::span(rooms[worker]).first(length);
      const clock::time_point began = clock::now();
      if (from.is_pipe())
        reading.take(number, [&] { from.read(begin, elements); });
      else
        from.read(begin, elements);
      read_ns += ns_since(began);
      const chunk_times spent = work({number, begin, elements});
      computed_ns += spent.computed;
      written_ns += spent.written;
    } catch (const turns::given_up&) {
      // Another chunk has failed and reported why.
    } catch (...) {
      fail();
    }
  });
  if (failure) std::rethrow_exception(failure);
  run.times.read = read_ns / team.threads();
  run.times.kernel = run.times.first_call = computed_ns / team.threads();
  run.times.write = written_ns / team.threads();
  run.times.end_to_end = ns_since(start);
}

/// Reduces each chunk as soon as it is read.
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
  return impl::reduce::has_init(p)
             ? tilewise::reduce(std::span(&value, 1), {.op = operation, .init = p.number[0].as<T>()})
             : value;
}

/// Chunks take their carries in order. If the results go to a pipe or a digest, they do so in order, too.
struct scan_turns {
  turns carries, results;
  void give_up() { carries.give_up(), results.give_up(); }
};

/// Scans a chunk in place. `carry` has the prefixes before and after the chunk, which must be an aligned block or the
/// beginning of one.
template <class T>
void scan_chunk(std::span<T> values, const registry::problem& p, const std::array<T, 2>& carry, const device& on) {
  const call::argument x = detail::argument_for("the input", values);
  const call::argument in[]{x, detail::argument_for("the carry", carry)};
  call::run_call(impl::scan::part_of(p, values.size()), &on, {}, in, {&x, 1});
}

/// Each chunk is reduced as soon as it is read, and scanned as soon as all earlier chunks are reduced.
template <class T, class Op>
void scan_chunks(const registry::problem& p, io::array_input& x, io::array_output& y, data_run& run, lab::digest* sum) {
  const device one_thread = open("cpu:serial");
  order::segment<T> done;
  impl::scan::carry_chain<Op, T> chain(done);
  scan_turns in_order;
  const auto work = [&](const chunk& part) {
    const std::span<T> values = part.as<T>();
    const clock::time_point start = clock::now();
    partial<T> own(Op::id, part.begin / sizeof(T));
    std::array<T, 2> carry;
    own.push(values, {.device = one_thread});
    in_order.carries.take(part.number, [&] { carry = chain.pass([&] { order::append<Op>(done, own.blocks()); }); });
    scan_chunk<T>(values, p, carry, one_thread);
    chunk_times spent{.computed = ns_since(start)};
    const clock::time_point computed = clock::now();
    const auto write = [&] {
      if (sum != nullptr) sum->add(part.elements);
      y.write(part.begin, part.elements);
    };
    sum != nullptr || y.is_pipe() ? in_order.results.take(part.number, write) : write();
    spent.written = ns_since(computed);
    return spent;
  };
  for_each_chunk(x, run, work, [&] { in_order.give_up(); });
}

}  // namespace

bool may_stream(const io::array_input& from, const data_run& run, const common_options& options) {
  const bool is_own_choice = options.variant.empty() && options.tuning.empty() && !options.fast;
  return run.device->info().backend == "cpu" && is_own_choice && from.is_c_order() && from.bytes() >= shortest_stream;
}

base::scalar_value reduce_in_chunks(const registry::problem& p, io::array_input& x, data_run& run) {
  return with_type(p.type, [&]<class T>(T) { return base::scalar_value::of<T>(reduce_chunks<T>(p, x, run)); });
}

void scan_in_chunks(const registry::problem& p, io::array_input& x, io::array_output& y, data_run& run,
                    lab::digest* sum) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(impl::scan::operation_of(p), [&]<class Op>(Op) { scan_chunks<T, Op>(p, x, y, run, sum); });
  });
}

}  // namespace tilewise::cli
