// SPDX-License-Identifier: Apache-2.0
#include "registry/call.hpp"

#include "base/enter.hpp"
#include "base/lasting.hpp"
#include "registry/matrix_shape.hpp"

#include <algorithm>

namespace tilewise::registry {

namespace {

/// The addresses of an operand in one address space: host or device pointers, or offsets in one cl_mem or in one array
/// of a group.
struct rows_of_bytes {
  const void* space = nullptr;
  std::uintptr_t begin = 0, end = 0;
  std::uintptr_t row, pitch;  // one row of all bytes, unless it is a matrix with gaps

  explicit rows_of_bytes(const call_operand& o) : row(o.row_bytes), pitch(o.pitch) {
    const std::string_view backend = o.on == nullptr ? "" : std::string_view(o.on->info().backend);
    if (o.on == nullptr)
      begin = reinterpret_cast<std::uintptr_t>(o.host);
    else if (backend == "opencl" || backend == "group") {
      const backend::memory place = o.on->implementation().queue().in_whole(o.where);
      space = place.base, begin = place.offset;
    } else
      begin = reinterpret_cast<std::uintptr_t>(o.where.base) + o.where.offset;
    end = begin + o.bytes;
    // OpenCL does not define what happens if the ranges of sub-buffers overlap, even where different bytes are used.
    if (pitch == 0 || backend == "opencl") row = pitch = o.bytes;
  }

  bool operator==(const rows_of_bytes&) const = default;

  /// The begin of the first row that ends behind `address`; it may be the row after the last one.
  std::uintptr_t next(std::uintptr_t address) const {
    return address < begin + row ? begin : begin + ((address - begin - row) / pitch + 1) * pitch;
  }
};

bool overlap(const rows_of_bytes& a, const rows_of_bytes& b) {
  if (a.space != b.space || a.begin == a.end || b.begin == b.end) return false;
  const std::uintptr_t first = std::max(a.begin, b.begin), last = std::min(a.end, b.end);
  if (first >= last) return false;
  // With equal pitches, the rows' relative position repeats in each row: checking one is enough.
  const std::uintptr_t enough = a.pitch == b.pitch ? first + std::min(last - first, a.pitch) : last;
  for (std::uintptr_t at = a.next(first); at < enough;) {
    const std::uintptr_t other = b.next(at);
    if (other >= b.end) return false;
    if (other < at + a.row) return true;
    at = a.next(other);
  }
  return false;
}

[[noreturn]] void refuse(const call_operand& output, const call_operand& other, bool in_place) {
  throw error(errc::invalid_argument,
              std::string(output.name) + " shares memory with " + std::string(other.name) +
                  (in_place ? "; pass the same memory for both, or give each its own" : "; give it memory of its own"));
}

void refuse_overlap(const algorithm& what, call_operands inputs, call_operands outputs) {
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const call_operand& output = outputs.begin()[o];
    const rows_of_bytes out(output);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const rows_of_bytes in(inputs.begin()[i]);
      const bool may_share = what.in_place && i == o;
      if (overlap(out, in) && !(may_share && out == in)) refuse(output, inputs.begin()[i], may_share);
    }
    for (std::size_t other = 0; other < o; ++other)
      if (overlap(out, rows_of_bytes(outputs.begin()[other]))) refuse(output, outputs.begin()[other], false);
  }
}

void require_memory(call_operands operands) {
  for (const call_operand& o : operands)
    if (o.on == nullptr && o.host == nullptr && o.bytes != 0)
      throw error(errc::invalid_argument, std::string(o.name) + " is a null pointer to " + std::to_string(o.bytes) +
                                              " bytes; pass memory that holds them");
}

void require_one_device(const call_operand& first, call_operands operands) {
  for (const call_operand& o : operands)
    if (&o.on->implementation() != &first.on->implementation())
      throw error(errc::invalid_argument, std::string(o.name) + " is on " + o.on->name() + ", but " +
                                              std::string(first.name) + " is on " + first.on->name() +
                                              "; pass one that is on " + first.on->name());
}

