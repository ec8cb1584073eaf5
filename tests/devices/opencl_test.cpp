// SPDX-License-Identifier: Apache-2.0
// OpenCL: the queue, other programs' queues, and errors.
#include "backend/opencl/queue.hpp"
#include "backend/probe.hpp"
#include "opencl_fixture.hpp"

#include <algorithm>
#include <functional>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewise::tests {
namespace {

using OpenclQueue = opencl_device_test;
using OpenclInterop = opencl_device_test;

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
  const double of_nothing = queue.stop_clock();
  EXPECT_EQ(queue.clock_name(), "opencl_markers");
  queue.start_clock();
  for (int i = 0; i < 100; ++i) queue.copy(b, a, 1 << 22);
  EXPECT_GT(queue.stop_clock(), of_nothing);
}

/// The groups of a launch accept any packet with the launch's number as sent by one of them. Here the test acts as the
/// kernel: it checks the board before it sends, and leaves packets with all earlier numbers, and some with none.
TEST_F(OpenclQueue, NoPacketHasANumberThatIsYetToBeGiven) {
  constexpr std::uint64_t packets = 16, counter = 16;  // words of the board before its packets
  auto& queue = static_cast<opencl::queue&>(device->queue());
  std::uint64_t at = 0;
  const auto launch = [&](std::uint32_t launches) {
    const auto look_and_send = [&](const opencl::message_board& board) {
      std::vector<std::uint64_t> words(counter + packets);
      const std::uint64_t bytes = words.size() * sizeof(std::uint64_t);
      queue.download(words.data(), board.words.at(0, bytes), bytes);
      EXPECT_EQ(static_cast<std::uint32_t>(words[0]), board.drawn) << "tickets before launch " << board.launch;
      for (std::uint64_t i = counter; i < words.size(); ++i)
        EXPECT_GE(static_cast<std::uint32_t>(words[i] >> 32) - board.launch, launches)
            << "launch " << board.launch << " and those after it, packet " << i - counter;
      ++words[0];
      if (at < packets - 1) words[counter + at++] = std::uint64_t{board.launch} << 32;
      queue.upload(board.words.at(0, bytes), words.data(), bytes);
    };
    queue.launch_drawing(1, packets, sizeof(float), look_and_send, launches);
  };
  for (int i = 0; i < 5; ++i) launch(1);
  launch(0xffff'ffe0);  // leaves few numbers
  for (int i = 0; i < 20; ++i) launch(i % 2 == 0 ? 1 : 9);
}

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

/// Parts of one buffer have their own handles, which do not tell that they share memory.
TEST_F(OpenclInterop, PartsOfABufferThatOverlapAreRefused) {
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) GTEST_SKIP() << "OpenCL is in another library";
  const auto create = reinterpret_cast<decltype(&clCreateSubBuffer)>(dlsym(library, "clCreateSubBuffer"));
  constexpr std::uint64_t step = 4096, n = 2 * step;  // elements; every device allows parts that begin there
  const foreign_queue theirs;
  std::vector<float> host = wide_floats(3 * n);
  const opencl::mem_handle whole = theirs.buffer(host);
  const tilewise::device on = from_opencl_queue(theirs.queue.get());
  const auto part = [&](std::uint64_t first) {
    const cl_buffer_region region{first * sizeof(float), n * sizeof(float)};
    cl_int status = CL_SUCCESS;
    opencl::mem_handle made(create(whole.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
    EXPECT_EQ(status, CL_SUCCESS);
    return made;
  };
  const opencl::mem_handle a = part(0), b = part(step), c = part(2 * step), again = part(0);
  array<float> first = view<float>(on, a.get(), n), middle = view<float>(on, b.get(), n),
               last = view<float>(on, c.get(), n), same = view<float>(on, again.get(), n),
               all = view<float>(on, whole.get(), 3 * n);
  message_of(errc::invalid_argument, [&] { inclusive_scan(first, middle); });
  message_of(errc::invalid_argument, [&] { inclusive_scan(last, middle); });
  message_of(errc::invalid_argument, [&] { sort_by_key(last, last, first, middle); });
  message_of(errc::invalid_argument, [&] { reduce(along(all, {n, 3}, axis::rows), last); });
  EXPECT_EQ(all.download(), host);
  inclusive_scan(first, last);
  expect_bits(last.download(), inclusive_scan(std::span(host).first(n)), "parts that lie apart");
  inclusive_scan(first, same);
  expect_bits(first.download(), inclusive_scan(std::span(host).first(n)), "one part by two handles");
}

/// What `call` throws in a child, since it might wait for ever.
std::string refusal_in_child(const std::function<void()>& call) {
  int channel[2];
  if (pipe(channel) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::string said = "nothing was thrown";
    try {
      call();
    } catch (const error& e) {
      said = e.what();
    }
    _exit(write(channel[1], said.data(), said.size()) < 0);
  }
  close(channel[1]);
  std::string said(1000, '\0');
  const ssize_t bytes = read(channel[0], said.data(), said.size());
  close(channel[0]);
  waitpid(child, nullptr, 0);
  return said.substr(0, static_cast<std::size_t>(std::max<ssize_t>(0, bytes)));
}

TEST_F(OpenclInterop, AQueueOfTheParentIsRefusedInAChild) {
  const foreign_queue theirs;
  const std::vector<float> x = wide_floats(10007);
  (void)inclusive_scan(x, {.device = from_opencl_queue(theirs.queue.get())});
  const std::string said =
      refusal_in_child([&] { (void)inclusive_scan(x, {.device = from_opencl_queue(theirs.queue.get())}); });
  EXPECT_NE(said.find("before this process was forked"), said.npos) << said;
}

TEST_F(OpenclInterop, RefusesWhatItCannotUse) {
  const foreign_queue theirs, others, unordered(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  std::vector<float> host(8);
  const opencl::mem_handle elsewhere = others.buffer(host), here = theirs.buffer(host);
  const tilewise::device on = from_opencl_queue(theirs.queue.get());
  message_of(errc::invalid_argument, [] { from_opencl_queue(nullptr); });
  for (const std::uint64_t count : {0, 8}) message_of(errc::invalid_argument, [&] { view<float>(on, nullptr, count); });
  message_of(errc::invalid_argument, [&] { view<float>(on, elsewhere.get(), 8); });
  message_of(errc::invalid_argument, [&] { view<float>(on, here.get(), 9); });
  if (unordered.queue.get() != nullptr)
    message_of(errc::invalid_argument, [&] { from_opencl_queue(unordered.queue.get()); });
}

TEST(OpenclErrors, HaveTheCallTheNameAndACode) {
  using opencl::check;
  EXPECT_NO_THROW(check(CL_SUCCESS, "call"));
  const std::string message =
      message_of(errc::out_of_memory, [] { check(CL_MEM_OBJECT_ALLOCATION_FAILURE, "clFoo(bar)"); });
  EXPECT_NE(message.find("clFoo(bar)"), message.npos);
  EXPECT_NE(message.find("CL_MEM_OBJECT_ALLOCATION_FAILURE"), message.npos);
  for (const cl_int status : {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY})
    message_of(errc::out_of_memory, [&] { check(status, "call"); });
  for (const cl_int status : {CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_LINK_PROGRAM_FAILURE,
                              CL_COMPILER_NOT_AVAILABLE, CL_INVALID_BUILD_OPTIONS})
    message_of(errc::build_failed, [&] { check(status, "call"); });
  for (const cl_int status : {CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE})
    message_of(errc::unsupported, [&] { check(status, "call"); });
  message_of(errc::device_lost, [] { check(CL_DEVICE_NOT_AVAILABLE, "call"); });
  message_of(errc::device_lost, [] { check(-9999, "call"); });
}

}  // namespace
}  // namespace tilewise::tests
