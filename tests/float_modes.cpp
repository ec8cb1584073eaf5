// SPDX-License-Identifier: Apache-2.0
// Every public call in every floating-point mode that a caller may have: the bits are those of the default mode, and
// the caller's mode is as it was.
//   tilewise-float-modes DEVICE...
#include "public_calls.hpp"

#include <array>
#include <cstdio>
#include <optional>

#include <immintrin.h>

namespace tilewise::tests {

namespace {

namespace tw = tilewise;

constexpr unsigned standard = 0x1f80, flags = 0x3f;

struct mode {
  const char* name;
  unsigned bits;
};
constexpr std::array modes{mode{"denormal results flushed", 0x9f80},
                           mode{"denormal operands flushed", 0x1fc0},
                           mode{"all denormals flushed", 0x9fc0},
                           mode{"rounded down", 0x3f80},
                           mode{"rounded up", 0x5f80},
                           mode{"rounded to zero", 0x7f80},
                           mode{"overflow unmasked", 0x1b80}};

struct tally {
  int cases = 0, found = 0;
  void report(const std::string& device, const std::string& call, const mode& in, const char* what) {
    ++found;
    std::printf("%s on %s, %s: %s\n", call.c_str(), device.c_str(), in.name, what);
  }
};

/// What `make` returns when the caller has this mode, and the mode that it leaves.
template <class Make>
auto in_mode(unsigned bits, const Make& make, unsigned& after) {
  _mm_setcsr(bits);
  std::optional<decltype(make())> made;
  try {
    made = make();
  } catch (const error&) {
  }
  after = _mm_getcsr() & ~flags;
  _mm_setcsr(standard);
  return made;
}

/// The default mode comes last: teams of threads, and drivers, are started in another one.
void try_call(const public_call& call, const std::string& name, tally& total) {
  using results = std::optional<std::vector<std::byte>>;
  const auto compute = [&] { return call.on(tw::open(name))(); };
  std::array<results, modes.size()> got;
  std::array<unsigned, modes.size()> after;
  for (std::size_t m = 0; m < modes.size(); ++m) got[m] = in_mode(modes[m].bits, compute, after[m]);
  unsigned unused;
  const results expected = in_mode(standard, compute, unused);
  for (std::size_t m = 0; m < modes.size(); ++m) {
    ++total.cases;
    if (got[m] != expected) total.report(name, call.name, modes[m], "other bits");
    if (after[m] != (modes[m].bits & ~flags)) total.report(name, call.name, modes[m], "the caller's mode is changed");
  }
}

/// Few elements, which take a way of their own, one number at a time, and calls that are refused.
std::vector<public_call> further_calls() {
  static const std::vector<float> x{0x1p-140f, 0x1p-149f, 3, 0x1.8p-24f, 0x1p-25f, -3, 0x1p-126f, -0x1.fffffcp-127f};
  static const std::vector<double> y{0x1p-1060, 0x1p-1074, 3, 0x1.8p-53, 0x1p-54, -3, 0x1p-1022, -0x1.8p-1023};
  const auto bytes_of = []<class T>(const std::vector<T>& all) {
    const auto raw = std::as_bytes(std::span(all));
    return std::vector<std::byte>(raw.begin(), raw.end());
  };
  std::vector<public_call> all;
  const auto add = [&]<class T>(const std::vector<T>& all_of, const char* type) {
    for (std::size_t n = 1; n <= all_of.size(); ++n)
      all.push_back(
          {"few " + std::string(type), [=, &all_of](const device&) {
             return attempt([=, &all_of] {
               const auto in = std::span(all_of).first(n);
               tw::partial<T> one, other(op::sum, n);
               for (const T v : in) one.push(v);
               other.push(in);
               std::vector<T> results{tw::reduce(in), tw::reduce(in, T(0x1p-25)), tw::dot(in, in), one.value()};
               one.merge(other);
               results.push_back(one.value());
               for (const auto& more : {tw::inclusive_scan(in), tw::exclusive_scan(in, T(3)), tw::sorted(in)})
                 results.insert(results.end(), more.begin(), more.end());
               return bytes_of(results);
             });
           }});
  };
  add(x, "f32");
  add(y, "f64");
  all.push_back(
      {"a refused call", [](const device& on) {
         return attempt([on]() -> std::vector<std::byte> {
           return {static_cast<std::byte>(tw::reduce(std::vector<float>(), {.operation = op::max, .device = on}))};
         });
       }});
  return all;
}

int try_all(std::span<char*> devices) {
  tally total;
  for (const std::string name : devices) {
    for (const public_call& call : public_calls(tw::open(name))) try_call(call, name, total);
    for (const public_call& call : further_calls()) try_call(call, name, total);
  }
  std::printf("%d cases, %d found\n", total.cases, total.found);
  return total.cases == 0 || total.found != 0;
}

}  // namespace

}  // namespace tilewise::tests

int main(int argc, char** argv) { return tilewise::tests::try_all(std::span(argv, argc).subspan(1)); }
