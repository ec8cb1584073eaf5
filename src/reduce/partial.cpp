// SPDX-License-Identifier: Apache-2.0
// The public class partial.
#include <tilewise/partial.hpp>

#include "base/enter.hpp"
#include "base/instantiate.hpp"
#include "call/call.hpp"
#include "order/segment.hpp"
#include "reduce/problem.hpp"
#include "reduce/segment.hpp"

#include <type_traits>

namespace tilewise {

namespace {

std::string name_of(std::uint64_t operation) { return std::string(tilewise::name_of(static_cast<op>(operation))); }

template <class T>
void append(order::segment<T>& to, const order::segment<T>& right, op operation) {
  order::with_operator(operation, [&]<class Op>(Op) { order::append<Op>(to, right); });
}

/// The segment of the elements that a partial appends, computed where the call says.
template <class T>
order::segment<T> segment_behind(const partial<T>& part, const detail::argument& values, const placement& where) {
  const device* const on = where.device ? &*where.device : nullptr;
  call::require_place(on, values);
  impl::reduce::require_appendable(part.end(), values.size);
  return impl::reduce::segment_of<T>(values, part.end(), part.operation(), on, {where.variant, where.tuning});
}

}  // namespace

template <scalar T>
partial<T>::partial(op operation, std::uint64_t begin) : partial(operation, order::segment<T>{begin, begin, {}}) {}

template <scalar T>
partial<T>::partial(op operation, const order::segment<T>& blocks)
    : blocks_(blocks), operation_(static_cast<std::uint64_t>(operation)) {
  if (operation > op::max)
    throw error(errc::invalid_argument,
                "there is no operation number " + std::to_string(operation_) + "; take sum, product, min or max");
}

template <scalar T>
void partial<T>::push(T value) {
  impl::reduce::require_appendable(end(), 1);
  const auto append = [&] {
    order::with_operator(operation(), [&]<class Op>(Op) { order::append<Op>(blocks_, value, 0); });
  };
  default_float_mode::is_on() ? append() : in_default_float_mode(append);
}

template <scalar T>
void partial<T>::push(std::span<const T> values, const placement& where) {
  base::enter(
      [&] { append(blocks_, segment_behind(*this, detail::argument_for("the input", values), where), operation()); });
}

template <scalar T>
void partial<T>::push(const array<T>& values, const placement& where) {
  base::enter(
      [&] { append(blocks_, segment_behind(*this, detail::argument_for("the input", values), where), operation()); });
}

template <scalar T>
void partial<T>::merge(const partial& right) {
  if (right.operation_ != operation_)
    throw error(errc::invalid_argument, "a part of a " + name_of(right.operation_) + " does not continue one of a " +
                                            name_of(operation_) + "; merge parts of one operation");
  if (right.begin() != end())
    throw error(errc::invalid_argument, "the part ends at position " + std::to_string(end()) +
                                            ", but the one merged with it begins at " + std::to_string(right.begin()) +
                                            "; merge neighbours, the left one with the right one");
  base::enter([&] { append(blocks_, right.blocks_, operation()); });
}

template <scalar T>
T partial<T>::value() const {
  if (begin() != 0)
    throw error(errc::invalid_argument, "the value of a part from position " + std::to_string(begin()) +
                                            " on depends on what precedes it; merge it with the part [0, " +
                                            std::to_string(begin()) + ")");
  if (end() == 0 && (operation() == op::min || operation() == op::max))
    throw error(errc::invalid_argument, "the " + name_of(operation_) + " of no elements has no value; push some first");
  if (end() == 0) return T(operation() == op::product ? 1 : 0);
  return base::enter([&] {
    return order::with_operator(operation(), [&]<class Op>(Op) { return order::canonical(order::fold<Op>(blocks_)); });
  });
}

#define TILEWISE_INSTANTIATE(T)                            \
  template class partial<T>;                               \
  static_assert(std::is_trivially_copyable_v<partial<T>>); \
  static_assert(std::is_standard_layout_v<partial<T>>);    \
  static_assert(sizeof(partial<T>) == 3 * 8 + 126 * sizeof(T), "no bytes between the members");
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
