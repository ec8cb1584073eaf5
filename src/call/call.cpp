// SPDX-License-Identifier: Apache-2.0
#include "call/call.hpp"

#include "base/enter.hpp"
#include "base/lasting.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace tilewise::call {

namespace {

/// The addresses of an operand in one address space: host or device pointers, or offsets in one cl_mem or in one array
/// of a group.
struct rows_of_bytes {
  const void* space = nullptr;
  std::uintptr_t begin = 0, end = 0;
  std::uintptr_t row = 0, pitch = 0;  // one row of all bytes, unless it is a matrix with gaps

  explicit rows_of_bytes(const argument& a) {
    const std::string_view backend = a.on == nullptr ? "" : std::string_view(a.on->info().backend);
    backend::memory where = memory_of(a);
    if (backend == "opencl" || backend == "group")
      where = a.on->implementation().queue().in_whole(where), space = where.base, begin = where.offset;
    else
      begin = reinterpret_cast<std::uintptr_t>(where.base) + where.offset;
    end = begin + where.bytes;
    // OpenCL does not define what happens if the ranges of sub-buffers overlap, even where different bytes are used.
    const bool has_gaps = a.of.stride != 0 && a.of.rows > 1 && !registry::is_packed(a.of) && backend != "opencl";
    row = has_gaps ? a.of.columns * size_of(a.type) : where.bytes;
    pitch = has_gaps ? a.of.stride * size_of(a.type) : where.bytes;
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

[[noreturn]] void refuse(const argument& output, const argument& other, bool in_place) {
  throw error(errc::invalid_argument, std::string(output.name) + " shares memory with " + std::string(other.name) +
                                          (in_place ? "; pass the same operand for both, or give each memory of its own"
                                                    : "; give it memory of its own"));
}

void refuse_overlap(const algorithm& what, arguments inputs, arguments outputs) {
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const argument& output = outputs[o];
    const rows_of_bytes out(output);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const rows_of_bytes in(inputs[i]);
      const bool may_share = what.in_place && i == o && inputs[i].type == output.type;
      if (overlap(out, in) && !(may_share && out == in)) refuse(output, inputs[i], may_share);
    }
    for (std::size_t other = 0; other < o; ++other)
      if (overlap(out, rows_of_bytes(outputs[other]))) refuse(output, outputs[other], false);
  }
}

void require_memory(arguments operands) {
  for (const argument& o : operands)
    if (const std::uint64_t bytes = memory_of(o).bytes; o.on == nullptr && o.host == nullptr && bytes != 0)
      throw error(errc::invalid_argument, std::string(o.name) + " is a null pointer to " + std::to_string(bytes) +
                                              " bytes; pass memory that holds them");
}

void require_matrices(arguments operands) {
  for (const argument& a : operands) {
    if (a.of.stride == 0) continue;
    const std::uint64_t needed = registry::elements_of(a.of);
    if (a.size >= needed) continue;
    throw error(
        errc::invalid_argument,
        std::string(a.name) + " is " + registry::shape_text(a.of.rows, a.of.columns) +
            (registry::is_packed(a.of) ? ""
                                       : " with rows that begin " + std::to_string(a.of.stride) + " elements apart") +
            ", which needs " + std::to_string(needed) + " elements, but has " + std::to_string(a.size));
  }
}

void require_one_device(const argument& first, arguments operands) {
  for (const argument& o : operands)
    if (&o.on->implementation() != &first.on->implementation())
      throw error(errc::invalid_argument, std::string(o.name) + " is on " + o.on->name() + ", but " +
                                              std::string(first.name) + " is on " + first.on->name() +
                                              "; pass one that is on " + first.on->name());
}

/// Operands as the memory of their own device; host memory as that of a CPU device.
bindings in_place(arguments inputs, arguments outputs) {
  bindings where;
  std::transform(inputs.begin(), inputs.end(), where.in.begin(), memory_of);
  std::transform(outputs.begin(), outputs.end(), where.out.begin(), memory_of);
  return where;
}

void run_on_arrays(const problem& p, const preferences& wanted, arguments inputs, arguments outputs) {
  backend::device& on = outputs.front().on->implementation();
  run_in_place(p, choose_silently(p, on, wanted), on.queue(), in_place(inputs, outputs));
}

/// The device for host memory if the caller names none. It is opened once, since opening takes as long as computing 100
/// elements.
const device& usual_device() {
  static const device& cpu = base::lasting([] { return open("cpu"); });
  return cpu;
}

void run_on_spans(const problem& p, backend::device& on, const preferences& wanted, arguments inputs,
                  arguments outputs) {
  const choice how = choose_silently(p, on, wanted);
  backend::queue& queue = on.queue();
  // A CPU writes results that need no check directly to the caller's memory: for few elements, making `operands` takes
  // longer than computing.
  if (on.info().backend == "cpu")
    if (const bindings where = in_place(inputs, outputs); !is_in_doubt(p, where, queue))
      return how.variant->run(p, where, how.tuning, queue);
  std::array<const void*, 4> in{};
  std::array<void*, 4> out{};
  for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = inputs[i].host;
  for (std::size_t i = 0; i < outputs.size(); ++i) out[i] = outputs[i].host;
  run_on_host(p, how, queue, in, out);
}

/// Whether the output has no memory where the inputs are: nobody wants it, or it is a value on the host.
bool lacks_memory(const request& r, const argument& output) {
  return output.is_unwanted || (r.in[0].on != nullptr && output.on == nullptr);
}

/// Memory for an output that lacks it.
class result_room {
 public:
  /// The output in this memory, which is on the host if `on` is null.
  argument hold(argument output, const device* on) {
    const std::uint64_t element = size_of(output.type), bytes = output.size * element;
    output.on = on;
    if (on == nullptr)
      output.host = (host_ = std::make_unique_for_overwrite<std::byte[]>(bytes)).get();
    else
      output.there = &(where_ = there_.emplace(on->implementation().queue(), bytes, element));
    return output;
  }

