// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Datasets: sequences that are described first and read element by element, in pipelines whose types do not grow.
///
///     auto digits = tg::datasets::from_slices(images, labels).global_shuffle(42).map(augment, {.threads = 4})
///                       .batch(128).prefetch(2);
///     for (auto& [pictures, classes] : digits) train(pictures, classes);

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/data/batching.hpp"
#include "tagma/data/cache.hpp"
#include "tagma/data/element.hpp"
#include "tagma/data/elementwise.hpp"
#include "tagma/data/flat_map.hpp"
#include "tagma/data/iterator.hpp"
#include "tagma/data/parallel_map.hpp"
#include "tagma/data/prefetch.hpp"
#include "tagma/data/sequence.hpp"
#include "tagma/data/shuffle.hpp"
#include "tagma/data/stage.hpp"

namespace tagma {

template <class T>
class dataset;

namespace datasets {

/// How datasets of elements are read in turn.
struct interleave_options {
  extent cycle = 1;  ///< datasets that are open at a time
  extent block = 1;  ///< elements that are taken from one before the turn goes on
  extent ahead = 0;  ///< elements that each dataset gets ahead, in a thread of its own; 0: none
};

/// How `shuffle` and `global_shuffle` of a dataset order it.
struct shuffle_options {
  /// Whether each pass, as those of `repeat`, has an order of its own.
  bool reshuffle = true;
};

struct autotune_t;  // in autotune.hpp

namespace detail {
template <class In, class Out, class F>
class tuned;
struct handed_on;
template <class T>
class file_cached;  // in file_cache.hpp
template <class T>
struct element_bytes;

template <class T>
inline constexpr bool is_dataset = false;
template <class T>
inline constexpr bool is_dataset<dataset<T>> = true;
template <class T>
struct element_of_dataset {
  using type = void;
};
template <class T>
struct element_of_dataset<dataset<T>> {
  using type = T;
};
}  // namespace detail

}  // namespace datasets

namespace diagnose {
template <class F, class T>
inline constexpr bool makes_dataset = datasets::detail::is_dataset<datasets::detail::result_t<F, T>>;
template <class F, class T>
inline constexpr bool makes_bool = std::is_same_v<datasets::detail::result_t<F, T>, bool>;
template <class F, class To, class T>
inline constexpr bool makes_element = !takes_element<F, T> || is_element_of_dataset<To>;
/// tagma/file_cache.hpp was included, and elements of this type can be written.
template <class T>
inline constexpr bool knows_file_cache = requires {
  sizeof(datasets::detail::file_cached<T>);
};
template <class T>
inline constexpr bool has_bytes = !requires {
  requires !datasets::detail::element_bytes<T>::known;
};
template <class T>
inline constexpr bool has_batches = datasets::detail::can_batch<T>::value;
/// What struct_batches.hpp is told that a batch of structs is, is made of the batches of their members.
template <class T>
inline constexpr bool makes_batch = true;
template <class T>
inline constexpr bool has_rows = !std::is_void_v<typename datasets::detail::unbatched<T>::type>;
}  // namespace diagnose

/// A sequence of elements of type T: a number, a std::string, a tensor, or a tuple, pair or struct of these. It is a
/// description, cheap to copy, that any number of iterators go through at once, each in a pass of its own with the same
/// elements in the same order. Functions that are given to it are called by whichever thread needs an element, and
/// depend on nothing but that element, or passes differ. Raises TAGMA-E226 for another type.
template <class T>
class dataset {
  static_assert(diagnose::is_element_of_dataset<T>,
                "TAGMA-E226 dataset: an element is a number, a std::string, a tensor (not of string_element), or a "
                "tuple, pair, vector or struct of these");

 public:
  using value_type = T;

  /// A dataset of a stage of one's own.
  explicit dataset(datasets::stage_of<T> of) : stage_(std::move(of)) {}

