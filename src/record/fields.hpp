// SPDX-License-Identifier: Apache-2.0
// The keys of a record. Each is spelt once, here: the code that writes a record, reads it or checks it against the
// schema walks these lists.
#pragma once

#include "record/record.hpp"

#include <tuple>

namespace tilewise::record {

template <class Owner, class Value>
struct field {
  std::string_view key;
  Value Owner::*member;
};
template <class Owner, class Value>
field(std::string_view, Value Owner::*) -> field<Owner, Value>;  // clang deduces none for aggregates by itself

template <class T>
inline constexpr std::tuple<> fields_of{};

template <>
inline constexpr auto fields_of<tool> = std::tuple{field{"version", &tool::version},
                                                   field{"commit", &tool::commit},
                                                   field{"dirty", &tool::dirty},
                                                   field{"compiler", &tool::compiler},
                                                   field{"flags", &tool::flags},
                                                   field{"build_type", &tool::build_type},
                                                   field{"order_version", &tool::order_version}};

template <>
inline constexpr auto fields_of<cache> = std::tuple{field{"level", &cache::level}, field{"bytes", &cache::bytes}};

template <>
inline constexpr auto fields_of<host> =
    std::tuple{field{"hostname", &host::hostname},       field{"os", &host::os},
               field{"kernel", &host::kernel},           field{"cpu_model", &host::cpu_model},
               field{"sockets", &host::sockets},         field{"cores", &host::cores},
               field{"threads", &host::threads},         field{"caches", &host::caches},
               field{"ram_bytes", &host::ram_bytes},     field{"cgroup_mem_bytes", &host::cgroup_mem_bytes},
               field{"governor", &host::governor},       field{"load_avg_1m", &host::load_avg_1m},
               field{"virtualised", &host::virtualised}, field{"env", &host::env}};

template <>
inline constexpr auto fields_of<device> = std::tuple{field{"name", &device::name},
                                                     field{"backend", &device::backend},
                                                     field{"description", &device::description},
                                                     field{"platform", &device::platform},
                                                     field{"driver", &device::driver},
                                                     field{"api_version", &device::api_version},
                                                     field{"compute_units", &device::compute_units},
                                                     field{"max_clock_mhz", &device::max_clock_mhz},
                                                     field{"memory_bytes", &device::memory_bytes},
                                                     field{"cache_bytes", &device::cache_bytes},
                                                     field{"local_memory_bytes", &device::local_memory_bytes},
                                                     field{"is_cpu", &device::is_cpu},
                                                     field{"max_group_size", &device::max_group_size},
                                                     field{"group_multiple", &device::group_multiple}};

template <>
inline constexpr auto fields_of<measured_case> = std::tuple{field{"group", &measured_case::group},
                                                            field{"algorithm", &measured_case::algorithm},
                                                            field{"variant", &measured_case::variant},
                                                            field{"backend", &measured_case::backend},
                                                            field{"name", &measured_case::name},
                                                            field{"peer", &measured_case::peer},
                                                            field{"order", &measured_case::order},
                                                            field{"source", &measured_case::source},
                                                            field{"dtype", &measured_case::dtype},
                                                            field{"shape", &measured_case::shape},
                                                            field{"n", &measured_case::n},
                                                            field{"settings", &measured_case::settings},
                                                            field{"tuning", &measured_case::tuning},
                                                            field{"tuned_at", &measured_case::tuned_at},
                                                            field{"data", &measured_case::data},
                                                            field{"seed", &measured_case::seed},
                                                            field{"threads", &measured_case::threads},
                                                            field{"mode", &measured_case::mode},
                                                            field{"bytes_min", &measured_case::bytes_min},
                                                            field{"operations", &measured_case::operations}};

template <>
inline constexpr auto fields_of<mismatch> =
    std::tuple{field{"operand", &mismatch::operand}, field{"index", &mismatch::index},
               field{"expected", &mismatch::expected}, field{"got", &mismatch::got}};

template <>
inline constexpr auto fields_of<verification> =
    std::tuple{field{"ok", &verification::ok},
               field{"method", &verification::method},
               field{"digest", &verification::digest},
               field{"reference", &verification::reference},
               field{"reference_digest", &verification::reference_digest},
               field{"mismatches", &verification::mismatches},
               field{"max_relative_error", &verification::max_relative_error},
               field{"changed_outputs", &verification::changed_outputs},
               field{"first_mismatch", &verification::first_mismatch}};

template <>
inline constexpr auto fields_of<clock> = std::tuple{field{"n", &clock::n},
                                                    field{"calls_per_sample", &clock::calls_per_sample},
                                                    field{"median_ns", &clock::median_ns},
                                                    field{"ci95_lo_ns", &clock::ci95_lo_ns},
                                                    field{"ci95_hi_ns", &clock::ci95_hi_ns},
                                                    field{"min_ns", &clock::min_ns},
                                                    field{"max_ns", &clock::max_ns},
                                                    field{"q1_ns", &clock::q1_ns},
                                                    field{"q3_ns", &clock::q3_ns},
                                                    field{"mad_ns", &clock::mad_ns},
                                                    field{"mean_ns", &clock::mean_ns},
                                                    field{"outliers", &clock::outliers},
                                                    field{"stop_reason", &clock::stop_reason},
                                                    field{"visits", &clock::visits},
                                                    field{"samples_ns", &clock::samples_ns}};

template <>
inline constexpr auto fields_of<phases> =
    std::tuple{field{"read", &phases::read}, field{"upload", &phases::upload}, field{"kernel", &phases::kernel},
               field{"download", &phases::download}, field{"write", &phases::write}};

template <>
inline constexpr auto fields_of<timing> = std::tuple{field{"kernel", &timing::kernel},
                                                     field{"h2d", &timing::h2d},
                                                     field{"d2h", &timing::d2h},
                                                     field{"round_trip", &timing::round_trip},
                                                     field{"end_to_end", &timing::end_to_end},
                                                     field{"first_call_ns", &timing::first_call_ns},
                                                     field{"clock", &timing::clock_name},
                                                     field{"clock_resolution_ns", &timing::clock_resolution_ns},
                                                     field{"phases", &timing::phases}};

template <>
inline constexpr auto fields_of<rates> = std::tuple{field{"elements_per_s", &rates::elements_per_s},
                                                    field{"bytes_per_s", &rates::bytes_per_s},
                                                    field{"operations_per_s", &rates::operations_per_s},
                                                    field{"ceiling", &rates::bound_by},
                                                    field{"ceiling_bytes_per_s", &rates::ceiling_bytes_per_s},
                                                    field{"ceiling_operations_per_s", &rates::ceiling_operations_per_s},
                                                    field{"fraction_of_ceiling", &rates::fraction_of_ceiling},
                                                    field{"plausible", &rates::plausible}};

template <>
inline constexpr auto fields_of<ratio> =
    std::tuple{field{"to", &ratio::to},         field{"device", &ratio::device},   field{"tuning", &ratio::tuning},
               field{"median", &ratio::median}, field{"ci95_lo", &ratio::ci95_lo}, field{"ci95_hi", &ratio::ci95_hi}};

template <>
inline constexpr auto fields_of<noise> =
    std::tuple{field{"aa_median_ratio", &noise::aa_median_ratio}, field{"min_effect", &noise::min_effect},
               field{"visits_effect", &noise::visits_effect}};

template <>
inline constexpr auto fields_of<published_time> =
    std::tuple{field{"system", &published_time::system}, field{"machine", &published_time::machine},
               field{"ns", &published_time::ns}, field{"with_transfers", &published_time::with_transfers}};

template <>
inline constexpr auto fields_of<experiment> = std::tuple{field{"document", &experiment::document},
                                                         field{"baseline", &experiment::baseline},
                                                         field{"baseline_device", &experiment::baseline_device},
                                                         field{"first_outputs", &experiment::first_outputs},
                                                         field{"published", &experiment::published},
                                                         field{"of_problem", &experiment::of_problem},
                                                         field{"system", &experiment::system},
                                                         field{"differs", &experiment::differs},
                                                         field{"times_in_run", &experiment::times_in_run},
                                                         field{"check", &experiment::check},
                                                         field{"check_value", &experiment::check_value}};

template <>
inline constexpr auto fields_of<moment> = std::tuple{field{"step", &moment::step},
                                                     field{"simulated_time", &moment::simulated_time},
                                                     field{"residual", &moment::residual},
                                                     field{"hash", &moment::hash},
                                                     field{"published_hash", &moment::published_hash},
                                                     field{"picture_png", &moment::picture_png},
                                                     field{"run_ns", &moment::run_ns}};

template <>
inline constexpr auto fields_of<course> =
    std::tuple{field{"stopped", &course::stopped}, field{"hash_function", &course::hash_function},
               field{"moments", &course::moments}};

template <>
inline constexpr auto fields_of<ranks> = std::tuple{field{"count", &ranks::number},
                                                    field{"transport", &ranks::transport},
                                                    field{"sent_bytes", &ranks::sent_bytes},
                                                    field{"exchanges", &ranks::exchanges},
                                                    field{"exchange_ns", &ranks::exchange_ns},
                                                    field{"latency_ns", &ranks::latency_ns},
                                                    field{"link_bytes_per_s", &ranks::link_bytes_per_s}};

template <>
inline constexpr auto fields_of<result> =
    std::tuple{field{"schema", &result::schema},     field{"id", &result::id},
               field{"time_utc", &result::time_utc}, field{"argv", &result::argv},
               field{"status", &result::state},      field{"reason", &result::reason},
               field{"tool", &result::tool},         field{"host", &result::host},
               field{"device", &result::device},     field{"case", &result::what},
               field{"verify", &result::verify},     field{"timing", &result::timing},
               field{"derived", &result::derived},   field{"ratios", &result::ratios},
               field{"noise", &result::noise},       field{"experiment", &result::experiment},
               field{"course", &result::course},     field{"ranks", &result::ranks}};

/// A part of a record that is a JSON object, with the keys of its list.
template <class T>
concept part = std::tuple_size_v<std::remove_cvref_t<decltype(fields_of<T>)>>
!= 0;

/// Calls `f` for each member in order, with its key.
template <part T, class F>
constexpr void each_field(F&& visit) {
  std::apply([&](const auto&... f) { (visit(f), ...); }, fields_of<T>);
}

template <part T, class Value>
constexpr std::string_view key_of(Value T::*member) {
  std::string_view key;
  each_field<T>([&]<class V>(const field<T, V>& f) {
    if constexpr (std::is_same_v<V, Value>)
      if (f.member == member) key = f.key;
  });
  return key;
}

}  // namespace tilewise::record
