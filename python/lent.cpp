// SPDX-License-Identifier: Apache-2.0
#include "operand.hpp"

#include <map>

namespace tilewise::python {

namespace {

/// A device whose queue is another library's stream. Devices are kept, since making one costs an event and a pool, and
/// closing one would use its stream, which may no longer exist.
device on_stream(int ordinal, std::uintptr_t stream) {
  static auto& made = *new std::map<std::pair<int, std::uintptr_t>, device>;
  const auto found = made.find({ordinal, stream});
  if (found != made.end()) return found->second;
  const device opened = from_cuda_stream(ordinal, reinterpret_cast<void*>(stream));
  leave_alone_at_the_end(opened);
  return made.emplace(std::pair(ordinal, stream), opened).first->second;
}

std::optional<dtype> type_of(char kind, std::int64_t bytes) {
  if (bytes != 4 && bytes != 8) return {};
  switch (kind) {
    case 'f': return bytes == 4 ? dtype::f32 : dtype::f64;
    case 'i': return bytes == 4 ? dtype::i32 : dtype::i64;
    case 'u': return bytes == 4 ? dtype::u32 : dtype::u64;
    default: return {};
  }
}

/// NumPy's letter for the kind of an element, from a format of Python's struct module.
char kind_of_format(std::string_view format) {
  if (format.size() != 1) return '?';
  if (format == "f" || format == "d") return 'f';
  if (format == "i" || format == "l" || format == "q") return 'i';
  return format == "I" || format == "L" || format == "Q" ? 'u' : '?';
}

std::string described(py::handle object) {
  if (py::hasattr(object, "dtype")) return py::str(object.attr("dtype"));
  return "elements of another type";
}

bool is_on_host(int kind) { return kind == dlpack::cpu || kind == dlpack::cuda_host; }
bool is_on_gpu(int kind) { return kind == dlpack::cuda || kind == dlpack::cuda_managed; }

bool is_plain_numpy(py::handle object) {
  return Py_TYPE(object.ptr()) == reinterpret_cast<PyTypeObject*>(objects().ndarray.ptr());
}

}  // namespace

bool has_host_buffer(py::handle object) {
  if (is_plain_numpy(object)) return true;  // the usual case, quick since no attribute is read
  return PyObject_CheckBuffer(object.ptr()) != 0 && !py::hasattr(object, "__cuda_array_interface__");
}

// A delegating constructor: if the rest throws, the destructor still runs and releases the buffer.
lent::lent(py::handle object, const char* name, access how, const lent* beside, rows of_matrix)
    : lent(name, object, how) {
  take(beside, of_matrix);
  if (beside != nullptr) require_together(*beside, *this);
}

void lent::take(const lent* beside, rows of_matrix) {
  if (has_host_buffer(object_))
    take_buffer(beside, of_matrix);
  else if (py::isinstance<shaped_array>(object_))
    take_own(object_.cast<const shaped_array&>());
  else if (take_tensor_on_gpu(beside, of_matrix))
    return;
  else if (py::hasattr(object_, "__dlpack__"))
    take_dlpack(beside, of_matrix);
  else if (py::hasattr(object_, "__cuda_array_interface__"))
    take_cuda_interface(beside, of_matrix);
  else
    refuse_object();
}

/// Takes an argument that its library refused to lend, because of the element type or for another reason.
void lent::take_unlent(const py::error_already_set& why, const lent* beside, rows of_matrix) {
  if (!why.matches(PyExc_Exception) || why.matches(PyExc_MemoryError)) throw py::error_already_set(why);
  const py::object says = objects().frameworks.attr("not_lent")(object_, name_, is_output(), why.value());
  if (says.is_none()) return take_widened(beside, of_matrix);
  if (why.matches(PyExc_TypeError) || why.matches(PyExc_AttributeError)) throw py::type_error(says.cast<std::string>());
  refuse(says.cast<std::string>());
}

/// Takes an array whose element type is none of ours: as float32 if that holds the values exactly; otherwise refuses
/// it.
void lent::take_widened(const lent* beside, rows of_matrix) {
  if (how_ == access::read && !widened_) widened_ = objects().frameworks.attr("as_float32")(object_);
  if (!widened_ || widened_.is_none() || widened_.is(object_)) refuse_element_type(described(object_));
  object_ = widened_;
  take(beside, of_matrix);
}

lent::~lent() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
}

