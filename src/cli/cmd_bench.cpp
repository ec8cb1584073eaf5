// tilewise bench: check, then measure; table on standard output, records and report to files.
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "cli/bench_table.hpp"
#include "cli/device_use.hpp"
#include "cli/documents.hpp"
#include "cli/file_roles.hpp"
#include "cli/interrupt.hpp"
#include "cli/known_peers.hpp"
#include "cli/output.hpp"
#include "cli/seeds_table.hpp"
#include "io/replacement_file.hpp"
#include "lab/bench.hpp"
#include "lab/environment.hpp"
#include "lab/operand_sets.hpp"
#include "lab/plan.hpp"
#include "lab/problems.hpp"
#include "lab/session.hpp"
#include "record/record_file.hpp"
#include "registry/catalog.hpp"
#include "report/format.hpp"
#include "report/report.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace tilewise::cli {

namespace {

struct bench_request {
  device_list_options devices;
  std::vector<std::string> selectors, types, operations, shapes, settings;
  std::vector<std::uint64_t> sizes;
  std::string preset = "quick", variant, tuning, mode = "hot", precision, records, report;
  double max_time_s = 0;
  bool dry_run = false, quiet = false;
};

template <class T>
T parse_name(const std::string& text, std::span<const T> all, const char* what) {
  std::vector<std::string> names;
  for (T value : all) {
    if (text == name_of(value)) return value;
    names.emplace_back(name_of(value));
  }
  throw error(errc::invalid_argument,
              "there is no " + std::string(what) + " '" + text + "';" + base::nearest(text, names));
}

/// "1%" or "0.5": percent.
double parse_precision(const std::string& text) {
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || (*end != '\0' && std::string_view(end) != "%") || !(percent > 0 && percent <= 50))
    throw error(errc::invalid_argument, "--precision '" + text + "' is not a share such as 1% (above 0, at most 50%)");
  return percent / 100;
}

/// "4096x4096x512": the algorithm says what each size is.
registry::extents parse_shape(const std::string& text) {
  registry::extents shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (bool more = true; more; ++at) {
    std::uint64_t size = 0;
    const auto [after, failure] = std::from_chars(at, end, size);
    if (failure != std::errc() || size > lab::most_elements || shape.rank == shape.size.size() ||
        (after != end && *after != 'x'))
      throw error(errc::invalid_argument,
                  "--shape '" + base::printable(text) +
                      "' is not one to six whole numbers with x between them, such as 4096x4096x512");
    shape.size[shape.rank++] = size;
    at = after;
    more = after != end;
  }
  return shape;
}

/// "order=descending"
std::pair<std::string, std::string> parse_setting(const std::string& text) {
  const std::size_t middle = text.find('=');
  if (middle == text.npos)
    throw error(errc::invalid_argument,
                "--set '" + base::printable(text) + "' is not NAME=WORD, such as order=descending");
  return {text.substr(0, middle), text.substr(middle + 1)};
}

lab::request plan_request(const bench_request& asked) {
  lab::request wanted;
  wanted.base = lab::find_preset(asked.preset);
  wanted.selectors = asked.selectors;
  wanted.variant = asked.variant;
  wanted.sizes = asked.sizes;
  wanted.tuning = asked.tuning;
  wanted.public_calls = asked.devices.threads == 0;
  wanted.documents = documents();
  for (const std::string& t : asked.types) wanted.types.push_back(parse_name<dtype>(t, all_dtypes, "type"));
  for (const std::string& text : asked.shapes) wanted.shapes.push_back(parse_shape(text));
  for (const std::string& o : asked.operations) wanted.settings.emplace_back("op", o);
  for (const std::string& text : asked.settings) wanted.settings.push_back(parse_setting(text));
  wanted.devices = open_devices(asked.devices);
  wanted.names_devices = asked.devices.names != device_list_options{}.names;
  return wanted;
}

lab::measuring measuring_of(const bench_request& asked, const lab::preset& base) {
  lab::measuring how;
  how.rule = base.rule;
  how.cold = asked.mode == "cold";
  if (!asked.precision.empty()) how.rule.precision = parse_precision(asked.precision);
  if (asked.max_time_s > 0) how.rule.max_ns = asked.max_time_s * 1e9;
  how.rule.min_ns = std::min(how.rule.min_ns, how.rule.max_ns);
  how.hooks.interrupted = interrupt_requested;
  return how;
}

void warn_of_unfit_build() {
  if (!lab::is_release_build())
    note(
        "tilewise: WARNING: this is not a Release build; its times say nothing about Tilewise. Configure with "
        "-DCMAKE_BUILD_TYPE=Release");
}

exit_code print_plan(const std::vector<lab::group>& plan, const lab::measuring& how) {
  double longest_s = 0;
  for (const lab::group& g : plan) {
    print(g.name() + ": " + report::bytes(static_cast<double>(lab::operand_bytes(g.problem))) + " on the device\n");
    for (const lab::row& r : g.rows) {
      print("  " + r.id() + " @" + r.place() + (r.skip.empty() ? "" : " (skipped: " + r.skip + ")") + "\n");
      longest_s += how.rule.max_ns * 1e-9;
    }
  }
  print(std::to_string(plan.size()) + " groups, measuring for at most " + report::significant(longest_s, 2) + " s\n");
  return exit_code::ok;
}

