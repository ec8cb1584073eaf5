// SPDX-License-Identifier: Apache-2.0
// Preloaded by a campaign: a rank that fails. FAKE_RANK is "RANK FAULT STAGE FILE": in this rank of mpirun, when it
// comes to the stage, its number as a process is written to FILE, and it is killed, is stopped, or throws; a pause is a
// stop that whoever reads the number ends.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

struct plan {
  bool is_here = false;
  std::string fault, stage, file;
};

plan read_plan() {
  const char *const told = std::getenv("FAKE_RANK"), *const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  char number[8], fault[8], stage[16], file[256];
  if (told == nullptr || rank == nullptr || std::sscanf(told, "%7s %7s %15s %255s", number, fault, stage, file) != 4)
    return {};
  return {std::string(number) == rank, fault, stage, file};
}

const plan& planned() {
  static const plan read = read_plan();
  return read;
}

std::atomic<bool> has_failed{false}, has_joined{false};

void fail() {
  if (has_failed.exchange(true)) return;
  std::FILE* const told = std::fopen(planned().file.c_str(), "w");
  std::fprintf(told, "%d\n", static_cast<int>(getpid()));
  std::fclose(told);
  if (planned().fault == "kill") raise(SIGKILL);
  if (planned().fault == "stop" || planned().fault == "pause") raise(SIGSTOP);
  if (planned().fault == "throw") throw std::runtime_error("planted");
}

void reach(const char* stage) {
  if (planned().is_here && planned().stage == stage) fail();
}

bool is_array(int file) {
  char name[4096];
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), name, sizeof name);
  return length > 4 && std::string(name, static_cast<std::size_t>(length)).ends_with(".npy");
}

/// Not in a call of MPI's, but wherever the rank then is.
void* fail_beside(void*) {
  usleep(50000);
  fail();
  return nullptr;
}

/// A throw has to come from a call, after which nobody is where the others expect it.
void reach_compute() {
  constexpr int far_into_it = 200;  // exchanges of a diffusion
  static std::atomic<int> calls{0};
  if (!planned().is_here || planned().stage != "compute" || ++calls != far_into_it) return;
  if (planned().fault == "throw") return fail();
  pthread_t beside;
  pthread_create(&beside, nullptr, fail_beside, nullptr);
}

template <class Call>
Call next(const char* name) {
  return reinterpret_cast<Call>(dlsym(RTLD_NEXT, name));
}

}  // namespace

EXPORTED int MPI_Init_thread(int* argc, char*** argv, int wanted, int* provided) {
  reach("start");
  has_joined = true;
  return next<decltype(&MPI_Init_thread)>("MPI_Init_thread")(argc, argv, wanted, provided);
}

EXPORTED ssize_t pread(int file, void* to, std::size_t bytes, off_t at) {
  if (has_joined && is_array(file)) reach("read");
  return next<decltype(&pread)>("pread")(file, to, bytes, at);
}

EXPORTED ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t at) {
  if (at > 0) reach("write");
  return next<decltype(&pwrite)>("pwrite")(file, from, bytes, at);
}

EXPORTED int fsync(int file) {
  reach("sync");
  return next<decltype(&fsync)>("fsync")(file);
}

EXPORTED int MPI_Irecv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm ranks, MPI_Request* made) {
  reach("exchange");
  return next<decltype(&MPI_Irecv)>("MPI_Irecv")(to, count, type, from, tag, ranks, made);
}

EXPORTED int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
                       MPI_Request* made) {
  reach("exchange");
  return next<decltype(&MPI_Isend)>("MPI_Isend")(from, count, type, to, tag, ranks, made);
}

EXPORTED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  reach_compute();
  return next<decltype(&MPI_Waitall)>("MPI_Waitall")(count, requests, statuses);
}

EXPORTED int MPI_Finalize() {
  reach("end");
  return next<decltype(&MPI_Finalize)>("MPI_Finalize")();
}
