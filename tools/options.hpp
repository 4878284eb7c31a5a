// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The command line of tagma-run: the one table of its options, help, and reading.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "refusal.hpp"
#include "tagma/base/nearest.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma::tools {

/// A name and what is said about it: `--feed NAME=TEXT`.
struct named_text {
  std::string name, text;
};

/// What a command line asks for.
struct options {
  std::string file;
  bool help = false, version = false, explain = false, dot = false, json = false, verify = false, run = false;
  std::int64_t train = 0;  ///< steps; 0: none
  bool benchmark = false;
  bool gpus = false, fake_gpus = false;
  std::int64_t benchmarks = 0;  ///< runs that are measured; 0: as many as take two seconds
  std::vector<std::string> fetches;
  std::vector<named_text> feeds;  ///< without a name: of every input that has none of its own
  std::vector<named_text> sizes;
  std::int64_t batch = 0;  ///< of open extents; 0: not said
  std::uint64_t seed = 0;
  int threads = 0;
  std::string weights, save, trace;
  std::vector<std::string> outputs;

  /// True if a session is needed.
  [[nodiscard]] bool runs() const { return run || train > 0 || benchmark; }
};

/// One option.
struct option_rule {
  enum class takes { nothing, text, maybe_number };

  const char* name;
  const char* argument;  ///< as help shows it
  takes what;
  const char* help;
};

inline constexpr option_rule option_rules[] = {
    {"--explain", "", option_rule::takes::nothing, "the plan: steps, loops, where each tensor lives (of --fetch)"},
    {"--dot", "", option_rule::takes::nothing, "the graph in Graphviz' language"},
    {"--json", "", option_rule::takes::nothing, "everything that is printed, as one JSON object"},
    {"--verify", "", option_rule::takes::nothing, "read and verify the program, and say 'ok' or what is wrong"},
    {"--run", "", option_rule::takes::nothing, "compute outputs and print them"},
    {"--train", "N", option_rule::takes::text, "run the outputs that update variables N times"},
    {"--benchmark", "[N]", option_rule::takes::maybe_number,
     "measure N runs (as many as take 2 s), 3 before them aside"},
    {"--fetch", "NAME", option_rule::takes::text,
     "an output; several times for several (all; behind --train those that update nothing)"},
    {"--feed", "NAME=WHAT", option_rule::takes::text, "an input, or an output instead of computing it; see below"},
    {"--size", "NAME=N,N", option_rule::takes::text, "the open extents of a generated input, in their order"},
    {"--batch", "N", option_rule::takes::text, "every other open extent, also of sizes in bytes (1)"},
    {"--seed", "N", option_rule::takes::text, "of initial values, random operations and random inputs (0)"},
    {"--threads", "N", option_rule::takes::text, "threads of a kernel, and of the steps of a run (all)"},
    {"--gpus", "", option_rule::takes::nothing, "on the GPUs of this machine what they have kernels for"},
    {"--fake-gpus", "", option_rule::takes::nothing, "the same on two GPUs that the CPU stands in for"},
    {"--weights", "FILE", option_rule::takes::text, "safetensors: values of the variables before the first run"},
    {"--save", "FILE", option_rule::takes::text, "safetensors: write the variables behind the last run"},
    {"--output", "[NAME=]FILE", option_rule::takes::text, "write results of --run: one to .npy, all to .safetensors"},
    {"--trace", "FILE", option_rule::takes::text, "JSON: write a timeline of --run for ui.perfetto.dev"},
    {"--version", "", option_rule::takes::nothing, "versions, and what this was compiled with"},
    {"--help", "", option_rule::takes::nothing, "this"},
};