/// Names no copy for an output, since the result would be lost.
std::string lent::remedy(const char* what, const std::string& detail) const {
  const py::object& frameworks = objects().frameworks;
  if (is_output()) return frameworks.attr("kept")(name_).cast<std::string>();
  return "pass " + frameworks.attr("call_for")(what, object_, name_, detail).cast<std::string>();
}

void lent::refuse_object() const {
  throw py::type_error(std::string(name_) + " is of type " + Py_TYPE(object_.ptr())->tp_name + "; " +
                       (is_output() ? "pass an array of NumPy, PyTorch, CuPy or JAX, or a tilewise.array"
                                    : advice("no_array", object_, name_)));
}

void lent::refuse_element_type(const std::string& type) const {
  const std::string what = std::string(name_) + " holds " + type;
  if (is_output()) throw py::type_error(what + ", which is no type of a result; " + remedy("typed"));
  throw py::type_error(what + "; tilewise computes with float32, float64, int32, int64, uint32 and uint64: " +
                       objects().frameworks.attr("call_to_convert")(type, object_, name_).cast<std::string>());
}

void lent::refuse_to_write() const {
  refuse(std::string(name_) + " is read-only; pass an array that can be written to, or leave out= away");
}

void lent::require_few_dimensions(std::size_t given) const {
  if (given > dimensions::most)
    refuse(std::string(name_) + " has " + std::to_string(given) + " dimensions, of " +
           std::to_string(dimensions::most) + " at most; " + remedy("flat"));
}

void lent::set_length(int at, std::int64_t length) {
  if (length < 0) refuse(std::string(name_) + " has a negative length, " + std::to_string(length));
  shape.length[static_cast<std::size_t>(at)] = length;
}

void lent::count_elements() {
  memory.count = 1;
  for (int i = 0; i < shape.count; ++i)
    if (__builtin_mul_overflow(memory.count, shape[i], &memory.count))
      refuse(std::string(name_) + " has the shape " + shape.text() + ", more elements than memory has addresses");
}

void lent::require_memory(const void* data) const {
  if (data == nullptr && memory.count != 0)
    throw py::type_error(std::string(name_) +
                         " has no memory of its own, as a wrapper or a placeholder of its library; " +
                         (is_output() ? remedy("aligned") : "pass a plain array of that library"));
  if (reinterpret_cast<std::uintptr_t>(data) % size_of(memory.type) != 0)
    refuse(std::string(name_) + " is not aligned to its elements; " + remedy("aligned"));
}

/// Counts the elements, and checks that the array is packed. The rows of some matrices may be apart.
void lent::set_strides(const std::int64_t* strides, std::int64_t unit, rows of_matrix) {
  const std::string name = name_;
  if (shape.count <= 0) refuse(name + " has no dimensions, and one is needed at least; " + remedy("a line"));
  count_elements();
  if (shape.count == 2) row_stride = shape[1] == 0 ? 1 : shape[1];
  if (strides == nullptr || memory.count == 0) return;
  std::int64_t packed = unit;
  for (int i = shape.count - 1; i >= 0; --i) {
    const std::int64_t length = shape.length[static_cast<std::size_t>(i)], stride = strides[i];
    const bool gap_allowed =
        i == 0 && shape.count == 2 && of_matrix != rows::packed && stride > packed && stride % unit == 0;
    if (gap_allowed && length > 1) {
      row_stride = static_cast<std::uint64_t>(stride / unit);
      memory.count = (shape[0] - 1) * row_stride + shape[1];
    } else if (length != 1 && stride != packed) {
      const bool turned = of_matrix == rows::of_a_fold && shape.count == 2 && strides[0] == unit;
      refuse(name + "'s elements do not follow each other in memory (it is a slice or transposed); " +
             remedy("packed") + (turned ? ", or " + name + ".T and the other axis" : ""));
    }
    packed *= length;
  }
}

