// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nccl_api.hpp"

#include <optional>

#include <dlfcn.h>

namespace tilewise::backend::cuda {

namespace {

std::optional<nccl_api> load() {
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);  // never closed: its threads run on
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

}  // namespace tilewise::backend::cuda