[[nodiscard]] inline std::string help_text(std::string_view build) {
  std::string text =
      "usage: tagma-run FILE [options]\n\n"
      "Reads a program that tagma::write_program wrote, and says what it holds, runs it, trains it or "
      "measures it.\n\n";
  for (const option_rule& rule : option_rules) {
    const std::string left = sentence({"  ", rule.name, *rule.argument == '\0' ? "" : " ", rule.argument});
    append_parts(text, {left, std::string(left.size() < 31 ? 31 - left.size() : 1, ' '), rule.help, "\n"});
  }
  text +=
      "\nWhat --feed NAME=WHAT takes (without NAME= it is for every input that has none of its own):\n"
      "  FILE.npy                     an array of NumPy; FILE.npy.gz, compressed\n"
      "  FILE.safetensors[:KEY]       the tensor KEY, or that of the name of the input\n"
      "  random[:SHAPE[:LOW..HIGH]]   numbers of --seed: random, random:32,8, random::0..9; floats from -1 to 1 and\n"
      "                               integers 0 and 1, or from LOW to HIGH, which integers may be as well\n"
      "  zeros, ones, NUMBER          each element is that\n"
      "\nExit status: 0 done; 1 a run failed, or its results could not be written; 2 the command line is wrong, or\n"
      "does not fit the program; 3 the program is refused: missing, damaged, of another version; 4 another file "
      "is.\n\n";
  return text.append(build) += '\n';
}

