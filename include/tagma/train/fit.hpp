// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Training without a loop written by hand: `fit` over a dataset, `evaluate` over another.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/callback.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/data/element.hpp"
#include "tagma/observe/progress.hpp"
#include "tagma/observe/summary_writer.hpp"
#include "tagma/runtime/session.hpp"
#include "tagma/train/history.hpp"
#include "tagma/train/save.hpp"

namespace tagma {

/// What is called while `fit` trains, by the thread that called that, in this order; those that are empty are not.
/// What they throw ends the training.
struct fit_callbacks {
  callback<void()> training_begins{};
  callback<void(std::int64_t epoch)> epoch_begins{};
  /// @param step of the epoch, from 0
  /// @param values of the reports, of this step
  callback<void(std::int64_t step, const std::vector<double>& values)> step_ends{};
  /// Behind validation and checkpoints. False ends the training.
  callback<bool(const training_history& so_far)> epoch_ends{};
  callback<void(const training_history& all)> training_ends{};
};

/// How training runs, and what becomes of it.
struct fit_options {
  std::int64_t epochs = 10;
  /// Values of the reports on other data, in their order: `[&] { return evaluate(session, ...); }`. Called behind each
  /// epoch.
  callback<std::vector<double>()> validate{};
  std::string watch{};          ///< the report that tells how good an epoch is; empty: the first
  bool more_is_better = false;  ///< of that report: true for an accuracy
  double least_change = 0;      ///< an epoch that is better by less is not
  std::int64_t patience = 0;    ///< training ends behind so many epochs without a better one; 0: it does not
  /// "runs/model": runs/model-3.safetensors behind epoch 3, and runs/model-best.safetensors. Folders are made. Numbers
  /// that an earlier training of that name has left go with the first checkpoint, unless it is resumed.
  std::string checkpoints{};
  std::int64_t keep = 3;  ///< of the numbered checkpoints; 0: all
  bool resume = false;    ///< goes on behind the epoch of the newest checkpoint, if there is one; needs `checkpoints`
  bool restore_best = false;    ///< at the end, variables are those of the best epoch; needs `checkpoints`
  std::string log_directory{};  ///< of events for TensorBoard
  std::string picture{};        ///< an SVG file of the curves, written anew behind each epoch
  bool progress = true;         ///< a line for each epoch on standard error, and a bar on a terminal
  fit_callbacks call{};
};

/// A tensor whose mean over an epoch is told under a name.
template <class E>
struct fit_report {
  std::string name;
  E what;
};
/// @param what a number for each step, such as a loss, or any tensor of numbers, of whose elements the mean is taken
template <expression E>
[[nodiscard]] fit_report<E> report(std::string_view name, const E& what) {
  return {std::string(name), what};
}

/// The placeholders that the components of an element of a dataset are fed to, in their order.
template <class... P>
struct fit_inputs {
  std::tuple<P...> placeholders;
};
/// @param placeholders as many as a tuple of the dataset has components, or a struct members; for elements that are
/// neither, one
template <expression... P>
[[nodiscard]] fit_inputs<P...> inputs(const P&... placeholders) {
  return {{placeholders...}};
}

namespace detail {

template <class Element, std::size_t Count>
[[nodiscard]] constexpr bool has_components() {
  if constexpr (datasets::detail::is_tuple<Element>)
    return std::tuple_size_v<Element> == Count;
  else
    return Count <= 6;  // of a struct, the compiler counts the members
}

template <class Data>
concept elements_of_data = requires(Data& data) {
  *std::begin(data);
  std::end(data);
};
template <class Data>
using element_of_data = std::remove_cvref_t<decltype(*std::begin(std::declval<Data&>()))>;

/// Calls a function with the components of an element.
template <std::size_t Count, class E, class F>
decltype(auto) with_components(E& e, const F& f) {
  if constexpr (datasets::detail::is_tuple<std::remove_const_t<E>>) {
    return std::apply(f, e);
  } else if constexpr (Count == 1) {
    return f(e);
  } else if constexpr (Count == 2) {
    auto& [a, b] = e;
    return f(a, b);
  } else if constexpr (Count == 3) {
    auto& [a, b, c] = e;
    return f(a, b, c);
  } else if constexpr (Count == 4) {
    auto& [a, b, c, d] = e;
    return f(a, b, c, d);
  } else if constexpr (Count == 5) {
    auto& [a, b, c, d, g] = e;
    return f(a, b, c, d, g);
  } else {
    auto& [a, b, c, d, g, h] = e;
    return f(a, b, c, d, g, h);
  }
}

/// Whether components can be of several examples: none is a number, or a text, where a tensor is fed.
template <class... P>
struct batch_test {
  template <class P1, class C>
  static constexpr bool is_single = std::is_same_v<decltype(fault_of_value<typename P1::spec_type, C>()),
                                                   diagnose::number_for_a_tensor<typename P1::spec_type, C>>;
  template <class... C>
  constexpr std::bool_constant<!(false || ... || is_single<P, C>)> operator()(const C&...) const {
    return {};
  }
};
template <class Element, class... P>
[[nodiscard]] constexpr bool is_batch() {
  if constexpr (has_components<Element, sizeof...(P)>())
    return decltype(with_components<sizeof...(P)>(std::declval<Element&>(), batch_test<P...>()))::value;
  else
    return true;
}

/// Examples in a value that is fed.
template <class T>
[[nodiscard]] std::int64_t rows_of(const T& value) {
  if constexpr (requires { value.dims(); })
    return value.dims().rank > 0 ? value.dims()[0] : 1;
  else if constexpr (requires { std::size(value); } && !std::is_convertible_v<const T&, std::string_view>)
    return static_cast<std::int64_t>(std::size(value));
  else
    return 1;
}

template <class T>
[[nodiscard]] double mean_of(const T& value) {
  if constexpr (requires { value.dims(); }) {
    double sum = 0;
    for (std::size_t i = 0; i < value.size(); ++i) sum += static_cast<double>(value.data()[i]);
    return sum / static_cast<double>(value.size());
  } else {
    return static_cast<double>(value);
  }
}

/// Sums of what steps report, by which means over examples are made.
class report_means {
 public:
  explicit report_means(std::size_t count) : sums_(count, 0.0) {}
  void add(const std::vector<double>& values, std::int64_t rows) {
    if (rows == 0) return;  // whose mean is no number
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += values[i] * static_cast<double>(rows);
    rows_ += rows;
  }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// NaN where there was no example.
  [[nodiscard]] std::vector<double> means() const {
    std::vector<double> all = sums_;
    for (double& s : all) s /= static_cast<double>(rows_);
    return all;
  }

