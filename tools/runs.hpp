// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs of a program: training, computing outputs, measuring.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "facts.hpp"
#include "feeds.hpp"
#include "gpus.hpp"
#include "json_text.hpp"
#include "options.hpp"
#include "results.hpp"
#include "tagma/explain.hpp"
#include "tagma/observe/progress.hpp"

namespace tagma::tools {

/// A session and what the command line wants of it. Results are printed, or become members of `j` if JSON is asked for;
/// progress goes to standard error, and only to a terminal.
class program_runner {
 public:
  program_runner(const any_program& program, const program_facts& facts, const options& given, json_text& j)
      : program_(program), facts_(facts), given_(given), json_(j) {}

  /// Does all that is asked for, and refuses what cannot be done before anything is run.
  void go() {
    const std::vector<int> fetched = fetched_outputs();
    const std::vector<int> trained = given_.train > 0 ? trained_outputs(fetched) : std::vector<int>{};
    if (given_.run) files_ = result_files(given_.outputs, chosen(fetched));
    std::vector<int> all = given_.train > 0 ? trained : fetched;
    if (given_.run) all.insert(all.end(), fetched.begin(), fetched.end());
    const std::vector<std::pair<std::string, any_tensor>> made = feed_maker(program_, facts_, given_).feeds(all);
    for (const auto& [name, value] : made) feeds_.push_back(feed_to(name, value));

    or_refuse(exit_status::run_failed, "", [&] {
      session_.emplace(program_,
                       session_options{.seed = given_.seed,
                                       .intra_op_threads = given_.threads,
                                       .initialize = given_.weights.empty(),
                                       .cpu_devices = facts_.cpus},
                       asked_devices(given_.gpus, given_.fake_gpus));
    });
    if (!given_.weights.empty())
      or_refuse(exit_status::data_refused, "--weights ", [&] { restore(*session_, given_.weights); });
    or_refuse(exit_status::run_failed, "", [&] {
      if (given_.train > 0) train(trained);
      if (given_.run) compute(fetched);
      if (given_.benchmark) measure(fetched);
      if (!given_.save.empty()) save(*session_, given_.save);
    });
  }

 private:
  static constexpr std::int64_t warm_up = 3;

  [[nodiscard]] std::vector<known_output> chosen(const std::vector<int>& outputs) const {
    std::vector<known_output> list;
    for (const int i : outputs) list.push_back(output(i));
    return list;
  }
  [[nodiscard]] std::vector<output_name> output_names(const std::vector<int>& outputs) const {
    std::vector<output_name> list;
    for (const int i : outputs) list.emplace_back(output(i).name);
    return list;
  }
  [[nodiscard]] const known_output& output(int i) const { return facts_.outputs[static_cast<std::size_t>(i)]; }

  /// What `--fetch` names, or all outputs; behind a training those that do not update once more.
  [[nodiscard]] std::vector<int> fetched_outputs() const {
    std::vector<int> fetched;
    if (given_.fetches.empty()) {
      for (const int i : detail::all_outputs(program_))
        if (given_.train == 0 || !output(i).updates) fetched.push_back(i);
      return fetched.empty() ? detail::all_outputs(program_) : fetched;
    }
    for (const std::string& name : given_.fetches) {
      const int i = program_.find_output(name);
      if (i < 0)
        refuse(exit_status::usage,
               {"--fetch ", name, ": the program has no such output; outputs: ", joined(names_of(facts_.outputs))});
      if (std::find(fetched.begin(), fetched.end(), i) == fetched.end()) fetched.push_back(i);
    }
    return fetched;
  }

