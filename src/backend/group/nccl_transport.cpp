// SPDX-License-Identifier: Apache-2.0
#include "backend/group/nccl_transport.hpp"

#include "backend/driver_call.hpp"
#include "backend/group/device.hpp"

#include <algorithm>
#include <exception>
#include <optional>

#include <dlfcn.h>

namespace tilewise::backend::group {

namespace {

std::optional<nccl_api> load() {
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);  // never closed, since its threads keep running
  if (library == nullptr) return std::nullopt;
  nccl_api api{};
  bool is_whole = true;
  const auto look_up = [&]<class Function>(Function& into, const char* name) {
    into = reinterpret_cast<Function>(dlsym(library, name));
    is_whole = is_whole && into != nullptr;
  };
  look_up(api.GetVersion, "ncclGetVersion");
  look_up(api.GetUniqueId, "ncclGetUniqueId");
  look_up(api.CommInitRank, "ncclCommInitRank");
  look_up(api.CommDestroy, "ncclCommDestroy");
  look_up(api.CommAbort, "ncclCommAbort");
  look_up(api.GroupStart, "ncclGroupStart");
  look_up(api.GroupEnd, "ncclGroupEnd");
  look_up(api.Send, "ncclSend");
  look_up(api.Recv, "ncclRecv");
  look_up(api.GetErrorString, "ncclGetErrorString");
  return is_whole ? std::optional(api) : std::nullopt;
}

}  // namespace

std::string nccl_api::version() const {
  constexpr int first_of_new_style = 10000;  // 2.9.0 is 20900, 2.8.4 was 2804
  int told = 0;
  GetVersion(&told);
  const int major = told < first_of_new_style ? 1000 : 10000;
  return std::to_string(told / major) + "." + std::to_string(told % major / 100) + "." + std::to_string(told % 100);
}

const nccl_api* find_nccl() {
  static const std::optional<nccl_api> found = load();
  return found ? &*found : nullptr;
}

namespace {

/// What must be known of each rank before NCCL can be used.
struct candidate {
  gpu_identity gpu{};
  int version = 0;  // NCCL's version; 0 without NCCL
};

candidate candidate_of(const backend::device& device, const nccl_api* nccl) {
  candidate own{.gpu = identity_of(device)};
  if (nccl != nullptr) nccl->GetVersion(&own.version);
  return own;
}

/// Why NCCL cannot connect all ranks; empty if it can.
std::string obstacle(std::span<const candidate> all) {
  std::vector<gpu_identity> gpus;
  for (unsigned i = 0; i < all.size(); ++i) {
    const std::string rank = "rank " + std::to_string(i);
    if (all[i].gpu == gpu_identity{}) return rank + " has no CUDA device";
    if (all[i].version == 0) return rank + " finds no libnccl.so.2, which is NCCL from 2.7 on";
    if (all[i].version != all.front().version) return rank + " has another version of NCCL than rank 0";
    gpus.push_back(all[i].gpu);
  }
  const auto shared = find_sharing(gpus);
  if (!shared) return "";
  return "ranks " + std::to_string(shared->first) + " and " + std::to_string(shared->second) + " share a GPU";
}

}  // namespace

std::unique_ptr<transport> nccl_transport::between(world& processes, backend::queue& of_this_rank) {
  const bool has_gpu = of_this_rank.device().info().backend == "cuda";
  const nccl_api* const nccl = has_gpu ? find_nccl() : nullptr;
  const std::vector<candidate> all = gathered(processes, candidate_of(of_this_rank.device(), nccl));
  const bool is_of_gpus =
      std::any_of(all.begin(), all.end(), [](const candidate& one) { return one.gpu != gpu_identity{}; });
  if (!is_of_gpus || all.size() == 1) return nullptr;
  std::unique_ptr<nccl_transport> made(new nccl_transport(processes, of_this_rank));
  made->nccl_ = nccl;
  made->obstacle_ = obstacle(all);
  return made;
}

std::string nccl_transport::way_between_gpus() const {
  if (!obstacle_.empty()) return "through the host, since " + obstacle_;
  return ranks_ == nullptr ? "" : "by NCCL " + nccl_->version();
}

/// Collective: starts NCCL on first use; returns whether it works. Not done earlier: it takes a second or two, which
/// ranks that exchange nothing should not wait for.
bool nccl_transport::opens() {
  if (ranks_ == nullptr && obstacle_.empty()) obstacle_ = start();
  return obstacle_.empty();
}

/// Collective: opens the communicator. If it fails on one rank, returns the reason on every rank; otherwise returns an
/// empty text.
std::string nccl_transport::start() {
  nccl_id id{};
  int failed = rank() == 0 ? nccl_->GetUniqueId(&id) : 0;
  id = gathered(processes_, id).front();
  cuda::enter(queue_);
  if (gathered(processes_, failed).front() == 0)
    failed = during("ncclCommInitRank", [&] {
      return nccl_->CommInitRank(&ranks_, static_cast<int>(size()), id, static_cast<int>(rank()));
    });
  if (failed != 0) ranks_ = nullptr;
  const std::vector<int> codes = gathered(processes_, failed);
  const auto first = std::find_if(codes.begin(), codes.end(), [](int code) { return code != 0; });
  if (first == codes.end()) return "";
  return "NCCL cannot start on rank " + std::to_string(first - codes.begin()) + ": " + nccl_->GetErrorString(*first);
}

/// After a failure the rank aborts the communicator at once; otherwise it waits until the other ranks have finished
/// with it.
nccl_transport::~nccl_transport() {
  if (ranks_ == nullptr) return;
  if (std::uncaught_exceptions() != 0)
    nccl_->CommAbort(ranks_);
  else
    nccl_->CommDestroy(ranks_);
}

/// Collective: whether the data justifies starting NCCL, which takes a second or two. The call also synchronizes the
/// ranks before any stream waits for another rank's. Such a wait happens in a driver call with a time limit, and a rank
/// may take any time, say to read its files, before it comes here.
bool nccl_transport::is_worth_it(std::span<const parcel> sends) {
  constexpr std::uint64_t worth_a_start = std::uint64_t{1} << 20;
  std::uint64_t sent = 0, all = 0;
  for (const parcel& one : sends) sent += one.where.bytes;
  for (const std::uint64_t of_rank : gathered(processes_, sent)) all += of_rank;
  return ranks_ != nullptr || all >= worth_a_start;
}

void nccl_transport::exchange(std::span<const parcel> sends, std::span<const parcel> receives) {
  if (!obstacle_.empty() || !is_worth_it(sends) || !opens()) return processes_.exchange(sends, receives);
  const auto call = [&](const char* name, const auto& f) {
    if (const int failed = during(name, f); failed != 0)
      throw error(errc::device_lost, std::string(name) + " failed: " + nccl_->GetErrorString(failed));
  };
  const cudaStream_t stream = cuda::enter(queue_).stream();
  call("ncclGroupStart", [&] { return nccl_->GroupStart(); });
  for (const parcel& from : receives)
    call("ncclRecv", [&] {
      return nccl_->Recv(from.where.as<void>(), from.where.bytes, nccl_api::bytes, static_cast<int>(from.peer), ranks_,
                         stream);
    });
  for (const parcel& to : sends)
    call("ncclSend", [&] {
      return nccl_->Send(to.where.as<void>(), to.where.bytes, nccl_api::bytes, static_cast<int>(to.peer), ranks_,
                         stream);
    });
  call("ncclGroupEnd", [&] { return nccl_->GroupEnd(); });
}

}  // namespace tilewise::backend::group
