// SPDX-License-Identifier: Apache-2.0
// What:   where elements lie in local memory if each item has a run of neighbours there.
// Twins:  embedded after operators.cl and block_tree.cl.

// A place is left out after each 128 bytes, so that runs begin in different banks.
#define TW_PLACE(i) ((i) + ((i) >> (sizeof(TW_T) == 8 ? 4 : 5)))
TW_DEFINE_TAKE(tw_take_spread, TW_PLACE)
