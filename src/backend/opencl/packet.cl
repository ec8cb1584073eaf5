// SPDX-License-Identifier: Apache-2.0
// What:   values that the groups of a launch send each other through memory.
// Order:  none; only data moves.
// Shape:  each half-word of a value is stored with the number of the launch that sent it, in one 8-byte word. The
//         reader sees from the word itself whether it has arrived. So there are no flags or fences, nothing is cleared
//         between launches, and 8-byte values need no wider atomic access.
// Limits: TW_T has 4 or 8 bytes; TW_W is how many fit in 16 bytes. The device needs atomic operations on 8 bytes.
// Twins:  cuda/packet.cuh; embedded after order/block_tree.cl.
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

typedef volatile __global ulong* tw_words;
#define TW_PACKET (4 / TW_W)  // words of a value

#define TW_AS_(T) as_##T
#define TW_AS(T) TW_AS_(T)

// If a volatile load of 8 bytes is a single access, waiting with it leaves the atomic units to the senders.
#ifdef __NV_CL_C_VERSION
#define TW_LOAD(from) (*(from))
#else
#define TW_LOAD(from) atom_add(from, 0ul)
#endif

static inline void tw_send(tw_words to, TW_T value, uint launch) {
#if TW_PACKET == 1
  atom_xchg(to, (ulong)launch << 32 | as_uint(value));
#else
  const ulong bits = as_ulong(value);
  atom_xchg(to, (ulong)launch << 32 | (bits & 0xffffffff));
  atom_xchg(to + 1, (ulong)launch << 32 | bits >> 32);
#endif
}

// Waits for a word of this launch and returns it.
static inline uint tw_wait_for(tw_words from, uint launch) {
  ulong word;
  do word = TW_LOAD(from);
  while (word >> 32 != launch);
  return (uint)word;
}

static inline TW_T tw_receive(tw_words from, uint launch) {
#if TW_PACKET == 1
  return TW_AS(TW_T)(tw_wait_for(from, launch));
#else
  const ulong low = tw_wait_for(from, launch);
  return TW_AS(TW_T)(low | (ulong)tw_wait_for(from + 1, launch) << 32);
#endif
}

// The board's first word counts tickets and has its own cache line; the packets follow it.
#define TW_BOARD_BEGIN 16
static inline uint tw_draw(tw_words board, uint drawn) { return atomic_inc((volatile __global uint*)board) - drawn; }
static inline tw_words tw_packet(tw_words board, ulong at) { return board + TW_BOARD_BEGIN + at * TW_PACKET; }

#endif
