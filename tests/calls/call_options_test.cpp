// SPDX-License-Identifier: Apache-2.0
// Every form of a call uses its options, for few elements, which are computed at once, and for many.
#include <tilewise/tilewise.hpp>

#include <functional>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace tw = tilewise;  // std has functions of the same names

namespace {

/// Options that all algorithms have.
struct wish {
  std::string_view variant = {}, tuning = {};
  std::optional<device> on = {};

  /// An algorithm's options, with these set.
  template <class Options>
  Options with(Options options = {}) const {
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
    for (const reduce_options& r : {reduce_options{}, reduce_options{.init = 2.0f}}) add_reductions(r);
    for (const scan_options& s : {scan_options{}, scan_options{.init = 2.0f}}) {
      add_scans("inclusive_scan", s, [](auto&&... all) { tw::inclusive_scan(all...); });
      add_scans("exclusive_scan", s, [](auto&&... all) { tw::exclusive_scan(all...); });
    }
    add_sorts();
    add_placed();
    add_products();
    add_stencils();
  }
  const std::vector<form>& all() const { return all_; }

 private:
  void add(const std::string& name, std::function<void(const wish&)> call) {
    all_.push_back({name + ", " + std::to_string(all_.size()), std::move(call)});
  }

  void add_reductions(const reduce_options& r) {
    add("reduce", [=, this](const wish& w) { tw::reduce(o_.x, w.with(r)); });
    add("reduce", [=, this](const wish& w) { tw::reduce(o_.there, w.with(r)); });
    for (const axis to : {axis::rows, axis::columns}) {
      const auto x = along(o_.x, o_.square, to);
      const auto there = along(o_.there, o_.square, to);
      add("reduce of lines", [=, this](const wish& w) { tw::reduce(x, o_.lines, w.with(r)); });
      add("reduce of lines", [=](const wish& w) { tw::reduce(x, w.with(r)); });
      add("reduce of lines", [=, this](const wish& w) { tw::reduce(there, o_.values_there, w.with(r)); });
      add("reduce of lines", [=](const wish& w) { tw::reduce(there, w.with(r)); });
    }
  }

  /// Of whole arrays, of parts that continue from a carry, and of lines.
  template <class Scan>
  void add_scans(const std::string& name, const scan_options& s, const Scan& scan) {
    const auto whole = [=, this](const auto& call) { add(name, [=](const wish& w) { call(w.with(s)); }); };
    const auto whole_and_part = [=, this](const auto& call) {
      whole(call);
      add(name + " of a part", [=](const wish& w) {
        partial<float> carry;
        carry.push(1.0f);
        scan_options continued = w.with(s);
        continued.carry = &carry;
        call(continued);
      });
    };
    whole_and_part([=, this](const scan_options& all) { scan(o_.x, o_.y, all); });
    whole_and_part([=, this](const scan_options& all) { scan(o_.x, all); });
    whole_and_part([=, this](const scan_options& all) { scan(o_.there, o_.result, all); });
    whole_and_part([=, this](const scan_options& all) { scan(o_.there, all); });
    for (const axis to : {axis::rows, axis::columns}) {
      const auto x = along(o_.x, o_.square, to), y = along(o_.y, o_.square, to);
      const auto there = along(o_.there, o_.square, to), result = along(o_.result, o_.square, to);
      whole([=](const scan_options& all) { scan(x, y, all); });
      whole([=](const scan_options& all) { scan(x, all); });
      whole([=](const scan_options& all) { scan(there, result, all); });
      whole([=](const scan_options& all) { scan(there, all); });
    }
  }

  void add_sorts() {
    const auto add_form = [this](const std::string& name, const auto& call) {
      add(name, [=](const wish& w) { call(w.with<sort_options>()); });
    };
    add_form("sort", [this](const sort_options& s) { tw::sort(o_.x, o_.y, s); });
    add_form("sort", [this](const sort_options& s) { tw::sort(o_.y, s); });
    add_form("sort", [this](const sort_options& s) { tw::sort(o_.there, o_.result, s); });
    add_form("sort", [this](const sort_options& s) { tw::sort(o_.result, s); });
    add_form("sorted", [this](const sort_options& s) { tw::sorted(o_.x, s); });
    add_form("sorted", [this](const sort_options& s) { tw::sorted(o_.there, s); });
    for (const axis to : {axis::rows, axis::columns}) {
      const auto x = along(o_.x, o_.square, to), y = along(o_.y, o_.square, to);
      const auto there = along(o_.there, o_.square, to), result = along(o_.result, o_.square, to);
      add_form("sort of lines", [=](const sort_options& s) { tw::sort(x, y, s); });
      add_form("sort of lines", [=](const sort_options& s) { tw::sort(y, s); });
      add_form("sort of lines", [=](const sort_options& s) { tw::sort(there, result, s); });
      add_form("sort of lines", [=](const sort_options& s) { tw::sort(result, s); });
      add_form("sorted lines", [=](const sort_options& s) { tw::sorted(x, s); });
      add_form("sorted lines", [=](const sort_options& s) { tw::sorted(there, s); });
    }
    add_form("argsort", [this](const sort_options& s) { tw::argsort(o_.x, o_.places, s); });
    add_form("argsort", [this](const sort_options& s) { tw::argsort(o_.x, s); });
    add_form("argsort", [this](const sort_options& s) { tw::argsort(o_.there, o_.places_there, s); });
    add_form("argsort", [this](const sort_options& s) { tw::argsort(o_.there, s); });
    add_form("sort_by_key", [this](const sort_options& s) {
      tw::sort_by_key(o_.x, o_.x, o_.y, std::span(o_.product).first(o_.n), s);
    });
    add_form("sort_by_key", [this](const sort_options& s) { tw::sort_by_key(o_.y, o_.places, s); });
    add_form("sort_by_key",
             [this](const sort_options& s) { tw::sort_by_key(o_.there, o_.other, o_.result, o_.fourth, s); });
    add_form("sort_by_key", [this](const sort_options& s) { tw::sort_by_key(o_.result, o_.fourth, s); });
  }

