// SPDX-License-Identifier: Apache-2.0
// The classes of the module: device, array, partial.
#include "documents.hpp"
#include "module.hpp"
#include "operand.hpp"

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

namespace tilewise::python {

namespace {

using py::arg;

py::list list_devices() {
  py::list all;
  for (const device& one : without_interpreter([] { return devices(); })) all.append(one);
  return all;
}

device open_device(py::handle name, py::handle threads, py::handle instruction_set) {
  const open_options how{.threads = to_number(dtype::u32, threads, "threads").as<std::uint32_t>(),
                         .instruction_set = std::string(word_from(instruction_set, "instruction_set"))};
  const std::string word(word_from(name, "name"));
  return without_interpreter([&] { return open(word, how); });
}

/// Copies host memory to a device.
std::unique_ptr<shaped_array> make_array(py::handle object, py::handle device) {
  const lent from(object, "object");
  if (from.memory.there) refuse("object is on " + from.on->name() + " already; calls take it as it is");
  const tilewise::device to = device.is_none() ? named_device("auto") : device_from(device);
  auto values = without_interpreter([&] { return upload(to, from.memory.type, from.memory.host, from.memory.count); });
  return std::make_unique<shaped_array>(std::move(values), from.shape);
}

py::object to_numpy(const shaped_array& self) {
  const auto type = static_cast<std::size_t>(self.values->type());
  py::object result = objects().empty(self.shape.tuple(), objects().dtypes[type]);
  const lent to(result, "the result", access::write);
  without_interpreter([&] { self.values->download(to.memory.host); });
  return result;
}

/// Called by NumPy. The result is always a copy, and NumPy converts it.
py::object as_array(const shaped_array& self, py::handle dtype, py::handle copy) {
  if (!copy.is_none() && !py::bool_(py::reinterpret_borrow<py::object>(copy)))
    refuse("an array on " + self.values->device().name() + " is copied to become one of NumPy's; leave out copy=False");
  const py::object result = to_numpy(self);
  if (dtype.is_none()) return result;
  // Code of the caller's, run for dtype and copy, may have changed the floating-point mode.
  return in_default_float_mode([&]() -> py::object { return result.attr("astype")(dtype, arg("copy") = false); });
}

/// The kind and the index of the device, for DLPack.
std::pair<int, int> dlpack_device(const shaped_array& self) {
  const std::string& backend = self.values->device().info().backend;
  const std::string& name = self.values->device().name();
  if (backend == "cpu") return {dlpack::cpu, 0};
  if (backend == "cuda") return {dlpack::cuda, std::stoi(name.substr(name.find(':') + 1))};
  throw py::buffer_error("an array on " + name + " has no address that other libraries could use; pass its numpy()");
}

std::shared_ptr<device_array> copied_to(const device& to, const device_array& from) {
  return without_interpreter([&] {
    std::vector<std::byte> bytes(from.size() * size_of(from.type()));
    from.download(bytes.data());
    return upload(to, from.type(), bytes.data(), from.size());
  });
}

/// Waits for the work on the array, so the caller's stream needs no ordering with ours.
py::capsule to_dlpack(const shaped_array& self, py::handle, const py::object& version, const py::object& asked,
                      const py::object& copy) {
  const device& on = self.values->device();
  const auto told = [](const py::object& answer, bool what) {
    return !answer.is_none() && static_cast<bool>(py::bool_(answer)) == what;
  };
  const std::pair<int, int> host{dlpack::cpu, 0};
  const bool to_host = on.info().backend != "cpu" && asked.equal(py::cast(host)), copied = to_host || told(copy, true);
  const std::pair<int, int> there = to_host ? host : dlpack_device(self);
  if ((to_host && told(copy, false)) || !(asked.is_none() || asked.equal(py::cast(there))))
    throw py::buffer_error("the array is on " + on.name() + "; pass its numpy() to have it elsewhere");
  auto values = copied ? copied_to(to_host ? named_device("cpu") : on, *self.values) : self.values;
  without_interpreter([&] { values->finish(); });
  std::optional<std::uint64_t> flags;
  if (!version.is_none() && version[py::int_(0)].cast<std::uint32_t>() >= dlpack::newest)
    flags = copied ? std::uint64_t{dlpack::is_copied} : 0;
  return give_tensor(std::move(values), self.shape, there, flags);
}

py::dict cuda_array_interface(const shaped_array& self) {
  if (self.values->device().info().backend != "cuda")
    throw py::attribute_error("an array on " + self.values->device().name() + " has no __cuda_array_interface__");
  without_interpreter([&] { self.values->finish(); });
  py::dict facts;
  facts["shape"] = self.shape.tuple();
  facts["typestr"] = objects().dtypes[static_cast<std::size_t>(self.values->type())].attr("str");
  facts["data"] = py::make_tuple(reinterpret_cast<std::uintptr_t>(self.values->native()), false);
  facts["strides"] = py::none();
  facts["stream"] = py::none();
  facts["version"] = 3;
  return facts;
}

std::string repr_of(const shaped_array& self) {
  return "<tilewise.array of " + std::string(numpy_name(self.values->type())) + ", shape " + self.shape.text() +
         ", on " + self.values->device().name() + ">";
}

any_partial make_partial(dtype type, op operation, std::uint64_t begin) {
  return with_type(type, [&]<class T>(T) -> any_partial { return partial<T>(operation, begin); });
}

void push_values(shared_partial& self, py::handle values, py::handle device, py::handle variant, py::handle tuning) {
  const lent more(values, "values");
  more.require_type(self.type());
  const placement how = placement_of(device, variant, tuning, more);
  without_interpreter([&] {
    const std::lock_guard mine(self.one_at_a_time);
    push(self.state, more.memory, how);
  });
}

/// Takes one turn after the other, not both at once: partials that are merged with each other would wait for each
/// other, and one merged with itself would wait for itself.
void merge(shared_partial& self, shared_partial& right) {
  const any_partial next = right.copy();
  if (next.index() != self.state.index())
    throw py::type_error("this is a partial of " + std::string(numpy_name(self.type())) + ", and the other of " +
                         std::string(numpy_name(right.type())));
  at_its_turn(self, [&] { std::visit([&]<class P>(P& typed) { typed.merge(std::get<P>(next)); }, self.state); });
}

py::object value_of(shared_partial& self) {
  const any_partial p = self.copy();
  number result;
  std::visit([&](const auto& typed) { result.set(typed.value()); }, p);
  return to_scalar(static_cast<dtype>(p.index()), result);
}

/// Saves the state as plain data. When it is restored, it is checked as far as the data alone allows.
py::tuple save(shared_partial& self) {
  const any_partial p = self.copy();
  return std::visit(
      [&](const auto& typed) {
        return py::make_tuple(std::string(numpy_name(static_cast<dtype>(p.index()))),
                              std::string(name_of(typed.operation())),
                              py::bytes(reinterpret_cast<const char*>(&typed.blocks()), sizeof typed.blocks()));
      },
      p);
}

std::unique_ptr<shared_partial> restore(const py::tuple& saved) {
  if (saved.size() != 3) refuse("these are not the three parts of a saved partial");
  const dtype type = dtype_from(saved[0]);
  const op operation = operation_from(saved[1]);
  const std::string bytes = py::isinstance<py::bytes>(saved[2]) ? saved[2].cast<std::string>() : "";
  return with_type(type, [&]<class T>(T) {
    order::segment<T> blocks;
    if (bytes.size() != sizeof blocks) refuse("a saved partial has " + std::to_string(sizeof blocks) + " bytes");
    std::memcpy(&blocks, bytes.data(), sizeof blocks);
    if (blocks.begin > blocks.end) refuse("a saved partial ends before it begins");
    return std::make_unique<shared_partial>(partial<T>(operation, blocks));
  });
}

std::uint64_t edge_of(shared_partial& self, bool end) {
  return std::visit([&](const auto& p) { return end ? p.end() : p.begin(); }, self.copy());
}

std::string repr_of_partial(shared_partial& self) {
  return "<tilewise.partial: " + std::string(name_of(self.operation())) + " of " +
         std::string(numpy_name(self.type())) + " elements [" + std::to_string(edge_of(self, false)) + ", " +
         std::to_string(edge_of(self, true)) + ")>";
}

/// Removes what drivers compiled for this process alone. Ctrl-C ends Python by the signal, without destructors. After
/// end_turns nothing more is compiled.
void remove_driver_folder() {
  const char* const used = std::getenv("POCL_CACHE_DIR");
  const std::filesystem::path folder = used == nullptr ? "" : used;
  std::error_code ignored;
  if (folder.filename().string().starts_with("tilewise-drivers-" + std::to_string(getpid()) + "-"))
    std::filesystem::remove_all(folder, ignored);
}

}  // namespace

void add_devices(py::module_& to) {
  const py::class_<device> type = [&] {
    py::class_<device> made(to, "device", documents::device);
    made.def_property_readonly(
        "name", [](const device& d) { return d.name(); }, "How to open it.");
    made.def_property_readonly(
        "backend", [](const device& d) { return d.info().backend; }, "cpu, opencl, cuda, openacc or group.");
    made.def_property_readonly(
        "description", [](const device& d) { return d.info().description; }, "The hardware's own name.");
    made.def_property_readonly(
        "platform", [](const device& d) { return d.info().platform; },
        "OpenCL's platform; the executor and instruction set on a CPU.");
    made.def_property_readonly(
        "memory", [](const device& d) { return d.info().memory; }, "Bytes; 0 if unknown.");
    made.def(
        "finish",
        [](const device& d) {
          without_interpreter([&] {
            const turn mine(d);
            d.finish();
          });
        },
        "finish(self)\n--\n\nWaits until everything asked of this device is done.");
    made.def("__repr__", [](const device& d) {
      return "<tilewise.device " + d.name() + ": " + d.info().description + ", " + d.info().platform + ">";
    });
    made.def(
        "__eq__", [](const device& a, const device& b) { return a.shared() == b.shared(); }, py::is_operator());
    made.def("__hash__", [](const device& d) { return std::hash<const void*>{}(d.shared().get()); });
    return made;
  }();
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    without_interpreter([] {
      end_turns();
      remove_driver_folder();
    });
  }));
  to.def("devices", list_devices, documents::devices);
  to.def("open", open_device, documents::open, arg("name") = "auto", py::kw_only(), arg("threads") = 0,
         arg("instruction_set") = "");
}