  /// @name Going through.
  /// @{
  /// A loop ends with the last element; an error leaves it. `on_error` and `ignore_errors` do otherwise.
  [[nodiscard]] TAGMA_COLD datasets::loop_iterator<T> begin() const { return datasets::loop_iterator<T>(stage_); }
  [[nodiscard]] datasets::end_of_loop end() const { return {}; }
  [[nodiscard]] TAGMA_COLD dataset_iterator<T> iterator() const { return dataset_iterator<T>(stage_); }
  /// A pass that goes on where `dataset_iterator::state` was asked for, and gives what that would have given. With
  /// stages whose elements have numbers (see `is_indexed`) that costs as much as there are stages; otherwise a source
  /// of records reads its file again up to there, a generator calls its function, and a shuffle with a buffer repeats
  /// its pass. Throws `invalid_argument` for what is no position of this dataset.
  [[nodiscard]] TAGMA_COLD dataset_iterator<T> resume(const datasets::position& at) const {
    return dataset_iterator<T>(stage_, at);
  }
  /// The number of elements, `datasets::unknown_size` or `datasets::endless`.
  [[nodiscard]] extent size() const { return stage_->size(); }
  /// Whether each element can be had by its number, without those before it.
  [[nodiscard]] bool is_indexed() const { return stage_->indexed(); }
  [[nodiscard]] const datasets::stage_of<T>& stage() const { return stage_; }
  /// @}

  /// @name Each element by itself.
  /// @{
  /// What `f` makes of each element, or of the components of a tuple. What it throws is the error of that element;
  /// `datasets::end_of_data` ends the dataset, see there. With threads, `f` is called by several at once.
  /// Raises TAGMA-E227 where `f` takes no element, or is mutable.
  template <class F>
  [[nodiscard]] TAGMA_COLD auto map(F f, const datasets::parallel& how = {}) const {
    static_assert(diagnose::takes_element<F, T>,
                  "TAGMA-E227 map: the function takes no element of the dataset, or is mutable");
    using to = datasets::detail::result_t<F, T>;
    static_assert(diagnose::makes_element<F, to, T>,
                  "TAGMA-E226 map: what the function returns is no element of a dataset: a number, a std::string, a "
                  "tensor, or a tuple, pair, vector or struct of these");
    if constexpr (diagnose::is_element_of_dataset<to>) {
      if (how.threads < 0 || how.ahead < 0)
        fail(status_code::invalid_argument, {"map: ", how.threads, " threads and ", how.ahead, " elements ahead"});
      if (how.threads == 0) return made<to, datasets::detail::map_stage<T, to, F>>(stage_, std::move(f));
      datasets::parallel threads = how;
      if (threads.ahead == 0) threads.ahead = extent{2} * how.threads;
      return made<to, datasets::detail::parallel_map<T, to, F>>(stage_, std::move(f), threads);
    }
  }
  /// The same; how many threads call `f` and how many elements they make ahead is found out while a pass goes on,
  /// within its budgets: `map(f, datasets::autotune)`, of tagma/autotune.hpp.
  template <class F, std::same_as<datasets::autotune_t> Tuned>
  [[nodiscard]] TAGMA_COLD auto map(F f, Tuned) const {
    static_assert(diagnose::takes_element<F, T>,
                  "TAGMA-E227 map: the function takes no element of the dataset, or is mutable");
    using to = datasets::detail::result_t<F, T>;
    static_assert(diagnose::makes_element<F, to, T>,
                  "TAGMA-E226 map: what the function returns is no element of a dataset: a number, a std::string, a "
                  "tensor, or a tuple, pair, vector or struct of these");
    if constexpr (diagnose::is_element_of_dataset<to>)
      return made<to, datasets::detail::tuned<T, to, F>>(stage_, std::move(f));
  }
  /// The elements of which `f` says true. Raises TAGMA-E227, and TAGMA-E228 where `f` returns something else.
  template <class F>
  [[nodiscard]] TAGMA_COLD dataset filter(F f) const {
    static_assert(diagnose::takes_element<F, const T&>,
                  "TAGMA-E227 filter: the function takes no element of the dataset, or is mutable");
    static_assert(!diagnose::takes_element<F, const T&> || diagnose::makes_bool<F, const T&>,
                  "TAGMA-E228 filter: the function returns bool");
    if constexpr (diagnose::makes_bool<F, const T&>)
      return made<T, datasets::detail::filter_stage<T, F>>(stage_, std::move(f));
    else
      return *this;
  }
  /// The elements of the datasets that `f` makes of the elements, one behind the other.
  /// Raises TAGMA-E227, and TAGMA-E229 where `f` returns no dataset.
  template <class F>
  [[nodiscard]] TAGMA_COLD auto flat_map(F f) const {
    static_assert(diagnose::takes_element<F, T>,
                  "TAGMA-E227 flat_map: the function takes no element of the dataset, or is mutable");
    static_assert(!diagnose::takes_element<F, T> || diagnose::makes_dataset<F, T>,
                  "TAGMA-E229 flat_map: the function returns a tagma::dataset");
    if constexpr (diagnose::makes_dataset<F, T>) return interleaved(std::move(f), {});
  }
  /// The same, of several datasets in turn. The order does not depend on threads.
  /// Raises TAGMA-E227, TAGMA-E229.
  template <class F>
  [[nodiscard]] TAGMA_COLD auto interleave(F f, const datasets::interleave_options& how) const {
    static_assert(diagnose::takes_element<F, T>,
                  "TAGMA-E227 interleave: the function takes no element of the dataset, or is mutable");
    static_assert(!diagnose::takes_element<F, T> || diagnose::makes_dataset<F, T>,
                  "TAGMA-E229 interleave: the function returns a tagma::dataset");
    if constexpr (diagnose::makes_dataset<F, T>) return interleaved(std::move(f), how);
  }
  /// Leaves out what is an error, after `f(std::exception_ptr)`; what that throws is an error in its place.
  template <class F>
  [[nodiscard]] TAGMA_COLD dataset on_error(F f) const {
    static_assert(std::is_invocable_v<const F&, std::exception_ptr>, "on_error: a function of a std::exception_ptr");
    return made<T, datasets::detail::handled_errors<T, F>>(stage_, std::move(f));
  }
  [[nodiscard]] TAGMA_COLD dataset ignore_errors() const {
    return on_error([](const std::exception_ptr&) {});
  }
  /// @}