/// A whole number that is a whole text; refuses anything else, naming the option.
template <class Number>
[[nodiscard]] Number whole_number(std::string_view text, std::string_view option, Number least) {
  Number n{};
  const auto [last, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (problem != std::errc{} || last != text.data() + text.size() || n < least)
    refuse(exit_status::usage, {option, " takes a whole number from ", least, " on, not '", text, "'"});
  return n;
}

/// "2,3" as numbers that are not negative.
[[nodiscard]] inline std::vector<extent> whole_numbers(std::string_view text, std::string_view option) {
  std::vector<extent> numbers;
  for (;;) {
    const std::size_t comma = text.find(',');
    numbers.push_back(whole_number<extent>(text.substr(0, comma), option, 0));
    if (comma == text.npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

/// Reads a command line.
class option_reader {
 public:
  explicit option_reader(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  /// Refuses what it does not understand, and what makes no sense together.
  [[nodiscard]] options read() {
    bool only_files = false;
    while (at_ < arguments_.size()) {
      const std::string& argument = arguments_[at_++];
      if (argument == "--" && !only_files)
        only_files = true;
      else if (only_files || argument.size() < 2 || argument[0] != '-')
        take_file(argument);
      else
        take_option(argument);
    }
    if (!result_.help && !result_.version) check();
    return std::move(result_);
  }

 private:
  void take_file(const std::string& file) {
    if (!result_.file.empty())
      refuse(exit_status::usage, {"one program at a time: '", result_.file, "' and '", file, "'"});
    result_.file = file;
  }

  void take_option(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const option_rule* rule = nullptr;
    for (const option_rule& r : option_rules)
      if (name == r.name) rule = &r;
    if (rule == nullptr) refuse_unknown(name);
    std::string text;
    if (rule->what == option_rule::takes::nothing) {
      if (equals != argument.npos) refuse(exit_status::usage, {name, " takes nothing behind a '='"});
    } else if (equals != argument.npos) {
      text = argument.substr(equals + 1);
    } else if (rule->what == option_rule::takes::maybe_number) {
      const bool follows = at_ < arguments_.size() && !arguments_[at_].empty() &&
                           arguments_[at_].find_first_not_of("0123456789") == std::string::npos;
      if (follows) text = arguments_[at_++];
    } else {
      if (at_ == arguments_.size()) refuse(exit_status::usage, {name, " takes ", rule->argument, " behind it"});
      text = arguments_[at_++];
    }
    keep(name, text, equals != argument.npos);
  }

  [[noreturn]] static void refuse_unknown(const std::string& name) {
    const option_rule* nearest = nullptr;
    for (const option_rule& r : option_rules)
      if (name.size() > 3 && std::string_view(r.name).starts_with(name)) nearest = &r;
    std::size_t least = nearest != nullptr ? 0 : 4;  // further away it is no slip
    for (const option_rule& r : option_rules)
      if (const std::size_t d = tagma::detail::edits_between(name, r.name); d < least) nearest = &r, least = d;
    if (nearest != nullptr)
      refuse(exit_status::usage, {"unknown option '", name, "'; did you mean ", nearest->name, "?"});
    refuse(exit_status::usage, {"unknown option '", name, "'; --help lists those that there are"});
  }

  void keep(std::string_view name, const std::string& text, bool given) {
    const auto one = [&](std::string& to) {
      if (text.empty()) refuse(exit_status::usage, {name, " takes a file"});
      if (!to.empty()) refuse(exit_status::usage, {name, " is given twice"});
      to = text;
    };
    options& o = result_;
    if (name == "--explain") o.explain = true;
    if (name == "--dot") o.dot = true;
    if (name == "--json") o.json = true;
    if (name == "--verify") o.verify = true;
    if (name == "--run") o.run = true;
    if (name == "--gpus") o.gpus = true;
    if (name == "--fake-gpus") o.fake_gpus = true;
    if (name == "--version") o.version = true;
    if (name == "--help") o.help = true;
    if (name == "--train") o.train = whole_number<std::int64_t>(text, name, 1);
    if (name == "--benchmark") {
      o.benchmark = true;
      if (given || !text.empty()) o.benchmarks = whole_number<std::int64_t>(text, name, 1);
    }
    if (name == "--fetch") o.fetches.push_back(text);
    if (name == "--feed") o.feeds.push_back(named(text, name, false));
    if (name == "--size") o.sizes.push_back(named(text, name, true));
    if (name == "--batch") o.batch = whole_number<std::int64_t>(text, name, 1);
    if (name == "--seed") o.seed = whole_number<std::uint64_t>(text, name, 0);
    if (name == "--threads") o.threads = whole_number<int>(text, name, 1);
    if (name == "--weights") one(o.weights);
    if (name == "--save") one(o.save);
    if (name == "--trace") one(o.trace);
    if (name == "--output") o.outputs.push_back(text);
  }

  [[nodiscard]] static named_text named(const std::string& text, std::string_view option, bool needs_name) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos && !needs_name && !text.empty()) return {"", text};
    if (equals == text.npos || equals == 0 || equals + 1 == text.size())
      refuse(exit_status::usage, {option, " takes a name, '=' and what it is, not '", text, "'"});
    return {text.substr(0, equals), text.substr(equals + 1)};
  }

  void check() const {
    const options& o = result_;
    if (o.file.empty()) refuse(exit_status::usage, {"no program is given: tagma-run FILE [options]; --help says more"});
    const int prints = o.explain + o.dot + o.verify + o.runs();
    if (prints > 1)
      refuse(exit_status::usage, {"--explain, --dot, --verify, and running (--run, --train, --benchmark) are one at a "
                                  "time"});
    if (o.json && (o.explain || o.dot))
      refuse(exit_status::usage, {o.dot ? "--dot" : "--explain", " prints no JSON; leave --json out"});
    if (o.benchmark && (o.run || o.train > 0))
      refuse(exit_status::usage,
             {"--benchmark measures runs that do nothing else; leave ", o.run ? "--run" : "--train", " out"});
    const auto needs = [](bool given, const char* option, bool fits, const char* others) {
      if (given && !fits) refuse(exit_status::usage, {option, " is for ", others, ", which is not asked for"});
    };
    const char* const running = "--run, --train or --benchmark";
    needs(!o.feeds.empty(), "--feed", o.runs(), running);
    needs(!o.sizes.empty(), "--size", o.runs(), running);
    needs(!o.weights.empty(), "--weights", o.runs(), running);
    needs(o.threads > 0, "--threads", o.runs(), running);
    needs(o.gpus, "--gpus", o.runs() || o.explain, "--run, --train, --benchmark or --explain");
    needs(o.fake_gpus, "--fake-gpus", o.runs() || o.explain, "--run, --train, --benchmark or --explain");
    if (o.gpus && o.fake_gpus) refuse(exit_status::usage, {"--gpus and --fake-gpus are one at a time"});
    needs(!o.fetches.empty(), "--fetch", o.runs() || o.explain, "--run, --train, --benchmark or --explain");
    needs(!o.save.empty(), "--save", o.run || o.train > 0, "--run or --train");
    needs(!o.outputs.empty(), "--output", o.run, "--run");
    needs(!o.trace.empty(), "--trace", o.run, "--run");
  }

  std::vector<std::string> arguments_;
  std::size_t at_ = 0;
  options result_;
};

}  // namespace tagma::tools
