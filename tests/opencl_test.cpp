// OpenCL: kernels, queue, other people's queues, the program cache, and drivers that fail.
#include "backend/opencl/opencl_cache.hpp"
#include "backend/opencl/opencl_device.hpp"
#include "backend/opencl/opencl_queue.hpp"
#include "backend/probe.hpp"
#include "lab/verify.hpp"

#include <tilewise/tilewise.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewise::tests {
namespace {

namespace fs = std::filesystem;
namespace opencl = backend::opencl;

/// A private folder that goes away with its scope.
class scratch_folder {
 public:
  scratch_folder() {
    std::string pattern = (fs::temp_directory_path() / "tilewise-opencl-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~scratch_folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Sets a variable of the environment for a scope.
class environment_variable {
 public:
  environment_variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~environment_variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

std::shared_ptr<backend::device> first_device() {
  std::string why_none;
  const auto all = opencl::devices(why_none);
  return all.empty() ? nullptr : all.front();
}

std::vector<float> wide_floats(std::uint64_t n) {
  const std::vector<std::byte> bytes = lab::generate(lab::data_class::wide, n, dtype::f32, n);
  std::vector<float> values(n);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The message of the tilewise::error that `call` throws; fails if it throws none or one of another code.
template <class Call>
std::string message_of(errc expected, const Call& call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), expected) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

class OpenclKernels : public testing::Test {
 protected:
  void SetUp() override {
    device = first_device();
    if (!device) GTEST_SKIP() << "no OpenCL device";
  }
  std::shared_ptr<backend::device> device;
};
using OpenclQueue = OpenclKernels;
using OpenclInterop = OpenclKernels;

// Small tiles, so that few elements reach every level, short and whole tiles, and several chunks. One program a test:
// scripts/check_kernels runs each in a process of its own under Oclgrind, whose bookkeeping does not survive a second
// one.
struct kernel_shape {
  const char* variant;
  const char* tuning;
  dtype type;
  std::uint64_t n;
};

class OpenclShapes : public OpenclKernels, public testing::WithParamInterface<kernel_shape> {};

TEST_P(OpenclShapes, HaveTheBitsOfTheDefinition) {
  const kernel_shape& shape = GetParam();
  const registry::variant& v = registry::find_variant(shape.variant);
  const registry::tuning t = registry::parse_tuning(shape.tuning, v.tuning);
  for (const registry::problem& p : lab::problems_at(registry::find_algorithm(v.algorithm), shape.type, {shape.n}, 1)) {
    // One operator is enough: they differ in no access to memory.
    if (p.setting[0] != static_cast<int>(op::sum) || !registry::unsupported_reason(v, p, *device, t).empty()) continue;
    const auto c = lab::make_case(p, lab::data_class::wide, shape.n);
    EXPECT_TRUE(lab::verify(c, {&v, t, ""}, device->queue()).ok) << to_string(p);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, OpenclShapes,
    testing::Values(kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, 0},
                    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, 1},
                    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, 511},
                    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, 512},
                    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, 513},
                    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f32, 1541},
                    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f64, 7},
                    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f64, 512},
                    kernel_shape{"reduce/opencl:two_phase", "group_size=64 items=8", dtype::f64, 1541},
                    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, 1},
                    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, 7},
                    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, 511},
                    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, 512},
                    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, 513},
                    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f32, 1541},
                    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f64, 7},
                    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f64, 512},
                    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8", dtype::f64, 1541},
                    kernel_shape{"scan/opencl:chunked", "group_size=64 items=8 chunk=64Ki", dtype::i32, 65536 + 513},
                    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, 1},
                    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, 7},
                    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, 8},
                    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, 9},
                    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, 65},
                    kernel_shape{"scan/opencl:blelloch", "group_size=4", dtype::f32, 131},
                    kernel_shape{"scan/opencl:blelloch", "group_size=4 carry=direct", dtype::f64, 1},
                    kernel_shape{"scan/opencl:blelloch", "group_size=4 carry=direct", dtype::f64, 8},
                    kernel_shape{"scan/opencl:blelloch", "group_size=4 carry=direct", dtype::f64, 65},
                    kernel_shape{"scan/opencl:blelloch", "group_size=4 carry=direct", dtype::f64, 131},
                    kernel_shape{"scan/opencl:blelloch", "group_size=1", dtype::i32, 1},
                    kernel_shape{"scan/opencl:blelloch", "group_size=1", dtype::i32, 2},
                    kernel_shape{"scan/opencl:blelloch", "group_size=1", dtype::i32, 3},
                    kernel_shape{"scan/opencl:blelloch", "group_size=1", dtype::i32, 29}));

