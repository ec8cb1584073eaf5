// The public device and array, over the backends.
#include "backend/backend.hpp"
#include "base/instantiate.hpp"

#include <tilewise/array.hpp>
#include <tilewise/interop.hpp>
#include <tilewise/version.hpp>

namespace tilewise {

const char* version() noexcept { return TILEWISE_VERSION; }

device::device(std::shared_ptr<backend::device> implementation) : implementation_(std::move(implementation)) {}

const device_info& device::info() const { return implementation_->info(); }

void device::finish() const { implementation_->queue().finish(); }

std::vector<device> devices() {
  std::vector<device> all;
  std::string ignored;
  for (const backend::runtime& r : backend::runtimes())
    for (auto& d : r.devices(ignored)) all.emplace_back(d);
  return all;
}

device open(std::string_view name, const open_options& options) { return device(backend::find_device(name, options)); }

namespace {

/// The memory goes back to its queue's pool with the last copy of the pointer, and keeps the device open until then.
std::shared_ptr<backend::memory> owned(const std::shared_ptr<backend::device>& on, backend::memory what) {
  return {new backend::memory(what), [on](backend::memory* m) {
            on->queue().release(*m);
            delete m;
          }};
}

}  // namespace

template <scalar T>
array<T> device::allocate(std::uint64_t count) const {
  if (count > ~std::uint64_t{0} / sizeof(T))
    throw error(errc::out_of_memory, "an array of " + std::to_string(count) + " elements has more than 2^64 bytes");
  return {*this, owned(implementation_, implementation_->queue().allocate(count * sizeof(T))), count};
}

template <scalar T>
array<T> device::upload(std::span<const T> values) const {
  array<T> result = allocate<T>(values.size());
  implementation_->queue().upload(result.storage(), values.data(), values.size_bytes());
  return result;
}

template <scalar T>
array<T> view(const device& on, void* native, std::uint64_t count) {
  return {on, owned(on.shared(), on.implementation().queue().wrap(native, count * sizeof(T))), count};
}

template <scalar T>
std::vector<T> array<T>::download() const {
  std::vector<T> result(size_);
  download(result);
  return result;
}

template <scalar T>
void array<T>::download(std::span<T> to) const {
  if (to.size() != size_)
    throw error(errc::invalid_argument, "an array of " + std::to_string(size_) + " elements does not download into " +
                                            std::to_string(to.size()) + "; the sizes must be equal");
  device_.implementation().queue().download(to.data(), storage(), size_ * sizeof(T));
}

template <scalar T>
void* array<T>::native() const {
  return storage_->as<void>();
}

#define TILEWISE_INSTANTIATE(T)                                   \
  template array<T> device::allocate<T>(std::uint64_t) const;     \
  template array<T> device::upload<T>(std::span<const T>) const;  \
  template array<T> view<T>(const device&, void*, std::uint64_t); \
  template class array<T>;
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