  /// A number that says how far training is.
  [[nodiscard]] static bool is_followed(const known_output& o) {
    return !o.updates && is_numeric(o.spec.type) && o.spec.dims.rank == 0;
  }
  /// Outputs that update variables, of `--fetch` if it names some, else all; and numbers to be printed: those that
  /// `--fetch` names, else the loss, as far as names and inputs tell which it is.
  [[nodiscard]] std::vector<int> trained_outputs(const std::vector<int>& fetched) const {
    std::vector<int> chosen;
    for (const int i : fetched)
      if (output(i).updates) chosen.push_back(i);
    if (chosen.empty())
      for (const int i : detail::all_outputs(program_))
        if (output(i).updates) chosen.push_back(i);
    if (chosen.empty())
      refuse(exit_status::usage,
             {"--train: no output updates a variable; outputs: ", joined(names_of(facts_.outputs))});
    for (const int i : fetched)
      if (!given_.fetches.empty() && !given_.run && !output(i).updates && !is_followed(output(i)))
        refuse(exit_status::usage, {"--fetch ", output(i).name, ": training prints numbers, and this is ",
                                    spec_text(output(i).spec), "; add --run to compute it behind the training"});
    const std::size_t updates = chosen.size();
    for (const int i : fetched)
      if (!given_.fetches.empty() && is_followed(output(i))) chosen.push_back(i);
    if (chosen.size() == updates)
      if (const int loss = find_loss(chosen); loss >= 0) chosen.push_back(loss);
    return chosen;
  }
  /// A floating number that needs no other inputs than training: the first that is called a loss, else the first.
  [[nodiscard]] int find_loss(const std::vector<int>& trained) const {
    int found = -1;
    for (const int i : detail::all_outputs(program_)) {
      const known_output& o = output(i);
      bool fits = is_followed(o) && is_floating(o.spec.type);
      for (const std::string& input : o.needs) {
        bool known = false;
        for (const int t : trained)
          known = known || std::find(output(t).needs.begin(), output(t).needs.end(), input) != output(t).needs.end();
        fits = fits && known;
      }
      if (!fits) continue;
      if (o.name.find("loss") != o.name.npos || o.name.find("cost") != o.name.npos) return i;
      if (found < 0) found = i;
    }
    return found;
  }

  void say(const std::string& text) const {
    if (!given_.json) print(text);
  }
  /// Shows progress if somebody looks.
  [[nodiscard]] static bool has_terminal() { return ::isatty(STDERR_FILENO) == 1; }

  [[nodiscard]] static double as_number(const any_tensor& value) {
    return with_element_type(value.type(), [&]<class T>() -> double {
      if constexpr (std::is_same_v<T, string_element>)
        return 0;
      else
        return number_of(value.value<T>());
    });
  }

  /// A number that is printed while a program learns.
  struct followed_number {
    std::size_t position;  ///< among the outputs
    std::string name;
    double first = 0, last = 0;
    std::vector<double> all{};  ///< if somebody wants them
  };

  void train(const std::vector<int>& outputs) {
    const std::vector<output_name> wanted = output_names(outputs);
    std::vector<followed_number> followed;
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (is_followed(output(outputs[k]))) followed.push_back({k, output(outputs[k]).name});
    std::optional<progress_bar> bar;
    if (has_terminal()) bar.emplace("train", "steps");
    const double begin = detail::monotonic_seconds();
    int tenth = 0;
    for (std::int64_t step = 1; step <= given_.train; ++step) {
      const std::vector<any_tensor> values = session_->run(wanted, feeds_);
      const int now = static_cast<int>(static_cast<double>(step) * 10 / static_cast<double>(given_.train));
      std::string text;
      for (followed_number& f : followed) {
        f.last = as_number(values[f.position]);
        if (step == 1) f.first = f.last;
        if (given_.json) f.all.push_back(f.last);
        append_parts(text, {text.empty() ? "" : ", ", printable(f.name), " ", short_number(f.last)});
      }
      if (bar)
        bar->update(step, given_.train, text);
      else if ((now > tenth || step == 1) && !text.empty())
        say(sentence({"step ", step, ": ", text, "\n"}));
      tenth = now;
    }
    const double seconds = detail::monotonic_seconds() - begin;
    std::string text = sentence(
        {"trained ", given_.train, given_.train == 1 ? " step" : " steps", " in ", short_number(seconds), " s"});
    for (const followed_number& f : followed)
      append_parts(
          text, {"; ", printable(f.name), " ", short_number(f.first), " at first, ", short_number(f.last), " at last"});
    say(text + "\n");
    if (!given_.json) return;
    json_.name("train").begin('{').name("steps").value(given_.train).name("seconds").value(seconds);
    json_.name("outputs").begin('[');
    for (const int i : outputs) json_.value(output(i).name);
    json_.end(']').name("values").begin('{');
    for (const followed_number& f : followed) {
      json_.name(f.name).begin('[');
      for (const double x : f.all) json_.value(x);
      json_.end(']');
    }
    json_.end('}').end('}');
  }

