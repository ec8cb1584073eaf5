// SPDX-License-Identifier: Apache-2.0
#include "dlpack.hpp"

namespace tilewise::python {

namespace py = pybind11;

std::string dimensions::text() const {
  std::string all = "(";
  for (int i = 0; i < count; ++i) all += (i == 0 ? "" : ", ") + std::to_string((*this)[i]);
  return all + (count == 1 ? ",)" : ")");
}

py::tuple dimensions::tuple() const {
  py::tuple all(count);
  for (int i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = py::int_((*this)[i]);
  return all;
}

namespace {

using dlpack::managed_tensor, dlpack::versioned_tensor;

template <class Managed>
constexpr bool is_versioned = std::is_same_v<Managed, versioned_tensor>;
template <class Managed>
constexpr const char* fresh = is_versioned<Managed> ? "dltensor_versioned" : "dltensor";
template <class Managed>
constexpr const char* used = is_versioned<Managed> ? "used_dltensor_versioned" : "used_dltensor";

/// What one of our capsules keeps alive.
template <class Managed>
struct given {
  Managed tensor{};
  std::shared_ptr<device_array> values;
  dimensions shape;
};

template <class Managed>
void free_given(Managed* tensor) {
  delete static_cast<given<Managed>*>(tensor->context);
}

/// Frees the tensor of a capsule that nobody has taken.
template <class Managed>
void free_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, fresh<Managed>) == 0) return;
  free_given(static_cast<Managed*>(PyCapsule_GetPointer(capsule, fresh<Managed>)));
}

std::uint8_t code_of(dtype type) {
  if (is_float(type)) return dlpack::floating;
  return type == dtype::i32 || type == dtype::i64 ? dlpack::signed_integer : dlpack::unsigned_integer;
}

template <class Managed>
py::capsule give_as(std::shared_ptr<device_array> values, const dimensions& shape, std::pair<int, int> device,
                    std::uint64_t flags) {
  const dtype type = values->type();
  auto made = std::make_unique<given<Managed>>();
  made->values = std::move(values);
  made->shape = shape;
  made->tensor.of = {.data = made->values->native(),
                     .device_type = device.first,
                     .device_id = device.second,
                     .dimensions = shape.count,
                     .code = code_of(type),
                     .bits = static_cast<std::uint8_t>(8 * size_of(type)),
                     .lanes = 1,
                     .shape = made->shape.length.data(),
                     .strides = nullptr,
                     .offset = 0};
  made->tensor.context = made.get();
  made->tensor.deleter = free_given<Managed>;
  if constexpr (is_versioned<Managed>) made->tensor.major = dlpack::newest, made->tensor.flags = flags;
  py::capsule capsule(&made->tensor, fresh<Managed>, free_capsule<Managed>);
  static_cast<void>(made.release());
  return capsule;
}

/// Asks an exporter for a tensor. Older exporters do not know versions, and raise a TypeError. It is handled without a
/// C++ exception, which would be slow.
py::object ask(const py::object& give, std::int64_t stream) {
  py::dict options;
  if (stream != 0) options["stream"] = stream;
  options["max_version"] = py::make_tuple(dlpack::newest, 0);
  const py::tuple none;
  PyObject* capsule = PyObject_Call(give.ptr(), none.ptr(), options.ptr());
  if (capsule == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear();
    PyDict_DelItemString(options.ptr(), "max_version");
    capsule = PyObject_Call(give.ptr(), none.ptr(), options.ptr());
  }
  if (capsule == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(capsule);
}

template <class Managed>
std::shared_ptr<Managed> take_as(const py::object& capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), fresh<Managed>) == 0) return nullptr;
  auto* const tensor = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), fresh<Managed>));
  PyCapsule_SetName(capsule.ptr(), used<Managed>);
  return {tensor, [](Managed* t) {
            if (t->deleter != nullptr) t->deleter(t);
          }};
}

}  // namespace

taken_tensor take_tensor(py::handle object, std::int64_t stream) {
  const py::object capsule = ask(object.attr("__dlpack__"), stream);
  if (const auto plain = take_as<managed_tensor>(capsule)) return {{plain, &plain->of}};
  const auto versioned = take_as<versioned_tensor>(capsule);
  if (versioned == nullptr)
    throw py::type_error("__dlpack__ returned no fresh 'dltensor' capsule; the object's library breaks the protocol");
  if (versioned->major != dlpack::newest)
    throw py::type_error("__dlpack__ returned version " + std::to_string(versioned->major) + " of DLPack where " +
                         std::to_string(dlpack::newest) + " was asked for; the object's library breaks the protocol");
  return {{versioned, &versioned->of}, versioned->flags};
}

py::capsule give_tensor(std::shared_ptr<device_array> values, const dimensions& shape, std::pair<int, int> device,
                        std::optional<std::uint64_t> flags) {
  return flags ? give_as<versioned_tensor>(std::move(values), shape, device, *flags)
               : give_as<managed_tensor>(std::move(values), shape, device, 0);
}

}  // namespace tilewise::python
