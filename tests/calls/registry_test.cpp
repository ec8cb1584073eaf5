// SPDX-License-Identifier: Apache-2.0
// The catalog is consistent, reports what is missing, and never falls back silently.
#include "backend/cpu/device.hpp"
#include "base/nearest.hpp"
#include "call/call.hpp"
#include "helpers.hpp"
#include "registry/choose.hpp"

#include <tilewise/tilewise.hpp>

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace tilewise::registry {

namespace {

using tests::message_of;

void expect_holds(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << "'" << part << "' is not in: " << text;
}

bool has(std::span<const extents> shapes, const extents& shape) {
  return std::find(shapes.begin(), shapes.end(), shape) != shapes.end();
}

/// An algorithm only for these tests, with variants that the real algorithms do not have.
constexpr std::array<dtype, 1> only_f32{dtype::f32};
const algorithm pretended = [] {
  algorithm a{};
  a.name = "pretended";
  a.types = only_f32;
  return a;
}();

variant pretended_variant(std::string_view name, claim order, bool peer, std::string_view backend = "cpu") {
  return {.algorithm = "pretended",
          .backend = backend,
          .name = name,
          .order = order,
          .types = only_f32,
          .source = "tests",
          .unsupported = [](const problem& p, const backend::device&,
                            const tuning&) { return std::string(p.n() > 100 ? "it stops at 100 elements" : ""); },
          .run = [](const problem&, const bindings&, const tuning&, backend::queue&) {},
          .bound = 1e-6,
          .peer = peer};
}

const backend::device& cpu() {
  static const auto device = backend::cpu::make_device("cpu", {});
  return *device;
}

problem pretended_problem(std::uint64_t n) {
  static const bool added = [] {
    variant shy = pretended_variant("shy", claim::tilewise, false);
    shy.yields = [](const problem&, const backend::device&) { return std::string("another is better"); };
    const std::array variants{pretended_variant("peer", claim::tilewise, true),
                              pretended_variant("elsewhere", claim::tilewise, true, "cuda"),
                              pretended_variant("loose", claim::own, false),
                              shy,
                              pretended_variant("exact", claim::tilewise, false),
                              pretended_variant("shared", claim::tilewise, false, "opencl"),
                              pretended_variant("shared", claim::tilewise, false),
                              pretended_variant("shared", claim::tilewise, false, "openacc")};
    add_peers(variants);
    return true;
  }();
  (void)added;
  return {.what = &pretended, .type = dtype::f32, .shape = {n}};
}

constexpr std::array<unsigned, 3> sizes{64, 128, 256};
constexpr std::array<unsigned, 2> ways{0, 1};
constexpr std::array<std::string_view, 2> way_words{"local", "direct"};
constexpr std::array<tuning_axis, 2> two_axes{{{"group_size", sizes, 128, {}}, {"carry", ways, 0, way_words}}};

}  // namespace

TEST(Catalog, EveryVariantIsNamedOnceAndSaysItsSource) {
  std::set<std::string> ids;
  for (const algorithm* what : algorithms())
    for (const variant* v : variants_of(*what)) {
      EXPECT_TRUE(ids.insert(v->id()).second) << v->id() << " is there twice";
      EXPECT_FALSE(v->source.empty()) << v->id();
      EXPECT_FALSE(v->types.empty()) << v->id();
      EXPECT_EQ(v->order == claim::own, v->bound > 0) << v->id();
      EXPECT_EQ(&find_variant(v->id()), v);
      for (const tuning_axis& axis : v->tuning)
        EXPECT_EQ(std::count(axis.values.begin(), axis.values.end(), axis.preset), 1) << v->id() << " " << axis.name;
    }
}

TEST(Catalog, EveryAlgorithmHasADefinition) {
  for (const algorithm* what : algorithms()) {
    EXPECT_EQ(reference_of(*what).order, claim::tilewise) << what->name;
    EXPECT_EQ(reference_of(*what).types.size(), what->types.size()) << what->name;
  }
}

TEST(Catalog, DescriptorsNameTheEdgesAndTheMeasuredSizes) {
  for (const algorithm* what : algorithms()) {
    EXPECT_FALSE(what->summary.empty()) << what->name;
    const auto has_size = [&](std::uint64_t size) {
      return std::any_of(what->edge_shapes.begin(), what->edge_shapes.end(), [&](const extents& s) {
        return std::find(s.size.begin(), s.size.begin() + s.rank, size) != s.size.begin() + s.rank;
      });
    };
    problem nothing{.what = what, .type = what->types[0], .shape = what->edge_shapes[0]};
    nothing.shape.size.fill(0);
    EXPECT_TRUE(has_size(0) || !what->invalid(nothing).empty()) << what->name << " is not tried with nothing";
    EXPECT_TRUE(has_size(1)) << what->name << " is not tried with one";
    for (const extents& shape : what->quick_shapes) {
      EXPECT_TRUE(has(what->normal_shapes, shape)) << what->name << " " << to_string(shape);
      const problem p{.what = what, .type = what->types[0], .shape = shape};
      EXPECT_FALSE(what->inputs(p).empty() || what->outputs(p).empty()) << what->name;
      EXPECT_GT(what->compulsory_bytes(p), 0) << what->name;
      EXPECT_GT(what->operations(p), 0) << what->name;
    }
  }
}

/// What stands more than once, or ", nothing" if there is an empty name.
std::string repeated(const std::vector<std::string_view>& names) {
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].empty() || std::find(names.begin(), names.begin() + i, names[i]) != names.begin() + i)
      all.append(", ").append(names[i].empty() ? "nothing" : names[i]);
  return all;
}