  /// @name Which elements. An error counts as the element in whose place it stands.
  /// @{
  /// The first `n`; -1: all.
  [[nodiscard]] TAGMA_COLD dataset take(extent n) const {
    check("take", n, -1);
    return made<T, datasets::detail::strided_stage<T>>(stage_, 0, n < 0 ? datasets::endless : n, 1);
  }
  /// All but the first `n`, which are not computed where they have numbers; -1: none.
  [[nodiscard]] TAGMA_COLD dataset skip(extent n) const {
    check("skip", n, -1);
    return made<T, datasets::detail::strided_stage<T>>(stage_, n < 0 ? datasets::endless : n, datasets::endless, 1);
  }
  /// The elements whose number modulo `count` is `index`. Throws `invalid_argument` unless 0 <= index < count.
  [[nodiscard]] TAGMA_COLD dataset shard(extent count, extent index) const {
    if (count <= 0 || index < 0 || index >= count)
      fail(status_code::invalid_argument, {"shard: ", index, " of ", count});
    return made<T, datasets::detail::strided_stage<T>>(stage_, index, datasets::endless, count);
  }
  /// `count` passes behind each other; -1: without end. A pass that has nothing is the last one.
  [[nodiscard]] TAGMA_COLD dataset repeat(extent count = -1) const {
    check("repeat", count, -1);
    return made<T, datasets::detail::repeated<T>>(stage_, count < 0 ? datasets::endless : count);
  }
  /// Begins with the pass of this number, as if those before had been gone through by `repeat`.
  [[nodiscard]] TAGMA_COLD dataset epoch(std::uint64_t number) const {
    return made<T, datasets::detail::from_epoch<T>>(stage_, number);
  }
  /// This one, and the other behind it.
  [[nodiscard]] TAGMA_COLD dataset concatenate(const dataset& other) const {
    return made<T, datasets::detail::concatenated<T>>(stage_, other.stage_);
  }
  /// @}

