// SPDX-License-Identifier: Apache-2.0
// Runs every public call in every floating-point mode that a caller may have set. The bits must be those of the default
// mode, and the caller's mode must be unchanged.
//   tilewise-float-modes DEVICE...
#include "public_calls.hpp"

#include <array>
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>

#include <immintrin.h>

namespace tilewise::tests {

namespace {

namespace tw = tilewise;

constexpr unsigned standard = 0x1f80, flags = 0x3f;

struct mode {
  const char* name;
  unsigned bits = 0;
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

/// Sets the mode as fesetround and feenableexcept do, in both units of the processor: printf, strtod and long double
/// use the x87.
std::uint16_t of_x87(unsigned bits) {
  return static_cast<std::uint16_t>(0x340u | (bits >> 13 & 3u) << 10 | (bits >> 7 & 0x3fu));
}
void set_mode(unsigned bits) {
  const std::uint16_t x87 = of_x87(bits);
  _mm_setcsr(bits);
  asm volatile("fldcw %0" : : "m"(x87));
}
/// The current mode; 0 if the two units differ.
unsigned mode_now() {
  std::uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  return x87 == of_x87(_mm_getcsr()) ? _mm_getcsr() & ~flags : 0;
}

/// The result of `make` when the caller has this mode, and the mode after it.
template <class Make>
auto in_mode(unsigned bits, const Make& make, unsigned& after) {
  set_mode(bits);
  std::optional<decltype(make())> made;
  try {
    made = make();
  } catch (const error&) {
  }
  after = mode_now();
  set_mode(standard);
  return made;
}

/// Tries the default mode last, so that teams of threads and drivers are started in another mode.
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

/// Calls of few elements, which have their own code, one number at a time; and calls that are refused.
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
               std::vector<T> results{tw::reduce(in), tw::reduce(in, {.init = T(0x1p-25)}), tw::dot(in, in),
                                      one.value()};
               one.merge(other);
               results.push_back(one.value());
               for (const auto& more : {tw::inclusive_scan(in), tw::exclusive_scan(in, {.init = T(3)}), tw::sorted(in)})
                 results.insert(results.end(), more.begin(), more.end());
               return bytes_of(results);
             });
           }});
  };
  add(x, "f32");
  add(y, "f64");
  all.push_back({"a refused call", [](const device& on) {
                   return attempt([on]() -> std::vector<std::byte> {
                     return {static_cast<std::byte>(tw::reduce(std::vector<float>(), {.op = op::max, .device = on}))};
                   });
                 }});
  return all;
}

sigjmp_buf before_the_trap;

bool traps(unsigned bits, const std::function<void()>& call) {
  struct sigaction callers, ours{};
  ours.sa_handler = [](int) { siglongjmp(before_the_trap, 1); };
  sigaction(SIGFPE, &ours, &callers);
  bool trapped = true;
  if (sigsetjmp(before_the_trap, 1) == 0) {
    set_mode(bits);
    call();
    trapped = false;
  }
  set_mode(standard);
  sigaction(SIGFPE, &callers, nullptr);
  return trapped;
}

/// Whatever exceptions the caller has unmasked, calls of few and of many elements raise none.
void try_unmasked(tally& total) {
  static const std::vector<std::int64_t> whole{3, 1, 2};
  static const std::vector<float> few{3e38f, 0x1p-149f, 3e38f}, large(5000, 3e38f);
  const std::pair<const char*, std::function<void()>> calls[]{
      {"reduce of integers", [] { tw::reduce(whole); }},
      {"sort of integers", [] { tw::sorted(whole); }},
      {"push of one", [] { tw::partial<float>().push(0x1p-149f); }},
      {"reduce of few", [] { tw::reduce(few); }},
      {"scan of few", [] { tw::inclusive_scan(few); }},
      {"dot of few", [] { tw::dot(few, few); }},
      {"push of few", [] { tw::partial<float>().push(few); }},
      {"reduce of many", [] { tw::reduce(large); }},
      {"push of many", [] { tw::partial<float>().push(large); }}};
  constexpr std::array kinds{mode{"invalid unmasked", 0x1f00},   mode{"denormal unmasked", 0x1e80},
                             mode{"division unmasked", 0x1d80},  mode{"overflow unmasked", 0x1b80},
                             mode{"underflow unmasked", 0x1780}, mode{"inexact unmasked", 0x0f80}};
  for (const auto& [name, call] : calls)
    for (const mode& m : kinds) {
      ++total.cases;
      if (traps(m.bits, call)) total.report("cpu", name, m, "SIGFPE");
    }
}