TEST(Catalog, DescriptorsUseANameOnce) {
  for (const algorithm* what : algorithms()) {
    std::vector<std::string_view> chosen, moved;
    for (const setting& s : what->settings) {
      chosen.push_back(s.name);
      EXPECT_FALSE(s.values.empty()) << what->name << " " << s.name << " has no words";
      EXPECT_EQ(repeated({s.values.begin(), s.values.end()}), "") << what->name << " " << s.name;
    }
    EXPECT_EQ(repeated(chosen), "") << what->name;
    EXPECT_EQ(repeated({what->numbers.begin(), what->numbers.end()}), "") << what->name;
    const problem p{.what = what, .type = what->types[0], .shape = what->edge_shapes[0]};
    for (const operand& o : what->inputs(p)) moved.push_back(o.name);
    for (const operand& o : what->outputs(p)) moved.push_back(o.name);
    EXPECT_EQ(repeated(moved), "") << what->name;
  }
}

TEST(Catalog, SignaturesNameWhatTheirAlgorithmsHave) {
  for (const algorithm* what : algorithms()) {
    if (what->called == nullptr) continue;
    const signature& form = *what->called;
    for (const parameter& p : form.inputs)
      for (const char letter : p.dimensions)
        EXPECT_TRUE(p.dimensions == "*" || form.sizes.find(letter) != form.sizes.npos) << what->name << " " << p.name;
    EXPECT_TRUE(!form.result.dimensions.empty() || form.shape_of_result != nullptr) << what->name;
    for (const option& o : form.options) {
      const auto chosen = std::find_if(what->settings.begin(), what->settings.end(),
                                       [&](const setting& s) { return s.name == o.name; });
      if (o.type) {
        EXPECT_TRUE(std::find(what->numbers.begin(), what->numbers.end(), o.name) != what->numbers.end())
            << what->name << " has no number " << o.name;
      } else if (chosen == what->settings.end()) {
        ADD_FAILURE() << what->name << " has no setting " << o.name;
      } else {
        std::string words;
        for (const std::string_view word : chosen->values) words.append(words.empty() ? "" : "|").append(word);
        EXPECT_EQ(words, o.value) << what->name << " " << o.name;
      }
    }
  }
}

TEST(Choose, HearsWhatACallSays) {
  using call::preferences_of;
  detail::request fast{}, unstable{};
  fast.variant = "v", fast.tuning = "t", fast.fast = true;
  unstable.allow_unstable = true;
  EXPECT_EQ(preferences_of(fast).variant, "v");
  EXPECT_EQ(preferences_of(fast).tuning, "t");
  EXPECT_TRUE(preferences_of(fast).fast);
  EXPECT_FALSE(preferences_of(fast).allow_unstable);
  EXPECT_FALSE(preferences_of(unstable).fast);
  EXPECT_TRUE(preferences_of(unstable).allow_unstable);
}

