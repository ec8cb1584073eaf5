// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/executor.hpp"
#include "backend/group/device.hpp"
#include "backend/group/mpi_world.hpp"
#if TILEWISE_WITH_CUDA
#include "backend/group/nccl_transport.hpp"
#endif
#include "backend/group/thread_transport.hpp"
#include "backend/roofs.hpp"

#include <chrono>
#include <cmath>

namespace tilewise::backend::group {

namespace {

/// Collective: a barrier.
void meet(transport& ranks) { gathered(ranks, char{}); }

/// A transport that passes everything on to another one and measures the exchanges. Each exchange begins when the
/// devices of all ranks have finished their work and ends when it is complete on all ranks, so that its time contains
/// nothing else.
class metered_transport final : public transport {
 public:
  metered_transport(transport& through, backend::queue& of_this_rank, travel& noted)
      : through_(through), queue_(of_this_rank), noted_(noted) {}

  unsigned rank() const override { return through_.rank(); }
  unsigned size() const override { return through_.size(); }
  void all_gather(const void* mine, std::uint64_t bytes, void* all) override;
  void exchange(std::span<const parcel> sends, std::span<const parcel> receives) override;
  loan borrow(std::span<const parcel> sends, std::span<const demand> receives) override;
  void give_back() override { through_.give_back(); }
  loan show(std::span<const parcel> sends, std::span<const demand> receives) override;
  void complete(void* host, std::span<const std::uint64_t> border) override { through_.complete(host, border); }

 private:
  template <class F>
  void note(std::uint64_t bytes, F exchange);

