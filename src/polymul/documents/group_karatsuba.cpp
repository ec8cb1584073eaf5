// SPDX-License-Identifier: Apache-2.0
// What:   polynomial product on the ranks of a group, by Karatsuba's half products.
// Order:  none: exact modulo 2^64, so exact where the product fits.
// Shape:  the longer factor is cut into pieces of the shorter one's length. The recursion has as many levels as give
//         all ranks nearly the same number of products. Each rank computes its products by its own variant of the
//         method. The host sums them, and each sum is sent once.
// Limits: no modulus, no floats.
// Twins:  serial.cpp, karatsuba.hpp.
#include "base/ceil_div.hpp"
#include "divide/ranks.hpp"
#include "polymul/problem.hpp"

namespace tilewise::impl::polymul {

namespace {

using u64 = std::uint64_t;
using backend::group::byte_range;
using backend::group::piece;
using backend::group::rank_memory;
using divide::rank;

constexpr registry::preferences by_karatsuba{.variant = "karatsuba"};

/// The bytes of elements [first, end).
template <class T>
constexpr byte_range bytes_of(u64 first, u64 end) {
  return {first * sizeof(T), end * sizeof(T)};
}

/// The products that are dealt to ranks: the longer factor is cut into pieces, and each piece has 3^depth leaves.
struct dealing {
  u64 pieces = 1, leaf;
  unsigned depth = 0;
  u64 leaves = 1;  // leaves of a piece

  dealing(const sizes& s, unsigned ranks) : leaf(s.shorter()) {
    constexpr u64 least_leaf = 256;  // the product of such a leaf takes no longer than the sums around it
    pieces = ceil_div(std::max(s.n, s.m), leaf);
    while (!is_even(ranks) && leaf >= 2 * least_leaf) {
      ++depth;
      leaves *= 3;
      leaf = ceil_div(s.shorter(), u64{1} << depth);
      pieces = ceil_div(std::max(s.n, s.m), length());
    }
  }

  u64 length() const { return leaf << depth; }  // the length of a piece, and of the shorter factor padded with zeros
  u64 products() const { return pieces * leaves; }
  /// The first product of rank `index`.
  u64 border(unsigned index, unsigned ranks) const {
    return products() / ranks * index + products() % ranks * index / ranks;
  }

 private:
  /// Whether no rank has over a tenth more to do than all have on average.
  bool is_even(unsigned ranks) const { return ceil_div(products(), ranks) * ranks * 10 <= products() * 11; }
};

/// Calls f(offset, is_negative) for each place at which the product of a leaf is added to that of its piece. With
/// halves of length h, the product of the lower halves is added at 0 and subtracted at h. The product of the upper
/// halves is added at 2 h and subtracted at h. The product of the sums is added at h. The digits of `leaf` in base 3,
/// the last one first, say which of the three it is at each level.
template <class F>
void for_each_place(const dealing& d, u64 leaf, const F& f) {
  for (u64 inner = 0; inner < u64{1} << d.depth; ++inner) {
    u64 offset = 0, way = leaf;
    bool is_negative = false, is_one = true;
    for (unsigned level = 0; level < d.depth; ++level, way /= 3) {
      const bool is_inner = (inner >> level & 1) != 0;
      offset += (is_inner ? 1 : way % 3 == 1 ? 2 : 0) * (d.leaf << level);
      is_negative ^= is_inner && way % 3 != 2;
      is_one = is_one && (is_inner || way % 3 != 2);
    }
    if (is_one) f(offset, is_negative);
  }
}

/// A leaf of a piece: the sum of some of the piece's 2^depth parts. Elements beyond the factor's `count` are zeros.
template <class T>
void sum_parts(const dealing& d, u64 leaf, const T* piece, u64 count, std::vector<u64>& sum) {
  sum.assign(d.leaf, 0);
  for (u64 part = 0; part < u64{1} << d.depth; ++part) {
    bool belongs = true;
    u64 way = leaf;
    for (unsigned level = 0; level < d.depth; ++level, way /= 3)
      belongs = belongs && (way % 3 == 2 || way % 3 == (part >> level & 1));
    const u64 first = part * d.leaf;
    for (u64 i = 0; belongs && i < d.leaf && first + i < count; ++i)
      sum[i] += static_cast<u64>(std::int64_t{piece[first + i]});
  }
}

/// A part of the product on the host, from coefficient `first` on.
struct partial_product {
  u64 first = 0;
  std::vector<u64> sum;