TEST(Catalog, ADuplicateIsRefusedAndChangesNothing) {
  const std::size_t before = variants().size();
  const variant again = variants().front();
  const std::string text = message_of(errc::invalid_argument, [&] { add_peers({&again, 1}); });
  expect_holds(text, again.id());
  EXPECT_EQ(variants().size(), before);
}

TEST(Catalog, AnUnknownNameIsAnsweredWithTheNearest) {
  expect_holds(message_of(errc::invalid_argument, [] { find_algorithm("scna"); }), "scan");
  expect_holds(message_of(errc::invalid_argument, [] { find_variant("reduce/serail"); }), "reduce/serial");
  const std::array<std::string, 4> names{"blelloch", "lookback", "two_phase", "chunked"};
  EXPECT_EQ(base::nearest("lokback", names).substr(0, 22), " did you mean lookback");
}

TEST(Catalog, VariantsAreProposedInTheFormThatWasAskedFor) {
  std::array<variant, 4> some;
  some.fill(pretended_variant("two_phase", claim::tilewise, false));
  some[1].backend = "opencl";
  some[2].name = "lookback";
  some[3].backend = "serial", some[3].name = "";
  std::vector<const variant*> all;
  for (const variant& v : some) all.push_back(&v);
  all.push_back(&some[0]);  // two algorithms may have variants with one name
  EXPECT_EQ(nearest_variant("two_phas", all), " did you mean cpu:two_phase, opencl:two_phase or lookback?");
  EXPECT_EQ(nearest_variant("lokback", all).substr(0, 22), " did you mean lookback");
  EXPECT_EQ(nearest_variant("cpu:lokback", all).substr(0, 26), " did you mean cpu:lookback");
  EXPECT_EQ(nearest_variant("pretended/seral", all).substr(0, 30), " did you mean pretended/serial");
  EXPECT_EQ(nearest_variant("seral", all).substr(0, 20), " did you mean serial");
}

TEST(Catalog, AVariantIsCalledByNameLabelAndId) {
  for (const variant& v : variants()) {
    EXPECT_TRUE(v.is_called(v.id()) && v.is_called(v.label()) && (v.name.empty() || v.is_called(v.name))) << v.id();
    EXPECT_FALSE(v.is_called("") || v.is_called(v.algorithm) || v.is_called(v.id() + "x")) << v.id();
  }
}

TEST(Catalog, ProblemsAreWrittenWithoutWhatIsPlain) {
  problem p{.what = &find_algorithm("scan"), .type = dtype::f32, .shape = {17}};
  EXPECT_EQ(to_string(p), "scan.f32 n=17 op=sum kind=inclusive init=none");
  choose_setting(p, "carry", "given");
  EXPECT_EQ(to_string(p), "scan.f32 n=17 op=sum kind=inclusive init=none carry=given");
  EXPECT_EQ(to_string(extents{2, 3, 4}), "2x3x4");
  expect_holds(message_of(errc::invalid_argument, [&] { choose_setting(p, "colour", "red"); }), "no setting colour");
}

TEST(Catalog, IndicesOf32BitsAreOfAsManyElementsAsTheyCanName) {
  const algorithm& sort = find_algorithm("sort");
  problem p{.what = &sort, .type = dtype::f32, .shape = {std::uint64_t{1} << 32}};
  choose_setting(p, "payload", "indices");
  EXPECT_EQ(sort.invalid(p), "");
  p.shape = {(std::uint64_t{1} << 32) + 1};
  expect_holds(sort.invalid(p), "4294967297 elements are too many");
  choose_setting(p, "payload", "values32");
  EXPECT_EQ(sort.invalid(p), "");
}