  /// @name Order.
  /// @{
  /// Draws the next element from a buffer of so many, which is refilled in order: the order of `shuffled_order`.
  [[nodiscard]] TAGMA_COLD dataset shuffle(extent buffer, std::uint64_t seed = 0,
                                           const datasets::shuffle_options& how = {}) const {
    check("shuffle", buffer, 1);
    return made<T, datasets::detail::shuffled<T>>(stage_, buffer, seed, how.reshuffle);
  }
  /// All elements by a permutation that needs no memory, the same for any number of threads or shards.
  /// Throws `invalid_argument` where elements have no numbers or no end.
  [[nodiscard]] TAGMA_COLD dataset global_shuffle(std::uint64_t seed = 0,
                                                  const datasets::shuffle_options& how = {}) const {
    if (!stage_->indexed() || stage_->size() == datasets::endless)
      fail(
          status_code::invalid_argument,
          "global_shuffle: needs elements that have numbers, as those of tensors and ranges; behind a filter or files, "
          "shuffle with a buffer, or shuffle the names of the files; behind a cache in a file or of a map in any "
          "order, shuffle with a buffer, or before the cache");
    if (datasets::stage_of<T> behind = stage_->permuted(seed, how.reshuffle)) return dataset(std::move(behind));
    return made<T, datasets::detail::permuted<T>>(stage_, seed, how.reshuffle);
  }
  /// @}

  /// @name Groups.
  /// @{
  /// Groups of `n` elements: numbers and tensors become tensors with one more axis in front, texts a vector, tuples a
  /// tuple of such, structs whose members are named by `datasets::members`, of tagma/struct_batches.hpp, a tuple or
  /// another struct. Elements of one batch have equal shapes. The last batch may be smaller, or is left out.
  /// Where an element is an error, its batch is. Raises TAGMA-E230 for elements that have no batches, TAGMA-E282.
  [[nodiscard]] TAGMA_COLD auto batch(extent n, bool drop_remainder = false) const {
    static_assert(
        diagnose::has_batches<T>,
        "TAGMA-E230 batch: elements are numbers, texts and tensors, or tuples of these: map others to tuples, or name "
        "the members of structs, with tagma/struct_batches.hpp");
    static_assert(diagnose::makes_batch<T>,
                  "TAGMA-E282 batch: the batch of a struct is made in braces of the batches of its members");
    if constexpr (diagnose::has_batches<T> && diagnose::makes_batch<T>) {
      check("batch", n, 1);
      using stage = datasets::detail::batched<T, datasets::detail::collector<T>, datasets::detail::no_options>;
      return made<typename datasets::detail::batch_of<T>::type, stage>(stage_, n, drop_remainder,
                                                                       datasets::detail::no_options{});
    }
  }
  /// The same; tensors are padded at their ends to one shape. An element that is larger than a shape that was asked for
  /// makes its batch an error, `data_loss`. Throws `invalid_argument` for more shapes or values than components, and
  /// for a value that the type of its component does not have. Raises TAGMA-E230, TAGMA-E282.
  [[nodiscard]] TAGMA_COLD auto padded_batch(extent n, datasets::padding_options how = {}) const {
    static_assert(diagnose::has_batches<T>,
                  "TAGMA-E230 padded_batch: elements are numbers, texts and tensors, or tuples of these: map others to "
                  "tuples, or name the members of structs, with tagma/struct_batches.hpp");
    static_assert(diagnose::makes_batch<T>,
                  "TAGMA-E282 padded_batch: the batch of a struct is made in braces of the batches of its members");
    if constexpr (diagnose::has_batches<T> && diagnose::makes_batch<T>) {
      check("padded_batch", n, 1);
      using types = datasets::detail::padded_types<T>;
      datasets::detail::check_padding(how, types::all, types::count);
      using stage = datasets::detail::batched<T, datasets::detail::padding_collector<T>, datasets::padding_options>;
      const bool drop_remainder = how.drop_remainder;
      return made<typename datasets::detail::batch_of<T>::type, stage>(stage_, n, drop_remainder, std::move(how));
    }
  }
  /// The rows of each element. Raises TAGMA-E231 for elements that have none.
  [[nodiscard]] TAGMA_COLD auto unbatch() const {
    static_assert(
        diagnose::has_rows<T>,
        "TAGMA-E231 unbatch: elements are tensors, vectors, or tuples of these: numbers and texts have no rows");
    if constexpr (diagnose::has_rows<T>)
      return made<typename datasets::detail::unbatched<T>::type, datasets::detail::unbatched_stage<T>>(stage_);
  }
  /// @}