void add_arrays(py::module_& to) {
  const py::object none = py::none();
  py::class_<shaped_array> array(to, "array", documents::array);
  array.def(py::init(&make_array), "__init__(self, object, device=None)\n--\n\n", arg("object"), arg("device") = none);
  array.def_property_readonly("shape", [](const shaped_array& a) { return a.shape.tuple(); });
  array.def_property_readonly("ndim", [](const shaped_array& a) { return a.shape.count; });
  array.def_property_readonly("size", [](const shaped_array& a) { return a.values->size(); });
  array.def_property_readonly(
      "dtype", [](const shaped_array& a) { return objects().dtypes[static_cast<std::size_t>(a.values->type())]; });
  array.def_property_readonly("device", [](const shaped_array& a) { return a.values->device(); });
  array.def("numpy", to_numpy, "numpy(self)\n--\n\nA copy of NumPy's; waits for the device.");
  array.def("__array__", as_array, arg("dtype") = none, arg("copy") = none);
  array.def("__dlpack__", to_dlpack, py::kw_only(), arg("stream") = none, arg("max_version") = none,
            arg("dl_device") = none, arg("copy") = none);
  array.def("__dlpack_device__", dlpack_device);
  array.def_property_readonly("__cuda_array_interface__", cuda_array_interface);
  array.def("__len__", [](const shaped_array& a) { return a.shape[0]; });
  array.def("__repr__", repr_of);

  py::class_<shared_partial> part(to, "partial", documents::partial);
  part.def(py::init([](py::handle operation, py::handle type, py::handle begin) {
             const auto first = to_number(dtype::u64, begin, "begin").as<std::uint64_t>();
             return std::make_unique<shared_partial>(make_partial(dtype_from(type), operation_from(operation), first));
           }),
           "__init__(self, op='sum', dtype='float64', begin=0)\n--\n\n", arg("op") = "sum", arg("dtype") = "float64",
           arg("begin") = 0);
  part.def_property_readonly("begin", [](shared_partial& p) { return edge_of(p, false); });
  part.def_property_readonly("end", [](shared_partial& p) { return edge_of(p, true); });
  part.def_property_readonly("op", [](shared_partial& p) { return std::string(name_of(p.operation())); });
  part.def_property_readonly("dtype",
                             [](shared_partial& p) { return objects().dtypes[static_cast<std::size_t>(p.type())]; });
  part.def("push", push_values, documents::push, arg("values"), py::kw_only(), arg("device") = none,
           arg("variant") = none, arg("tuning") = none);
  part.def("merge", merge, documents::merge, arg("right"));
  part.def("value", value_of, documents::value);
  part.def(py::pickle(&save, &restore));
  part.def("__repr__", repr_of_partial);
}

}  // namespace tilewise::python