 private:
  std::vector<double> sums_;
  std::int64_t rows_ = 0;
};

/// What `fit` does that is not of one type of session.
class fit_run {
 public:
  /// @param session whose variables are saved; nullptr for one that does that by itself
  fit_run(fit_options& how, std::vector<std::string> names, runtime::session_core* session);

  /// The first epoch to be done.
  [[nodiscard]] std::int64_t first() const { return first_; }
  void begin_epoch(std::int64_t epoch);
  void step(const std::vector<double>& values, std::int64_t rows);
  /// Whether training goes on.
  [[nodiscard]] bool end_epoch();
  [[nodiscard]] training_history end();

 private:
  [[nodiscard]] bool is_better(double value) const;
  void go_on();
  void write_down(bool better);
  void tell(const training_epoch& e);
  [[nodiscard]] std::string numbered(std::int64_t epoch) const;

  fit_options& how_;
  runtime::session_core* session_;
  training_history history_;
  std::size_t watched_ = 0;
  std::int64_t first_ = 0, waited_ = 0, all_steps_ = 0, expected_ = 0;
  double best_;  // NaN if there is none
  training_epoch now_;
  report_means means_;
  double begun_ = 0;
  owned<progress_bar> bar_;
  owned<summary_writer> log_;
};

/// Runs one step with the components of an element.
/// @param fetches the reports, and before them, where `Trained`, the update
/// @return the examples in it
template <bool Trained, class Session, class Fetches, class... P, class Element>
std::int64_t run_reports(Session& s, const Fetches& fetches, const fit_inputs<P...>& in, Element& element,
                         std::vector<double>& values) {
  if constexpr (has_components<std::remove_const_t<Element>, sizeof...(P)>() &&
                is_batch<std::remove_const_t<Element>, P...>()) {
    return with_components<sizeof...(P)>(element, [&](const auto&... component) {
      const auto results =
          std::apply([&](const auto&... p) { return s.run(fetches, (p = component)...); }, in.placeholders);
      std::apply(
          [&](const auto&... result) {
            std::size_t at = 0;
            const auto take = [&](const auto& value) {
              if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(value)>, no_value>)
                if (at >= std::size_t{Trained}) values[at - std::size_t{Trained}] = mean_of(value);
              ++at;
            };
            (take(result), ...);
          },
          results);
      const std::int64_t rows[] = {rows_of(component)...};
      return rows[0];
    });
  } else {
    return 0;
  }
}

template <class Session>
[[nodiscard]] runtime::session_core* core_of(Session& s) {
  if constexpr (requires { s.core(); })
    return &s.core();
  else
    return nullptr;
}

}  // namespace detail

namespace diagnose {
/// Elements can be gone through.
template <class Data>
inline constexpr bool has_elements = detail::elements_of_data<Data>;
/// A function makes elements from the number of an epoch.
template <class Epochs>
inline constexpr bool makes_datasets = false;
template <class Epochs>
  requires std::is_invocable_v<Epochs&, std::uint64_t>
inline constexpr bool makes_datasets<Epochs> = detail::elements_of_data<std::invoke_result_t<Epochs&, std::uint64_t>>;
/// An element has a component for each of the inputs.
template <class Element, class... Input>
inline constexpr bool feeds_inputs = detail::has_components<Element, sizeof...(Input)>();
/// An element has rows where an input has.
template <class Element, class... Input>
inline constexpr bool feeds_several = detail::is_batch<Element, Input...>();
}  // namespace diagnose

