// SPDX-License-Identifier: Apache-2.0
// The cases in which every variant's bits are compared with the definition's. They are made from the catalog alone: a
// new variant, device, type, setting or tuning value is tested as soon as it is listed.
#pragma once

#include "helpers.hpp"
#include "lab/verify/verify.hpp"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tilewise::tests {

/// One variant on one device, by name. Each target makes one test.
struct sweep_target {
  registry::variant variant;  // a copy, since adding peers moves the catalog's variants
  std::string device;         // "cpu:threads", "opencl:0"
};

/// Every variant of the library, without peers, on every device of its backend on this machine. The definition itself
/// is left out, since nothing could be compared with it.
std::vector<sweep_target> sweep_targets();

/// Where the operands are in memory. All of them have guard zones on both sides.
enum class placement : std::uint8_t { apart, in_place, unaligned };

/// One call of one variant.
struct sweep_case {
  registry::problem problem;
  lab::data_class data;
  std::uint64_t seed;
  open_options options;  // threads and instruction set, for CPU devices
  registry::tuning tuning;
  placement place;
};
std::string to_string(const sweep_case& c, const sweep_target& target);

/// Cases for one target, smallest first, so that the first failure is the smallest. Every pair of values of any two
/// axes (type, settings, shape, data, threads, instruction set, each tuning, placement) occurs; `few` keeps every
/// eighth case, and `all` adds seeded random cases at small shapes. The same list in every run.
///
/// Groups of one, two, three, five and eight CPU teams share the pairs: each tries a third of the cases, unless `all`
/// is set.
///
/// OpenCL compiles programs at run time, in up to a second each on a CPU, so few are tried: every pair of type,
/// operator or payload, and tuning values occurs in one, or, unless `all` is set, every single value, with a quarter of
/// the large cases and a sixteenth of the largest: unoptimised kernels take half a second for each of those.
std::vector<sweep_case> sweep_cases(const sweep_target& target, cover how_much);

/// A case with random values on every axis, and a shape of which each size may lie anywhere up to about an edge
/// shape's. `of_program` chooses what OpenCL compiles a program for: type, main setting and tuning.
sweep_case random_case(const sweep_target& target, std::mt19937_64& of_program, std::mt19937_64& random);

/// Runs cases on one device, opened once for each of its options.
class sweep_runner {
 public:
  explicit sweep_runner(const sweep_target& target) : target_(target) {}

  /// Why this case cannot run, or empty.
  std::string unsupported(const sweep_case& c);
  /// What is wrong, in a sentence with the first differing index and both values; empty if the bits are right, the
  /// input is untouched and the guard zones are intact.
  std::string run(const sweep_case& c);
  /// The same, for one whose inputs and results are known.
  std::string run(const sweep_case& c, const lab::verified_case& expected);

  backend::device& open(const open_options& options);

 private:
  sweep_target target_;
  std::map<std::string, std::shared_ptr<backend::device>> opened_;
};

}  // namespace tilewise::tests