TEST(Tuning, PrintingAndParsingAreInverse) {
  const std::vector<tuning> space = tuning_space(two_axes);
  ASSERT_EQ(space.size(), sizes.size() * ways.size());
  for (const tuning& t : space) EXPECT_EQ(parse_tuning(to_string(t, two_axes), two_axes), t);
  EXPECT_EQ(to_string(default_tuning(two_axes), two_axes), "group_size=128 carry=local");
  for (const algorithm* what : algorithms())
    for (const variant* v : variants_of(*what)) {
      std::set<std::string> printed;
      for (const tuning& t : tuning_space(v->tuning)) {
        EXPECT_EQ(parse_tuning(to_string(t, v->tuning), v->tuning), t) << v->id();
        EXPECT_TRUE(printed.insert(to_string(t, v->tuning)).second) << v->id();
      }
    }
}

TEST(Tuning, APartStartsFromTheDefault) {
  EXPECT_EQ(to_string(parse_tuning("carry=direct", two_axes), two_axes), "group_size=128 carry=direct");
  EXPECT_EQ(parse_tuning("", two_axes), default_tuning(two_axes));
  EXPECT_EQ(changes_of(default_tuning(two_axes), two_axes), "");
  EXPECT_EQ(changes_of(parse_tuning("carry=direct", two_axes), two_axes), "carry=direct");
}

TEST(Tuning, AxesGiveTheirValuesInTheirOrder) {
  const auto [group_size, carry] = parse_tuning("carry=direct group_size=256", two_axes).of(two_axes);
  EXPECT_EQ(group_size, 256u);
  EXPECT_EQ(carry, 1u);
}

TEST(Tuning, ErrorsNameWhatThereIs) {
  const auto parse = [](std::string_view text) {
    return message_of(errc::invalid_argument, [&] { parse_tuning(text, two_axes); });
  };
  expect_holds(parse("group=64"), "it has: group_size=64|128|256 carry=local|direct");
  expect_holds(parse("group_size=100"), "64|128|256");
  expect_holds(parse("carry=1"), "local|direct");
  expect_holds(parse("carry"), "carry=local|direct");
  expect_holds(message_of(errc::invalid_argument, [] { parse_tuning("a=1", {}); }), "none");
}

TEST(Choose, TakesTheOrderUnlessFastIsWanted) {
  EXPECT_EQ(choose(pretended_problem(10), cpu()).variant->name, "exact");
  EXPECT_EQ(choose(pretended_problem(10), cpu(), {.fast = true}).variant->name, "loose");
  EXPECT_FALSE(choose(pretended_problem(10), cpu()).reason.empty());
}

TEST(Choose, ForACallTakesTheSameWithoutWords) {
  for (const algorithm* what : algorithms())
    for (dtype type : what->types)
      for (const extents& shape : {what->quick_shapes.front(), what->quick_shapes.back()}) {
        const problem p{.what = what, .type = type, .shape = shape};
        const choice in_words = choose(p, cpu()), silent = choose_silently(p, cpu());
        EXPECT_EQ(silent.variant, in_words.variant) << to_string(p);
        EXPECT_EQ(silent.tuning, in_words.tuning) << to_string(p);
        EXPECT_EQ(silent.reason, "");
      }
}

TEST(Choose, SaysWhatWasPassedOver) {
  const problem p{.what = &find_algorithm("polymul"), .type = dtype::f64, .shape = {16, 16}};
  EXPECT_EQ(choose(p, cpu()).reason, "since polymul/cpu:ntt: it does not take f64");
  EXPECT_EQ(choose(p, cpu(), {.tuning = "tile=512"}).variant->name, "naive") << "a tuning is of what takes the type";
}

TEST(Choose, NeverTakesAPeer) {
  for (const algorithm* what : algorithms())
    for (dtype type : what->types) {
      const problem p{.what = what, .type = type, .shape = what->quick_shapes[0]};
      EXPECT_FALSE(choose(p, cpu()).variant->peer);
      EXPECT_EQ(choose(p, cpu()).variant->order, claim::tilewise);
    }
}