/// "142 rows: 8 algorithms, 41 variants, 16 sizes, f32 and i32"
std::string extent_of(const std::vector<lab::group>& plan) {
  std::set<std::string> variants, sizes, types;
  std::set<const registry::algorithm*> algorithms;
  std::size_t rows = 0;
  for (const lab::group& g : plan) {
    rows += g.rows.size();
    for (const lab::row& r : g.rows) variants.insert(r.id());
    algorithms.insert(g.problem.what);
    sizes.insert(std::string(g.problem.what->name) + registry::to_string(g.problem.shape));
    types.emplace(name_of(g.problem.type));
  }
  std::string text = std::to_string(rows) + " rows: " + std::to_string(algorithms.size()) + " algorithms, " +
                     std::to_string(variants.size()) + " variants, " + std::to_string(sizes.size()) + " sizes, ";
  for (const std::string& type : types) text += (type == *types.begin() ? "" : " ") + type;
  return text;
}

/// What a first look leaves out.
std::string beyond_first_look(const std::vector<lab::group>& plan, lab::request wanted) {
  wanted.base = lab::find_preset("normal");
  return "This first look covered " + extent_of(plan) + ".\n--preset normal covers " +
         extent_of(lab::make_plan(wanted)) + ".\n";
}

/// Keeps the records, prints each problem's block when it is complete, and writes each record as it comes.
class bench_run {
 public:
  bench_run(const bench_request& asked, std::span<const lab::group> plan, std::vector<std::string> argv)
      : asked_(asked), plan_(plan), session_(lab::describe_session(std::move(argv))) {
    if (!asked.records.empty()) file_.emplace(asked.records);
  }

  exit_code run(lab::measuring how) {
    how.hooks.before_sample = [this](const lab::contender& next, std::size_t round) {
      tell("round " + std::to_string(round) + ", " + next.name);
    };
    lab::bench_events events;
    events.before_group = [this](const lab::group& g, std::size_t index) { begin(g, index); };
    events.before_course = [this](const lab::row& by) { tell("the course by " + by.id() + " @" + by.place()); };
    events.on_record = [this](const lab::measured& m) { keep(m); };
    const bool of_documents = plan_.front().from != nullptr;
    print(of_documents ? seeds_heading() : bench_heading());
    lab::run_bench(plan_, how, events);
    print_block();
    print(bench_verdict(all_));
    if (!asked_.report.empty()) report::write_html(written_, asked_.report);
    return judge();
  }

 private:
  void begin(const lab::group& g, std::size_t index) {
    current_ = index;
    const std::string title = registry::to_string(g.problem);
    if (title != block_title_) print_block();
    block_title_ = title;
    tell(g.name());
  }

  void tell(const std::string& what) const {
    progress("group " + std::to_string(current_ + 1) + "/" + std::to_string(plan_.size()) + ", " + what);
  }

  void keep(lab::measured m) {
    session_.sign(m.result);
    if (file_) file_->write(m.result);
    written_.push_back(m.result);
    tell_line(m);
    block_.push_back(m);
    all_.push_back(std::move(m));
  }

  void tell_line(const lab::measured& m) const {
    if (asked_.quiet || shows_progress()) return;
    note(m.result.what.group + " " + m.result.what.variant + " @" + m.place + ": " +
         std::string(name_of(m.result.state)) + ", " +
         (m.kernel() != nullptr ? report::duration(*m.kernel()->median_ns) : m.result.reason.value_or("")));
  }

  void print_block() {
    progress("");
    if (!block_.empty()) print(block_.front().from != nullptr ? seeds_block(block_) : bench_block(block_));
    block_.clear();
  }

  /// An interrupted run says so; otherwise the most serious outcome.
  exit_code judge() const {
    if (interrupt_requested()) return exit_code::interrupted;
    const auto lacks_memory = [](const lab::measured& m) { return m.failure == errc::out_of_memory; };
    if (std::all_of(all_.begin(), all_.end(), lacks_memory)) {
      note("tilewise: nothing could be measured: " + *all_.front().result.reason + "; choose a smaller --n or --shape");
      return exit_code::out_of_memory;
    }
    exit_code worst = exit_code::ok;
    for (const lab::measured& m : all_) {
      const auto& course = m.result.course;
      if (m.result.state == record::status::wrong || (course && course->differs_from_document()))
        return exit_code::wrong_result;
      if (m.result.state == record::status::failed)
        worst = graver(worst, m.failure ? exit_code_of(*m.failure) : exit_code::internal);
    }
    return worst;
  }