  void add(u64 at, const u64* values, u64 count) {
    for (u64 i = 0; i < count; ++i) sum[at - first + i] += values[i];
  }
  void subtract(u64 at, const u64* values, u64 count) {
    for (u64 i = 0; i < count; ++i) sum[at - first + i] -= values[i];
  }
};

/// The share of one rank: products [begin, end), which need elements [first, last) of the longer factor.
struct dealt {
  u64 begin, end, first, last;

  dealt(const dealing& d, const sizes& s, unsigned index, unsigned ranks)
      : begin(d.border(index, ranks)), end(d.border(index + 1, ranks)) {
    const u64 longer = std::max(s.n, s.m), piece = begin / d.leaves;
    first = std::min(longer, piece * d.length());
    last = is_nothing() ? first : std::min(longer, ((end - 1) / d.leaves + 1) * d.length());
  }

  bool is_nothing() const { return begin == end; }
  /// The share adds to the coefficients of the product from `first` up to this one.
  u64 end_of_product(const sizes& s) const {
    return is_nothing() ? first : std::min(s.product(), last + s.shorter() - 1);
  }
};

/// One rank's share of the products.
template <class T>
class share {
 public:
  share(const registry::problem& p, const registry::bindings& where, const rank& r)
      : s_(p), deal_(s_, r.count()), rank_(r), leaf_problem_(p), own_(of_rank(r.index())) {
    leaf_problem_.type = dtype::i64;
    leaf_problem_.shape = {deal_.leaf, deal_.leaf};
    const bool swapped = s_.n < s_.m;
    const auto of_long = [this](unsigned k) { return bytes_of<T>(of_rank(k).first, of_rank(k).last); };
    const auto of_short = [this](unsigned k) { return bytes_of<T>(0, of_rank(k).is_nothing() ? 0 : s_.shorter()); };
    const std::vector<rank_memory> there =
        r.fetch(std::array{piece{where.in[swapped ? 1 : 0], of_long}, piece{where.in[swapped ? 0 : 1], of_short}});
    long_factor_ = values_of(there[0]);
    short_factor_ = values_of(there[1]);
  }

  /// The bytes of the product to which rank k adds.
  byte_range sum_of_rank(unsigned k) const {
    const dealt theirs = of_rank(k);
    return bytes_of<u64>(theirs.first, theirs.end_of_product(s_));
  }

  /// Computes the products of this rank and sums them.
  partial_product multiply() const {
    partial_product all;
    if (own_.is_nothing()) return all;
    all.first = own_.first;
    all.sum.resize(own_.end_of_product(s_) - all.first);
    const backend::buffer a(rank_.queue(), leaf_bytes()), b(rank_.queue(), leaf_bytes()),
        c(rank_.queue(), (2 * deal_.leaf - 1) * sizeof(u64));
    std::vector<u64> values(2 * deal_.leaf - 1);
    for (u64 i = own_.begin; i < own_.end; ++i) {
      const u64 first = i / deal_.leaves * deal_.length(), skipped = first - all.first;
      upload_leaf(i, long_factor_.data() + skipped, long_factor_.size() - skipped, a);
      upload_leaf(i, short_factor_.data(), short_factor_.size(), b);
      divide::run_on_rank(rank_, leaf_problem_, {.in = {a, b}, .out = {c}}, by_karatsuba);
      rank_.queue().download(values.data(), c, values.size() * sizeof(u64));
      add(values, first, i % deal_.leaves, all);
    }
    return all;
  }

 private:
  dealt of_rank(unsigned k) const { return {deal_, s_, k, rank_.count()}; }
  u64 leaf_bytes() const { return deal_.leaf * sizeof(u64); }

  std::vector<T> values_of(const backend::memory& there) const {
    std::vector<T> values(there.bytes / sizeof(T));
    if (!values.empty()) rank_.queue().download(values.data(), there, there.bytes);
    return values;
  }

