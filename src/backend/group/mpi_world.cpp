// SPDX-License-Identifier: Apache-2.0
// The MPI module: the only file that includes MPI's header.
#include "backend/group/mpi_world.hpp"
#include "backend/group/mpi_launch.hpp"
#include "backend/group/mpi_meet.hpp"
#include "backend/group/mpi_watch.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include <mpi.h>
#include <unistd.h>

namespace tilewise::backend::group {

namespace {

constexpr std::uint64_t most_at_once = std::uint64_t{1} << 30;  // MPI counts in 31 bits

int as_int(std::uint64_t value) { return static_cast<int>(value); }

template <class F>
void for_each_chunk(std::byte* data, std::uint64_t bytes, F f) {
  for (std::uint64_t at = 0; at < bytes; at += most_at_once) f(data + at, as_int(std::min(most_at_once, bytes - at)));
}

/// The host memory that MPI sends from and receives into: a CPU device's own memory, or copies for other devices.
class host_side {
 public:
  host_side(backend::queue& of, std::span<const parcel> parcels) : queue_(of), parcels_(parcels) {
    for (const parcel& one : parcels)
      if (!is_cpu()) copies_.emplace_back(one.where.bytes);
  }

  std::byte* of(std::size_t index) { return is_cpu() ? parcels_[index].where.as<std::byte>() : copies_[index].data(); }
  void download() {
    for (std::size_t i = 0; i < copies_.size(); ++i)
      queue_.download(copies_[i].data(), parcels_[i].where, copies_[i].size());
  }
  void upload() {
    for (std::size_t i = 0; i < copies_.size(); ++i)
      queue_.upload(parcels_[i].where, copies_[i].data(), copies_[i].size());
  }

 private:
  bool is_cpu() const { return queue_.device().info().backend == "cpu"; }

  backend::queue& queue_;
  std::span<const parcel> parcels_;
  std::vector<std::vector<std::byte>> copies_;
};

bool has_mpi_ended() {
  int has_ended = 0;
  MPI_Finalized(&has_ended);
  return has_ended != 0;
}

bool starts_mpi = false;  // whether this module has initialized MPI, not the program

/// If the program has finalized MPI itself, ranks are no longer watched. Note that MPI_Finalized is true even before
/// MPI_Finalize has waited for all ranks.
bool is_left_to_program() { return !starts_mpi && has_mpi_ended(); }

class mpi_world final : public world {
 public:
  mpi_world() {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &ranks_);  // separate from the program's own messages
    MPI_Comm_split_type(ranks_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(ranks_, &rank_);
    MPI_Comm_size(ranks_, &size_);
    MPI_Comm_rank(host, &local_rank_);
    gather_processors(host);
    MPI_Comm_free(&host);
    watch_ranks();
  }

  unsigned rank() const override { return static_cast<unsigned>(rank_); }
  unsigned size() const override { return static_cast<unsigned>(size_); }
  void attach(backend::queue& of_this_rank) override { queue_ = &of_this_rank; }
  unsigned local_rank() const override { return static_cast<unsigned>(local_rank_); }
  std::span<const base::processor_set> local_processors() const override { return local_processors_; }

  std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string whole(text, static_cast<std::size_t>(length));
    return whole.substr(0, whole.find_first_of(",\n"));
  }

  bool first_rank_has_failed() const override { return watch_ != nullptr && watch_->first_has_failed(); }

  void before_giving_up(void (*work)() noexcept) override {
    if (watch_) watch_->before_giving_up(work);
  }

  void abort(int code) noexcept override {
    if (watch_) watch_->tell_failure();
    MPI_Abort(ranks_, code);
    std::_Exit(code);
  }

  void all_gather(const void* mine, std::uint64_t bytes, void* all) override {
    MPI_Allgather(mine, as_int(bytes), MPI_BYTE, all, as_int(bytes), MPI_BYTE, ranks_);
  }