TEST(Choose, AForcedVariantIsNeverReplaced) {
  EXPECT_EQ(choose(pretended_problem(10), cpu(), {.variant = "loose"}).variant->name, "loose");
  EXPECT_EQ(choose(pretended_problem(10), cpu(), {.variant = "pretended/cpu:exact"}).variant->name, "exact");
  EXPECT_EQ(choose(pretended_problem(10), cpu(), {.variant = "cpu:exact"}).variant->name, "exact");
  const std::string text =
      message_of(errc::unsupported, [] { choose(pretended_problem(101), cpu(), {.variant = "exact"}); });
  expect_holds(text, "it stops at 100 elements");
  expect_holds(text, "pretended/cpu:exact");
  EXPECT_EQ(choose(pretended_problem(10), cpu(), {.variant = "shared"}).variant->backend, "cpu")
      << "of several backends' variants of a name it is the device's own";
  expect_holds(
      message_of(errc::unsupported, [] { choose(pretended_problem(10), cpu(), {.variant = "opencl:shared"}); }),
      "it runs on opencl, not on cpu");
}

TEST(Choose, LeavesAProblemToALaterOneThatIsBetter) {
  const choice made = choose(pretended_problem(10), cpu());
  EXPECT_EQ(made.variant->name, "exact");
  EXPECT_EQ(made.reason, "since pretended/cpu:shy: another is better");
  EXPECT_EQ(choose(pretended_problem(10), cpu(), {.variant = "shy"}).reason, "asked for");
}

/// For a variant that is named, and for the one that is chosen.
TEST(Choose, TakesTheTuningThatIsAskedFor) {
  for (const algorithm* what : algorithms()) {
    const problem p{.what = what, .type = what->types[0], .shape = what->quick_shapes[0]};
    if (!what->invalid(p).empty()) continue;
    const choice plain = choose(p, cpu());
    if (!plain.reason.starts_with("first choice")) continue;  // a tuning belongs to the first choice
    const variant& first = *plain.variant;
    for (const tuning& t : tuning_space(first.tuning)) {
      if (!unsupported_reason(first, p, cpu(), t).empty()) continue;
      const std::string words = to_string(t, first.tuning), id = first.id();
      EXPECT_EQ(choose(p, cpu(), {.tuning = words}).tuning, t) << id << " " << words;
      EXPECT_EQ(choose(p, cpu(), {.variant = id, .tuning = words}).tuning, t) << id << " " << words;
    }
  }
}

TEST(Choose, SaysWhyNothingFits) {
  const std::string text = message_of(errc::unsupported, [] { choose(pretended_problem(101), cpu()); });
  expect_holds(text, "it stops at 100 elements");
  EXPECT_TRUE(text.ends_with("; pretended runs on openacc, opencl")) << "neither what was tried nor a peer's: " << text;
  problem wrong_type = pretended_problem(10);
  wrong_type.type = dtype::i64;
  expect_holds(message_of(errc::unsupported, [&] { choose(wrong_type, cpu()); }), "i64");
}

TEST(Choose, AnUnknownVariantOrTuningIsAnError) {
  expect_holds(message_of(errc::invalid_argument, [] { choose(pretended_problem(10), cpu(), {.variant = "excat"}); }),
               "exact");
  message_of(errc::invalid_argument,
             [] { choose(pretended_problem(10), cpu(), {.variant = "exact", .tuning = "group_size=1"}); });
}

TEST(Choose, ADeviceThatBreaksTheOrderIsLeftOut) {
  struct weak_device final : backend::device {
    using device::device;
    std::unique_ptr<backend::queue> make_queue() override { return nullptr; }
  };
  device_info info;
  info.name = info.backend = "cpu";
  info.fp64 = true;
  info.denormals = false;
  const weak_device flushing(info);
  expect_holds(message_of(errc::unsupported, [&] { choose(pretended_problem(10), flushing); }), "denormals");
  EXPECT_EQ(choose(pretended_problem(10), flushing, {.fast = true}).variant->name, "loose");
  info.fp64 = false, info.denormals = true;
  const weak_device single(info);
  const problem doubles{.what = &find_algorithm("reduce"), .type = dtype::f64, .shape = {10}};
  expect_holds(message_of(errc::unsupported, [&] { choose(doubles, single); }), "has no double precision");
}

}  // namespace tilewise::registry
