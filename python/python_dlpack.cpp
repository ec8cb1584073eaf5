// SPDX-License-Identifier: Apache-2.0
#include "python_dlpack.hpp"

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

constexpr const char* fresh = "dltensor";
constexpr const char* used = "used_dltensor";

/// What a capsule of ours keeps alive.
struct given {
  dlpack::managed_tensor tensor;
  std::shared_ptr<device_array> values;
  dimensions shape;
};

void free_given(dlpack::managed_tensor* tensor) { delete static_cast<given*>(tensor->context); }

/// Nobody took it.
void free_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, fresh) == 0) return;
  free_given(static_cast<dlpack::managed_tensor*>(PyCapsule_GetPointer(capsule, fresh)));
}

std::uint8_t code_of(dtype type) {
  if (is_float(type)) return dlpack::floating;
  return type == dtype::i32 || type == dtype::i64 ? dlpack::signed_integer : dlpack::unsigned_integer;
}

}  // namespace

std::shared_ptr<dlpack::managed_tensor> take_tensor(py::handle object, std::int64_t stream) {
  const py::object give = object.attr("__dlpack__");
  const py::object capsule = stream == 0 ? give() : give(py::arg("stream") = stream);
  if (PyCapsule_IsValid(capsule.ptr(), fresh) == 0)
    throw py::type_error("__dlpack__ returned no fresh 'dltensor' capsule; the object's library breaks the protocol");
  auto* const tensor = static_cast<dlpack::managed_tensor*>(PyCapsule_GetPointer(capsule.ptr(), fresh));
  PyCapsule_SetName(capsule.ptr(), used);
  return {tensor, [](dlpack::managed_tensor* t) {
            if (t->deleter != nullptr) t->deleter(t);
          }};
}

py::capsule give_tensor(std::shared_ptr<device_array> values, const dimensions& shape, int device_type, int device_id) {
  const dtype type = values->type();
  auto made = std::make_unique<given>();
  made->values = std::move(values);
  made->shape = shape;
  made->tensor.of = {.data = made->values->native(),
                     .device_type = device_type,
                     .device_id = device_id,
                     .dimensions = shape.count,
                     .code = code_of(type),
                     .bits = static_cast<std::uint8_t>(8 * size_of(type)),
                     .lanes = 1,
                     .shape = made->shape.length.data(),
                     .strides = nullptr,
                     .offset = 0};
  made->tensor.context = made.get();
  made->tensor.deleter = free_given;
  py::capsule capsule(&made->tensor, fresh, free_capsule);
  static_cast<void>(made.release());
  return capsule;
}

}  // namespace tilewise::python
