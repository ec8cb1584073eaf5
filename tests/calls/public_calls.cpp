// SPDX-License-Identifier: Apache-2.0
#include "public_calls.hpp"

#include "faults/failing_allocations.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <utility>

namespace tilewise::tests {

namespace tw = tilewise;  // std has functions of the same names

namespace {

constexpr std::uint64_t side = 40, many = 5000, few = side * side;
const matrix_layout square(side, side);
const image_size image{side, side}, mask{3, 3};

/// Wide exponents and all bits, so that order and rounding show. With TILEWISE_TEST_SUBNORMAL in the environment, all
/// values are subnormal except those that others are multiplied by.
template <class T>
std::vector<T> values(std::uint64_t count) {
  static const bool is_subnormal = std::getenv("TILEWISE_TEST_SUBNORMAL") != nullptr;
  const int lowest = is_subnormal && count == many ? std::numeric_limits<T>::min_exponent - 80 : -73;
  std::mt19937_64 random(count);
  std::vector<T> all(count);
  for (T& v : all)
    if constexpr (std::is_floating_point_v<T>)
      v = std::ldexp(static_cast<T>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 20) + lowest);
    else
      v = static_cast<T>(random() % 2000);
  return all;
}

/// Never destroyed and never written to.
template <class T>
const std::vector<T>& x = *new std::vector<T>(values<T>(many));
template <class T>
const std::vector<T>& y = *new std::vector<T>(values<T>(many + 1));
template <class T>
std::span<const T> first(const std::vector<T>& of, std::uint64_t count) {
  return std::span(of).first(count);
}

template <class T>
std::vector<T> copy_of(std::span<const T> of) {
  const no_failures here;
  return {of.begin(), of.end()};
}

void append(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  const no_failures here;
  to.resize(to.size() + bytes);
  if (bytes != 0) std::memcpy(to.data() + to.size() - bytes, from, bytes);
}
template <scalar T>
void append(std::vector<std::byte>& to, const std::vector<T>& all) {
  append(to, all.data(), all.size() * sizeof(T));
}
template <scalar T>
void append(std::vector<std::byte>& to, const tw::array<T>& all) {
  append(to, all.download());
}
template <scalar T>
void append(std::vector<std::byte>& to, T value) {
  append(to, &value, sizeof value);
}
template <class... Results>
std::vector<std::byte> bytes(const Results&... results) {
  std::vector<std::byte> all;
  (append(all, results), ...);
  return all;
}

/// A call on host memory.
template <class Call>
public_call host(std::string name, const Call& call) {
  return {std::move(name), [call](const device& on) { return attempt([call, on] { return call(on); }); }};
}

/// A call on arrays that are on the device already. Both have the same length unless `of_second` gives another.
template <scalar T, class Call>
public_call there(std::string name, std::uint64_t count, const Call& call, std::uint64_t of_second = 0) {
  return {name + " of arrays", [=](const device& on) {
            const auto a = std::make_shared<const tw::array<T>>(on.upload(first(x<T>, count)));
            const auto b =
                std::make_shared<const tw::array<T>>(on.upload(first(y<T>, of_second == 0 ? count : of_second)));
            return attempt([call, a, b] { return call(*a, *b); });
          }};
}

/// A call on a partial of the elements before `begin`, and the rest. All attempts share the partial, so damage by a
/// failed call shows in later results.
template <scalar T>
std::vector<std::byte> continue_part(tw::partial<T>& part, std::uint64_t begin, const device& on) {
  const auto rest = std::span(x<T>).subspan(begin);
  tw::partial<T> same;
  same.push(first(x<T>, begin), {.device = on});
  const auto values = [&](const auto& call) {
    call();
    return std::exchange(part, same).value();
  };
  std::vector<T> scanned;
  const T pushed = values([&] { part.push(on.upload(rest)); });
  const T carry = values([&] { scanned = tw::inclusive_scan(rest, {.carry = &part, .device = on}); });
  return bytes(scanned, carry, pushed);
}

template <scalar T>
void add_folds(std::vector<public_call>& all, const std::string& type) {
  all.push_back(
      host("reduce " + type, [](const device& on) { return bytes(tw::reduce(x<T>, {.init = T(1), .device = on})); }));
  all.push_back(there<T>("reduce " + type, many, [](const auto& a, const auto&) { return bytes(tw::reduce(a)); }));
  all.push_back(host("scans " + type, [](const device& on) {
    return bytes(tw::inclusive_scan(x<T>, {.device = on}), tw::exclusive_scan(x<T>, {.init = T(2), .device = on}));
  }));
  all.push_back(there<T>("scans " + type, many, [](const auto& a, const auto&) {
    return bytes(tw::inclusive_scan(a), tw::exclusive_scan(a, {.init = T(2)}));
  }));
  all.push_back(host("reduce_axis " + type, [](const device& on) {
    const auto a = first(x<T>, few);
    return bytes(tw::reduce(along(a, square, axis::rows), {.device = on}),
                 tw::reduce(along(a, square, axis::columns), {.device = on}));
  }));
  all.push_back(there<T>("reduce_axis " + type, few, [](const auto& a, const auto&) {
    return bytes(tw::reduce(along(a, square, axis::rows)), tw::reduce(along(a, square, axis::columns)));
  }));
  all.push_back(host("scan_axis " + type, [](const device& on) {
    const auto a = first(x<T>, few);
    return bytes(tw::inclusive_scan(along(a, square, axis::rows), {.device = on}),
                 tw::exclusive_scan(along(a, square, axis::columns), {.device = on}));
  }));
  const std::vector<std::int64_t> offsets{0, 7, 7, 1001, static_cast<std::int64_t>(many)};
  all.push_back(host("segment_reduce " + type, [offsets](const device& on) {
    return bytes(tw::segment_reduce(x<T>, offsets, {.init = T(1), .device = on}));
  }));
  all.push_back(host("segment_scan " + type, [offsets](const device& on) {
    return bytes(tw::segment_scan(x<T>, offsets, {.exclusive = true, .init = T(1), .device = on}));
  }));
  all.push_back(there<T>("segment_scan " + type, many, [offsets](const auto& a, const auto&) {
    return bytes(tw::segment_scan(a, a.device().upload(offsets)));
  }));
  all.push_back(host("segment_sort " + type, [offsets](const device& on) {
    return bytes(tw::segment_sort(x<T>, offsets, {.device = on}), tw::segment_argsort(x<T>, offsets, {.device = on}));
  }));
  all.push_back(there<T>("segment_sort " + type, many, [offsets](const auto& a, const auto&) {
    return bytes(tw::segment_sort(a, a.device().upload(offsets)));
  }));
  all.push_back(there<T>("segment_reduce " + type, many, [offsets](const auto& a, const auto&) {
    return bytes(tw::segment_reduce(a, a.device().upload(offsets)));
  }));
  for (const std::uint64_t begin : {0, 1001})
    all.push_back({"parts from " + std::to_string(begin) + " on of " + type, [begin](const device& on) {
                     const auto part = std::make_shared<tw::partial<T>>();
                     part->push(first(x<T>, begin));
                     return attempt([=] { return continue_part(*part, begin, on); });
                   }});
}

template <scalar T>
void add_sorts(std::vector<public_call>& all, const std::string& type) {
  all.push_back(host("sorts " + type, [](const device& on) {
    auto keys = copy_of(first(x<T>, many)), companions = copy_of(first(y<T>, many));
    tw::sort_by_key(keys, companions, {.device = on});
    return bytes(tw::sorted(x<T>, {.device = on}), tw::argsort(x<T>, {.device = on}), keys, companions);
  }));
  all.push_back(there<T>("sorts " + type, many, [](const auto& a, const auto& b) {
    auto keys = tw::allocate_like(a), companions = tw::allocate_like(b);
    tw::sort_by_key(a, b, keys, companions);
    return bytes(tw::sorted(a), tw::argsort(a), keys, companions);
  }));
}

template <scalar T>
void add_sorts_of_lines(std::vector<public_call>& all, const std::string& type) {
  all.push_back(host("sort_axis " + type, [](const device& on) {
    const auto a = first(x<T>, few);
    return bytes(tw::sorted(along(a, square, axis::rows), {.device = on}),
                 tw::sorted(along(a, square, axis::columns), {.device = on}));
  }));
}

template <scalar T>
void add_products(std::vector<public_call>& all, const std::string& type) {
  all.push_back(host("matmul " + type, [](const device& on) {
    return bytes(tw::matmul(first(x<T>, few), square, first(y<T>, few), square, {.device = on}));
  }));
  all.push_back(there<T>("matmul " + type, few,
                         [](const auto& a, const auto& b) { return bytes(tw::matmul(a, square, b, square)); }));
  all.push_back(host("matvec " + type, [](const device& on) {
    return bytes(tw::matvec(first(x<T>, few), square, first(y<T>, side), {.device = on}),
                 tw::dot(x<T>, first(y<T>, many), {.device = on}));
  }));
  all.push_back(there<T>("dot " + type, many, [](const auto& a, const auto& b) { return bytes(tw::dot(a, b)); }));
  all.push_back(host("polymul " + type, [](const device& on) {
    return bytes(tw::polymul(first(x<T>, 700), first(y<T>, 300), {.device = on}));
  }));
  all.push_back(
      there<T>("polymul " + type, 700, [](const auto& a, const auto& b) { return bytes(tw::polymul(a, b)); }));
}

template <scalar T>
void add_stencils(std::vector<public_call>& all, const std::string& type) {
  const diffusion steps{.rows = side, .columns = side, .steps = 9};
  all.push_back(host("convolve " + type, [](const device& on) {
    return bytes(tw::convolve(first(x<T>, few), image, first(y<T>, 9), mask, {.border = border::zero, .device = on}));
  }));
  all.push_back(there<T>(
      "convolve " + type, few, [](const auto& a, const auto& b) { return bytes(tw::convolve(a, image, b, mask)); }, 9));
  all.push_back(host("diffuse " + type, [steps](const device& on) {
    return bytes(tw::diffuse(first(x<T>, few), steps, {.device = on}));
  }));
  all.push_back(
      there<T>("diffuse " + type, few, [steps](const auto& a, const auto&) { return bytes(tw::diffuse(a, steps)); }));
}

/// The other CUDA variants than those chosen at the lengths above, and what CUDA does at larger lengths.
void add_cuda_variants(std::vector<public_call>& all) {
  all.push_back(host("a caller's stream", [](const device& d) {
    return bytes(tw::from_cuda_stream(std::stoi(d.name().substr(5)), nullptr).upload(x<float>));
  }));
  static const std::vector<double>& large = *new std::vector<double>(values<double>(40 * many));
  all.push_back(host("large upload and download", [](const device& d) { return bytes(d.upload(large)); }));
  all.push_back(host("large sorts", [](const device& d) {
    const matrix_layout rows(10, 4 * many);
    return bytes(tw::sorted(large, {.device = d}), tw::sorted(along(large, rows, axis::rows), {.device = d}),
                 tw::sorted(along(large, rows, axis::columns), {.device = d}));
  }));
  all.push_back(host("large reduction and small sort", [](const device& d) {
    return bytes(tw::reduce(large, {.device = d}), tw::sorted(first(x<double>, few), {.device = d}));
  }));
  for (const char* by : {"radix", "merge_path", "merge_rank"})
    all.push_back(host(std::string("sorted by ") + by, [by](const device& d) {
      return bytes(tw::sorted(x<std::uint64_t>, {.device = d, .variant = by}));
    }));
  for (const char* by : {"lookback", "blelloch"})
    all.push_back(host(std::string("scanned by ") + by, [by](const device& d) {
      return bytes(tw::inclusive_scan(x<double>, {.device = d, .variant = by}));
    }));
  for (const char* by : {"ntt", "tiles", "local", "global", "karatsuba"})
    all.push_back(host(std::string("polymul by ") + by, [by](const device& d) {
      return bytes(tw::polymul(first(x<std::int64_t>, 900), first(y<std::int64_t>, 900), {.device = d, .variant = by}));
    }));
  for (const char* by : {"register_tiles", "blocked16", "simple", "tensor_f64"})
    all.push_back(host(std::string("matmul by ") + by, [by](const device& d) {
      return bytes(
          tw::matmul(first(x<double>, few), square, first(y<double>, few), square, {.device = d, .variant = by}));
    }));
  for (const char* by : {"resident", "temporal", "tiles"})
    all.push_back(host(std::string("diffuse by ") + by, [by](const device& d) {
      const diffusion steps{.rows = side, .columns = side, .steps = 9};
      return bytes(tw::diffuse(first(x<double>, few), steps, {.device = d, .variant = by}));
    }));
}

void add_arrays(std::vector<public_call>& all, const device& on) {
  all.push_back(host("opening", [](const device& d) {
    return bytes(
        tw::reduce(x<float>, {.device = tw::open(d.name(), {.threads = d.info().backend == "cpu" ? 2u : 0u})}));
  }));
  all.push_back(host("upload and download", [](const device& d) {
    const tw::array<double> there = d.upload(x<double>), room = d.allocate<double>(many);
    return bytes(there, static_cast<std::uint64_t>(room.size()));
  }));
  if (on.info().backend == "cpu")
    all.push_back(host("views", [](const device& d) {
      auto own = copy_of(first(x<float>, many));
      return bytes(tw::inclusive_scan(tw::view<float>(d, own.data(), own.size())), own);
    }));
  if (on.info().backend == "cuda") add_cuda_variants(all);
  if (on.name().find('*') == std::string::npos) return;
  all.push_back(host("parts of groups", [](const device& group) {
    std::array<std::span<const float>, 8> all_parts;
    for (unsigned i = 0; i < all_parts.size(); ++i) all_parts[i] = first(x<float>, 100 * i);
    const auto parts = std::span(all_parts).first(tw::ranks_of(group).here);
    const tw::array<float> there = tw::upload_parts<float>(group, parts);
    std::vector<std::byte> result = bytes(tw::borders_of(there), tw::inclusive_scan(there));
    for (const std::vector<float>& part : tw::download_parts(there)) append(result, part);
    return result;
  }));
}

}  // namespace

std::vector<public_call> public_calls(const device& on) {
  std::vector<public_call> all;
  add_folds<float>(all, "f32");
  add_folds<std::int64_t>(all, "i64");
  add_sorts<float>(all, "f32");
  add_sorts<std::uint64_t>(all, "u64");
  add_sorts_of_lines<float>(all, "f32");
  add_products<float>(all, "f32");
  add_products<std::int32_t>(all, "i32");
  add_stencils<float>(all, "f32");
  add_stencils<double>(all, "f64");
  all.push_back(host("polymul modulo", [](const device& d) {
    return bytes(
        tw::polymul(first(x<std::int64_t>, 500), first(y<std::int64_t>, 500), {.modulus = 998244353, .device = d}));
  }));
  add_arrays(all, on);
  return all;
}

bool inputs_are_whole() {
  const auto is_whole = []<class T>(T) { return x<T> == values<T>(many) && y<T> == values<T>(many + 1); };
  return is_whole(float()) && is_whole(double()) && is_whole(std::int32_t()) && is_whole(std::int64_t()) &&
         is_whole(std::uint64_t());
}

}  // namespace tilewise::tests
