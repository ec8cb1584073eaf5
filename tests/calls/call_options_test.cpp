// SPDX-License-Identifier: Apache-2.0
// Every form of a call uses its options, for few elements, which are computed at once, and for many.
#include <tilewise/tilewise.hpp>

#include <functional>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace tw = tilewise;  // std has functions of the same names

namespace {

/// Options that all algorithms have, to be converted to any algorithm's options.
struct wish {
  std::string_view variant = {}, tuning = {};
  std::optional<device> on = {};

  template <class Options>
  requires requires(Options o) { o.variant; }
  operator Options() const {
    Options options;
    options.variant = variant, options.tuning = tuning, options.device = on;
    return options;
  }
};

struct form {
  std::string name;
  std::function<void(const wish&)> call;
};

/// Operands of `side` rows and columns, in host memory and as arrays.
struct operands {
  std::uint64_t side, n = side * side;
  device cpu = open("cpu");
  std::vector<float> x = std::vector<float>(n, 1.0f), y = x, lines = std::vector<float>(side, 1.0f);
  std::vector<float> product = std::vector<float>(2 * n - 1);
  std::vector<std::uint32_t> places = std::vector<std::uint32_t>(n);
  array<float> there = cpu.upload(x), other = cpu.upload(x), result = cpu.upload(x), fourth = cpu.upload(x);
  array<float> lines_there = cpu.upload(lines), values_there = cpu.upload(lines), product_there = cpu.upload(product);
  array<std::uint32_t> places_there = cpu.upload(places);
  matrix_layout square{side, side};
  image_size image{side, side};
  diffusion steps{.rows = side, .columns = side};
};

class forms {
 public:
  explicit forms(operands& o) : o_(o) {
    add_reductions();
    add_sorts();
    add_lines();
    add_products();
    add_scans("inclusive", [](auto&&... all) { tw::inclusive_scan(std::forward<decltype(all)>(all)...); });
    add_scans("exclusive", [](auto&&... all) { tw::exclusive_scan(std::forward<decltype(all)>(all)...); });
    add_axis_scans("inclusive", [](auto&&... all) { tw::inclusive_scan_axis(std::forward<decltype(all)>(all)...); });
    add_axis_scans("exclusive", [](auto&&... all) { tw::exclusive_scan_axis(std::forward<decltype(all)>(all)...); });
  }
  const std::vector<form>& all() const { return all_; }

 private:
  void add(const std::string& name, std::function<void(const wish&)> call) {
    all_.push_back({name + ", " + std::to_string(all_.size()), std::move(call)});
  }

  void add_reductions() {
    add("reduce", [&](const wish& w) { tw::reduce(in(), w); });
    add("reduce", [&](const wish& w) { tw::reduce(in(), 2.0f, w); });
    add("reduce", [&](const wish& w) { tw::reduce(o_.x, w); });
    add("reduce", [&](const wish& w) { tw::reduce(o_.x, 2.0f, w); });
    add("reduce", [&](const wish& w) { tw::reduce(o_.there, w); });
    add("reduce", [&](const wish& w) { tw::reduce(o_.there, 2.0f, w); });
    add("partial", [&](const wish& w) { partial<float>().push(in(), w); });
    add("partial", [&](const wish& w) { partial<float>().push(o_.there, w); });
    add("dot", [&](const wish& w) { tw::dot(in(), in(), w); });
    add("dot", [&](const wish& w) { tw::dot(o_.x, o_.y, w); });
    add("dot", [&](const wish& w) { tw::dot(o_.there, o_.other, w); });
  }

  void add_sorts() {
    add("sort", [&](const wish& w) { tw::sort(in(), out(), w); });
    add("sort", [&](const wish& w) { tw::sort(o_.x, o_.y, w); });
    add("sort", [&](const wish& w) { tw::sort(o_.y, w); });
    add("sort", [&](const wish& w) { tw::sort(o_.there, o_.result, w); });
    add("sort", [&](const wish& w) { tw::sort(o_.result, w); });
    add("sorted", [&](const wish& w) { tw::sorted(o_.x, w); });
    add("sorted", [&](const wish& w) { tw::sorted(o_.there, w); });
    add("argsort", [&](const wish& w) { tw::argsort(in(), std::span(o_.places), w); });
    add("argsort", [&](const wish& w) { tw::argsort(o_.x, o_.places, w); });
    add("argsort", [&](const wish& w) { tw::argsort(o_.x, w); });
    add("argsort", [&](const wish& w) { tw::argsort(o_.there, o_.places_there, w); });
    add("argsort", [&](const wish& w) { tw::argsort(o_.there, w); });
    add("sort_by_key",
        [&](const wish& w) { tw::sort_by_key(in(), in(), out(), std::span(o_.product).first(o_.n), w); });
    add("sort_by_key", [&](const wish& w) { tw::sort_by_key(o_.x, o_.x, o_.y, std::span(o_.product).first(o_.n), w); });
    add("sort_by_key", [&](const wish& w) { tw::sort_by_key(o_.y, o_.places, w); });
    add("sort_by_key", [&](const wish& w) { tw::sort_by_key(o_.there, o_.other, o_.result, o_.fourth, w); });
    add("sort_by_key", [&](const wish& w) { tw::sort_by_key(o_.result, o_.fourth, w); });
  }