// Faults on purpose: scripts/check_kernels must find each of them, or its silence says nothing.
constexpr std::string_view faulty_source = R"(
__kernel void tw_out_of_bounds(__global int* x, ulong count, ulong first_tile) { x[count + get_global_id(0)] = 1; }
__kernel void tw_global_race(__global int* x, ulong count, ulong first_tile) { x[0] = (int)get_global_id(0); }
__kernel void tw_local_race(__global int* x, ulong count, ulong first_tile) {
  __local int shared[4];
  shared[get_local_id(0)] = (int)count;
  x[get_local_id(0)] = shared[3 - get_local_id(0)];
}
__kernel void tw_uninitialised(__global int* x, ulong count, ulong first_tile) {
  __local int unset[4];
  if (count == 0) unset[get_local_id(0)] = 1;
  x[get_local_id(0)] = unset[get_local_id(0)];
}
)";

TEST_F(OpenclKernels, DISABLED_SeededFaults) {
  auto& queue = static_cast<opencl::queue&>(device->queue());
  const backend::buffer x(queue, 16 * sizeof(int));
  const std::vector<int> zeros(16);
  queue.upload(x, zeros.data(), 16 * sizeof(int));
  auto& program = queue.program(faulty_source, "");
  for (const char* name : {"tw_out_of_bounds", "tw_global_race", "tw_local_race", "tw_uninitialised"})
    queue.launch_tiles(program.kernel(name), 1, 4, backend::memory(x), std::uint64_t{64});
  queue.finish();
}

TEST_F(OpenclQueue, SplitsLongRowsOfTilesIntoSeveralLaunches) {
  const std::vector<float> in = wide_floats((1 << 21) + 5);  // tiles of two elements: more than 2^20 groups
  std::vector<float> expected(in.size()), got(in.size());
  inclusive_scan(in, expected);
  inclusive_scan(in, got, {.device = open("opencl:0"), .variant = "blelloch", .tuning = "group_size=1"});
  EXPECT_EQ(std::memcmp(expected.data(), got.data(), in.size() * sizeof(float)), 0);
}

TEST_F(OpenclQueue, PassesTheArithmeticProbe) {
  for (const std::string& finding : backend::probe(device->queue())) ADD_FAILURE() << finding;
}

TEST_F(OpenclQueue, ABuildErrorShowsTheLog) {
  auto& queue = static_cast<opencl::queue&>(device->queue());
  const std::string message = message_of(
      errc::build_failed, [&] { queue.program("__kernel void tw_broken() { undeclared_name = 1; }", "-DTW_X=1"); });
  EXPECT_NE(message.find("undeclared_name"), message.npos) << message;
  EXPECT_NE(message.find("-DTW_X=1"), message.npos) << message;
}

TEST_F(OpenclQueue, GivesAReleasedBufferAgain) {
  backend::queue& queue = device->queue();
  const backend::memory first = queue.allocate(1000);
  queue.release(first);
  const backend::memory second = queue.allocate(900), third = queue.allocate(900);
  EXPECT_EQ(first.base, second.base);
  EXPECT_NE(second.base, third.base);
  queue.release(second);
  queue.release(third);
}

TEST_F(OpenclQueue, NamesNeedAndLimitWhenMemoryIsShort) {
  const std::string message =
      message_of(errc::out_of_memory, [&] { device->queue().allocate(std::uint64_t{1} << 60); });
  EXPECT_NE(message.find("1152921504606846976"), message.npos) << message;
  EXPECT_NE(message.find(std::to_string(device->info().max_allocation)), message.npos) << message;
}

TEST_F(OpenclQueue, MeasuresWhatWasEnqueuedBetween) {
  backend::queue& queue = device->queue();
  const backend::buffer a(queue, 1 << 22), b(queue, 1 << 22);
  queue.start_clock();
  EXPECT_EQ(queue.stop_clock(), 0) << "nothing was enqueued";
  queue.start_clock();
  queue.copy(b, a, 1 << 22);
  EXPECT_GT(queue.stop_clock(), 0);
}

