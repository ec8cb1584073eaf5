// SPDX-License-Identifier: Apache-2.0
// What:   keys as codes, which sorts compare in their place.
// Order:  smaller codes first: that of code.hpp, whose words a launch is given.
// Shape:  a few operations for each key, without branches.
// Limits: TW_KEY_BYTES is 4 or 8.
// Twins:  code.hpp; embedded before program.cl and sort_axis/opencl/program.cl.
#ifndef TW_KEY_BYTES
#define TW_KEY_BYTES 4
#endif

#if TW_KEY_BYTES == 4
typedef uint tw_key;
#else
typedef ulong tw_key;
#endif

// What else a launch does; shared.hpp has the same numbers.
#define TW_ENCODE 1   // the input holds keys, else codes
#define TW_DECODE 2   // the output gets keys, else codes
#define TW_INDICES 4  // a value is its key's place in the input; the values are not read

typedef struct {
  tw_key of_positive, of_negative, wrapped, complement;
} tw_code;

#define TW_CODE_WORDS tw_key of_positive, tw_key of_negative, tw_key wrapped, tw_key complement
#define TW_CODE \
  { of_positive, of_negative, wrapped, complement }

static inline tw_key tw_flip(tw_key bits, tw_key test, tw_code code) {
  return bits ^ (test >> (8 * TW_KEY_BYTES - 1) ? code.of_negative : code.of_positive);
}
static inline tw_key tw_encode(tw_key key, tw_code code) {
  return (tw_flip(key, key, code) - code.wrapped) ^ code.complement;
}
static inline tw_key tw_decode(tw_key encoded, tw_code code) {
  const tw_key flipped = (encoded ^ code.complement) + code.wrapped;
  return tw_flip(flipped, flipped ^ code.of_positive, code);
}

// The place in a tile of an item's key q: neighbours have neighbouring ones.
#define TW_STRIPED(q) ((q)*TW_GROUP + (int)get_local_id(0))