  /// Adds all algorithms along lines, except scans.
  void add_lines() {
    for (const axis to : {axis::rows, axis::columns}) {
      add("reduce_axis", [=, this](const wish& w) { tw::reduce_axis(in(), o_.square, to, values(), w); });
      add("reduce_axis", [=, this](const wish& w) { tw::reduce_axis(in(), o_.square, to, values(), 2.0f, w); });
      add("reduce_axis", [=, this](const wish& w) { tw::reduce_axis(o_.x, o_.square, to, o_.lines, w); });
      add("reduce_axis", [=, this](const wish& w) { tw::reduce_axis(o_.x, o_.square, to, o_.lines, 2.0f, w); });
      add("reduce_axis", [=, this](const wish& w) { tw::reduce_axis(o_.x, o_.square, to, w); });
      add("reduce_axis", [=, this](const wish& w) { tw::reduce_axis(o_.there, o_.square, to, o_.values_there, w); });
      add("reduce_axis",
          [=, this](const wish& w) { tw::reduce_axis(o_.there, o_.square, to, o_.values_there, 2.0f, w); });
      add("reduce_axis", [=, this](const wish& w) { tw::reduce_axis(o_.there, o_.square, to, w); });
      add("sort_axis", [=, this](const wish& w) { tw::sort_axis(in(), o_.square, to, out(), o_.square, w); });
      add("sort_axis", [=, this](const wish& w) { tw::sort_axis(o_.x, o_.square, to, o_.y, o_.square, w); });
      add("sort_axis", [=, this](const wish& w) { tw::sort_axis(o_.y, o_.square, to, w); });
      add("sort_axis", [=, this](const wish& w) { tw::sort_axis(o_.there, o_.square, to, o_.result, o_.square, w); });
      add("sort_axis", [=, this](const wish& w) { tw::sort_axis(o_.result, o_.square, to, w); });
      add("sorted_axis", [=, this](const wish& w) { tw::sorted_axis(o_.x, o_.square, to, w); });
      add("sorted_axis", [=, this](const wish& w) { tw::sorted_axis(o_.there, o_.square, to, w); });
    }
  }

  void add_products() {
    const matrix_layout s = o_.square;
    add("matmul", [=, this](const wish& w) { tw::matmul(in(), s, in(), s, out(), s, w); });
    add("matmul", [=, this](const wish& w) { tw::matmul(o_.x, s, o_.x, s, o_.y, s, w); });
    add("matmul", [=, this](const wish& w) { tw::matmul(o_.x, s, o_.x, s, w); });
    add("matmul", [=, this](const wish& w) { tw::matmul(o_.there, s, o_.other, s, o_.result, s, w); });
    add("matmul", [=, this](const wish& w) { tw::matmul(o_.there, s, o_.other, s, w); });
    add("matvec", [=, this](const wish& w) { tw::matvec(in(), s, in().first(o_.side), values(), w); });
    add("matvec", [=, this](const wish& w) { tw::matvec(o_.x, s, in().first(o_.side), o_.lines, w); });
    add("matvec", [=, this](const wish& w) { tw::matvec(o_.x, s, o_.lines, w); });
    add("matvec", [=, this](const wish& w) { tw::matvec(o_.there, s, o_.lines_there, o_.values_there, w); });
    add("matvec", [=, this](const wish& w) { tw::matvec(o_.there, s, o_.lines_there, w); });
    add("polymul", [&](const wish& w) { tw::polymul(in(), in(), std::span(o_.product), w); });
    add("polymul", [&](const wish& w) { tw::polymul(o_.x, o_.y, o_.product, w); });
    add("polymul", [&](const wish& w) { tw::polymul(o_.x, o_.y, w); });
    add("polymul", [&](const wish& w) { tw::polymul(o_.there, o_.other, o_.product_there, w); });
    add("polymul", [&](const wish& w) { tw::polymul(o_.there, o_.other, w); });
    const image_size image = o_.image, mask{1, 1};
    add("convolve", [=, this](const wish& w) { tw::convolve(in(), image, in().first(1), mask, out(), w); });
    add("convolve", [=, this](const wish& w) { tw::convolve(o_.x, image, in().first(1), mask, o_.y, w); });
    add("convolve", [=, this](const wish& w) { tw::convolve(o_.x, image, in().first(1), mask, w); });
    const auto weight = std::make_shared<array<float>>(o_.cpu.upload(in().first(1)));
    add("convolve", [=, this](const wish& w) { tw::convolve(o_.there, image, *weight, mask, o_.result, w); });
    add("convolve", [=, this](const wish& w) { tw::convolve(o_.there, image, *weight, mask, w); });
    add("diffuse", [&](const wish& w) { tw::diffuse(in(), out(), o_.steps, w); });
    add("diffuse", [&](const wish& w) { tw::diffuse(o_.x, o_.y, o_.steps, w); });
    add("diffuse", [&](const wish& w) { tw::diffuse(o_.x, o_.steps, w); });
    add("diffuse", [&](const wish& w) { tw::diffuse(o_.there, o_.result, o_.steps, w); });
    add("diffuse", [&](const wish& w) { tw::diffuse(o_.there, o_.steps, w); });
  }