  /// Calls whose only options are where and how.
  void add_placed() {
    const auto add_form = [this](const std::string& name, const auto& call) {
      add(name, [=](const wish& w) { call(w.with<placement>()); });
    };
    const matrix_layout a = o_.square;
    add_form("partial", [this](const placement& p) { partial<float>().push(o_.x, p); });
    add_form("partial", [this](const placement& p) { partial<float>().push(o_.there, p); });
    add_form("dot", [this](const placement& p) { tw::dot(o_.x, o_.y, p); });
    add_form("dot", [this](const placement& p) { tw::dot(o_.there, o_.other, p); });
    add_form("matvec",
             [=, this](const placement& p) { tw::matvec(o_.x, a, std::span(o_.y).first(o_.side), o_.lines, p); });
    add_form("matvec", [=, this](const placement& p) { tw::matvec(o_.x, a, o_.lines, p); });
    add_form("matvec", [=, this](const placement& p) { tw::matvec(o_.there, a, o_.lines_there, o_.values_there, p); });
    add_form("matvec", [=, this](const placement& p) { tw::matvec(o_.there, a, o_.lines_there, p); });
  }

  void add_products() {
    const matrix_layout s = o_.square;
    const auto matmul = [this](const auto& call) {
      add("matmul", [=](const wish& w) { call(w.with<matmul_options>()); });
    };
    matmul([=, this](const matmul_options& m) { tw::matmul(o_.x, s, o_.x, s, o_.y, s, m); });
    matmul([=, this](const matmul_options& m) { tw::matmul(o_.x, s, o_.x, s, m); });
    matmul([=, this](const matmul_options& m) { tw::matmul(o_.there, s, o_.other, s, o_.result, s, m); });
    matmul([=, this](const matmul_options& m) { tw::matmul(o_.there, s, o_.other, s, m); });
    const auto polymul = [this](const auto& call) {
      add("polymul", [=](const wish& w) { call(w.with<polymul_options>()); });
    };
    polymul([this](const polymul_options& p) { tw::polymul(o_.x, o_.y, o_.product, p); });
    polymul([this](const polymul_options& p) { tw::polymul(o_.x, o_.y, p); });
    polymul([this](const polymul_options& p) { tw::polymul(o_.there, o_.other, o_.product_there, p); });
    polymul([this](const polymul_options& p) { tw::polymul(o_.there, o_.other, p); });
  }

  void add_stencils() {
    const image_size image = o_.image, mask{1, 1};
    const std::span<const float> one = std::span(o_.x).first(1);
    const auto one_there = std::make_shared<array<float>>(o_.cpu.upload(one));
    const auto convolve = [this](const auto& call) {
      add("convolve", [=](const wish& w) { call(w.with<convolve_options>()); });
    };
    convolve([=, this](const convolve_options& c) { tw::convolve(o_.x, image, one, mask, o_.y, c); });
    convolve([=, this](const convolve_options& c) { tw::convolve(o_.x, image, one, mask, c); });
    convolve([=, this](const convolve_options& c) { tw::convolve(o_.there, image, *one_there, mask, o_.result, c); });
    convolve([=, this](const convolve_options& c) { tw::convolve(o_.there, image, *one_there, mask, c); });
    const auto diffuse = [this](const auto& call) {
      add("diffuse", [=](const wish& w) { call(w.with<diffuse_options>()); });
    };
    diffuse([this](const diffuse_options& d) { tw::diffuse(o_.x, o_.y, o_.steps, d); });
    diffuse([this](const diffuse_options& d) { tw::diffuse(o_.x, o_.steps, d); });
    diffuse([this](const diffuse_options& d) { tw::diffuse(o_.there, o_.result, o_.steps, d); });
    diffuse([this](const diffuse_options& d) { tw::diffuse(o_.there, o_.steps, d); });
  }

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