/// A program converts a number for a call within a loop. Compilers like to move such a conversion out of the loop.
void try_callers_own(tally& total) {
  volatile double tenth = 0.1;
  const double init = tenth;
  const std::vector<float> none;
  for (const mode& m : {modes[3], modes[4]}) {
    float last = 0;
    double read = 0;
    char shown[16];
    set_mode(m.bits);
    for (int i = 0; i < 3; ++i)
      last = tw::in_default_float_mode([&] {
        read = std::strtod("0.1", nullptr);
        std::snprintf(shown, sizeof shown, "%.3f", init);
        return tw::reduce(none, {.init = static_cast<float>(init)});
      });
    set_mode(standard);
    total.cases += 2;
    if (last != 0.1f) total.report("cpu", "a conversion", m, "other bits");
    if (read != 0.1 || std::strcmp(shown, "0.100") != 0) total.report("cpu", "numbers as text", m, "others");
  }
}

/// Each call has another mode.
template <class T>
std::vector<T> mixed_results(const std::string& name, bool changing) {
  static const std::vector<T> x = [] {
    std::mt19937_64 random(7);
    std::vector<T> all(4000);
    for (T& v : all)
      v = std::ldexp(static_cast<T>(static_cast<std::int64_t>(random())), std::numeric_limits<T>::min_exponent - 90);
    return all;
  }();
  std::size_t calls = 0;
  const auto next = [&] { set_mode(changing ? modes[calls++ % (modes.size() - 1)].bits : standard); };
  std::vector<T> all;
  const auto keep = [&](const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
  tw::partial<T> part, carry;
  for (const T v : x) next(), part.push(v);
  next(), all.push_back(part.value());
  next();
  const tw::device on = tw::open(name);
  next();
  const tw::array<T> a = on.upload(std::span<const T>(x));
  next(), part.push(std::span<const T>(x), {.device = on});
  next();
  const tw::array<T> b = tw::inclusive_scan(a);
  next(), all.push_back(tw::reduce(b));
  next(), keep(b.download());
  next(), carry.push(a);
  next(), keep(tw::inclusive_scan(x, {.carry = &carry, .device = on}));
  next(), all.push_back(carry.value());
  next(), all.push_back(part.value());
  set_mode(standard);
  return all;
}

template <class T>
void try_changes(const std::string& name, tally& total) {
  ++total.cases;
  const auto got = mixed_results<T>(name, true), expected = mixed_results<T>(name, false);
  if (got.size() != expected.size() || std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)) != 0)
    total.report(name, "calls in turn", {"modes that change"}, "other bits");
}

int try_all(std::span<char*> devices) {
  tally total;
  try_unmasked(total);
  try_callers_own(total);
  for (const std::string name : devices) {
    for (const public_call& call : public_calls(tw::open(name))) try_call(call, name, total);
    for (const public_call& call : further_calls()) try_call(call, name, total);
    if (name == "openacc:0") continue;  // it has few of the algorithms
    try_changes<float>(name, total);
    try_changes<double>(name, total);
  }
  std::printf("%d cases, %d found\n", total.cases, total.found);
  return total.cases == 0 || total.found != 0;
}

}  // namespace

}  // namespace tilewise::tests

int main(int argc, char** argv) { return tilewise::tests::try_all(std::span(argv, argc).subspan(1)); }
