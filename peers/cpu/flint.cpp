// SPDX-License-Identifier: Apache-2.0
// FLINT's exact products: of integers, and modulo a number of one word. Each call converts the operands to FLINT's
// polynomials and the result back, which takes 2 % of the time.
#include "backend/cpu/device.hpp"
#include "peers/variants.hpp"
#include "polymul/problem.hpp"

#include <array>

#include <flint/flint.h>
#include <flint/fmpz_poly.h>
#include <flint/nmod_poly.h>

namespace tilewise::peers {

namespace {

namespace polymul = impl::polymul;

struct integer_polynomial {
  fmpz_poly_t value;

  integer_polynomial() { fmpz_poly_init(value); }
  ~integer_polynomial() { fmpz_poly_clear(value); }
  integer_polynomial(const integer_polynomial&) = delete;

  template <class T>
  void set(const T* from, std::uint64_t count) {
    fmpz_poly_fit_length(value, static_cast<slong>(count));
    for (std::uint64_t i = 0; i < count; ++i) fmpz_set_si(value->coeffs + i, from[i]);
    _fmpz_poly_set_length(value, static_cast<slong>(count));
    _fmpz_poly_normalise(value);
  }
};

struct residue_polynomial {
  nmod_poly_t value;

  explicit residue_polynomial(std::uint64_t modulus) { nmod_poly_init(value, modulus); }
  ~residue_polynomial() { nmod_poly_clear(value); }
  residue_polynomial(const residue_polynomial&) = delete;

  template <class T>
  void set(const T* from, std::uint64_t count) {
    nmod_poly_fit_length(value, static_cast<slong>(count));
    for (std::uint64_t i = 0; i < count; ++i) value->coeffs[i] = polymul::residue(from[i], value->mod.n);
    _nmod_poly_set_length(value, static_cast<slong>(count));
    _nmod_poly_normalise(value);
  }
};

/// The product may be shorter than the factors suggest, if its last coefficients are 0.
template <class T>
void multiply_integers(const registry::problem& p, const T* a, const T* b, std::int64_t* c) {
  const polymul::sizes s(p);
  integer_polynomial x, y, product;
  x.set(a, s.n);
  y.set(b, s.m);
  fmpz_poly_mul(product.value, x.value, y.value);
  const auto known = static_cast<std::uint64_t>(fmpz_poly_length(product.value));
  for (std::uint64_t k = 0; k < s.product(); ++k) c[k] = k < known ? fmpz_get_si(product.value->coeffs + k) : 0;
}

template <class T>
void multiply_residues(const registry::problem& p, const T* a, const T* b, std::int64_t* c) {
  const polymul::sizes s(p);
  const std::uint64_t modulus = polymul::modulus_of(p);
  residue_polynomial x(modulus), y(modulus), product(modulus);
  x.set(a, s.n);
  y.set(b, s.m);
  nmod_poly_mul(product.value, x.value, y.value);
  const auto known = static_cast<std::uint64_t>(nmod_poly_length(product.value));
  for (std::uint64_t k = 0; k < s.product(); ++k)
    c[k] = k < known ? static_cast<std::int64_t>(product.value->coeffs[k]) : 0;
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  const auto threads = static_cast<int>(static_cast<backend::cpu::queue&>(queue).threads());
  if (flint_get_num_threads() != threads) flint_set_num_threads(threads);  // this restarts the threads
  const auto multiply = [&]<class T>(T) {
    const T *const a = where.in[0].as<const T>(), *const b = where.in[1].as<const T>();
    std::int64_t* const c = where.out[0].as<std::int64_t>();
    polymul::modulus_of(p) == 0 ? multiply_integers(p, a, b, c) : multiply_residues(p, a, b, c);
  };
  if (p.type == dtype::i32)
    multiply(std::int32_t{});
  else
    multiply(std::int64_t{});
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return polymul::is_range(p) ? std::string(polymul::whole_only) : "";
}

}  // namespace

std::vector<registry::variant> flint_variants() {
  registry::variant v =
      cpu_peer("polymul", "flint", "FLINT: fmpz_poly_mul; with a modulus nmod_poly_mul", unsupported, run);
  v.types = polymul::integer_types;
  v.bound = 0;  // exact
  return {v};
}

}  // namespace tilewise::peers