/// Operands as the memory of their own device; host memory as that of a CPU device.
bindings in_place(call_operands inputs, call_operands outputs) {
  const auto place = [](const call_operand& o) {
    return o.on != nullptr ? o.where : backend::memory{const_cast<void*>(o.host), 0, o.bytes};
  };
  bindings where;
  std::transform(inputs.begin(), inputs.end(), where.in.begin(), place);
  std::transform(outputs.begin(), outputs.end(), where.out.begin(), place);
  return where;
}

void run_on_arrays(const problem& p, const preferences& wanted, call_operands inputs, call_operands outputs) {
  backend::device& on = outputs.begin()->on->implementation();
  run_in_place(p, choose_silently(p, on, wanted), on.queue(), in_place(inputs, outputs));
}

/// The device for host memory if the caller names none. It is opened once, since opening takes as long as computing 100
/// elements.
const device& usual_device() {
  static const device& cpu = base::lasting([] { return open("cpu"); });
  return cpu;
}

void run_on_spans(const problem& p, backend::device& on, const preferences& wanted, call_operands inputs,
                  call_operands outputs) {
  const choice how = choose_silently(p, on, wanted);
  backend::queue& queue = on.queue();
  // A CPU writes results that need no check directly to the caller's memory: for few elements, making `operands` takes
  // longer than computing.
  if (on.info().backend == "cpu")
    if (const bindings where = in_place(inputs, outputs); !is_in_doubt(p, where, queue))
      return how.variant->run(p, where, how.tuning, queue);
  std::array<const void*, 4> in{};
  std::array<void*, 4> out{};
  for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = inputs.begin()[i].host;
  for (std::size_t i = 0; i < outputs.size(); ++i) out[i] = const_cast<void*>(outputs.begin()[i].host);
  run_on_host(p, how, queue, in, out);
}

}  // namespace

void require_place(const std::optional<device>& named, const call_operand& of) {
  if (!named) return;
  const backend::device& there = named->implementation();  // throws if it was moved from
  if (of.on == nullptr || &there == &of.on->implementation()) return;
  const bool alike = named->name() == of.on->name();
  throw error(errc::invalid_argument, "the options name the device " + named->name() + ", but " + std::string(of.name) +
                                          " is on " + (alike ? "another " : "") + of.on->name() +
                                          (alike ? ", opened separately" : "") +
                                          "; leave the device out, or copy the operands over");
}

void require_operands(const algorithm& what, const std::optional<device>& named, call_operands inputs,
                      call_operands outputs) {
  const call_operand& first = *outputs.begin();
  if (first.on != nullptr) require_one_device(first, inputs), require_one_device(first, outputs);
  require_place(named, *inputs.begin());
  require_memory(inputs), require_memory(outputs);
  refuse_overlap(what, inputs, outputs);
}

void run_call(const problem& p, const std::optional<device>& on, const preferences& wanted, call_operands inputs,
              call_operands outputs) {
  admit(p, wanted);
  run_admitted(p, on, wanted, inputs, outputs);
}

void run_admitted(const problem& p, const std::optional<device>& on, const preferences& wanted, call_operands inputs,
                  call_operands outputs) {
  base::enter([&] {
    require_operands(*p.what, on, inputs, outputs);
    if (outputs.begin()->on != nullptr)
      run_on_arrays(p, wanted, inputs, outputs);
    else
      run_on_spans(p, (on ? *on : usual_device()).implementation(), wanted, inputs, outputs);
  });
}

void require_elements(std::string_view name, const matrix_layout& of, std::uint64_t given) {
  const std::uint64_t needed = elements_of(of);
  if (given >= needed) return;
  throw error(errc::invalid_argument,
              std::string(name) + " is " + shape_text(of.rows, of.columns) +
                  (is_packed(of) ? "" : " with rows that begin " + std::to_string(of.stride) + " elements apart") +
                  ", which needs " + std::to_string(needed) + " elements, but has " + std::to_string(given));
}

}  // namespace tilewise::registry