  void exchange(std::span<const parcel> sends, std::span<const parcel> receives) override {
    host_side out(*queue_, sends), in(*queue_, receives);
    queue_->finish();
    out.download();
    std::vector<MPI_Request> under_way;
    for (std::size_t i = 0; i < receives.size(); ++i)
      for_each_chunk(in.of(i), receives[i].where.bytes, [&](std::byte* data, int bytes) {
        MPI_Irecv(data, bytes, MPI_BYTE, as_int(receives[i].peer), 0, ranks_, &under_way.emplace_back());
      });
    for (std::size_t i = 0; i < sends.size(); ++i)
      for_each_chunk(out.of(i), sends[i].where.bytes, [&](std::byte* data, int bytes) {
        MPI_Isend(data, bytes, MPI_BYTE, as_int(sends[i].peer), 0, ranks_, &under_way.emplace_back());
      });
    MPI_Waitall(as_int(under_way.size()), under_way.data(), MPI_STATUSES_IGNORE);
    in.upload();
  }

  loan borrow(std::span<const parcel> sends, std::span<const demand> receives) override {
    return borrow_copies(*this, *queue_, sends, receives);
  }

  void give_back() override {}

  void complete(void* host, std::span<const std::uint64_t> border) override {
    for (unsigned from = 0; from < size(); ++from)
      for_each_chunk(static_cast<std::byte*>(host) + border[from], border[from + 1] - border[from],
                     [&](std::byte* data, int bytes) { MPI_Bcast(data, bytes, MPI_BYTE, as_int(from), ranks_); });
  }

  /// Call this after MPI_Finalize, which waits for all ranks.
  void end() { watch_.reset(); }

 private:
  std::string host() const {
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    MPI_Get_processor_name(name, &length);
    return {name, static_cast<std::size_t>(length)};
  }

  using line = std::array<char, longest_address + 1>;  // an address or the name of a host

  std::vector<std::string> gathered(const std::string& mine) {
    line sent{};
    mine.copy(sent.data(), sent.size() - 1);
    std::vector<line> lines(size());
    all_gather(&sent, sizeof sent, lines.data());
    std::vector<std::string> all;
    for (const line& one : lines) all.emplace_back(one.data());
    return all;
  }

  void gather_processors(MPI_Comm host) {
    int ranks = 1;
    MPI_Comm_size(host, &ranks);
    local_processors_.resize(static_cast<std::size_t>(ranks));
    const base::processor_set mine = base::processors_of_process();
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, local_processors_.data(), sizeof mine, MPI_BYTE, host);
  }

  void watch_ranks() {
    if (size_ == 1) return;
    std::optional<rendezvous> at_first;
    if (rank_ == 0) at_first.emplace();
    const std::string address = gathered(at_first ? at_first->address() : "").front();
    const std::vector<int> sockets = at_first ? at_first->sockets(size()) : reach(address, rank());
    const std::vector<std::string> met = gathered(sockets.empty() ? "no" : "yes"), hosts = gathered(host());
    if (std::count(met.begin(), met.end(), "yes") == size_)
      watch_ = std::make_unique<rank_watch>(rank(), hosts, sockets, is_left_to_program);
    else
      for (const int socket : sockets) close(socket);
  }

  MPI_Comm ranks_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, local_rank_ = 0;
  std::vector<base::processor_set> local_processors_;
  backend::queue* queue_ = nullptr;
  std::unique_ptr<rank_watch> watch_;
};

mpi_world* opened = nullptr;

/// Runs at a normal exit and waits for all ranks. If a process has failed, abort() has already ended the others.
void end_mpi() {
  if (starts_mpi && !has_mpi_ended()) MPI_Finalize();
  opened->end();
}

}  // namespace

world* tilewise_mpi_world() {
  int has_begun = 0;
  MPI_Initialized(&has_begun);
  starts_mpi = has_begun == 0;
  if (starts_mpi && has_lost_launcher()) return nullptr;
  const start_watch until_all_are_here;
  if (starts_mpi) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  }
  opened = new mpi_world;
  std::atexit(end_mpi);
  return opened;
}

}  // namespace tilewise::backend::group