  /// @name Work ahead, and work saved.
  /// @{
  /// Gets up to `count` elements ahead, in a thread of its own that begins with the first element; 0: none.
  [[nodiscard]] TAGMA_COLD dataset prefetch(extent count) const {
    check("prefetch", count, 0);
    return count == 0 ? *this : made<T, datasets::detail::prefetched<T>>(stage_, count);
  }
  /// The same, as many as are needed within the budgets of a pass: `prefetch(datasets::autotune)`, of
  /// tagma/autotune.hpp.
  template <std::same_as<datasets::autotune_t> Tuned>
  [[nodiscard]] TAGMA_COLD dataset prefetch(Tuned) const {
    using handed_on = std::conditional_t<true, datasets::detail::handed_on, Tuned>;  // known where this is called
    return made<T, datasets::detail::tuned<T, T, handed_on>>(stage_, handed_on{});
  }
  /// Keeps the elements in memory when a pass has come to its end without an error, or each as soon as it was had,
  /// where elements have numbers. Every pass behind it has the elements of pass 0. Throws `no_memory` where there is no
  /// room for the elements of a dataset that have numbers.
  [[nodiscard]] TAGMA_COLD dataset cache() const {
    if (stage_->indexed() && !stage_->in_any_order() && stage_->size() != datasets::endless)
      return made<T, datasets::detail::cached_by_number<T>>(stage_);
    return made<T, datasets::detail::cached<T>>(stage_);
  }
  /// Keeps the elements in a file. The first pass that comes to its end without an error writes it, beside the path at
  /// first, so that nobody meets half a file; passes that begin afterwards, in any process, read it. A file with
  /// elements of another type, of a pipeline with other stages, sizes, seeds or options of reading files, or one that
  /// is damaged is one error that names it, `failed_precondition` or `data_loss`, and nothing follows; what functions
  /// and tensors hold is not compared: who changes these removes the file. Where the file cannot be written that is an
  /// error behind the last element. Needs tagma/file_cache.hpp: TAGMA-E267. Raises TAGMA-E268 for structs.
  template <std::convertible_to<std::string> Path>
  [[nodiscard]] TAGMA_COLD dataset cache(Path file) const {
    static_assert(diagnose::knows_file_cache<std::conditional_t<true, T, Path>>,
                  "TAGMA-E267 cache: a cache in a file needs #include <tagma/file_cache.hpp>");
    static_assert(diagnose::has_bytes<std::conditional_t<true, T, Path>>,
                  "TAGMA-E268 cache: elements in a file are numbers, texts, tensors, or tuples and vectors of these: "
                  "map structs to tuples");
    using element = std::conditional_t<true, T, Path>;
    if constexpr (diagnose::knows_file_cache<element> && diagnose::has_bytes<element>)
      return made<T, datasets::detail::file_cached<element>>(stage_, std::string(std::move(file)));
    else
      return *this;
  }
  /// @}

 private:
  template <class>
  friend class dataset;

  template <class To, class Stage, class... Arguments>
  [[nodiscard]] static dataset<To> made(Arguments&&... arguments) {
    return dataset<To>(datasets::stage_of<To>(new Stage(std::forward<Arguments>(arguments)...)));
  }
  TAGMA_COLD static void check(std::string_view what, extent n, extent least) {
    if (n < least) fail(status_code::invalid_argument, {what, ": ", n, ", expected ", least, " or more"});
  }
  template <class F>
  [[nodiscard]] auto interleaved(F f, const datasets::interleave_options& how) const {
    constexpr extent most = 1 << 20;
    if (how.cycle < 1 || how.cycle > most || how.block < 1 || how.ahead < 0)
      fail(status_code::invalid_argument, {"interleave: ", how.block, " elements of ", how.cycle, " datasets in turn, ",
                                           how.ahead, " ahead; expected at least 1 of 1"});
    using to = typename datasets::detail::element_of_dataset<datasets::detail::result_t<F, T>>::type;
    auto open = [f = std::move(f), ahead = how.ahead](T&& x) {
      return datasets::detail::call(f, std::move(x)).prefetch(ahead).stage();
    };
    return made<to, datasets::detail::interleaved<T, to, decltype(open)>>(
        stage_, std::move(open), static_cast<std::size_t>(how.cycle), how.block);
  }

  datasets::stage_of<T> stage_;
};

}  // namespace tagma
