// A team of std::threads that sleep between calls.
#include "backend/cpu/executors.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewise::backend::cpu {

namespace {

class threads_executor final : public executor {
 public:
  explicit threads_executor(unsigned threads) {
    for (unsigned worker = 1; worker < threads; ++worker) team_.emplace_back([this, worker] { serve(worker); });
  }

  ~threads_executor() override {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    called_.notify_all();
    for (std::thread& member : team_) member.join();
  }

  std::string_view name() const override { return "threads"; }

  void run(unsigned workers, const std::function<void(unsigned)>& body) override {
    std::lock_guard one_caller(callers_);  // callers on several threads take turns
    {
      std::lock_guard lock(mutex_);
      body_ = &body;
      workers_ = workers;
      busy_ = workers - 1;
      failure_ = nullptr;
      ++round_;
    }
    called_.notify_all();
    work(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void serve(unsigned worker) {
    std::unique_lock lock(mutex_);
    for (std::uint64_t served = 0;;) {
      called_.wait(lock, [&] { return ending_ || round_ != served; });
      if (ending_) return;
      served = round_;
      if (worker >= workers_) continue;
      lock.unlock();
      work(worker);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  void work(unsigned worker) {
    try {
      (*body_)(worker);
    } catch (...) {
      std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
  }

  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable called_, done_;
  const std::function<void(unsigned)>* body_ = nullptr;
  unsigned workers_ = 0;
  unsigned busy_ = 0;
  std::uint64_t round_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> team_;
};

}  // namespace

std::unique_ptr<executor> make_threads_executor(unsigned threads) {
  return std::make_unique<threads_executor>(threads);
}

}  // namespace tilewise::backend::cpu
