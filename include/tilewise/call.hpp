// SPDX-License-Identifier: Apache-2.0
// How every algorithm is called. The forms, where `in` and `out` are operands:
//
//   f(in, out)   computes into existing memory
//   y = f(in)    returns a new std::vector, or array for arrays; a reduction returns its value; for sort: sorted
//   f(x)         in place: sort, sort_by_key. For a scan in place, pass one operand as in and out.
//
// An operand is a contiguous range on the host, an array on a device, or either as a matrix: along(). Options are the
// last argument. All functions end in detail::call(), which takes the same description of every call; only the few that
// have a shortcut compute few elements without it.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>
#include <tilewise/float_mode.hpp>
#include <tilewise/matrix.hpp>

#include <bit>
#include <optional>

namespace tilewise {

/// The types of which `number` can be made.
template <class N>
concept arithmetic = std::is_arithmetic_v<N> && !std::same_as<N, bool> && !std::same_as<N, long double>;

/// A number of any type, or none. A call converts it to the type that it needs, and rounds it to nearest if that is a
/// floating-point type. A number that this type cannot hold, such as 2.5 among integers, is `invalid_argument`.
class number {
 public:
  constexpr number() = default;  ///< none
  template <class N>
  constexpr number(const std::optional<N>& value) : number(value ? number(*value) : number()) {}  ///< none if empty
  template <arithmetic N>
  constexpr number(N value) : is_given_(true), type_(type_for<N>) {
    if constexpr (std::is_same_v<N, float>)
      bits_ = std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::is_same_v<N, double>)
      bits_ = std::bit_cast<std::uint64_t>(value);
    else
      bits_ = static_cast<std::uint64_t>(value);
  }
  constexpr bool is_given() const { return is_given_; }   ///< whether there is one
  constexpr dtype type() const { return type_; }          ///< f32, f64, i64 or u64
  constexpr std::uint64_t bits() const { return bits_; }  ///< its bits in that type

 private:
  template <class N>
  static constexpr dtype type_for = std::is_same_v<N, float>    ? dtype::f32
                                    : std::is_same_v<N, double> ? dtype::f64
                                    : std::is_signed_v<N>       ? dtype::i64
                                                                : dtype::u64;
  bool is_given_ = false;
  dtype type_ = {};
  std::uint64_t bits_ = 0;
};

/// Where and how a call computes. The options of every algorithm have these.
struct placement {
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "lookback"; default: chosen
  std::string_view tuning = {};                 ///< such as "group_size=256"; never changes a bit
};

/// A matrix whose rows or columns an algorithm works on, each like an array of its own. Made by along().
template <class Memory>
struct lines {
  Memory memory;         ///< a std::span, or a pointer to an array
  matrix_layout layout;  ///< its rows and columns
  axis which;            ///< whether its rows or its columns are the arrays
};

/// The type of an array's elements.
template <scalar T>
struct element_type<array<T>> {
  using type = T;  ///< of an array
};
/// The type of a matrix's elements.
template <class Memory>
struct element_type<lines<Memory>> {
  using type = std::remove_const_t<element_of<std::remove_pointer_t<Memory>>>;  ///< of a matrix
};

/// The matrix that lies in `values`, to be computed along an axis: `reduce(along(a, {3, 4}, axis::rows))` reduces each
/// of the 3 rows. It refers to `values`.
template <read_only_range Range>
lines<std::span<const element_of<Range>>> along(const Range& values, matrix_layout layout, axis which) {
  return {std::span<const element_of<Range>>(values), layout, which};
}
template <host_output Range>
lines<std::span<element_of<Range>>> along(Range&& values, matrix_layout layout, axis which) {
  return {std::span<element_of<Range>>(values), layout, which};
}
template <scalar T>
lines<const array<T>*> along(const array<T>& values, matrix_layout layout, axis which) {
  return {&values, layout, which};
}
template <scalar T>
lines<array<T>*> along(array<T>& values, matrix_layout layout, axis which) {
  return {&values, layout, which};
}

