// SPDX-License-Identifier: Apache-2.0
#include "divide/pieces.hpp"

#include "base/ceil_div.hpp"

#include <algorithm>
#include <chrono>
#include <deque>

namespace tilewise::divide {

std::uint64_t piece_bytes(const device_info& on) {
  constexpr std::uint64_t usual = std::uint64_t{64} << 20, least = std::uint64_t{64} << 10, of_memory = 32;
  return on.memory == 0 ? usual : std::clamp(on.memory / of_memory, least, usual);
}

namespace {

/// 0 means that the device does not report it: then there is no limit.
std::uint64_t limit(std::uint64_t bytes) { return bytes == 0 ? ~std::uint64_t{0} : bytes; }

}  // namespace

std::uint64_t share_of_memory(const device_info& on, std::uint64_t parts, std::uint64_t of) {
  return std::min(limit(on.memory) / of * parts, limit(on.max_allocation));
}

bool has_room(const device_info& on, std::uint64_t bytes, std::uint64_t largest) {
  return bytes <= limit(on.memory) / 5 * 4 && largest <= limit(on.max_allocation);
}

bool runs_in_pieces(const problem& p, const choice& how, backend::queue& queue) {
  const double worth_it = 2.0 * static_cast<double>(piece_bytes(queue.device().info()));
  return p.what->divides != nullptr && queue.transfers() != nullptr && bytes_of_operands(p) >= worth_it &&
         p.what->divides->is_possible(p, how, queue.device());
}

namespace {

constexpr std::uint64_t most_slots = 3;  // one uploading, one computing, one downloading

/// A chunk's memory on the device and its transfers, which are declared last so that they end before the memory is
/// released.
struct slot {
  std::deque<backend::buffer> memory = {};
  bindings where = {};
  std::vector<backend::transfer> up = {}, down = {};
};

/// For each operand, the bytes that suffice for every chunk.
struct room {
  std::array<std::uint64_t, 4> in{}, out{};

  void hold(const piece& what) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i] = std::max(in[i], what.in[i].bytes());
      out[i] = std::max(out[i], what.before[i] + what.out[i].bytes() + what.after[i]);
    }
  }
  std::uint64_t largest() const {
    return std::max(*std::max_element(in.begin(), in.end()), *std::max_element(out.begin(), out.end()));
  }
};

class piece_ring {
 public:
  piece_ring(backend::queue& queue, const host_pointers& host, const room& each, std::uint64_t count)
      : queue_(queue), transfers_(*queue.transfers()), host_(host) {
    add_slots(each, std::min(count, most_slots));
    queue.finish();  // earlier work may still use this memory
  }

  std::uint64_t size() const { return slots_.size(); }

  void send(std::uint64_t index, const piece& what) {
    slot& s = slots_[index % slots_.size()];
    for (std::size_t i = 0; i < host_.in.size(); ++i)
      s.up.push_back(transfers_.send(s.where.in[i], static_cast<const std::byte*>(host_.in[i]) + what.in[i].first,
                                     what.in[i].rows));
  }

  /// Waits until the chunk is uploaded and the slot's earlier results are downloaded; returns the chunk's operands.
  const bindings& arrived(std::uint64_t index) {
    slot& s = slots_[index % slots_.size()];
    wait(s.up), wait(s.down);
    return s.where;
  }

  /// Starts the download of the chunk's results; the work on the chunk must be done.
  void fetch(std::uint64_t index, const piece& what) {
    slot& s = slots_[index % slots_.size()];
    for (std::size_t o = 0; o < host_.out.size(); ++o)
      s.down.push_back(transfers_.fetch(static_cast<std::byte*>(host_.out[o]) + what.out[o].first,
                                        s.where.out[o].at(what.before[o], what.out[o].bytes()), what.out[o].rows));
  }

  void finish() {
    for (slot& s : slots_) wait(s.down);
  }

 private:
  /// Adds one slot, and more as long as they leave room for the computation's workspace, which may be as large as an
  /// operand.
  void add_slots(const room& each, std::uint64_t wanted) {
    add_slot(each);
    try {
      const backend::buffer workspace(queue_, each.largest());
      while (slots_.size() < wanted) add_slot(each);
    } catch (const error& e) {
      if (e.code() != errc::out_of_memory) throw;
    }
  }

  void add_slot(const room& each) {
    slot s;
    for (std::size_t i = 0; i < host_.in.size(); ++i) s.where.in[i] = s.memory.emplace_back(queue_, each.in[i]);
    for (std::size_t o = 0; o < host_.out.size(); ++o) s.where.out[o] = s.memory.emplace_back(queue_, each.out[o]);
    slots_.push_back(std::move(s));
  }

