// SPDX-License-Identifier: Apache-2.0
#include "lab/verify/verify.hpp"

#include "backend/cpu/device.hpp"
#include "base/number.hpp"
#include "order/operators.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include <xxhash.h>

namespace tilewise::lab {

namespace {

using base::scalar_value;

std::string to_text(const XXH128_hash_t& hash) {
  return base::hex_digits(hash.high64, 16) + base::hex_digits(hash.low64, 16);
}

std::string digest_of_all(std::span<const std::vector<std::byte>> parts) {
  digest all;
  for (const auto& part : parts) all.add(part);
  return all.text();
}

/// "0.25 (0x3e800000)"
std::string show(const scalar_value& value) { return base::to_string(value) + " (" + base::to_hex(value) + ")"; }

template <class T>
std::span<const T> view(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T>
double largest_magnitude(std::span<const T> values) {  // of the finite values
  double largest = 0;
  for (const T value : values)
    if (std::isfinite(static_cast<double>(value))) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

/// The largest term that is added: the product of the inputs' largest values. The error of a sum is small relative to
/// its terms, but not to a result in which they cancel.
double largest_term(const verified_case& c) {
  double term = 1;
  const std::vector<registry::operand> inputs = c.problem.what->inputs(c.problem);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    with_type(inputs[i].type, [&]<class T>(T) { term *= largest_magnitude(view<T>(c.inputs[i])); });
  return std::isfinite(term) ? term : 0;
}

/// |got - expected| relative to the largest magnitude; infinite if only one of them is finite, or if both are not
/// finite and differ.
template <class T>
double relative_error(T expected, T got, double largest) {
  if (same_bits(order::canonical(expected), order::canonical(got)) || expected == got) return 0;
  const double error = std::abs(static_cast<double>(got) - static_cast<double>(expected));
  return std::isfinite(error) && largest > 0 ? error / largest : std::numeric_limits<double>::infinity();
}

template <class T>
void compare_operand(const std::string& name, std::span<const T> expected, std::span<const T> got,
                     const registry::variant& v, double term, verdict& result) {
  const bool exact = v.order == registry::claim::tilewise;
  if (expected.empty()) return;  // memcmp must not get null pointers
  if (exact && std::memcmp(expected.data(), got.data(), expected.size_bytes()) == 0) return;
  const double largest = std::max(term, largest_magnitude(expected));
  for (std::uint64_t i = 0; i < expected.size(); ++i) {
    const double error = relative_error(expected[i], got[i], largest);
    result.max_relative_error = std::max(result.max_relative_error, error);
    if (exact ? same_bits(expected[i], got[i]) : error <= v.bound) continue;
    if (!result.first) result.first = {name, i, show(scalar_value::of(expected[i])), show(scalar_value::of(got[i]))};
    ++result.mismatches;
  }
}

call::host_operands run(const verified_case& c, const registry::choice& how, backend::queue& queue) {
  const call::operands operands(c.problem, queue);
  operands.upload(call::pointers_to(c.inputs));
  operands.poison_outputs();
  how.variant->run(c.problem, operands.where(), how.tuning, queue);
  call::host_operands outputs;
  for (const auto& expected : c.expected) outputs.emplace_back(expected.size());
  operands.download(call::pointers_to(outputs));
  return outputs;
}

}  // namespace

digest::digest() : state_(XXH3_createState(), [](XXH3_state_t* state) { XXH3_freeState(state); }) {
  XXH3_128bits_reset(state_.get());
}

void digest::add(std::span<const std::byte> bytes) { XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()); }

std::string digest::text() const { return to_text(XXH3_128bits_digest(state_.get())); }

std::string digest_of(std::span<const std::byte> bytes) { return to_text(XXH3_128bits(bytes.data(), bytes.size())); }

call::host_operands make_inputs(const registry::problem& p, data_class data, std::uint64_t seed) {
  call::host_operands inputs;
  for (const registry::operand& in : p.what->inputs(p))
    // The first operand uses the seed itself. Steps are even, since some data classes depend on the seed's parity.
    inputs.push_back(generate(data, seed + 2 * inputs.size(), in.type, in.count));
  p.what->fit_inputs(p, inputs);
  return inputs;
}

verified_case make_case(const registry::problem& p, data_class data, std::uint64_t seed) {
  return make_case(p, make_inputs(p, data, seed));
}

namespace {

verified_case unchecked(const registry::problem& p, call::host_operands inputs) {
  verified_case c{.problem = p, .inputs = std::move(inputs), .expected = {}, .expected_digest = {}, .reference = {}};
  for (const registry::operand& out : p.what->outputs(p)) c.expected.emplace_back(out.bytes());
  return c;
}

}  // namespace

verified_case make_unchecked_case(const registry::problem& p, data_class data, std::uint64_t seed) {
  return unchecked(p, make_inputs(p, data, seed));
}

verified_case make_case(const registry::problem& p, call::host_operands inputs) {
  verified_case c = unchecked(p, std::move(inputs));
  const bool is_long = p.what->operations(p) > longest_definition;
  const auto host = backend::cpu::make_device(is_long ? "cpu" : "cpu:serial", {});
  const registry::choice reference =
      is_long ? registry::choose(p, *host) : registry::choice{&registry::reference_of(*p.what), {}, "the definition"};
  c.reference = reference.variant->id();
  c.expected = run(c, reference, host->queue());
  c.expected_digest = digest_of_all(c.expected);
  return c;
}

std::string first_values(const verified_case& c, std::uint64_t count) {
  std::string text;
  with_type(c.problem.what->outputs(c.problem).front().type, [&]<class T>(T) {
    for (const T value : view<T>(c.expected.front()).first(std::min(count, c.expected.front().size() / sizeof(T))))
      text += (text.empty() ? "" : " ") + base::to_string(scalar_value::of(value));
  });
  return text;
}

verdict compare(const verified_case& c, const registry::variant& v, std::span<const std::vector<std::byte>> outputs) {
  verdict result;
  const double term = v.order == registry::claim::own ? largest_term(c) : 0;
  const std::vector<registry::operand> operands = c.problem.what->outputs(c.problem);
  for (std::size_t i = 0; i < operands.size(); ++i)
    with_type(operands[i].type, [&]<class T>(T) {
      compare_operand<T>(std::string(operands[i].name), view<T>(c.expected[i]), view<T>(outputs[i]), v, term, result);
    });
  result.ok = result.mismatches == 0;
  result.digest = digest_of_all(outputs);
  return result;
}

verdict verify(const verified_case& c, const registry::choice& how, backend::queue& queue) {
  return compare(c, *how.variant, run(c, how, queue));
}

bool is_given(const registry::problem& p, std::size_t k) {
  for (std::size_t s = 0; s < p.what->settings.size(); ++s)
    if (p.what->settings[s].name == p.what->numbers[k]) return p.what->settings[s].values[p.setting[s]] == "given";
  return false;
}

void give_numbers(registry::problem& p, std::uint64_t seed) {
  for (std::size_t k = 0; k < p.what->numbers.size(); ++k) {
    p.number[k] = {p.type, 0};
    if (is_given(p, k)) generate(data_class::uniform, seed, p.type, k, 1, &p.number[k].bits);
  }
  p.what->fit_numbers(p);
}

std::vector<registry::problem> problems_at(const registry::algorithm& what, dtype type, const registry::extents& shape,
                                           std::uint64_t seed) {
  std::vector<registry::problem> all{{.what = &what, .type = type, .shape = shape}};
  for (std::size_t s = 0; s < what.settings.size(); ++s) {
    std::vector<registry::problem> wider;
    for (registry::problem p : all)
      for (std::size_t value = 0; value < what.settings[s].values.size(); ++value) {
        p.setting[s] = static_cast<std::uint8_t>(value);
        wider.push_back(p);
      }
    all = std::move(wider);
  }
  for (registry::problem& p : all) give_numbers(p, seed);
  std::erase_if(all, [](const registry::problem& p) { return !p.what->invalid(p).empty(); });
  return all;
}

}  // namespace tilewise::lab