/// Used only in the headers and by the Python module.
namespace detail {

template <class X>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<array<T>> = true;
template <class T>
inline constexpr bool is_array<lines<const array<T>*>> = true;
template <class T>
inline constexpr bool is_array<lines<array<T>*>> = true;

/// Whether both are arrays, or both lie on the host.
template <class A, class B>
inline constexpr bool lie_alike = is_array<A> == is_array<B>;

template <class X>
inline constexpr bool is_lines = false;
template <class Memory>
inline constexpr bool is_lines<lines<Memory>> = true;

template <class X>
inline constexpr bool is_writable = false;
template <class X>
requires host_output<X>
inline constexpr bool is_writable<X> = true;
template <class T>
inline constexpr bool is_writable<array<T>&> = true;
template <class T>
inline constexpr bool is_writable<lines<std::span<T>>> = !std::is_const_v<T>;
template <class T>
inline constexpr bool is_writable<lines<array<T>*>> = true;
template <class Memory>
inline constexpr bool is_writable<lines<Memory>&> = is_writable<lines<Memory>>;
template <class Memory>
inline constexpr bool is_writable<const lines<Memory>&> = is_writable<lines<Memory>>;

/// One operand of a call: its memory, and how its elements lie there.
struct argument {
  const char* name;                        ///< in messages
  dtype type = dtype::f32;                 ///< of its elements
  std::uint64_t size = 0;                  ///< number of elements
  void* host = nullptr;                    ///< host memory
  const tilewise::device* on = nullptr;    ///< an array's device; null for host memory
  const backend::memory* there = nullptr;  ///< an array's memory
  std::uint64_t first = 0;                 ///< the position of its first element in that memory
  matrix_layout of{0, 0, 0};               ///< as a matrix; the stride is 0 if it is none
  std::optional<axis> which = {};          ///< the axis along which it is taken
  bool is_unwanted = false;                ///< a result that nobody reads; it has no memory
};

/// A choice of an algorithm, such as "kind" of a scan, by the position of the value among those it has.
struct setting {
  std::string_view name;  ///< of the setting
  unsigned value;         ///< its position
};

/// A number that an algorithm takes, such as "init".
struct named_number {
  std::string_view name;  ///< of the number
  number value;           ///< of any type
};

/// A call of an algorithm, as its descriptor names things.
struct request {
  std::string_view algorithm;                  ///< its name, such as "scan"
  std::span<const argument> in;                ///< in the descriptor's order
  std::span<const argument> out;               ///< in the descriptor's order
  std::span<const setting> settings = {};      ///< others have their first value
  std::span<const named_number> numbers = {};  ///< those that are not given are none
  void* carry = nullptr;                       ///< a partial of the elements' type, to continue from; null for none
  const tilewise::device* device = nullptr;    ///< from the options; null for none
  std::string_view variant = {};               ///< from the options
  std::string_view tuning = {};                ///< from the options
  bool fast = false;                           ///< also allow variants with other results
  bool allow_unstable = false;                 ///< compute even what diverges
};

/// Checks the call, chooses a variant and runs it.
TILEWISE_API void call(const request& what);

/// The same with the options of a public function.
template <class Options>
void call(request what, const Options& options) {
  if (options.device) what.device = &*options.device;
  what.variant = options.variant;
  what.tuning = options.tuning;
  call(what);
}

/// Up to this many elements are computed on the calling thread, since a call through a device would take longer.
inline constexpr std::uint64_t few_elements = 4096;
/// Whether a call may compute the result at once: there are few elements, in memory, and the thread has the default
/// floating-point mode.
inline bool are_few(const void* values, std::uint64_t count) {
  return values != nullptr && count - 1 < few_elements && default_float_mode::is_on();
}

/// Whether the options leave it to the library where and how to compute.
template <class Options>
constexpr bool is_left_open(const Options& options) {
  return !options.device && options.variant.empty() && options.tuning.empty();
}

/// An operand as an argument.
template <host_range Range>
argument argument_for(const char* name, const Range& values) {
  return {.name = name,
          .type = dtype_of<element_of<Range>>,
          .size = std::ranges::size(values),
          .host = const_cast<void*>(static_cast<const void*>(std::ranges::data(values)))};
}
template <scalar T>
argument argument_for(const char* name, const array<T>& values) {
  return {.name = name, .type = dtype_of<T>, .size = values.size(), .on = &values.device(), .there = &values.storage()};
}
/// The address of a range's elements, as scalars.
template <host_range Range>
auto data_of(Range& values) {
  using T = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
  using scalar = scalar_of<std::remove_const_t<T>>;
  return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const scalar*, scalar*>>(std::ranges::data(values));
}
template <class Values>
argument argument_for(const char* name, const Values& values, matrix_layout of) {
  argument made = argument_for(name, values);
  made.of = of;
  return made;
}
template <class Memory>
argument argument_for(const char* name, const lines<Memory>& matrix) {
  argument made;
  if constexpr (std::is_pointer_v<Memory>)
    made = argument_for(name, *matrix.memory, matrix.layout);
  else
    made = argument_for(name, matrix.memory, matrix.layout);
  made.which = matrix.which;
  return made;
}

}  // namespace detail

/// What a call reads: a contiguous range of elements on the host, an array, or a matrix that along() makes of one.
template <class X>
concept operand = host_range<X> || detail::is_array<X> || detail::is_lines<X>;