 private:
  std::unique_ptr<std::byte[]> host_;
  std::optional<backend::buffer> there_;
  backend::memory where_;
};

/// Runs the problem with memory for the outputs that lack it. Waits for values that go to the host.
void run_with_room(const problem& p, const request& r) {
  std::array<result_room, registry::bindings{}.out.size()> rooms;
  std::array<argument, rooms.size()> made;
  const std::span<argument> out = std::span(made).first(r.out.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = lacks_memory(r, r.out[i]) ? rooms[i].hold(r.out[i], r.in[0].on) : r.out[i];
  run_call(p, r.device, preferences_of(r), r.in, out);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (lacks_memory(r, r.out[i]) && !r.out[i].is_unwanted)
      out[i].on->implementation().queue().download(r.out[i].host, *out[i].there, out[i].there->bytes);
}

}  // namespace

argument part_of(const argument& a, std::uint64_t first, std::uint64_t count) {
  argument some = a;
  some.size = count;
  if (a.on == nullptr)
    some.host = static_cast<std::byte*>(a.host) + first * size_of(a.type);
  else
    some.first += first;
  return some;
}

void require_place(const device* named, const argument& of) {
  if (named == nullptr) return;
  const backend::device& there = named->implementation();  // throws if it was moved from
  if (of.on == nullptr || &there == &of.on->implementation()) return;
  const bool alike = named->name() == of.on->name();
  throw error(errc::invalid_argument, "the options name the device " + named->name() + ", but " + std::string(of.name) +
                                          " is on " + (alike ? "another " : "") + of.on->name() +
                                          (alike ? ", opened separately" : "") +
                                          "; leave the device out, or copy the operands over");
}

void require_operands(const algorithm& what, const device* named, arguments in, arguments out) {
  const argument& first = out.front();
  if (first.on != nullptr) require_one_device(first, in), require_one_device(first, out);
  require_place(named, in.front());
  require_matrices(in), require_matrices(out);
  require_memory(in), require_memory(out);
  refuse_overlap(what, in, out);
}

void run_call(const problem& p, const device* on, const preferences& wanted, arguments in, arguments out) {
  require_operands(*p.what, on, in, out);
  if (out.front().on != nullptr)
    run_on_arrays(p, wanted, in, out);
  else
    run_on_spans(p, (on != nullptr ? *on : usual_device()).implementation(), wanted, in, out);
}

}  // namespace tilewise::call

namespace tilewise::detail {

void call(const request& r) {
  base::enter([&] {
    const registry::algorithm& what = registry::find_algorithm(r.algorithm);
    if (what.few != nullptr && what.few(r)) return;
    const registry::problem p = what.describe(r);
    if (r.carry != nullptr && what.continues == nullptr)
      throw error(errc::invalid_argument,
                  "a carry continues one array, and along an axis there are many; scan them one "
                  "by one, or leave out the carry");
    if (r.carry != nullptr)
      what.continues(p, r);
    else if (std::any_of(r.out.begin(), r.out.end(), [&](const auto& a) { return call::lacks_memory(r, a); }))
      call::run_with_room(p, r);
    else
      call::run_call(p, r.device, call::preferences_of(r), r.in, r.out);
  });
}

}  // namespace tilewise::detail
