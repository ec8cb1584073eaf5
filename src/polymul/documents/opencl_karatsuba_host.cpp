// SPDX-License-Identifier: Apache-2.0
// What:   polymul/opencl:karatsuba_host: Karatsuba's method driven by the host, level by level. The host halves the
//         factors; the device makes the leaves' products, one launch each, and joins three products into one.
// Order:  none: integers modulo 2^64, exact in any order.
// Shape:  3^depth leaves and as many launches; all factors go to the device, and all products come back from it.
// Limits: integers without a modulus; the host waits after each launch.
// Twins:  serial.cpp, opencl/variants.cpp; the kernels are in opencl_global.cl and opencl_karatsuba.cl.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "polymul/documents/karatsuba.hpp"
#include "registry/variant.hpp"

#include <vector>

namespace tilewise::embedded {
extern const std::string_view polymul_global_cl, polymul_karatsuba_cl;
}

namespace tilewise::impl::polymul {

namespace {

using word = std::uint64_t;
using words = std::vector<word>;

constexpr unsigned host_group = 256;

/// One multiplication: its programs, and the transfers of words to the device and back.
class host_driven {
 public:
  explicit host_driven(backend::opencl::queue& queue) : queue_(queue) {
    const std::string definitions = backend::opencl::definitions_of(dtype::i64, op::sum);
    leaf_ = queue.program(embedded::polymul_global_cl, definitions).kernel("tw_global");
    combine_ = queue.program(embedded::polymul_karatsuba_cl, definitions).kernel("tw_combine");
  }

  /// Multiplies factors whose length is a multiple of 2^depth. The last word of the product is 0.
  words multiply(const words& a, const words& b, unsigned depth) const {
    if (depth == 0) return multiply_leaf(a, b);
    const std::uint64_t half = a.size() / 2;
    const words low = multiply(part(a, 0, half), part(b, 0, half), depth - 1);
    const words high = multiply(part(a, half, half), part(b, half, half), depth - 1);
    const words mixed = multiply(sum_of_halves(a), sum_of_halves(b), depth - 1);
    return combined(low, high, mixed, half);
  }

 private:
  static words part(const words& of, std::uint64_t first, std::uint64_t count) {
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
  static words sum_of_halves(const words& of) {
    words sum = part(of, 0, of.size() / 2);
    for (std::uint64_t i = 0; i < sum.size(); ++i) sum[i] += of[sum.size() + i];
    return sum;
  }

  void send(const words& what, const backend::memory& to, std::uint64_t at) const {
    queue_.upload(to.at(at * sizeof(word), what.size() * sizeof(word)), what.data(), what.size() * sizeof(word));
  }
  words fetched(const backend::memory& from, std::uint64_t count) const {
    words to(count);
    queue_.download(to.data(), from, count * sizeof(word));
    return to;
  }

  words multiply_leaf(const words& a, const words& b) const {
    const std::uint64_t n = a.size(), m = b.size(), count = n + m - 1, zero = 0;
    const backend::buffer room(queue_, (2 * (n + m)) * sizeof(word));
    const backend::memory factors = room, product = factors.at((n + m) * sizeof(word), count * sizeof(word));
    send(a, factors, 0);
    send(b, factors, n);
    queue_.launch_tiles(leaf_, ceil_div(count, host_group), host_group, factors, zero, n, factors, n, m, product, n + m,
                        zero, count, zero);
    queue_.finish();
    words done = fetched(product, count);
    done.push_back(0);
    return done;
  }

  words combined(const words& low, const words& high, const words& mixed, std::uint64_t half) const {
    const std::uint64_t zero = 0, all = 4 * half;
    const backend::buffer room(queue_, (6 * half + all) * sizeof(word));
    const backend::memory children = room, product = children.at(6 * half * sizeof(word), all * sizeof(word));
    send(low, children, 0);
    send(high, children, 2 * half);
    send(mixed, children, 4 * half);
    queue_.launch_tiles(combine_, ceil_div(all, host_group), host_group, children, zero, half, product, 6 * half, all);
    queue_.finish();
    return fetched(product, all);
  }

  backend::opencl::queue& queue_;
  cl_kernel leaf_, combine_;
};

/// Downloads a factor and pads it with zeros to `length`.
words factor_of(backend::queue& queue, backend::memory from, dtype type, std::uint64_t count, std::uint64_t length) {
  words to(length);
  with_coefficients(type, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      std::vector<T> elements(count);
      queue.download(elements.data(), from, count * sizeof(T));
      for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<word>(elements[i]);
    }
  });
  return to;
}

void run_karatsuba_host(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                        backend::queue& on) {
  const sizes s(p);
  if (s.count == 0) return;
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const karatsuba_tree tree(s, t);
  const auto padded = [&](std::uint64_t n) { return tree.depth == 0 ? n : tree.leaf << tree.depth; };
  const words a = factor_of(queue, where.in[0], p.type, s.n, padded(s.n));
  const words b = factor_of(queue, where.in[1], p.type, s.m, padded(s.m));
  const words product = host_driven(queue).multiply(a, b, tree.depth);
  queue.upload(where.out[0], product.data(), s.product() * sizeof(word));
}

std::string karatsuba_host_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (is_range(p)) return std::string(whole_only);
  if (modulus_of(p) != 0) return "it computes modulo 2^64 only";
  return backend::opencl::too_large(on.info(), host_group, 0);
}

}  // namespace

registry::variant opencl_karatsuba_host_variant() {
  return {.algorithm = "polymul",
          .backend = "opencl",
          .name = "karatsuba_host",
          .types = integer_types,
          .source = "A. Karatsuba and Yu. Ofman, Multiplication of many-digital numbers by automatic computers (1962)",
          .tuning = karatsuba_axes,
          .unsupported = karatsuba_host_unsupported,
          .run = run_karatsuba_host};
}

}  // namespace tilewise::impl::polymul