/// An operand that is not a matrix made by along().
template <class X>
concept plain_operand = operand<X> && !detail::is_lines<X>;

/// A further operand of a call beside `In`: also on the host, or also an array, with the same type of elements.
template <class X, class In, class T = element_of<In>>
concept beside = plain_operand<X> && std::same_as<element_of<X>, T> && detail::lie_alike<X, In>;

/// What a call writes its results to, beside an operand `In`: also on the host, or also an array.
template <class Out, class In, class T = element_of<In>>
concept output_beside = operand<std::remove_cvref_t<Out>> && detail::is_writable<Out> &&
    std::same_as<element_of<Out>, T> && detail::lie_alike<std::remove_cvref_t<Out>, In> &&
    (detail::is_lines<In> || !detail::is_lines<std::remove_cvref_t<Out>>);

namespace detail {

/// A new result of `count` elements beside an operand: a std::vector, or an array on the same device.
template <class T, class In>
auto result_beside(const In& in, std::uint64_t count) {
  if constexpr (is_lines<In> && is_array<In>)
    return in.memory->device().template allocate<T>(count);
  else if constexpr (is_array<In>)
    return in.device().template allocate<T>(count);
  else
    return host_result<T>(count);
}
/// A new result with as many elements as the operand, without gaps.
template <class In>
auto result_like(const In& in) {
  if constexpr (is_lines<In>)
    return result_beside<element_of<In>>(in, packed_elements(in.layout));
  else if constexpr (is_array<In>)
    return allocate_like(in);
  else
    return host_result<element_of<In>>(std::ranges::size(in));
}

/// The input's name in messages.
template <class In>
inline constexpr const char* input_name = is_lines<In> ? "A" : "the input";

template <class X>
inline constexpr bool is_range_of_others = std::ranges::range<X>;
template <class X>
requires requires { typename element_of<X>; }
inline constexpr bool is_range_of_others<X> = !element<element_of<X>>;

/// Whether an argument looks like data, so that the call was meant for Tilewise.
template <class X>
inline constexpr bool is_data = std::ranges::range<X> || std::input_or_output_iterator<X> || is_array<X> || is_lines<X>;

/// What a function returns that refuses its arguments; it converts to anything, so that nothing else is reported.
struct refused {
  template <class T>
  operator T() const;
};
template <class X>
struct type_or_void {
  using type = void;  ///< not an operand
};
template <operand X>
struct type_or_void<X> {
  using type = element_of<X>;  ///< of an operand
};
template <class First, class... X>
inline constexpr bool have_one_type =
    (std::same_as<typename type_or_void<First>::type, typename type_or_void<X>::type> && ...);

/// Says in one sentence why no form of a function takes these arguments.
template <class... X>
refused refuse() {
  constexpr bool accepted = sizeof...(X) > 99;
  if constexpr ((std::input_or_output_iterator<X> || ...))
    static_assert(accepted, "pass ranges, not iterators or pointers: x, or std::span(first, last or count)");
  else if constexpr ((is_range_of_others<X> || ...))
    static_assert(accepted, "elements are float, double, or integers of 32 or 64 bits: convert the others");
  else if constexpr (((std::ranges::range<X> && !std::ranges::contiguous_range<X>) || ...))
    static_assert(accepted, "elements must lie one after another: copy them to a std::vector");
  else if constexpr ((std::is_arithmetic_v<X> || ...))
    static_assert(accepted, "numbers are options: {.init = 5}; the result has the type of the elements");
  else if constexpr (((std::is_enum_v<X> || (std::is_class_v<X> && !operand<X>)) || ...))
    static_assert(accepted,
                  "operands are contiguous ranges or arrays; operators and orders are options: "
                  "{.op = tilewise::op::max}, {.order = tilewise::sort_order::descending}");
  else if constexpr (!have_one_type<X...>)
    static_assert(accepted, "the operands must have the same type of elements: convert one");
  else if constexpr ((is_array<X> || ...) && !(is_array<X> && ...))
    static_assert(accepted, "some operands are on the host and some are arrays: upload or download");
  else if constexpr ((is_lines<X> || ...))
    static_assert(accepted, "along() is for the input of reduce, a scan or sort, and then for their writable output");
  else
    static_assert(accepted, "an output is const or temporary, or an operand is missing or too many");
  return {};
}

}  // namespace detail

/// Makes a call of `function` whose arguments no form takes end in one sentence.
#define TILEWISE_REFUSE_OTHERS(function)                                                      \
  template <class... Arguments>                                                               \
  requires(detail::is_data<Arguments> || ...) detail::refused function(const Arguments&...) { \
    return detail::refuse<Arguments...>();                                                    \
  }

}  // namespace tilewise
