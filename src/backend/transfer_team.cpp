// SPDX-License-Identifier: Apache-2.0
#include "backend/transfer_team.hpp"

#include "backend/cpu/kernels.hpp"
#include "backend/driver_call.hpp"
#include "backend/fork.hpp"
#include "base/ceil_div.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <unistd.h>

namespace tilewise::backend {

struct transfer::state {
  std::byte* host;
  host_rows rows;
  memory device;
  bool up;
  std::uint64_t part_bytes;
  std::uint64_t next = 0;    // byte where the first part not yet taken begins
  std::uint64_t unfinished;  // number of parts
  travel_clock* clock;
  travel_clock::time began = {};  // when the first part was taken
  std::exception_ptr failure = nullptr;
  std::mutex mutex = {};
  std::condition_variable finished = {};
};

namespace {

struct part {
  std::shared_ptr<transfer::state> of;
  std::uint64_t first, bytes;
  bool direct = false;  // transferred without the lane's buffer

  memory device() const { return of->device.at(first, bytes); }
  /// Its host memory, if that is contiguous.
  std::byte* host() const { return of->host + first; }
  bool is_one_place() const { return of->rows.count == 1; }

  /// Calls copy(host, position in the part, bytes) for each row that it overlaps.
  template <class Copy>
  void for_each_row(const Copy& copy) const {
    const host_rows& rows = of->rows;
    for (std::uint64_t done = 0, some; done < bytes; done += some) {
      const std::uint64_t row = (first + done) / rows.bytes, column = (first + done) % rows.bytes;
      some = std::min(rows.bytes - column, bytes - done);
      copy(of->host + row * rows.stride + column, done, some);
    }
  }

  /// The waiting thread may continue at once. `failure` is moved, so that this thread does not hold a reference and
  /// free the exception while the other thread uses it.
  void finish(std::exception_ptr&& failure) const {
    const std::lock_guard lock(of->mutex);
    if (failure) of->failure = std::move(failure);
    if (--of->unfinished != 0) return;
    of->clock->add(of->began, std::chrono::steady_clock::now());
    of->finished.notify_all();
  }
};

/// Threads per direction: half of the cores, minus one, which leaves a core each to the calling thread and to the
/// driver's. More than eight threads slow each other down.
unsigned crew_size() { return std::clamp(std::thread::hardware_concurrency() / 2, 2u, 9u) - 1; }

/// Small enough that each thread gets a part for each of its two buffers.
std::uint64_t part_bytes_for(std::uint64_t bytes) {
  constexpr std::uint64_t least = 256 << 10, page = 4096;
  const std::uint64_t even = ceil_div(ceil_div(bytes, 2 * crew_size()), page) * page;
  return std::clamp(even, least, lane::buffer_bytes);
}

void begin(lane& way, unsigned turn, part& what) {
  what.direct = what.is_one_place() && way.reaches(what.host());
  std::byte* const host = what.direct ? what.host() : way.buffer(turn);
  if (what.of->up && !what.direct)
    what.for_each_row([&](const std::byte* row, std::uint64_t at, std::uint64_t n) { std::memcpy(host + at, row, n); });
  if (what.of->up)
    way.send(turn, what.device(), host, what.bytes);
  else
    way.fetch(turn, host, what.device(), what.bytes);
}

/// Results larger than this have left the caches before anyone reads them, so they are stored past the caches: that
/// avoids reading the lines that are overwritten. On an H200's host, 1 GiB in both directions at once takes 24.5 ms
/// instead of 29; the link alone takes 21.
constexpr std::uint64_t beyond_caches = 32 << 20, long_row = 16 << 10;

void copy_past_caches(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  static const cpu::instruction_set level = cpu::best_instruction_set();
  cpu::copy_streaming(level, reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from), bytes);
}

void end(lane& way, unsigned turn, const part& what) {
  way.wait(turn);
  if (what.of->up || what.direct) return;
  const std::byte* const from = way.buffer(turn);
  const bool is_large = what.of->device.bytes >= beyond_caches;
  what.for_each_row([&](std::byte* row, std::uint64_t at, std::uint64_t n) {
    if (is_large && n >= long_row)
      copy_past_caches(row, from + at, n);
    else
      std::memcpy(row, from + at, n);
  });
}

}  // namespace

void travel_clock::add(time begin, time end) {
  const std::lock_guard lock(mutex_);
  ns_ += std::chrono::duration<double, std::nano>(end - std::max(begin, last_end_)).count();
  last_end_ = std::max(last_end_, end);
}

double travel_clock::ns() const {
  const std::lock_guard lock(mutex_);
  return ns_;
}