  void compute(const std::vector<int>& outputs) {
    trace timeline;
    const std::vector<output_name> wanted = output_names(outputs);
    std::vector<any_tensor> values =
        given_.trace.empty() ? session_->run(wanted, feeds_) : session_->run(wanted, feeds_, trace_to(timeline));
    std::vector<named_result> results;
    for (std::size_t k = 0; k < outputs.size(); ++k) results.push_back({output(outputs[k]).name, std::move(values[k])});
    for (const named_result& r : results) say(text_of(r));
    if (given_.json) {
      json_.name("results").begin('[');
      for (const named_result& r : results) add_to(json_, r);
      json_.end(']');
    }
    write_results(files_, results);
    if (!given_.trace.empty()) timeline.save(given_.trace);
  }

  void measure(const std::vector<int>& outputs) {
    const std::vector<output_name> wanted = output_names(outputs);
    for (std::int64_t i = 0; i < warm_up; ++i) (void)session_->run(wanted, feeds_);
    std::vector<double> seconds;
    std::optional<progress_bar> bar;
    if (has_terminal() && given_.benchmarks > 0) bar.emplace("measure", "steps");
    const double begin = detail::monotonic_seconds();
    const auto enough = [&] {
      const auto done = static_cast<std::int64_t>(seconds.size());
      if (given_.benchmarks > 0) return done >= given_.benchmarks;
      return done >= 10 && (done >= 1'000'000 || detail::monotonic_seconds() - begin > 2);
    };
    double sum = 0;
    while (!enough()) {
      const double before = detail::monotonic_seconds();
      (void)session_->run(wanted, feeds_);
      seconds.push_back(detail::monotonic_seconds() - before);
      sum += seconds.back();
      if (bar) bar->update(static_cast<std::int64_t>(seconds.size()), given_.benchmarks);
    }
    std::sort(seconds.begin(), seconds.end());
    // The nearest rank: a time that was measured.
    const auto at = [&](std::size_t percent) { return seconds[(seconds.size() * percent + 99) / 100 - 1]; };
    const double rate = static_cast<double>(seconds.size()) / std::fmax(sum, 1e-9);
    const auto arenas = static_cast<std::int64_t>(session_->core().arena_bytes());
    const int threads = session_->core().threads().threads();
    const auto ms = [](double s) { return short_number(s * 1e3) + " ms"; };
    say(sentence({"measured ",
                  seconds.size(),
                  " runs behind ",
                  warm_up,
                  " others, ",
                  threads,
                  threads == 1 ? " thread\n" : " threads\n",
                  "median     ",
                  ms(at(50)),
                  "\np10        ",
                  ms(at(10)),
                  "\np90        ",
                  ms(at(90)),
                  "\nsteps/s    ",
                  short_number(rate),
                  "\npeak bytes ",
                  arenas + facts_.variable_bytes,
                  ": ",
                  arenas,
                  " of tensors, ",
                  facts_.variable_bytes,
                  " of variables\n"}));
    if (!given_.json) return;
    json_.name("benchmark").begin('{').name("runs").value(seconds.size()).name("warm_up").value(warm_up);
    json_.name("threads").value(threads).name("median_seconds").value(at(50)).name("p10_seconds").value(at(10));
    json_.name("p90_seconds").value(at(90)).name("steps_per_second").value(rate).name("arena_bytes").value(arenas);
    json_.name("variable_bytes").value(facts_.variable_bytes);
    json_.name("peak_bytes").value(arenas + facts_.variable_bytes).end('}');
  }

  const any_program& program_;
  const program_facts& facts_;
  const options& given_;
  json_text& json_;
  std::vector<result_file> files_;
  std::vector<named_feed> feeds_;
  std::optional<session<any_program>> session_;
};

}  // namespace tagma::tools
