// SPDX-License-Identifier: Apache-2.0
#include "tool/ranks/agreement.hpp"

#include "backend/group/mpi_world.hpp"
#include "base/printable.hpp"
#include "io/unfinished.hpp"
#include "lab/machine/environment.hpp"
#include "registry/algorithm.hpp"

#include <tilewise/version.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace tilewise::cli {

namespace {

constexpr const char* of_one_rank[] = {"--device", "--threads", "--device-memory", "--time-limit"};

/// All ranks must call it: the texts of all ranks, of any length and with any characters.
std::vector<std::string> gathered(const std::string& mine) {
  backend::group::world& ranks = backend::group::mpi();
  const std::vector<std::uint64_t> lengths = backend::group::gathered<std::uint64_t>(ranks, mine.size());
  const std::uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string sent = mine, all(longest * ranks.size(), '\0');
  sent.resize(longest);
  ranks.all_gather(sent.data(), longest, all.data());
  std::vector<std::string> texts;
  for (unsigned i = 0; i < ranks.size(); ++i) texts.push_back(all.substr(i * longest, lengths[i]));
  return texts;
}

std::vector<std::string> split_at_zeros(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
  return words;
}

std::string to_text(const rank_call& call) {
  std::string text = call.build + '\0' + call.folder + '\0';
  for (const std::string& word : call.words) text += word + '\0';
  return text;
}

rank_call parse(const std::string& text) {
  std::vector<std::string> words = split_at_zeros(text);
  return {words.at(0), words.at(1), {words.begin() + 2, words.end()}};
}

std::vector<std::string> words_of_this_process() {
  std::ifstream line("/proc/self/cmdline");
  const std::string text{std::istreambuf_iterator<char>(line), {}};
  std::vector<std::string> words = split_at_zeros(text);
  return {words.begin() + std::min<std::ptrdiff_t>(1, std::ssize(words)), words.end()};
}

std::string build_in_words() {
  const record::tool build = lab::tool_facts();
  return build.version + (build.commit ? " (" + *build.commit + ")" : "") + " with order " +
         std::to_string(build.order_version);
}

std::optional<std::string> nth(const rank_call& call, std::size_t i) {
  return i < call.words.size() ? std::optional(call.words[i]) : std::nullopt;
}

/// Whether a word contains a file or folder relative to the current folder: as the word, as the value in
/// --option=value, or in -ovalue, also after flags as in -vovalue. No other short option takes a value.
bool is_found_from_here(const std::string& word) {
  const bool is_long = word.starts_with("--"), is_short = !is_long && word.starts_with('-');
  const std::size_t before = is_long ? word.find('=') : is_short ? word.find('o') : word.npos;
  const std::string name = before == word.npos ? word : word.substr(before + 1);
  std::error_code unknown;
  return !name.starts_with('/') && std::filesystem::exists(name, unknown);
}

std::string shown(const std::optional<std::string>& word) {
  return word ? "'" + base::printable(*word) + "'" : "nothing";
}

}  // namespace

rank_call call_of(const std::vector<std::string>& words) {
  rank_call call{.build = build_in_words(), .folder = {}, .words = {}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (std::find(std::begin(of_one_rank), std::end(of_one_rank), name) == std::end(of_one_rank))
      call.words.push_back(words[i]);
    else if (name == words[i])
      ++i;  // its value
  }
  std::error_code unknown;
  if (std::any_of(call.words.begin(), call.words.end(), is_found_from_here))
    call.folder = std::filesystem::current_path(unknown);
  return call;
}

std::string difference(std::span<const rank_call> of_ranks) {
  const rank_call& first = of_ranks.front();
  for (std::size_t i = 1; i < of_ranks.size(); ++i) {
    const rank_call& other = of_ranks[i];
    const std::string rank = "rank " + std::to_string(i);
    if (other.build != first.build)
      return rank + " is tilewise " + other.build + ", rank 0 is " + first.build + "; run one build on all hosts";
    for (std::size_t w = 0; w < std::max(first.words.size(), other.words.size()); ++w)
      if (nth(first, w) != nth(other, w))
        return rank + " was started with " + shown(nth(other, w)) + " where rank 0 has " + shown(nth(first, w)) +
               "; all ranks take the same words, but for --device, --threads, --device-memory and --time-limit";
    if (other.folder != first.folder)
      return rank + " looks for files in " + base::printable(other.folder) + ", rank 0 in " +
             base::printable(first.folder) + "; name them from / on, or start all ranks in one folder";
  }
  return "";
}

void require_same_call() {
  static bool is_known = false;
  if (is_known || !backend::group::is_mpi_process()) return;
  is_known = true;
  backend::group::mpi().before_giving_up(io::remove_unfinished);
  std::vector<rank_call> calls;
  for (const std::string& text : gathered(to_text(call_of(words_of_this_process())))) calls.push_back(parse(text));
  if (const std::string found = difference(calls); !found.empty()) throw error(errc::invalid_argument, found);
}

std::string in_full(const registry::problem& p) {
  std::string text = to_string(p);
  for (std::size_t i = 0; i < p.what->numbers.size(); ++i)
    text += " " + std::string(p.what->numbers[i]) + "=" + base::to_hex(p.number[i]);
  return text;
}

void require_same_problem(const registry::problem& p, const std::string& more) {
  if (!backend::group::is_mpi_process()) return;
  const std::vector<std::string> all = gathered(in_full(p) + more);
  const auto other = std::find_if(all.begin(), all.end(), [&](const std::string& text) { return text != all.front(); });
  if (other != all.end())
    throw error(errc::invalid_argument, "rank " + std::to_string(other - all.begin()) +
                                            " reads other files: " + base::printable(*other) + " where rank 0 has " +
                                            base::printable(all.front()) + "; all hosts must see the same files");
}

}  // namespace tilewise::cli
