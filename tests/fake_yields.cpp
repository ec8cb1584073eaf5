// SPDX-License-Identifier: Apache-2.0
// Preloaded by races_campaign.py into programs under ThreadSanitizer: a thread gives way, now and then for long, where
// it enters a function, touches an atomic, takes or leaves a mutex and waits for or wakes another one. FAKE_YIELDS is
// the seed.
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t state = 0;  // another model asks ThreadSanitizer

std::uint64_t first_state() {
  const char* const told = std::getenv("FAKE_YIELDS");
  const auto seed = static_cast<std::uint64_t>(told == nullptr ? 1 : std::atoll(told));
  return (seed << 32 | static_cast<std::uint64_t>(syscall(SYS_gettid))) * 0x9e3779b97f4a7c15 | 1;
}

/// One time in `every`; one of 32 of these for up to 250 us, in which others do a lot. By the system itself, since
/// ThreadSanitizer watches the functions of the library before it knows this thread.
void give_way(std::uint32_t every) {
  if (state == 0) state = first_state();
  state = state * 6364136223846793005 + 1442695040888963407;
  const auto drawn = static_cast<std::uint32_t>(state >> 33);
  if (drawn % every != 0) return;
  const timespec pause{0, static_cast<long>(drawn / every % 250000)};
  drawn / every % 32 == 0 ? syscall(SYS_nanosleep, &pause, nullptr) : sched_yield();
}

}  // namespace

/// Declares a function that gives way before what is next of this name.
#define GIVES_WAY(every, result, name, parameters, arguments)                                 \
  extern "C" __attribute__((visibility("default"))) result name parameters {                  \
    static const auto next = reinterpret_cast<result(*) parameters>(dlsym(RTLD_NEXT, #name)); \
    give_way(every);                                                                          \
    return next arguments;                                                                    \
  }

#define GIVES_WAY_AT_ATOMICS(bits, type)                                                                      \
  GIVES_WAY(16, type, __tsan_atomic##bits##_load, (const volatile type* a, int order), (a, order))            \
  GIVES_WAY(16, void, __tsan_atomic##bits##_store, (volatile type * a, type v, int order), (a, v, order))     \
  GIVES_WAY(16, type, __tsan_atomic##bits##_exchange, (volatile type * a, type v, int order), (a, v, order))  \
  GIVES_WAY(16, type, __tsan_atomic##bits##_fetch_add, (volatile type * a, type v, int order), (a, v, order)) \
  GIVES_WAY(16, type, __tsan_atomic##bits##_fetch_sub, (volatile type * a, type v, int order), (a, v, order)) \
  GIVES_WAY(16, int, __tsan_atomic##bits##_compare_exchange_strong,                                           \
            (volatile type * a, type * expected, type v, int order, int failing), (a, expected, v, order, failing))

GIVES_WAY(1024, void, __tsan_func_entry, (void* caller), (caller))
GIVES_WAY_AT_ATOMICS(8, std::uint8_t)
GIVES_WAY_AT_ATOMICS(32, std::uint32_t)
GIVES_WAY_AT_ATOMICS(64, std::uint64_t)
GIVES_WAY(16, int, pthread_mutex_lock, (pthread_mutex_t * m), (m))
GIVES_WAY(16, int, pthread_mutex_unlock, (pthread_mutex_t * m), (m))
GIVES_WAY(16, int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t* m), (c, m))
GIVES_WAY(16, int, pthread_cond_signal, (pthread_cond_t * c), (c))
GIVES_WAY(16, int, pthread_cond_broadcast, (pthread_cond_t * c), (c))
