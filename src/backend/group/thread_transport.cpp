// SPDX-License-Identifier: Apache-2.0
#include "backend/group/thread_transport.hpp"

#include "backend/cpu/wait.hpp"

#include <cstring>
#include <thread>
#include <utility>

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
    const bool is_room = seats_.size() <= std::thread::hardware_concurrency();
    const auto is_over = [&] { return round_.load(std::memory_order_acquire) != round; };
    if (!cpu::poll(is_over, is_room ? cpu::patience::lasting : cpu::patience::none))
      round_.wait(round, std::memory_order_acquire);
  }
  if (failed_.load(std::memory_order_acquire)) throw cancelled();
}

void meeting::fail(unsigned index) noexcept {
  if (!failed_.exchange(true, std::memory_order_acq_rel)) {
    failed_rank_ = index;
    failure_ = std::current_exception();
  }
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
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

/// Sets the marks before the ranks synchronize, so that no device waits for work that another enqueues afterwards.
void thread_transport::lend(std::span<const parcel> sends) {
  settle();
  meeting::seat& own = meeting_.seats_[rank_];
  own.sends.assign(sends.begin(), sends.end());
  own.copies.assign(sends.size(), {});
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (is_cpu(*own.queue) || meeting_.seats_[sends[i].peer].queue->reaches(*own.queue)) continue;
    own.copies[i].resize(sends[i].where.bytes);
    own.queue->download(own.copies[i].data(), sends[i].where, sends[i].where.bytes);
  }
  own.lent = own.queue->leave_mark();
  meeting_.wait();
}

template <class Received, class Use>
void thread_transport::for_each_item(std::span<const Received> receives, Use use) {
  std::vector<std::size_t> next(size(), 0);
  for (std::size_t i = 0; i < receives.size(); ++i) {
    meeting::seat& from = meeting_.seats_[receives[i].peer];
    std::size_t& at = next[receives[i].peer];
    if (at == 0) meeting_.seats_[rank_].queue->follow(*from.queue, from.lent);
    while (from.sends[at].peer != rank_) ++at;
    use(item{from, at++}, i);
  }
}

void thread_transport::copy(const item& from, memory to) {
  backend::queue& own = *meeting_.seats_[rank_].queue;
  if (const std::vector<std::byte>& copied = from.from.copies[from.index]; !copied.empty())
    own.upload(to, copied.data(), to.bytes);
  else if (own.reaches(*from.from.queue))
    own.copy(to, from.where(), to.bytes);
  else
    own.upload(to, from.where().as<void>(), to.bytes);
}

void thread_transport::return_loans() {
  meeting::seat& own = meeting_.seats_[rank_];
  own.returned = own.queue->leave_mark();
  is_settled_ = false;
  meeting_.wait();
}

void thread_transport::settle() {
  if (std::exchange(is_settled_, true)) return;
  const meeting::seat& own = meeting_.seats_[rank_];
  for (const parcel& sent : own.sends) {
    const meeting::seat& reader = meeting_.seats_[sent.peer];
    own.queue->follow(*reader.queue, reader.returned);
  }
}

void thread_transport::give_back() {
  return_loans();
  settle();
}

void thread_transport::fetch(std::span<const parcel> sends, std::span<const parcel> receives) {
  lend(sends);
  for_each_item(receives, [&](const item& from, std::size_t i) { copy(from, receives[i].where); });
  return_loans();
}

void thread_transport::exchange(std::span<const parcel> sends, std::span<const parcel> receives) {
  fetch(sends, receives);
  settle();
}

loan thread_transport::borrow(std::span<const parcel> sends, std::span<const demand> receives) {
  lend(sends);
  backend::queue& own = *meeting_.seats_[rank_].queue;
  loan lent;
  for_each_item(receives, [&](const item& from, std::size_t i) {
    if (own.reads(*from.from.queue))
      lent.add(from.where());
    else
      copy(from, lent.add_copy(own, receives[i].bytes));
  });
  return lent;
}

}  // namespace tilewise::backend::group
