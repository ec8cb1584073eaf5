// SPDX-License-Identifier: Apache-2.0
#include "soak.hpp"

#include "catalog_sweep.hpp"
#include "parts.hpp"
#include "scattered_operand.hpp"

#include <tilewise/tilewise.hpp>

#include <cstdio>
#include <deque>
#include <optional>

namespace tilewise::tests {

namespace {

/// How many successive cases share a variant, for which devices are opened, and how many share the type, main setting
/// and tuning.
struct runs {
  std::uint64_t with_one_variant, with_one_program;
};
/// Compiling an OpenCL program takes up to a second, and a case only milliseconds.
runs runs_of(std::string_view device) { return device.starts_with("opencl") ? runs{1024, 256} : runs{48, 8}; }
/// One of this many cases is an array in parts.
constexpr std::uint64_t one_in_parts = 12;

std::mt19937_64 numbers(std::uint64_t seed, std::uint64_t which, std::uint64_t purpose) {
  std::seed_seq words{seed, seed >> 32, which, which >> 32, purpose};
  return std::mt19937_64(words);
}

/// The ends of parts that together are [0, n); some parts are empty.
std::vector<std::uint64_t> ends_of_parts(std::uint64_t n, std::mt19937_64& random) {
  std::vector<std::uint64_t> ends{n};
  for (auto more = random() % 9; more > 0; --more) ends.push_back(random() % (n + 1));
  std::sort(ends.begin(), ends.end());
  return ends;
}

/// Compares an array that a device reduces and scans in parts with the definition of the whole.
template <class T>
std::string run_in_parts(const tilewise::device& on, op operation, std::mt19937_64& random) {
  const std::uint64_t n = random() % 2 == 0 ? random() % 300 : random() % 40000;
  const std::vector<T> x = values_of<T>(lab::all_data_classes[random() % lab::all_data_classes.size()], random(), n);
  partial<T> pushed(operation), carry(operation);
  std::vector<T> scanned;
  std::uint64_t first = 0;
  for (const std::uint64_t end : ends_of_parts(n, random)) {
    const auto part = std::span(x).subspan(first, end - first);
    if (random() % 2 == 0)
      pushed.push(part, {.device = on});
    else
      pushed.push(on.upload(part));
    const auto next = tilewise::inclusive_scan(part, {.op = operation, .carry = &carry, .device = on});
    scanned.insert(scanned.end(), next.begin(), next.end());
    first = end;
  }
  const tilewise::device definition = open("cpu:serial");
  const auto expected = tilewise::inclusive_scan(x, {.op = operation, .device = definition, .variant = "serial"});
  const std::string what = std::to_string(n) + " " + std::string(name_of(dtype_of<T>)) + " by " +
                           std::string(name_of(operation)) + " in parts: ";
  if (!same_bytes(scanned, expected)) return what + "other scans than those of the whole";
  if (n != 0 && !same_bytes(pushed.value(), expected.back())) return what + "another value than that of the whole";
  return same_bytes(pushed, carry) ? "" : what + "the parts differ";
}

class soaking {
 public:
  soaking(std::string device, std::uint64_t seed) : device_(std::move(device)), seed_(seed), runs_(runs_of(device_)) {
    for (const sweep_target& t : sweep_targets())
      if (device_ == "groups" ? t.variant.backend == "group" : t.device == device_) targets_.push_back(t);
    if (targets_.empty()) throw std::invalid_argument("there is no variant for '" + device_ + "'");
  }

  /// The number of cases that ran.
  std::uint64_t cases() const { return cases_; }

  /// What is wrong, with the case; empty if nothing is.
  std::string run(std::uint64_t number) {
    std::mt19937_64 random = numbers(seed_, number, 2);
    std::string what;
    try {
      choose(number / runs_.with_one_variant);
      std::mt19937_64 of_program = numbers(seed_, number / runs_.with_one_program, 1);
      if (number % one_in_parts == 0) {
        ++cases_;
        if (!of_parts_) of_parts_ = open(target_.device);
        const op operation = all_ops[of_program() % all_ops.size()];
        return with_type(all_dtypes[of_program() % all_dtypes.size()],
                         [&]<class T>(T) { return run_in_parts<T>(*of_parts_, operation, random); });
      }
      return run_variant(of_program, random, what);
    } catch (const std::exception& e) {
      return what + ": threw " + e.what();
    }
  }

 private:
  void choose(std::uint64_t block) {
    if (block == block_) return;
    block_ = block;
    target_ = targets_[numbers(seed_, block, 0)() % targets_.size()];
    runner_.emplace(target_);
    of_parts_.reset();
  }

  std::string run_variant(std::mt19937_64& of_program, std::mt19937_64& random, std::string& what) {
    for (int tried = 0; tried < 100; ++tried) {
      const sweep_case c = random_case(target_, of_program, random);
      what = to_string(c, target_);
      if (!runner_->unsupported(c).empty()) continue;
      ++cases_;
      const lab::verified_case expected = lab::make_case(c.problem, c.data, c.seed);
      std::string wrong = runner_->run(c, expected);
      if (wrong.empty() && device_ == "groups")
        wrong = run_scattered(target_.variant, expected, c.tuning,
                              backend::group::enter(runner_->open(c.options).queue()), random);
      return wrong.empty() ? "" : what + ": " + wrong;
    }
    return "";  // a variant with few types and shapes
  }

  std::string device_;
  std::uint64_t seed_, block_ = ~std::uint64_t{0}, cases_ = 0;
  runs runs_;
  std::vector<sweep_target> targets_;
  sweep_target target_;
  std::optional<sweep_runner> runner_;
  std::optional<tilewise::device> of_parts_;
};

}  // namespace

int soak(const std::vector<std::string>& words) {
  if (words.size() != 4) throw std::invalid_argument("usage: tilewise-tests --soak DEVICE SEED FIRST COUNT");
  const std::uint64_t seed = std::stoull(words[1]), first = std::stoull(words[2]), count = std::stoull(words[3]);
  soaking one(words[0], seed);
  std::uint64_t found = 0;
  for (std::uint64_t i = first; i < first + count; ++i)
    if (const std::string wrong = one.run(i); !wrong.empty()) {
      ++found;
      std::printf("%s\n  repeat: tilewise-tests --soak '%s' %s %llu 1\n", wrong.c_str(), words[0].c_str(),
                  words[1].c_str(), static_cast<unsigned long long>(i));
      std::fflush(stdout);
    }
  if (count > 1 && one.cases() == 0 && found == 0) throw std::runtime_error("none of these cases was run");
  std::printf("%llu cases, %llu found\n", static_cast<unsigned long long>(one.cases()),
              static_cast<unsigned long long>(found));
  return found != 0;
}

}  // namespace tilewise::tests