  /// Calls without extras, with an initial value, with a carry, and with both.
  template <class Scan>
  void add_scans(const std::string& name, const Scan& scan) {
    const auto of_each_kind = [=, this](const auto&... init) {
      const auto form = [=, this](const auto& call) { add(name + "_scan", call); };
      form([=, this](const wish& w) { scan(in(), out(), init..., w); });
      form([=, this](const wish& w) { scan(o_.x, o_.y, init..., w); });
      form([=, this](const wish& w) { scan(o_.x, init..., w); });
      form([=, this](const wish& w) { scan(o_.there, o_.result, init..., w); });
      form([=, this](const wish& w) { scan(o_.there, init..., w); });
      const auto continued = [=](const auto& call) {
        form([=](const wish& w) {
          partial<float> carry;
          carry.push(1.0f);
          call(w, carry);
        });
      };
      continued([=, this](const wish& w, partial<float>& carry) { scan(in(), out(), init..., carry, w); });
      continued([=, this](const wish& w, partial<float>& carry) { scan(o_.x, o_.y, init..., carry, w); });
      continued([=, this](const wish& w, partial<float>& carry) { scan(o_.x, init..., carry, w); });
      continued([=, this](const wish& w, partial<float>& carry) { scan(o_.there, o_.result, init..., carry, w); });
      continued([=, this](const wish& w, partial<float>& carry) { scan(o_.there, init..., carry, w); });
    };
    of_each_kind();
    of_each_kind(2.0f);
  }
  template <class Scan>
  void add_axis_scans(const std::string& name, const Scan& scan) {
    const matrix_layout s = o_.square;
    const auto of_each_kind = [=, this](axis to, const auto&... init) {
      const auto form = [=, this](const auto& call) { add(name + "_scan_axis", call); };
      form([=, this](const wish& w) { scan(in(), s, to, out(), s, init..., w); });
      form([=, this](const wish& w) { scan(o_.x, s, to, o_.y, s, init..., w); });
      form([=, this](const wish& w) { scan(o_.x, s, to, init..., w); });
      form([=, this](const wish& w) { scan(o_.there, s, to, o_.result, s, init..., w); });
      form([=, this](const wish& w) { scan(o_.there, s, to, init..., w); });
    };
    for (const axis to : {axis::rows, axis::columns}) of_each_kind(to), of_each_kind(to, 2.0f);
  }

  std::span<const float> in() const { return o_.x; }
  std::span<float> out() const { return o_.y; }
  std::span<float> values() const { return o_.lines; }

  operands& o_;
  std::vector<form> all_;
};

/// Each form refuses the option with a message that contains these words, and computes without the option.
void expect_heeded(const wish& what, const std::string& words) {
  for (const std::uint64_t side : {4, 40}) {
    operands o{side};
    const forms every(o);
    for (const form& one : every.all()) {
      SCOPED_TRACE(one.name + " of " + std::to_string(o.n));
      EXPECT_NO_THROW(one.call({}));
      try {
        one.call(what);
        ADD_FAILURE() << "it was not heeded";
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument) << e.what();
        EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
      }
    }
  }
}

}  // namespace

TEST(CallOptions, AVariantThatIsNotThereIsNamedByEveryForm) { expect_heeded({.variant = "no_such"}, "no_such"); }

TEST(CallOptions, ATuningThatIsNotThereIsNamedByEveryForm) { expect_heeded({.tuning = "no=such"}, "no=such"); }

TEST(CallOptions, ADeviceIsLookedForByEveryForm) {
  device given_away = open("cpu");
  const device kept = std::move(given_away);
  expect_heeded({.on = given_away}, "moved from");
}

}  // namespace tilewise::tests
