// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of fit.hpp: in the compiled half, or else in each file that includes it.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/file.hpp"
#include "tagma/base/file_folder.hpp"
#include "tagma/base/replace_file.hpp"
#include "tagma/train/fit.hpp"

namespace tagma::detail {

/// The numbers of files "base-NUMBER.safetensors".
TAGMA_COLD TAGMA_DECL std::vector<std::int64_t> numbers_of_checkpoints(const std::string& base) {
  std::vector<std::int64_t> numbers;
  const std::size_t slash = base.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : base.substr(0, slash + 1);
  const std::string begin = base.substr(slash == std::string::npos ? 0 : slash + 1) + "-", end = ".safetensors";
  const folder_names all = list_folder(folder);
  if (all.problem != 0 && all.problem != ENOENT) fail_errno(all.problem, folder, "read");
  for (const std::string& name : all.names) {
    if (name.size() <= begin.size() + end.size() || !name.starts_with(begin) || !name.ends_with(end)) continue;
    const std::string digits(name.substr(begin.size(), name.size() - begin.size() - end.size()));
    const bool as_written = digits == "0" || digits[0] != '0';
    if (as_written && digits.size() <= 18 && digits.find_first_not_of("0123456789") == std::string::npos)
      numbers.push_back(std::atoll(digits.c_str()));
  }
  return numbers;
}

TAGMA_COLD TAGMA_DECL fit_run::fit_run(fit_options& how, std::vector<std::string> names, runtime::session_core* session)
    : how_(how), session_(session), best_(std::numeric_limits<double>::quiet_NaN()), means_(names.size()) {
  if (names.empty()) fail(status_code::invalid_argument, "fit: there is no report, such as the loss");
  history_.names = std::move(names);
  if (!how.watch.empty()) {
    const auto found = std::find(history_.names.begin(), history_.names.end(), how.watch);
    if (found == history_.names.end())
      fail(status_code::invalid_argument, {"fit: no report is called '", how.watch, "', which is to be watched"});
    watched_ = static_cast<std::size_t>(found - history_.names.begin());
  }
  if (how.epochs < 0 || how.patience < 0 || how.keep < 0 || !(how.least_change >= 0))
    fail(status_code::invalid_argument, "fit: epochs, patience, keep and least_change are not below 0");
  if (session == nullptr && !how.checkpoints.empty())
    fail(status_code::invalid_argument, "fit: the session writes checkpoints itself; save them in the call epoch_ends");
  if (how.checkpoints.empty() && (how.resume || how.restore_best))
    fail(status_code::invalid_argument, "fit: what is resumed or restored needs the name of checkpoints");
  for (const std::string& file : {how.checkpoints, how.picture})
    if (const std::size_t slash = file.rfind('/'); slash != std::string::npos && slash > 0)
      make_folders(file.substr(0, slash));
  if (how.resume) go_on();
  if (!how.log_directory.empty()) log_ = make_owned<summary_writer>(how.log_directory);
  if (how.call.training_begins) how.call.training_begins();
}

TAGMA_COLD TAGMA_DECL std::string fit_run::numbered(std::int64_t epoch) const {
  return how_.checkpoints + "-" + std::to_string(epoch) + ".safetensors";
}

TAGMA_COLD TAGMA_DECL void fit_run::go_on() {
  const std::vector<std::int64_t> numbers = numbers_of_checkpoints(how_.checkpoints);
  if (numbers.empty()) return;
  const std::int64_t last = *std::max_element(numbers.begin(), numbers.end());
  const safetensors::metadata texts = restore_variables(*session_, numbered(last)).texts;
  const auto text_of = [&](const char* name) {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  };
  all_steps_ = std::atoll(text_of("fit_steps").c_str());
  first_ = last + 1;
  // What was best of another report is no measure.
  if (text_of("fit_watch") != history_.names[watched_]) return;
  waited_ = std::atoll(text_of("fit_waited").c_str());
  if (const std::string best = text_of("fit_best"); !best.empty()) best_ = std::strtod(best.c_str(), nullptr);
  if (how_.patience > 0 && waited_ >= how_.patience) {
    history_.stopped_early = first_ < how_.epochs;
    first_ = std::max(first_, how_.epochs);
  }
}

TAGMA_COLD TAGMA_DECL void fit_run::begin_epoch(std::int64_t epoch) {
  expected_ = now_.rows;  // as many as in the last one
  now_ = {};
  now_.number = epoch;
  means_ = report_means(history_.names.size());
  begun_ = monotonic_seconds();
  if (how_.progress && expected_ > 0 && ::isatty(STDERR_FILENO) != 0)
    bar_ = make_owned<progress_bar>("epoch " + std::to_string(epoch + 1) + "/" + std::to_string(how_.epochs),
                                          "examples");
  if (how_.call.epoch_begins) how_.call.epoch_begins(epoch);
}

TAGMA_DECL void fit_run::step(const std::vector<double>& values, std::int64_t rows) {
  means_.add(values, rows);
  if (bar_ != nullptr && means_.rows() < expected_) bar_->update(means_.rows(), expected_);
  if (how_.call.step_ends) how_.call.step_ends(now_.steps, values);
  ++now_.steps, ++all_steps_;
}

TAGMA_COLD TAGMA_DECL bool fit_run::is_better(double value) const {
  if (__builtin_isnan(value)) return false;
  if (__builtin_isnan(best_)) return true;
  return how_.more_is_better ? value > best_ + how_.least_change : value < best_ - how_.least_change;
}

TAGMA_COLD TAGMA_DECL bool fit_run::end_epoch() {
  bar_ = nullptr;
  now_.rows = means_.rows();
  now_.training = means_.means();
  if (how_.validate) {
    now_.validation = how_.validate();
    if (now_.validation.size() != history_.names.size())
      fail(status_code::invalid_argument,
           {"fit: validation gave ", now_.validation.size(), " values for ", history_.names.size(), " reports"});
  }
  now_.seconds = monotonic_seconds() - begun_;
  history_.epochs.push_back(now_);
  const double watched = (how_.validate ? now_.validation : now_.training)[watched_];
  const bool better = is_better(watched);
  waited_ = better ? 0 : waited_ + 1;
  if (better) best_ = watched, history_.best = static_cast<std::int64_t>(history_.epochs.size()) - 1;
  write_down(better);
  tell(now_);
  bool more = true;
  if (how_.call.epoch_ends) more = how_.call.epoch_ends(history_);
  if (how_.patience > 0 && waited_ >= how_.patience) more = false;
  history_.stopped_early = !more && now_.number + 1 < how_.epochs;
  return more;
}

TAGMA_COLD TAGMA_DECL void fit_run::write_down(bool better) {
  if (!how_.checkpoints.empty()) {
    char best[40] = "";
    if (!__builtin_isnan(best_)) std::snprintf(best, sizeof best, "%.17g", best_);
    const safetensors::metadata texts = {{"fit_best", best},
                                         {"fit_watch", history_.names[watched_]},
                                         {"fit_waited", std::to_string(waited_)},
                                         {"fit_steps", std::to_string(all_steps_)}};
    // The best one first: what is resumed behind the numbered one has it.
    if (better) save_variables(*session_, how_.checkpoints + "-best.safetensors", texts);
    save_variables(*session_, numbered(now_.number), texts);
    // Those with higher numbers are of an earlier training of that name, which this one has begun anew.
    for (const std::int64_t n : numbers_of_checkpoints(how_.checkpoints))
      if (n > now_.number || (how_.keep > 0 && n <= now_.number - how_.keep)) (void)::unlink(numbered(n).c_str());
  }
  if (!how_.picture.empty()) {
    const std::string picture = history_.svg();
    const std::string_view pieces[] = {picture};
    replace_file(how_.picture, pieces);
  }
  if (log_ == nullptr) return;
  for (std::size_t i = 0; i < history_.names.size(); ++i) {
    log_->scalar(history_.names[i] + "/training", now_.training[i], all_steps_);
    if (how_.validate) log_->scalar(history_.names[i] + "/validation", now_.validation[i], all_steps_);
  }
}

TAGMA_COLD TAGMA_DECL void fit_run::tell(const training_epoch& e) {
  if (!how_.progress) return;
  std::string line =
      "epoch " + std::to_string(e.number + 1) + "/" + std::to_string(how_.epochs) + "  " + clock_text(e.seconds);
  for (std::size_t i = 0; i < history_.names.size(); ++i) {
    line += "  " + history_.names[i] + " " + short_number(e.training[i]);
    if (how_.validate) line += " (validation " + short_number(e.validation[i]) + ")";
  }
  if (waited_ == 0) line += "  best";
  (void)std::fputs((line + "\n").c_str(), stderr);
}

TAGMA_COLD TAGMA_DECL training_history fit_run::end() {
  if (how_.restore_best && !__builtin_isnan(best_))
    (void)restore_variables(*session_, how_.checkpoints + "-best.safetensors");
  if (how_.call.training_ends) how_.call.training_ends(history_);
  return std::move(history_);
}

}  // namespace tagma::detail