void lent::take_buffer(const lent* beside, rows of_matrix) {
  PyObject* const array = object_.ptr();
  if (!is_plain_numpy(object_) && py::hasattr(object_, "mask") && py::hasattr(object_, "filled"))
    throw py::type_error(std::string(name_) + " is a masked array, and masks are not known here; " +
                         (is_output() ? remedy("packed")
                                      : std::string("pass ") + name_ + ".filled(value) or " + name_ + ".compressed()"));
  if (PyObject_GetBuffer(array, &buffer_, PyBUF_RECORDS_RO) != 0)
    return take_unlent(py::error_already_set(), beside, of_matrix);
  std::string_view format = buffer_.format == nullptr ? "B" : buffer_.format;
  const char order = format.empty() ? '@' : format.front();
  if (order == '@' || order == '=' || order == '<' || order == '>' || order == '!') format.remove_prefix(1);
  const auto type = type_of(kind_of_format(format), buffer_.itemsize);
  if (!type) {
    PyBuffer_Release(&buffer_);
    return take_widened(beside, of_matrix);
  }
  if (order == '>' || order == '!')
    throw py::type_error(std::string(name_) + " has the byte order of another machine; " +
                         remedy("typed", std::string(numpy_name(*type))));
  require_few_dimensions(static_cast<std::size_t>(buffer_.ndim));
  memory.type = *type;
  memory.host = buffer_.buf;
  shape.count = buffer_.ndim;
  for (int i = 0; i < shape.count; ++i) set_length(i, buffer_.shape[i]);
  set_strides(buffer_.strides, buffer_.itemsize, of_matrix);
  require_memory(memory.host);
  if (is_output() && buffer_.readonly != 0) refuse_to_write();
}

void lent::take_own(const shaped_array& array) {
  memory.type = array.values->type();
  shape = array.shape;
  on = array.values->device();
  if (on->info().backend == "cpu")
    memory.host = array.values->native();
  else
    memory.there = array.values;
  set_strides(nullptr, 1, rows::packed);
}

/// Sets the stream that orders the work: the first operand's. For the first operand it is its library's current stream.
void lent::order_by(int ordinal, std::uintptr_t current_stream, const lent* beside) {
  const bool follows = beside != nullptr && beside->ordinal_ == ordinal;
  stream_ = follows ? beside->stream_ : current_stream;
  own_stream = stream_ == current_stream;
  ordinal_ = ordinal;
}

/// Returns the stream to pass to DLPack. A library that works on the ordering stream has nothing to wait for; saying so
/// saves it an event that it would record and wait for.
std::int64_t lent::choose_stream(int ordinal, const lent* beside) {
  const py::tuple theirs = objects().frameworks.attr("current_stream")(object_, ordinal);
  order_by(ordinal, theirs[0].cast<std::uintptr_t>(), beside);
  constexpr std::int64_t nothing_to_wait_for = -1, legacy_default = 1;  // names from the protocol
  if (own_stream && theirs[1].cast<bool>()) return nothing_to_wait_for;
  return stream_ == 0 ? legacy_default : static_cast<std::int64_t>(stream_);
}

void lent::place_on_gpu(int ordinal, void* data) {
  on = on_stream(ordinal, stream_);
  memory.there = view_of(*on, memory.type, data, memory.count);
}

/// Takes a tensor whose library works on the ordering stream, so that nothing needs to wait; false for any other.
bool lent::take_tensor_on_gpu(const lent* beside, rows of_matrix) {
  const py::object known = objects().tensor_on_gpu(object_);
  if (known.is_none()) return false;
  const py::tuple facts = known, lengths = facts[2], steps = facts[3];
  const auto ordinal = facts[4].cast<int>();
  order_by(ordinal, facts[5].cast<std::uintptr_t>(), beside);
  if (!own_stream || lengths.size() > dimensions::most) return false;
  memory.type = all_dtypes[facts[1].cast<std::size_t>()];
  std::array<std::int64_t, dimensions::most> strides{};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    set_length(shape.count++, lengths[i].cast<std::int64_t>());
    strides[i] = steps[i].cast<std::int64_t>();
  }
  set_strides(strides.data(), 1, of_matrix);
  void* const data = reinterpret_cast<void*>(facts[0].cast<std::uintptr_t>());
  require_memory(data);
  place_on_gpu(ordinal, data);
  return true;
}

