#include "backend/group/thread_transport.hpp"

#include "backend/cpu/cpu_wait.hpp"

#include <cstring>
#include <thread>

namespace tilewise::backend::group {

meeting::meeting(std::span<backend::queue* const> queues) {
  for (backend::queue* q : queues) seats_.push_back({.queue = q});
}

void meeting::wait() {
  const unsigned round = round_.load(std::memory_order_acquire);
  if (failed_.load(std::memory_order_acquire)) throw cancelled();
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == seats_.size()) {
    arrived_.store(0, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  } else {
    const unsigned spins = seats_.size() <= std::thread::hardware_concurrency() ? cpu::long_spins : 0;
    const auto is_over = [&] { return round_.load(std::memory_order_acquire) != round; };
    if (!cpu::spin_briefly(is_over, spins)) round_.wait(round, std::memory_order_acquire);
  }
  if (failed_.load(std::memory_order_acquire)) throw cancelled();
}

void meeting::take_part(unsigned index, const std::function<void()>& work) noexcept {
  try {
    work();
  } catch (const cancelled&) {
  } catch (...) {
    if (!failed_.exchange(true, std::memory_order_acq_rel)) {
      failed_rank_ = index;
      failure_ = std::current_exception();
    }
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
}

void meeting::end() const {
  if (!failure_) return;
  try {
    std::rethrow_exception(failure_);
  } catch (const error& e) {
    throw error(e.code(), "rank " + std::to_string(failed_rank_) + " on " +
                              seats_[failed_rank_].queue->device().info().name + ": " + e.what());
  }
}

void thread_transport::all_gather(const void* mine, std::uint64_t bytes, void* all) {
  meeting_.seats_[rank_].shown = mine;
  meeting_.wait();
  for (unsigned peer = 0; peer < size(); ++peer)
    std::memcpy(static_cast<std::byte*>(all) + peer * bytes, meeting_.seats_[peer].shown, bytes);
  meeting_.wait();
}

namespace {

bool is_cpu(const backend::queue& q) { return q.device().info().backend == "cpu"; }

}  // namespace

void thread_transport::exchange(std::span<const parcel> sends, std::span<const parcel> receives) {
  meeting::seat& own = meeting_.seats_[rank_];
  own.sends = sends;
  own.copies.assign(sends.size(), {});
  own.queue->finish();
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (is_cpu(*own.queue) || meeting_.seats_[sends[i].peer].queue->reaches(*own.queue)) continue;
    own.copies[i].resize(sends[i].where.bytes);
    own.queue->download(own.copies[i].data(), sends[i].where, sends[i].where.bytes);
  }
  meeting_.wait();
  std::vector<std::size_t> next(size(), 0);
  for (const parcel& wanted : receives) {
    meeting::seat& from = meeting_.seats_[wanted.peer];
    while (from.sends[next[wanted.peer]].peer != rank_) ++next[wanted.peer];
    receive(wanted, from, next[wanted.peer]++);
  }
  own.queue->finish();
  meeting_.wait();
}

void thread_transport::receive(const parcel& what, meeting::seat& from, std::size_t index) {
  backend::queue& to = *meeting_.seats_[rank_].queue;
  const memory source = from.sends[index].where;
  if (!from.copies[index].empty())
    to.upload(what.where, from.copies[index].data(), source.bytes);
  else if (to.reaches(*from.queue))
    to.copy(what.where, source, source.bytes);
  else
    to.upload(what.where, source.as<void>(), source.bytes);
}

}  // namespace tilewise::backend::group