  const bench_request& asked_;
  std::span<const lab::group> plan_;
  lab::session session_;
  std::optional<record::record_file> file_;
  std::size_t current_ = 0;
  std::string block_title_;
  std::vector<lab::measured> block_, all_;
  std::vector<record::result> written_;
};

exit_code bench(const bench_request& asked, const std::vector<std::string>& argv) {
  require_distinct_outputs(asked.records, asked.report);
  if (!asked.report.empty()) io::try_output(asked.report);  // not after an hour of measuring
  warn_of_unfit_build();
  add_known_peers();
  const lab::request wanted = plan_request(asked);
  const lab::measuring how = measuring_of(asked, wanted.base);
  const std::vector<lab::group> plan = lab::make_plan(wanted);
  if (plan.empty())
    throw error(errc::unsupported,
                "none of the selected variants runs on the selected devices with these types; "
                "`tilewise list` shows all of them");
  if (asked.dry_run) return print_plan(plan, how);
  take_interrupts();
  const exit_code result = bench_run(asked, plan, argv).run(how);
  if (wanted.base.of_documents) print(seeds_left_out(lab::left_out(plan, wanted)));
  if (wanted.is_first_look() && !interrupt_requested()) print(beyond_first_look(plan, wanted));
  return result;
}

void add_what(CLI::App& command, bench_request& to) {
  command.add_option("SELECTOR", to.selectors, "an algorithm, a variant or a pattern: 'scan/cuda:*'")
      ->option_text("...");
  command.add_option("--preset", to.preset, "quick, normal, thorough or seeds")->option_text("NAME");
  add_device_list_options(command, to.devices);
  several(command.add_option("--n", to.sizes, "elements; for matrices the side: NxN, NxNxN")
              ->option_text("N,...")
              ->check(whole_number(1, lab::most_elements)));
  several(command.add_option("--shape", to.shapes, "such as 4096x512; for matmul MxNxK")->option_text("AxB,..."));
  several(command.add_option("--set", to.settings, "a setting such as order=descending")->option_text("NAME=WORD,..."));
  several(command.add_option("--dtype", to.types, "f32 f64 i32 i64 u32 u64, instead of the preset's")
              ->option_text("T,..."));
  several(command.add_option("--op", to.operations, "sum, product, min, max, instead of the preset's")
              ->option_text("OP,..."));
  command.add_option("--variant", to.variant, "only variants with this name")->option_text("NAME");
  command.add_option("--tuning", to.tuning, "such as \"group_size=64\", or all")->option_text("TEXT");
}

void add_how(CLI::App& command, bench_request& to) {
  command.add_option("--mode", to.mode, "cold flushes the caches before each call")
      ->check(CLI::IsMember({"hot", "cold"}))
      ->option_text("hot|cold");
  command.add_option("--precision", to.precision, "how precisely to know the median; default 1%")->option_text("P%");
  command.add_option("--max-time", to.max_time_s, "at most this many seconds per row")
      ->option_text("S")
      ->check([](const std::string& text) {
        return std::strtod(text.c_str(), nullptr) > 0 ? "" : "'" + text + "' is not a number of seconds above 0";
      });
  add_file_option(command, "-o", to.records, "append one JSON record per row", "FILE.jsonl");
  add_file_option(command, "--report", to.report, "write the page that explains the records", "FILE.html");
  command.add_flag("--dry-run", to.dry_run, "print what would be measured");
  command.add_flag("-q,--quiet", to.quiet, "no progress lines");
}

}  // namespace

void add_bench(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("bench", "the speed of every variant, bits checked first");
  auto asked = std::make_shared<bench_request>();
  add_what(*command, *asked);
  add_how(*command, *asked);
  command->footer(
      "bits: = the definition's, ~ another order, within its bound. A wrong result has\n"
      "no time, and the exit code is 3. Times are medians, +-% half their 95% interval.\n"
      "rate: in the unit shown with the problem; limit: its share of the device's own\n"
      "copy or multiply-adds. ! marks a time that cannot be true: by that limit its\n"
      "rate is impossible, or it exceeds the time from host to host, with transfers.\n"
      "The preset quick, the default, measures two sizes of one type: what each device\n"
      "would choose, the peers, and all variants of matmul at one size; of a selection\n"
      "it measures everything. normal adds types, sizes and the other variants.\n"
      "The preset seeds repeats the experiments of the documents that Tilewise started\n"
      "from, with every variant; their figures appear next to ours, marked by a letter.\n"
      "\n"
      "Examples:\n"
      "  tilewise bench --report report.html\n"
      "  tilewise bench scan --n 67108865 --device cpu --device cuda:0\n"
      "  tilewise bench matmul --shape 4096x4096x512 --dtype f32,f64\n"
      "  tilewise bench sort --n 1048576 --set order=descending,payload=indices\n"
      "  tilewise bench 'scan/opencl:*' --tuning all -o tuning.jsonl\n"
      "  tilewise bench polymul --preset seeds");
  command->callback([&call, asked] { call.run = [&call, asked] { return bench(*asked, call.argv); }; });
}

}  // namespace tilewise::cli