/// Returns the index of its GPU, or nothing for host memory. Also throws what its library raises.
std::optional<int> lent::borrow_tensor(const lent* beside) {
  const py::object obstacle = objects().frameworks.attr("obstacle")(object_, name_, is_output());
  if (!obstacle.is_none()) throw py::type_error(obstacle.cast<std::string>());
  const py::tuple where = object_.attr("__dlpack_device__")();
  const auto kind = to_number(dtype::i32, where[0], "a type of device in DLPack").as<std::int32_t>();
  const auto ordinal = to_number(dtype::i32, where[1], "a number of a device in DLPack").as<std::int32_t>();
  const bool on_gpu = is_on_gpu(kind);
  if (!on_gpu && !is_on_host(kind))
    throw py::type_error(std::string(name_) + " is on a device of DLPack's type " + std::to_string(kind) +
                         "; tilewise takes the memory of CPUs and of CUDA devices: " +
                         (is_output() ? remedy("packed") : "copy it to one of them"));
  tensor_ = take_tensor(object_, on_gpu ? choose_stream(ordinal, beside) : 0);
  const dlpack::tensor& t = *tensor_.of;
  const bool there = on_gpu ? is_on_gpu(t.device_type) && t.device_id == ordinal : is_on_host(t.device_type);
  if (!there || (t.shape == nullptr && t.dimensions > 0))
    throw py::type_error(std::string(name_) +
                         (there ? " has dimensions and no shape"
                                : " is on one device by __dlpack_device__, and on another by its tensor") +
                         "; the object's library breaks the protocol of DLPack");
  if (is_output() && (tensor_.flags & dlpack::read_only) != 0) refuse_to_write();
  if (is_output() && (tensor_.flags & dlpack::is_copied) != 0)
    refuse(std::string(name_) + " is lent by its library as a second array, which nobody would see; " +
           remedy("packed"));
  return on_gpu ? std::optional(ordinal) : std::nullopt;
}

void lent::take_dlpack(const lent* beside, rows of_matrix) {
  std::optional<int> gpu;
  try {
    gpu = borrow_tensor(beside);
  } catch (const py::error_already_set& why) {
    return take_unlent(why, beside, of_matrix);
  }
  const dlpack::tensor& t = *tensor_.of;
  const char kinds[] = {'i', 'u', 'f'};
  const auto type = type_of(t.code < sizeof kinds && t.lanes == 1 && t.bits % 8 == 0 ? kinds[t.code] : '?', t.bits / 8);
  if (!type) return take_widened(beside, of_matrix);
  require_few_dimensions(static_cast<std::size_t>(t.dimensions));
  memory.type = *type;
  shape.count = t.dimensions;
  for (int i = 0; i < shape.count; ++i) set_length(i, t.shape[i]);
  set_strides(t.strides, 1, of_matrix);
  void* const data = t.data == nullptr ? nullptr : static_cast<char*>(t.data) + t.offset;
  require_memory(data);
  if (gpu)
    place_on_gpu(*gpu, data);
  else
    memory.host = data;
}

/// https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, versions 2 and 3.
void lent::take_cuda_interface(const lent* beside, rows of_matrix) {
  const py::dict facts = object_.attr("__cuda_array_interface__");
  const std::string format = py::str(facts["typestr"]);
  const auto type = format.size() == 3 && format[0] == '<' ? type_of(format[1], format[2] - '0') : std::nullopt;
  if (!type) refuse_element_type(format);
  if (facts.contains("mask") && !facts["mask"].is_none())
    throw py::type_error(std::string(name_) + " is a masked array, and masks are not known here; " +
                         (is_output() ? remedy("packed") : "pass an array without one"));
  const py::tuple lengths = facts["shape"];
  require_few_dimensions(lengths.size());
  memory.type = *type;
  for (const py::handle length : lengths) set_length(shape.count++, length.cast<std::int64_t>());
  std::array<std::int64_t, dimensions::most> strides{};
  const bool strided = facts.contains("strides") && !facts["strides"].is_none();
  if (strided) {
    const py::tuple given = facts["strides"];
    for (std::size_t i = 0; i < lengths.size(); ++i) strides[i] = py::int_(given[i]);
  }
  set_strides(strided ? strides.data() : nullptr, static_cast<std::int64_t>(size_of(*type)), of_matrix);
  const py::tuple data = facts["data"];
  if (is_output() && data[1].cast<bool>()) refuse_to_write();
  const int ordinal = objects().frameworks.attr("ordinal")(object_).cast<int>();
  choose_stream(ordinal, beside);
  if (!own_stream) {  // wait for work that its owner has begun
    const py::tuple theirs = objects().frameworks.attr("current_stream")(object_, ordinal);
    on_stream(ordinal, theirs[0].cast<std::uintptr_t>()).finish();
  }
  void* const pointer = reinterpret_cast<void*>(data[0].cast<std::uintptr_t>());
  require_memory(pointer);
  place_on_gpu(ordinal, pointer);
}

}  // namespace tilewise::python