  transport& through_;
  backend::queue& queue_;
  travel& noted_;
};

std::uint64_t bytes_of(std::span<const parcel> sends) {
  std::uint64_t bytes = 0;
  for (const parcel& one : sends) bytes += one.where.bytes;
  return bytes;
}

template <class F>
void metered_transport::note(std::uint64_t bytes, F exchange) {
  using clock = std::chrono::steady_clock;
  queue_.finish();
  meet(through_);
  const clock::time_point begun = clock::now();
  exchange();
  queue_.finish();
  noted_.ns += std::chrono::duration<double, std::nano>(clock::now() - begun).count();
  noted_.bytes += bytes;
  ++noted_.exchanges;
  meet(through_);  // otherwise a rank could compute on a shared core while others still exchange
}

void metered_transport::all_gather(const void* mine, std::uint64_t bytes, void* all) {
  note(bytes * (size() - 1), [&] { through_.all_gather(mine, bytes, all); });
}

void metered_transport::exchange(std::span<const parcel> sends, std::span<const parcel> receives) {
  note(bytes_of(sends), [&] { through_.exchange(sends, receives); });
}

loan metered_transport::borrow(std::span<const parcel> sends, std::span<const demand> receives) {
  loan lent;
  note(bytes_of(sends), [&] { lent = through_.borrow(sends, receives); });
  return lent;
}

loan metered_transport::show(std::span<const parcel> sends, std::span<const demand> receives) {
  loan lent;
  note(0, [&] { lent = through_.show(sends, receives); });
  return lent;
}

constexpr std::uint64_t largest_element = 8;  // the row size of arrays whose rows are unknown

/// A key for devices that are assumed to be equally fast.
std::size_t kind_of(const backend::device& device) {
  const device_info& info = device.info();
  return std::hash<std::string>()(info.backend + info.description + info.platform);
}

}  // namespace

queue::queue(const backend::device& owner, std::span<const std::shared_ptr<backend::device>> members, world* processes)
    : backend::queue(owner), members_(members.begin(), members.end()), processes_(processes) {
  for (const auto& member : members_)
    for (const auto& other : members_) member->queue().open_to(other->queue());
  if (is_all_here()) team_ = cpu::make_rank_threads(ranks());
#if TILEWISE_WITH_CUDA
  if (!is_all_here()) between_gpus_ = nccl_transport::between(*processes_, members_.front()->queue());
#endif
  share_by_speed();
}

queue::~queue() = default;

/// Measures all ranks at the same time, since some may share a processor.
void queue::share_by_speed() {
  shares_ = equal_shares(ranks());
  on_each_rank([&](const rank& r) {
    const std::vector<std::size_t> kinds = r.all_gather(kind_of(r.device().implementation()));
    if (std::all_of(kinds.begin(), kinds.end(), [&](std::size_t kind) { return kind == kinds.front(); })) return;
    const std::vector<double> speeds = r.all_gather(copying_speed(r.queue()));
    if (r.index() == first_rank()) shares_ = shares_by_speed(speeds);
  });
}

bool queue::has_one_cuda_memory() const {
  const auto reads_all = [&](const auto& reader) {
    return reader->info().backend == "cuda" && std::all_of(members_.begin(), members_.end(), [&](const auto& other) {
             return reader->queue().reads(other->queue());
           });
  };
  return is_all_here() && std::all_of(members_.begin(), members_.end(), reads_all);
}

unsigned queue::ranks() const { return is_all_here() ? static_cast<unsigned>(members_.size()) : processes_->size(); }

unsigned queue::first_rank() const { return is_all_here() ? 0 : processes_->rank(); }

void queue::on_each_rank(const std::function<void(const rank&)>& work) {
  if (!is_all_here()) {
    processes_->attach(members_.front()->queue());  // a process may have several groups
    return run_rank(0, between_gpus_ ? *between_gpus_ : *processes_, work);
  }
  std::vector<backend::queue*> queues;
  for (const auto& member : members_) queues.push_back(&member->queue());
  meeting all(queues);
  team_->run(ranks(), [&](unsigned index) {
    all.take_part(index, [&] {
      thread_transport others(all, index);
      run_rank(index, others, work);
      others.settle();
    });
  });
  try {
    all.end();
  } catch (...) {
    // Kernels of other ranks may still read memory that the failed rank has released, and that the next call would
    // overwrite.
    for (backend::queue* const q : queues) try {
        q->finish();
      } catch (...) {  // a lost device has ended its work
      }
    throw;
  }
}

void queue::run_rank(unsigned member, transport& others, const std::function<void(const rank&)>& work) {
  if (noted_ == nullptr) return work(rank(members_[member], others));
  metered_transport metered(others, members_[member]->queue(), (*noted_)[member]);
  work(rank(members_[member], metered));
}

travel queue::metered(const std::function<void()>& work) {
  std::vector<travel> each(ranks_here());
  noted_ = &each;
  try {
    work();
    finish();
  } catch (...) {
    noted_ = nullptr;
    throw;
  }
  noted_ = nullptr;
  if (!is_all_here()) each = gathered(*processes_, each.front());
  travel all{0, each.front().exchanges, 0};
  for (const travel& one : each) {
    all.bytes += one.bytes;
    all.ns = std::max(all.ns, one.ns);
  }
  return all;
}

memory queue::allocate(std::uint64_t bytes) { return allocate_rows(bytes, largest_element); }

memory queue::allocate_rows(std::uint64_t bytes, std::uint64_t row_bytes) {
  return allocate_parts(borders_of_shares(bytes, row_bytes, shares_));
}

memory queue::allocate_parts(std::vector<std::uint64_t> border) {
  auto made = std::make_unique<group_array>();
  const memory whole{made.get(), 0, border.back()};
  made->part.resize(ranks());
  made->border = std::move(border);
  try {
    for (unsigned i = 0; i < members_.size(); ++i) {
      const unsigned rank = first_rank() + i;
      made->part[rank] = members_[i]->queue().allocate(made->border[rank + 1] - made->border[rank]);
    }
  } catch (...) {
    release_parts(*made);
    throw;
  }
  static_cast<void>(made.release());
  return whole;
}

void queue::release(memory what) noexcept {
  const std::unique_ptr<const group_array> ended(static_cast<const group_array*>(what.base));
  if (ended != nullptr) release_parts(*ended);
}

void queue::release_parts(const group_array& of) noexcept {
  for (unsigned i = 0; i < members_.size(); ++i)
    if (const memory part = of.part[first_rank() + i]; part.base != nullptr) members_[i]->queue().release(part);
}

bool queue::works_on_host_memory() const {
  return is_all_here() && std::all_of(members_.begin(), members_.end(),
                                      [](const auto& member) { return member->queue().works_on_host_memory(); });
}

memory queue::wrap(void* native, std::uint64_t bytes) { return wrap_rows(native, bytes, largest_element); }

memory queue::wrap_rows(void* native, std::uint64_t bytes, std::uint64_t row_bytes) {
  if (!works_on_host_memory())
    throw error(errc::unsupported,
                "memory cannot be an array of the group " + device().info().name + " where it lies; upload it");
  auto made = std::make_unique<group_array>();
  made->border = borders_of_shares(bytes, row_bytes, shares_);
  for (unsigned i = 0; i < members_.size(); ++i) {
    const byte_range part{made->border[i], made->border[i + 1]};
    made->part.push_back(members_[i]->queue().wrap(static_cast<std::byte*>(native) + part.begin, part.bytes()));
  }
  return {made.release(), 0, bytes};
}

void queue::upload(memory to, const void* from, std::uint64_t bytes) {
  on_each_rank([&](const rank& r) { r.store(to, 0, from, bytes); });
}

void queue::download(void* to, memory from, std::uint64_t bytes) {
  download_own(to, from, bytes);
  if (is_all_here()) return;
  std::vector<std::uint64_t> border{0};
  for (unsigned i = 0; i < ranks(); ++i) border.push_back(std::min(bytes, part_of(from, i).end));
  processes_->complete(to, border);
}

void queue::download_own(void* to, memory from, std::uint64_t bytes) {
  on_each_rank([&](const rank& r) {
    const byte_range mine = common({0, bytes}, r.part(from));
    if (mine.bytes() != 0)
      r.queue().download(static_cast<std::byte*>(to) + mine.begin, local(from, r.index(), mine), mine.bytes());
  });
}

void queue::copy(memory to, memory from, std::uint64_t bytes) {
  on_each_rank([&](const rank& r) {
    const auto of_rank = [&](unsigned k) { return common({0, bytes}, part_of(to, k)); };
    const rank_memory got = r.fetch(from, of_rank);
    const byte_range mine = of_rank(r.index());
    if (mine.bytes() != 0) r.queue().copy(local(to, r.index(), mine), got, mine.bytes());
  });
}

double queue::sum_over_ranks(const std::function<double(backend::queue&)>& count) {
  double all = 0;
  on_each_rank([&](const rank& r) {
    double sum = 0;
    for (const double one : r.all_gather(count(r.queue()))) sum += one;
    if (r.index() == first_rank()) all = sum;
  });
  return all;
}

double queue::multiply_add(dtype type) {
  return sum_over_ranks([type](backend::queue& q) { return q.multiply_add(type); });
}

/// For a rank whose backend cannot measure this, the value is NaN, and so the sum is NaN too and is not taken for a
/// speed.
double multiply_then_add(backend::queue& on, dtype type) {
  const auto of_rank = [type](backend::queue& q) {
    const roofs* own = roofs_of(q.device().info().backend);
    return own == nullptr ? std::nan("") : own->multiply_then_add(q, type);
  };
  const double all = enter(on).sum_over_ranks(of_rank);
  return std::isnan(all) ? 0 : all;
}

void queue::finish() {
  for (const auto& member : members_) member->queue().finish();
}

std::string_view queue::clock_name() const {
  const std::string_view first = members_.front()->queue().clock_name();
  const bool is_of_all = is_all_here() && std::all_of(members_.begin(), members_.end(), [&](const auto& member) {
                           return member->queue().clock_name() == first;
                         });
  return is_of_all ? first : backend::queue::clock_name();
}

void queue::start_clock() {
  finish();
  if (!is_all_here()) meet(*processes_);
  clock_started_ = std::chrono::steady_clock::now().time_since_epoch().count();
  if (!is_all_here()) meet(*processes_);  // so that no rank starts its clock after the others have done their work
  if (has_clocks()) on_each_rank([](const rank& r) { r.queue().start_clock(); });
}

/// The devices' clocks started together, after all earlier work. The result is the longest time.
double queue::stop_clock() {
  if (has_clocks()) {
    std::vector<double> times(ranks());
    on_each_rank([&](const rank& r) { times[r.index()] = r.queue().stop_clock(); });
    return *std::max_element(times.begin(), times.end());
  }
  finish();
  const auto own = static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count() - clock_started_);
  if (is_all_here()) return own;
  const std::vector<double> all = gathered(*processes_, own);
  return *std::max_element(all.begin(), all.end());
}

}  // namespace tilewise::backend::group