  void upload_leaf(u64 i, const T* piece, u64 count, const backend::memory& to) const {
    std::vector<u64> sum;
    sum_parts(deal_, i % deal_.leaves, piece, count, sum);
    rank_.queue().upload(to, sum.data(), leaf_bytes());
  }

  /// Adds a leaf's product to `all`. Values beyond the end of the piece's product cancel once all ranks have added
  /// theirs.
  void add(const std::vector<u64>& values, u64 piece, u64 leaf, partial_product& all) const {
    const u64 end = std::min(std::max(s_.n, s_.m), piece + deal_.length()) + s_.shorter() - 1;
    for_each_place(deal_, leaf, [&](u64 offset, bool is_negative) {
      const u64 at = piece + offset, count = at < end ? std::min<u64>(values.size(), end - at) : 0;
      is_negative ? all.subtract(at, values.data(), count) : all.add(at, values.data(), count);
    });
  }

  sizes s_;
  dealing deal_;
  const rank& rank_;
  registry::problem leaf_problem_;
  dealt own_;
  std::vector<T> long_factor_, short_factor_;
};

/// Adds up the partial products of all ranks, which may overlap. All ranks must call it together.
void deliver_sum(const backend::memory& to, const partial_product& own, const backend::group::ranges& all,
                 const rank& r) {
  const byte_range mine = r.part(to), have = all(r.index());
  const backend::buffer sent(r.queue(), have.bytes()), got(r.queue(), mine.bytes() * r.count());
  if (have.bytes() != 0) r.queue().upload(sent, own.sum.data(), have.bytes());
  std::vector<backend::group::parcel> sends, receives;
  for (unsigned peer = 0; peer < r.count(); ++peer) {
    if (peer == r.index()) continue;
    const byte_range theirs = common(have, backend::group::part_of(to, peer)), from = common(all(peer), mine);
    if (theirs.bytes() != 0)
      sends.push_back({peer, backend::memory(sent).at(theirs.begin - have.begin, theirs.bytes())});
    if (from.bytes() != 0) receives.push_back({peer, backend::memory(got).at(mine.bytes() * peer, from.bytes())});
  }
  r.exchange(sends, receives);

  partial_product sum{mine.begin / sizeof(u64), std::vector<u64>(mine.bytes() / sizeof(u64))};
  const byte_range kept = common(have, mine);
  if (kept.bytes() != 0)
    sum.add(kept.begin / sizeof(u64), own.sum.data() + (kept.begin - have.begin) / sizeof(u64),
            kept.bytes() / sizeof(u64));
  for (const auto& [peer, where] : receives) {
    std::vector<u64> values(where.bytes / sizeof(u64));
    r.queue().download(values.data(), where, where.bytes);
    sum.add(common(all(peer), mine).begin / sizeof(u64), values.data(), values.size());
  }
  if (mine.bytes() != 0) r.queue().upload(local(to, r.index(), mine), sum.sum.data(), mine.bytes());
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  if (sizes(p).product() == 0) return;
  const auto multiply_share = [&](const rank& r) {
    const auto multiply = [&]<class T>(T) {
      const share<T> own(p, where, r);
      deliver_sum(
          where.out[0], own.multiply(), [&](unsigned k) { return own.sum_of_rank(k); }, r);
    };
    if (p.type == dtype::i32)
      multiply(std::int32_t{});
    else
      multiply(std::int64_t{});
  };
  divide::run_on_ranks(queue, p, where, multiply_share, by_karatsuba);
}

/// Asks the members about the whole product: with one rank their own recursion needs the most memory.
std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (is_range(p)) return std::string(whole_only);
  if (modulus_of(p) != 0) return "it computes modulo 2^64 only";
  registry::problem largest = p;
  largest.type = dtype::i64;
  largest.shape = {sizes(p).shorter(), sizes(p).shorter()};
  return divide::unsupported_by_members(largest, on, by_karatsuba);
}

}  // namespace

registry::variant group_karatsuba_variant() {
  return {.algorithm = "polymul",
          .backend = "group",
          .name = "karatsuba",
          .types = integer_types,
          .source =
              "A. Karatsuba and Yu. Ofman, Multiplication of many-digital numbers by automatic computers (1962), its "
              "products dealt to ranks",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::polymul