/// An element of a dataset can be fed to the inputs.
#define TAGMA_NEEDS_ELEMENTS(Who, ...)                                                             \
  static_assert(diagnose::feeds_inputs<__VA_ARGS__>,                                               \
                "TAGMA-E299 " Who ": an element of the dataset has one component for each input"); \
  static_assert(diagnose::feeds_several<__VA_ARGS__>,                                              \
                "TAGMA-E308 " Who                                                                  \
                ": an element of the dataset is one example, and the inputs take "                 \
                "several: data.batch(128)")

/// Means of the reports over all examples of a dataset, without an update; NaN if it is empty.
/// @param data of elements that the inputs are fed with; the first component's outermost axis counts examples
/// Throws what runs and the dataset throw. Raises TAGMA-E299 for elements with other components, TAGMA-E307 for a
/// function that makes a dataset, and TAGMA-E308 for elements that are no batches.
template <class Session, class... P, class Data, class... E>
[[nodiscard]] std::vector<double> evaluate(Session& session, const fit_inputs<P...>& in, Data&& data,
                                           const fit_report<E>&...) {
  static_assert(diagnose::has_elements<Data>,
                "TAGMA-E307 evaluate: takes a dataset, data.test.batch(1000), and no function that makes one");
  detail::report_means means(sizeof...(E));
  if constexpr (diagnose::has_elements<Data>) {
    using element = detail::element_of_data<Data>;
    TAGMA_NEEDS_ELEMENTS("evaluate", element, P...);
    std::vector<double> values(sizeof...(E), 0.0);
    for (auto&& e : data) {
      const std::int64_t rows = detail::run_reports<false>(session, fetch_list<E...>{}, in, e, values);
      means.add(values, rows);
    }
  }
  return means.means();
}

/// Trains: for each epoch one run of `train` for each element of the dataset, then validation, checkpoints, curves and
/// whatever else the options ask for.
///
///     const auto in = tagma::inputs(x, y);
///     const auto history = tagma::fit(
///         session, train, in,
///         [&](std::uint64_t epoch) { return data.train.shuffle(60'000).epoch(epoch).batch(128).prefetch(2); },
///         {.epochs = 20,
///          .validate = [&] { return tagma::evaluate(session, in, data.test.batch(1000), tagma::report("loss", loss));
///          }, .patience = 3},
///         tagma::report("loss", loss));
///
/// @param session of a program whose outputs are `train` and the tensors of the reports, here or on a cluster
/// @param train   what a step runs: `minimize(...)`
/// @param epochs  makes the elements of an epoch, from its number: the same number, the same elements, so that training
///                that is resumed goes on as it would have
/// @param reports at least one; means over the examples of an epoch are told, drawn and watched
/// Throws InvalidArgument for options that are none, before anything runs, and what runs, the dataset, callbacks and
/// files throw; variables are then those of the last step. Raises TAGMA-E299 for elements with other components,
/// TAGMA-E307 for a dataset where a function makes one for each epoch, and TAGMA-E308 for elements that are no batches.
template <class Session, expression Train, class... P, class Epochs, class... E>
training_history fit(Session& session, [[maybe_unused]] const Train& train, const fit_inputs<P...>& in, Epochs&& epochs,
                     fit_options options, const fit_report<E>&... reports) {
  static_assert(diagnose::makes_datasets<Epochs>,
                "TAGMA-E307 fit: takes a function that makes the dataset of an epoch: "
                "[&](std::uint64_t epoch) { return data.epoch(epoch).batch(128); }");
  detail::fit_run run(options, {reports.name...}, detail::core_of(session));
  if constexpr (diagnose::makes_datasets<Epochs>) {
    using element = detail::element_of_data<std::invoke_result_t<Epochs&, std::uint64_t>>;
    TAGMA_NEEDS_ELEMENTS("fit", element, P...);
    std::vector<double> values(sizeof...(E), 0.0);
    for (std::int64_t epoch = run.first(); epoch < options.epochs; ++epoch) {
      run.begin_epoch(epoch);
      auto&& data = epochs(static_cast<std::uint64_t>(epoch));
      for (auto&& e : data) {
        const std::int64_t rows = detail::run_reports<true>(session, fetch_list<Train, E...>{}, in, e, values);
        run.step(values, rows);
      }
      if (!run.end_epoch()) break;
    }
  }
  return run.end();
}

}  // namespace tagma

#undef TAGMA_NEEDS_ELEMENTS

#ifndef TAGMA_COMPILED
#include "tagma/train/fit.ipp"
#endif
