// SPDX-License-Identifier: Apache-2.0
// The public device and array, implemented with the backends, and devices over other libraries' queues.
#include "backend/backend.hpp"
#if TILEWISE_WITH_OPENCL
#include "backend/opencl/device.hpp"
#endif
#if TILEWISE_WITH_CUDA
#include "backend/cuda/device.hpp"
#endif
#include "base/enter.hpp"
#include "base/instantiate.hpp"

#include <tilewise/array.hpp>
#include <tilewise/interop.hpp>
#include <tilewise/version.hpp>

namespace tilewise {

const char* version() noexcept { return TILEWISE_VERSION; }

device::device(std::shared_ptr<backend::device> implementation) : implementation_(std::move(implementation)) {}

void refuse_moved_from(const char* what) {
  throw error(errc::invalid_argument,
              std::string("this ") + what + " was moved from; use the object that it was moved to");
}

const device_info& device::info() const { return implementation().info(); }

void device::finish() const {
  base::enter([&] { implementation().queue().finish(); });
}

std::vector<device> devices() {
  return base::enter([] {
    std::vector<device> all;
    std::string ignored;
    for (const backend::runtime& r : backend::runtimes())
      for (auto& d : r.devices(ignored)) all.emplace_back(d);
    return all;
  });
}

device open(std::string_view name, const open_options& options) {
  return base::enter([&] { return device(backend::find_device(name, options)); });
}

namespace {

void require_memory(const void* host, std::uint64_t count) {
  if (host == nullptr && count != 0)
    throw error(errc::invalid_argument,
                "a null pointer was given for " + std::to_string(count) + " elements; pass memory that holds them");
}

/// Throws `invalid_argument` for a null pointer to elements that the caller owns, or if they exceed the address space.
void require_addresses(const device& on, const void* native, std::uint64_t count, std::uint64_t element_bytes) {
  require_memory(native, count);
  const std::uint64_t first = on.info().backend == "opencl" ? 0 : reinterpret_cast<std::uintptr_t>(native);
  if (count > (~std::uint64_t{0} - first) / element_bytes)
    throw error(errc::invalid_argument, std::to_string(count) + " elements of " + std::to_string(element_bytes) +
                                            " bytes exceed the address space; pass the number that the memory holds");
}

}  // namespace

device from_cuda_stream([[maybe_unused]] int ordinal, [[maybe_unused]] void* stream) {
#if TILEWISE_WITH_CUDA
  return base::enter([&] { return device(backend::cuda::from_stream(ordinal, stream)); });
#else
  throw error(errc::unsupported, "this build has no CUDA backend; configure with -DTILEWISE_CUDA=ON and nvcc");
#endif
}

device from_opencl_queue([[maybe_unused]] void* queue) {
#if TILEWISE_WITH_OPENCL
  return base::enter([&] { return device(backend::opencl::from_queue(queue)); });
#else
  throw error(errc::unsupported, "this build has no OpenCL backend; configure with -DTILEWISE_OPENCL=ON");
#endif
}

template <class T>
array<T> device::allocate(std::uint64_t count) const {
  if (count > ~std::uint64_t{0} / sizeof(T))
    throw error(errc::out_of_memory, "an array of " + std::to_string(count) + " elements has more than 2^64 bytes");
  return base::enter([&]() -> array<T> {
    return {*this,
            backend::owned(implementation_, implementation().queue().allocate_rows(count * sizeof(T), sizeof(T))),
            count};
  });
}

template <class T>
array<T> device::upload(std::span<const T> values) const {
  require_memory(values.data(), values.size());
  array<T> result = allocate<T>(values.size());
  base::enter([&] { implementation_->queue().upload(result.storage(), values.data(), values.size_bytes()); });
  return result;
}

template <class T>
array<T> view(const device& on, void* native, std::uint64_t count) {
  require_addresses(on, native, count, sizeof(T));
  return base::enter([&]() -> array<T> {
    return {on, backend::owned(on.shared(), on.implementation().queue().wrap(native, count * sizeof(T))), count};
  });
}

template <scalar T>
std::vector<T> array<T>::download() const {
  std::vector<T> result = host_result<T>(size_);
  download(result);
  return result;
}

template <scalar T>
void array<T>::download(std::span<T> to) const {
  if (to.size() != size_)
    throw error(errc::invalid_argument, "an array of " + std::to_string(size_) + " elements does not download into " +
                                            std::to_string(to.size()) + "; the sizes must be equal");
  require_memory(to.data(), to.size());
  base::enter([&] { device_.implementation().queue().download(to.data(), storage(), size_ * sizeof(T)); });
}

template <scalar T>
array<T> array<T>::first(std::uint64_t count) && {
  if (count > size_)
    throw error(errc::invalid_argument,
                "an array of " + std::to_string(size_) + " elements has no first " + std::to_string(count));
  const backend::memory some = storage().at(0, count * sizeof(T));
  const auto kept =
      std::make_shared<std::pair<backend::memory, std::shared_ptr<backend::memory>>>(some, std::move(storage_));
  return {std::move(device_), std::shared_ptr<backend::memory>(kept, &kept->first), count};
}

template <scalar T>
void* array<T>::native() const {
  return storage().template as<void>();
}

#define TILEWISE_INSTANTIATE(T)                                   \
  template array<T> device::allocate<T>(std::uint64_t) const;     \
  template array<T> device::upload<T>(std::span<const T>) const;  \
  template array<T> view<T>(const device&, void*, std::uint64_t); \
  template class array<T>;
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