/// The threads of one direction. They start transfers in the order of the calls.
class transfer_team::crew {
 public:
  crew(const open_lane& open, std::atomic<bool>& lacked_pinned_memory)
      : open_(open), lacked_pinned_memory_(lacked_pinned_memory), process_(getpid()) {
    try {
      while (members_.size() < crew_size()) members_.emplace_back([this] { serve(); });
    } catch (const std::exception&) {  // no more threads or memory: go on with fewer threads, which is slower
      if (members_.empty())
        throw error(errc::out_of_memory,
                    "the system allows this process no thread for transfers; end others, or transfer 1 MB at a time");
    }
  }

  ~crew() {
    if (getpid() != process_) {  // a forked child does not have the threads
      for (std::thread& member : members_) member.detach();
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    called_->notify_all();
    for (std::thread& member : members_) member.join();
  }

  void take_on(const std::shared_ptr<transfer::state>& work) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(work);
    }
    called_->notify_all();
  }

 private:
  /// Takes the next part. If there is none, waits for one if `may_wait`. Returns nothing once the team ends.
  std::optional<part> take(bool may_wait) {
    std::unique_lock lock(mutex_);
    if (may_wait) called_->wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return std::nullopt;
    const std::shared_ptr<transfer::state> from = waiting_.front();
    if (from->next == 0) from->began = std::chrono::steady_clock::now();
    const part taken{from, from->next, std::min(from->part_bytes, from->device.bytes - from->next)};
    from->next += taken.bytes;
    if (from->next == from->device.bytes) waiting_.pop_front();
    return taken;
  }

  void serve() {
    stay_unwatched();
    std::unique_ptr<lane> way;
    std::array<std::optional<part>, 2> in_flight;
    const auto attempt = [](const part& what, auto&& step) {
      std::exception_ptr failure;
      try {
        step();
        return true;
      } catch (...) {
        failure = std::current_exception();
      }
      what.finish(std::move(failure));
      return false;
    };
    for (unsigned turn = 0;; turn ^= 1) {
      if (const auto landed = std::exchange(in_flight[turn], std::nullopt))
        if (attempt(*landed, [&] { end(*way, turn, *landed); })) landed->finish(nullptr);
      const bool idle = !in_flight[turn ^ 1];
      std::optional<part> next = take(idle);
      if (!next && idle) return;
      if (!next) continue;
      const bool begun = attempt(*next, [&] {
        if (!way) way = open_();
        if (!way->is_pinned()) lacked_pinned_memory_ = true;
        begin(*way, turn, *next);
      });
      if (begun) in_flight[turn] = next;
    }
  }

  const open_lane& open_;
  std::atomic<bool>& lacked_pinned_memory_;
  const pid_t process_;
  std::mutex mutex_;
  unless_forked<std::condition_variable> called_;
  std::deque<std::shared_ptr<transfer::state>> waiting_;
  bool ending_ = false;
  std::vector<std::thread> members_;
};

transfer_team::transfer_team(open_lane open) : open_(std::move(open)) {}
transfer_team::~transfer_team() = default;

transfer_team::crew& transfer_team::started(std::unique_ptr<crew>& of) {
  if (!of) of = std::make_unique<crew>(open_, lacked_pinned_memory_);
  return *of;
}

namespace {

std::shared_ptr<transfer::state> describe(std::byte* host, host_rows rows, memory device, bool up,
                                          travel_clock& clock) {
  const std::uint64_t bytes = rows.total(), part_bytes = part_bytes_for(bytes);
  return std::make_shared<transfer::state>(host, rows.joined(), device.at(0, bytes), up, part_bytes, 0,
                                           ceil_div(bytes, part_bytes), &clock);
}

}  // namespace

transfer transfer_team::send(memory to, const void* from, host_rows rows) {
  if (rows.total() == 0) return {};
  const auto work = describe(static_cast<std::byte*>(const_cast<void*>(from)), rows, to, true, up_time_);
  started(up_).take_on(work);
  return transfer(work);
}

transfer transfer_team::fetch(void* to, memory from, host_rows rows) {
  if (rows.total() == 0) return {};
  const auto work = describe(static_cast<std::byte*>(to), rows, from, false, down_time_);
  started(down_).take_on(work);
  return transfer(work);
}

void transfer::wait() {
  if (!state_) return;
  const auto waited = std::exchange(state_, nullptr);
  during("a transfer between host and device", [&] {
    std::unique_lock lock(waited->mutex);
    waited->finished.wait(lock, [&] { return waited->unfinished == 0; });
  });
  if (const std::exception_ptr failure = std::exchange(waited->failure, nullptr)) std::rethrow_exception(failure);
}

transfer::~transfer() {
  try {
    wait();
  } catch (...) {
    // Nobody waits for this transfer any more, because another error is already being thrown.
  }
}

transfer& transfer::operator=(transfer&& other) noexcept {
  transfer given_up(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}

}  // namespace tilewise::backend