/// An OpenCL user of his own: a context and a queue that the library did not make.
struct foreign_queue {
  explicit foreign_queue(cl_command_queue_properties properties = 0) {
    cl_platform_id platform = nullptr;
    cl_int status = CL_SUCCESS;
    opencl::cl().clGetPlatformIDs(1, &platform, nullptr);
    opencl::cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    context = opencl::context_handle(opencl::cl().clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
    queue = opencl::queue_handle(opencl::cl().clCreateCommandQueue(context.get(), device, properties, &status));
  }
  opencl::mem_handle buffer(std::vector<float>& values) const {
    cl_int status = CL_SUCCESS;
    return opencl::mem_handle(opencl::cl().clCreateBuffer(context.get(), CL_MEM_COPY_HOST_PTR,
                                                          values.size() * sizeof(float), values.data(), &status));
  }
  cl_device_id device = nullptr;
  opencl::context_handle context;
  opencl::queue_handle queue;
};

TEST_F(OpenclInterop, UsesTheCallersQueueAndMemoryInPlace) {
  const foreign_queue theirs;
  std::vector<float> host = wide_floats(10007), expected(host.size()), got(host.size());
  inclusive_scan(host, expected);
  const opencl::mem_handle memory = theirs.buffer(host);
  {
    const tilewise::device on = from_opencl_queue(theirs.queue.get());
    array<float> x = view<float>(on, memory.get(), host.size());
    EXPECT_EQ(x.native(), memory.get());
    inclusive_scan(x, x);
    EXPECT_EQ(opencl::cl().clEnqueueReadBuffer(theirs.queue.get(), memory.get(), CL_TRUE, 0,
                                               host.size() * sizeof(float), got.data(), 0, nullptr, nullptr),
              CL_SUCCESS)
        << "the caller's own read, in the caller's own queue, comes after the scan";
  }
  EXPECT_EQ(std::memcmp(expected.data(), got.data(), got.size() * sizeof(float)), 0);
  EXPECT_EQ(opencl::cl().clFinish(theirs.queue.get()), CL_SUCCESS) << "the caller's queue outlives our device";
}

TEST_F(OpenclInterop, RefusesWhatItCannotUse) {
  const foreign_queue theirs, others, unordered(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  std::vector<float> host(8);
  const opencl::mem_handle elsewhere = others.buffer(host), here = theirs.buffer(host);
  const tilewise::device on = from_opencl_queue(theirs.queue.get());
  message_of(errc::invalid_argument, [] { from_opencl_queue(nullptr); });
  message_of(errc::invalid_argument, [&] { view<float>(on, nullptr, 8); });
  message_of(errc::invalid_argument, [&] { view<float>(on, elsewhere.get(), 8); });
  message_of(errc::invalid_argument, [&] { view<float>(on, here.get(), 9); });
  if (unordered.queue.get() != nullptr)
    message_of(errc::invalid_argument, [&] { from_opencl_queue(unordered.queue.get()); });
}

class OpenclCache : public testing::Test {
 protected:
  OpenclCache() : folder_(scratch_.path() / "cache"), variable_("TILEWISE_CACHE", folder_.string()) {}
  fs::path entry() const { return folder_ / (key_ + ".bin"); }
  void store() const { opencl::disk_cache().store(key_, payload_); }
  bool finds() const { return opencl::disk_cache().find(key_) == payload_; }
  bool finds_nothing() const { return !opencl::disk_cache().find(key_).has_value(); }

  scratch_folder scratch_;
  fs::path folder_;
  environment_variable variable_;
  const std::string_view fields_[2] = {"source", "options"};
  const std::string key_ = opencl::cache_key(fields_);
  const std::vector<unsigned char> payload_{1, 2, 3, 250, 0, 7};
};

TEST_F(OpenclCache, KeepsWhatWasStored) {
  EXPECT_TRUE(finds_nothing());
  store();
  EXPECT_TRUE(finds());
  struct stat facts;
  ASSERT_EQ(stat(folder_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0700u);
  ASSERT_EQ(stat(entry().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600u);
}

TEST_F(OpenclCache, KeysDifferWhereFieldsAreCutElsewhere) {
  const std::string_view shifted[] = {"sourceo", "ptions"}, whole[] = {"sourceoptions", ""};
  EXPECT_NE(opencl::cache_key(shifted), key_);
  EXPECT_NE(opencl::cache_key(whole), key_);
}

TEST_F(OpenclCache, IsOffInAFolderThatIsNotOursAlone) {
  store();
  for (mode_t mode : {0755, 0777, 0701, 0500, 01700}) {
    chmod(folder_.c_str(), mode);
    EXPECT_FALSE(opencl::disk_cache().usable()) << std::oct << mode;
    struct stat facts;
    stat(folder_.c_str(), &facts);
    EXPECT_EQ(facts.st_mode & 07777, mode) << "it is not repaired either";
  }
  chmod(folder_.c_str(), 0700);
  EXPECT_TRUE(finds());
  fs::create_directory_symlink(folder_, scratch_.path() / "link");
  setenv("TILEWISE_CACHE", (scratch_.path() / "link").c_str(), 1);
  EXPECT_FALSE(opencl::disk_cache().usable());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.c_str(), 12345, 0), 0);
    setenv("TILEWISE_CACHE", folder_.c_str(), 1);
    EXPECT_FALSE(opencl::disk_cache().usable());
  }
}

TEST_F(OpenclCache, IsOffWhereThereIsNoPlaceForIt) {
  for (const char* name : {"off", "/proc/none", "/dev/null"}) {
    setenv("TILEWISE_CACHE", name, 1);
    EXPECT_FALSE(opencl::disk_cache().usable()) << name;
    EXPECT_TRUE(finds_nothing());
    store();
  }
  const environment_variable none("TILEWISE_CACHE", ""), no_base("XDG_CACHE_HOME", "relative/path"),
      no_home("HOME", "");
  EXPECT_FALSE(opencl::disk_cache().usable());
}

TEST_F(OpenclCache, UsesTheUsersCacheFolder) {
  const environment_variable none("TILEWISE_CACHE", ""), base("XDG_CACHE_HOME", scratch_.path().string());
  store();
  EXPECT_TRUE(fs::exists(scratch_.path() / "tilewise" / (key_ + ".bin")));
}

TEST_F(OpenclCache, NeverReturnsADamagedEntry) {
  store();
  std::ifstream in(entry(), std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  const auto write = [&](const std::string& bytes) {
    std::ofstream(entry(), std::ios::binary | std::ios::trunc) << bytes;
  };
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    write(bad);
    EXPECT_TRUE(finds_nothing()) << "bit " << bit;
  }
  for (std::size_t length = 0; length < good.size(); ++length) {
    write(good.substr(0, length));
    EXPECT_TRUE(finds_nothing()) << "length " << length;
  }
  write(good + "x");
  EXPECT_TRUE(finds_nothing());
  write(good);
  EXPECT_TRUE(finds());
}

TEST_F(OpenclCache, ReadsNoEntryThatOthersCouldHaveWritten) {
  store();
  chmod(entry().c_str(), 0622);
  EXPECT_TRUE(finds_nothing());
  chmod(entry().c_str(), 0600);
  EXPECT_TRUE(finds());
  fs::rename(entry(), scratch_.path() / "elsewhere");
  fs::create_symlink(scratch_.path() / "elsewhere", entry());
  EXPECT_TRUE(finds_nothing());
  fs::remove(entry());
  ASSERT_EQ(mkfifo(entry().c_str(), 0600), 0);
  EXPECT_TRUE(finds_nothing()) << "and does not wait for a writer";
  fs::rename(scratch_.path() / "elsewhere", entry());
  const std::string_view other[] = {"another source"};
  fs::copy_file(entry(), folder_ / (opencl::cache_key(other) + ".bin"));
  EXPECT_FALSE(opencl::disk_cache().find(opencl::cache_key(other)).has_value()) << "an entry of another key";
}

TEST_F(OpenclCache, SixteenProcessesAtOnceSeeWholeEntriesOnly) {
  std::vector<pid_t> children;
  for (unsigned char id = 0; id < 16; ++id) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    const opencl::disk_cache cache;
    bool ok = true;
    for (int round = 0; round < 50; ++round) {
      cache.store(key_, std::vector<unsigned char>(20000, id));
      const auto found = cache.find(key_);
      ok = ok && found && found->size() == 20000 && std::set<unsigned char>(found->begin(), found->end()).size() == 1;
    }
    _exit(ok ? 0 : 1);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "temporary files are left";
}

TEST_F(OpenclCache, ProgramsAreBuiltAnewFromDamagedEntries) {
  if (!first_device()) GTEST_SKIP() << "no OpenCL device";
  const std::vector<float> in = wide_floats(5000);
  const float expected = reduce(in);
  EXPECT_EQ(reduce(in, {.device = open("opencl:0")}), expected);
  std::vector<fs::path> entries;
  for (const auto& file : fs::directory_iterator(folder_))
    if (file.path().extension() == ".bin") entries.push_back(file.path());
  ASSERT_EQ(entries.size(), 1u);
  const auto size = fs::file_size(entries[0]);
  std::fstream(entries[0], std::ios::in | std::ios::out | std::ios::binary).seekp(static_cast<long>(size / 2))
      << "damage";
  EXPECT_EQ(reduce(in, {.device = open("opencl:0")}), expected);
  fs::resize_file(entries[0], 100);
  EXPECT_EQ(reduce(in, {.device = open("opencl:0")}), expected);
  EXPECT_EQ(fs::file_size(entries[0]), size) << "the entry is whole again";
}

/// Runs tests of this program in a process of its own, since a driver is loaded once. Returns the output; `ok` if all
/// passed.
std::string run_apart(const std::string& variables, const std::string& filter, bool& ok) {
  const std::string command = variables + " '" + fs::read_symlink("/proc/self/exe").string() +
                              "' --gtest_also_run_disabled_tests --gtest_filter=" + filter + " 2>&1";
  FILE* child = popen(command.c_str(), "r");
  std::string output;
  for (char line[4096]; fgets(line, sizeof line, child) != nullptr;) output += line;
  ok = pclose(child) == 0 && output.find("[  PASSED  ] 1 test") != output.npos;
  return output;
}

TEST(OpenclDriver, AMissingOneIsNamed) {
  bool ok = false;
  const std::string output =
      run_apart("TILEWISE_OPENCL_LIBRARY=/no/such/driver.so", "OpenclDriverApart.DISABLED_IsMissing", ok);
  EXPECT_TRUE(ok) << output;
}

TEST(OpenclDriverApart, DISABLED_IsMissing) {
  std::string why_none;
  EXPECT_TRUE(opencl::devices(why_none).empty());
  EXPECT_NE(why_none.find("/no/such/driver.so"), why_none.npos) << why_none;
  EXPECT_NE(message_of(errc::device_lost, [] { open("opencl:0"); }).find("/no/such/driver.so"), std::string::npos);
}

TEST(OpenclDriver, FailuresOfEveryCallAreErrorsAndTheNextCallWorks) {
  if (!first_device()) GTEST_SKIP() << "no OpenCL device";
  bool ok = false;
  const std::string output =
      run_apart("TILEWISE_OPENCL_LIBRARY='" TILEWISE_FAKE_OPENCL "'", "OpenclDriverApart.DISABLED_Fails", ok);
  EXPECT_TRUE(ok) << output;
}

/// Opens the device, scans and reduces; true if both are right, false if an error said that something is not.
bool works(const std::vector<float>& in, const std::vector<float>& expected) {
  std::vector<float> out(in.size());
  try {
    const tilewise::device on = open("opencl:0");
    on.implementation().queue().start_clock();
    inclusive_scan(in, out, {.device = on});
    const float total = reduce(in, {.device = on});
    EXPECT_GT(on.implementation().queue().stop_clock(), 0);
    EXPECT_EQ(total, expected.back());
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)), 0);
    return true;
  } catch (const error& e) {
    EXPECT_GT(std::strlen(e.what()), 20u);
    return false;
  }
}

