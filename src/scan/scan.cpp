// The only file that rejects a scan: checks, chooses, runs.
#include <tilewise/scan.hpp>

#include "backend/backend.hpp"
#include "backend/instantiate.hpp"
#include "registry/execute.hpp"
#include "scan/scan_cpu.hpp"
#include "scan/scan_problem.hpp"

#include <functional>

namespace tilewise {

namespace {

enum class kind : std::uint8_t { inclusive, exclusive };

template <class T>
registry::problem describe(std::uint64_t n, kind which, const T* init, op operation) {
  registry::problem p{.what = &impl::scan::scan_algorithm(), .type = dtype_of<T>, .shape = {n}};
  p.setting = {static_cast<std::uint8_t>(operation), static_cast<std::uint8_t>(which),
               static_cast<std::uint8_t>(init != nullptr)};
  if (init != nullptr) p.number[0] = registry::scalar_value::of(*init);
  registry::check(p);
  return p;
}

[[gnu::noinline]] void reject_sizes(std::uint64_t in, std::uint64_t out) {
  throw error(errc::invalid_argument, "the output of a scan has the size of its input: " + std::to_string(in) +
                                          " elements, not " + std::to_string(out));
}

[[gnu::noinline]] void reject_overlap() {
  throw error(errc::invalid_argument,
              "input and output of a scan overlap in part; pass the same array for both, or two that are apart");
}

template <class T>
bool overlap_in_part(std::span<const T> in, std::span<const T> out) {
  const std::less<const T*> before;
  return in.data() != out.data() && before(in.data(), out.data() + out.size()) &&
         before(out.data(), in.data() + in.size());
}

/// Short and without wishes: the way to a device would take longer than the work.
bool goes_straight(std::uint64_t n, const scan_options& options) {
  return n != 0 && n <= impl::scan::small_limit && options.operation <= op::max && !options.device &&
         options.variant.empty() && options.tuning.empty();
}

template <class T>
[[gnu::noinline]] void scan_on_device(std::span<const T> in, std::span<T> out, kind which, const T* init,
                                      const scan_options& options) {
  const registry::problem p = describe(in.size(), which, init, options.operation);
  const device on = options.device ? *options.device : open("cpu");
  const registry::choice how = registry::choose(p, on.implementation(), {options.variant, options.tuning});
  const void* inputs[] = {in.data()};
  void* outputs[] = {out.data()};
  registry::execute_on_host(p, how, on.implementation().queue(), inputs, outputs);
}

template <class T>
void scan_host(std::span<const T> in, std::span<T> out, kind which, const T* init, const scan_options& options) {
  if (in.size() != out.size()) reject_sizes(in.size(), out.size());
  if (overlap_in_part<T>(in, out)) reject_overlap();
  if (goes_straight(in.size(), options) && (which == kind::inclusive || init != nullptr))
    return impl::scan::scan_small(in.data(), out.data(), in.size(), init, which == kind::inclusive, options.operation);
  scan_on_device(in, out, which, init, options);
}

template <class T>
void scan_array(const array<T>& in, array<T>& out, kind which, const T* init, const scan_options& options) {
  if (in.size() != out.size()) reject_sizes(in.size(), out.size());
  const registry::problem p = describe(in.size(), which, init, options.operation);
  backend::device& on = in.device().implementation();
  if (&on != &out.device().implementation())
    throw error(errc::invalid_argument, "input and output of a scan are on different devices: " + on.info().name +
                                            " and " + out.device().name() + "; copy one of them over");
  const registry::choice how = registry::choose(p, on, {options.variant, options.tuning});
  registry::memories where;
  where.in[0] = in.storage();
  where.out[0] = out.storage();
  how.variant->run(p, where, how.tuning, on.queue());
}

template <class T>
array<T> scan_new(const array<T>& in, kind which, const T* init, const scan_options& options) {
  array<T> out = in.device().template allocate<T>(in.size());
  scan_array(in, out, which, init, options);
  return out;
}

}  // namespace

template <scalar T>
void inclusive_scan(std::span<const T> in, std::span<T> out, const scan_options& options) {
  scan_host<T>(in, out, kind::inclusive, nullptr, options);
}
template <scalar T>
void inclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                    const scan_options& options) {
  scan_host<T>(in, out, kind::inclusive, &init, options);
}
template <scalar T>
void exclusive_scan(std::span<const T> in, std::span<T> out, const scan_options& options) {
  scan_host<T>(in, out, kind::exclusive, nullptr, options);
}
template <scalar T>
void exclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                    const scan_options& options) {
  scan_host<T>(in, out, kind::exclusive, &init, options);
}
template <scalar T>
array<T> inclusive_scan(const array<T>& in, const scan_options& options) {
  return scan_new<T>(in, kind::inclusive, nullptr, options);
}
template <scalar T>
array<T> exclusive_scan(const array<T>& in, std::type_identity_t<T> init, const scan_options& options) {
  return scan_new<T>(in, kind::exclusive, &init, options);
}
template <scalar T>
void inclusive_scan(const array<T>& in, array<T>& out, const scan_options& options) {
  scan_array<T>(in, out, kind::inclusive, nullptr, options);
}
template <scalar T>
void exclusive_scan(const array<T>& in, array<T>& out, std::type_identity_t<T> init, const scan_options& options) {
  scan_array<T>(in, out, kind::exclusive, &init, options);
}

#define TILEWISE_INSTANTIATE(T)                                                              \
  template void inclusive_scan<T>(std::span<const T>, std::span<T>, const scan_options&);    \
  template void inclusive_scan<T>(std::span<const T>, std::span<T>, T, const scan_options&); \
  template void exclusive_scan<T>(std::span<const T>, std::span<T>, const scan_options&);    \
  template void exclusive_scan<T>(std::span<const T>, std::span<T>, T, const scan_options&); \
  template array<T> inclusive_scan<T>(const array<T>&, const scan_options&);                 \
  template array<T> exclusive_scan<T>(const array<T>&, T, const scan_options&);              \
  template void inclusive_scan<T>(const array<T>&, array<T>&, const scan_options&);          \
  template void exclusive_scan<T>(const array<T>&, array<T>&, T, const scan_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
