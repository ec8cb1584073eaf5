// SPDX-License-Identifier: Apache-2.0
// A team of std::threads that sleep between calls, after briefly spinning for the next one.
#include "backend/cpu/executor.hpp"
#include "backend/cpu/thread_limit.hpp"
#include "backend/cpu/wait.hpp"
#include "backend/fork.hpp"

#include <tilewise/error.hpp>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace tilewise::backend::cpu {

namespace {

class threads_executor final : public executor {
 public:
  threads_executor(unsigned threads, patience how_long)
      : patience_(threads <= std::thread::hardware_concurrency() ? how_long : patience::none), process_(getpid()) {
    try {
      for (unsigned worker = 1; worker < threads; ++worker) team_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error&) {
      const std::size_t started = team_.size() + 1;
      end();
      refuse_threads(started, threads);
    } catch (...) {
      end();
      throw;
    }
  }

  ~threads_executor() override { end(); }

  std::string_view name() const override { return "threads"; }

  void share(unsigned workers, const std::function<void(unsigned)>& body) override {
    // Nested calls, calls from other threads during a call, and forked children, which have no team, run on the caller.
    if (getpid() != process_ || running_.exchange(true, std::memory_order_acquire)) return run_alone(workers, body);
    body_ = &body;
    workers_ = workers;
    failure_ = nullptr;
    busy_.store(team_.size(), std::memory_order_relaxed);
    start_round();
    work(0);
    const auto all_done = [this] { return busy_.load(std::memory_order_acquire) == 0; };
    if (!poll(all_done, patience_)) {
      std::unique_lock lock(mutex_);
      done_->wait(lock, all_done);
    }
    const std::exception_ptr failure = std::exchange(failure_, nullptr);
    running_.store(false, std::memory_order_release);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  void start_round() {
    {
      const std::lock_guard lock(mutex_);
      round_.fetch_add(1, std::memory_order_release);
    }
    called_->notify_all();
  }

  void serve(unsigned worker) {
    for (std::uint64_t served = 0;;) {
      const auto called = [&] { return round_.load(std::memory_order_acquire) != served; };
      if (!poll(called, patience_)) {
        std::unique_lock lock(mutex_);
        called_->wait(lock, called);
      }
      ++served;
      if (ending_) return;
      if (worker < workers_) work(worker);
      if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const std::lock_guard lock(mutex_);
        done_->notify_one();
      }
    }
  }

  void work(unsigned worker) {
    try {
      (*body_)(worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void end() {
    if (getpid() != process_) {
      for (std::thread& member : team_) member.detach();
      return;
    }
    ending_ = true;
    start_round();
    for (std::thread& member : team_) member.join();
  }

  const patience patience_;  // none if there are more threads than cores
  const pid_t process_;
  std::atomic<bool> running_{false};
  std::mutex mutex_;
  unless_forked<std::condition_variable> called_, done_;
  std::atomic<std::uint64_t> round_{0};
  std::atomic<std::size_t> busy_{0};
  // Written between rounds, published by round_:
  const std::function<void(unsigned)>* body_ = nullptr;
  unsigned workers_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> team_;
};

}  // namespace

std::unique_ptr<executor> make_threads_executor(unsigned threads) {
  return std::make_unique<threads_executor>(threads, patience::brief);
}

std::unique_ptr<executor> make_rank_threads(unsigned ranks) {
  return std::make_unique<threads_executor>(ranks, patience::lasting);
}

}  // namespace tilewise::backend::cpu