TEST(OpenclDriverApart, DISABLED_Fails) {
  const std::vector<float> in = wide_floats(5001), before = in;
  std::vector<float> expected(in.size());
  inclusive_scan(in, expected);
  ASSERT_TRUE(works(in, expected));
  int faults = 0, noticed = 0;
#define TILEWISE_NAME(name) #name,
  for (const char* call : {TILEWISE_OPENCL_CALLS(TILEWISE_NAME)})
#undef TILEWISE_NAME
    for (int status : {CL_DEVICE_NOT_AVAILABLE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,
                       CL_BUILD_PROGRAM_FAILURE, CL_INVALID_VALUE, -9999}) {
      setenv("FAKE_OPENCL", (std::string(call) + "=" + std::to_string(status)).c_str(), 1);
      noticed += !works(in, expected);
      unsetenv("FAKE_OPENCL");
      ASSERT_TRUE(works(in, expected)) << "after " << call << " returned " << status;
      ++faults;
    }
  EXPECT_EQ(std::memcmp(in.data(), before.data(), in.size() * sizeof(float)), 0);
  EXPECT_GE(faults, 180);
  EXPECT_GE(noticed, 50);
}

TEST(OpenclErrors, HaveTheCallTheNameAndACode) {
  using opencl::check;
  EXPECT_NO_THROW(check(CL_SUCCESS, "call"));
  const std::string message =
      message_of(errc::out_of_memory, [] { check(CL_MEM_OBJECT_ALLOCATION_FAILURE, "clFoo(bar)"); });
  EXPECT_NE(message.find("clFoo(bar)"), message.npos);
  EXPECT_NE(message.find("CL_MEM_OBJECT_ALLOCATION_FAILURE"), message.npos);
  message_of(errc::out_of_memory, [] { check(CL_OUT_OF_RESOURCES, "call"); });
  message_of(errc::build_failed, [] { check(CL_BUILD_PROGRAM_FAILURE, "call"); });
  message_of(errc::device_lost, [] { check(CL_DEVICE_NOT_AVAILABLE, "call"); });
  message_of(errc::device_lost, [] { check(-9999, "call"); });
}

}  // namespace
}  // namespace tilewise::tests