  static void wait(std::vector<backend::transfer>& all) {
    for (backend::transfer& one : all) one.wait();
    all.clear();
  }

  backend::queue& queue_;
  backend::transfer_team& transfers_;
  const host_pointers& host_;
  std::deque<slot> slots_;
};

double ns_since(std::chrono::steady_clock::time_point started) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - started).count();
}

}  // namespace

void run_pieces(backend::queue& queue, const host_pointers& host, std::uint64_t count,
                const std::function<piece(std::uint64_t)>& cut,
                const std::function<void(std::uint64_t, const bindings&)>& work) {
  if (count == 0) return;
  room each;
  for (std::uint64_t i = 0; i < count; ++i) each.hold(cut(i));
  piece_ring ring(queue, host, each, count);
  for (std::uint64_t i = 0; i < ring.size(); ++i) ring.send(i, cut(i));
  for (std::uint64_t i = 0; i < count; ++i) {
    const bindings& where = ring.arrived(i);
    const auto started = std::chrono::steady_clock::now();
    work(i, where);
    queue.finish();
    if (host.computing_ns != nullptr) *host.computing_ns += ns_since(started);
    ring.fetch(i, cut(i));
    if (const std::uint64_t next = i + ring.size(); next < count) ring.send(next, cut(next));
  }
  ring.finish();
}

void run_part(const choice& how, const problem& part, const bindings& where, backend::queue& queue) {
  const backend::device& on = queue.device();
  if (const std::string why = unsupported_reason(*how.variant, part, on, how.tuning); !why.empty())
    throw error(errc::unsupported, how.variant->id() + " cannot compute " + to_string(part) + ", a part of what " +
                                       on.info().name + " was asked for: " + why);
  how.variant->run(part, where, how.tuning, queue);
}

namespace {

/// Inputs that every chunk needs completely: they are uploaded once.
class whole_inputs {
 public:
  whole_inputs(backend::queue& queue, const piece& any, const host_pointers& host, const rows& all) {
    for (std::size_t i = 0; i < host.in.size(); ++i)
      if (all.needed_whole[i]) where_[i] = memory_.emplace_back(queue, any.in[i].bytes());
    queue.finish();  // earlier work may still use this memory
    std::vector<backend::transfer> under_way;
    for (std::size_t i = 0; i < host.in.size(); ++i)
      if (all.needed_whole[i])
        under_way.push_back(queue.transfers()->send(
            where_[i], static_cast<const std::byte*>(host.in[i]) + any.in[i].first, any.in[i].rows));
    for (backend::transfer& one : under_way) one.wait();
  }
  bindings joined_with(bindings of_piece, const rows& all) const {
    for (std::size_t i = 0; i < where_.size(); ++i)
      if (all.needed_whole[i]) of_piece.in[i] = where_[i];
    return of_piece;
  }

 private:
  std::deque<backend::buffer> memory_;
  std::array<backend::memory, 4> where_{};
};

/// The rows per chunk: whole granules, unless a granule takes too much of the device's memory.
std::uint64_t rows_of_a_piece(const rows& all, const backend::queue& queue) {
  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, all.row_bytes), memory = queue.device().info().memory;
  const std::uint64_t wanted = std::max<std::uint64_t>(1, piece_bytes(queue.device().info()) / row_bytes);
  const bool fits = memory == 0 || all.granule <= memory / 16 / row_bytes;
  const std::uint64_t n = wanted >= all.granule ? wanted / all.granule * all.granule : fits ? all.granule : wanted;
  return std::min(all.count, n);
}

}  // namespace

void run_rows(const choice& how, backend::queue& queue, const host_pointers& host, const rows& all) {
  const std::uint64_t n = rows_of_a_piece(all, queue);
  const auto part = [&](std::uint64_t i) { return all.part(i * n, std::min(n, all.count - i * n)); };
  const auto cut = [&](std::uint64_t i) {
    piece what = part(i).second;
    for (std::size_t k = 0; k < what.in.size(); ++k)
      if (all.needed_whole[k]) what.in[k] = {};
    return what;
  };
  const whole_inputs whole(queue, part(0).second, host, all);
  run_pieces(queue, host, ceil_div(all.count, n), cut, [&](std::uint64_t i, const bindings& where) {
    run_part(how, part(i).first, whole.joined_with(where, all), queue);
  });
}

}  // namespace tilewise::divide
