// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions of floats whose windows are three by three pixels without steps, by Winograd's algorithm: a quarter of
/// the multiplications, as 36 products of matrices. Errors are a few times those of sums of products, relative to the
/// largest of what a tile of six by six pixels sees; what is infinite or no number reaches all results of its tile.
/// TAGMA_WINOGRAD=0 does without it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/kernel/conv_problem.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/matmul_onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"
#include "tagma/device/cpu/winograd.hpp"
#include "tagma/runtime/aligned_bytes.hpp"
#include "tagma/runtime/stored_variable.hpp"

namespace tagma::device::cpu::detail {

/// One convolution, its tiles split into blocks that run at once: by the extents alone, and never across groups of
/// images that may be done without the others. A template, so that programs without such windows do not compile it.
/// @tparam T float
template <class T>
class winograd_convolution final : public image_convolution {
 public:
  /// A null pointer where the algorithm does not apply, or gains nothing: of few channels, or few tiles for the filter.
  /// @param lasting the filter is the same until `writes` of the context is another number
  /// @param threads that may have some images each
  [[nodiscard]] static owned<image_convolution> make(const conv_problem& p, conv_role role, const conv_epilogue& after,
                                                     bool lasting, std::int64_t threads);

  void begin(const T* filter, const T* bias, const run_context& context);
  void run(const T* a, const T* b, const T* bias, T* out, const kernel_args& args, const run_context& context);

 private:
  /// Images: those that tiles see, or those of the results that tiles are of.
  struct images {
    std::int64_t rows = 0, columns = 0, channels = 0;
    [[nodiscard]] std::int64_t size() const { return rows * columns * channels; }
  };

  winograd_convolution(const conv_problem& p, conv_role role, const conv_epilogue& after, bool lasting);

  [[nodiscard]] bool is_worth_it(const conv_problem& p) const;
  void prepare(const conv_problem& p, std::int64_t threads);

  [[nodiscard]] bool is(conv_role role) const { return plays(role_, role); }
  /// Whether the tiles are what is summed.
  [[nodiscard]] bool sums() const { return is(conv_role::filter_gradient); }
  /// The tiles of each block of so many images but the last, an odd number: rows of 36 matrices would share few places
  /// of a cache if these lay a power of two apart.
  [[nodiscard]] std::int64_t block_of(std::int64_t count) const {
    const std::int64_t all = count * tiles_;
    return all <= block_ ? all : pieces(all, pieces(all, block_)) | 1;
  }
  [[nodiscard]] std::int64_t blocks_of(std::int64_t count) const {
    return count == 0 ? 0 : pieces(count * tiles_, block_of(count));
  }
  /// Calls `use` with the tiles of each kind of block.
  template <class Use>
  void for_sizes(Use&& use) const;

  /// One of the 36 products of so many tiles, without addresses.
  [[nodiscard]] gemm_args<T> product(std::int64_t tiles) const;
  /// All of them, or those of a task.
  /// @param spare null, or room for one more result: what is computed is added to what is in `c`
  void multiply(std::int64_t worker, std::int64_t tiles, const T* a, const T* b, T* c, T* spare) const;

  /// Where the pixels of tile `t` are: `side` by `side`, the first of them `above` and `left` of the tile.
  template <class P>
  void find(P* first, std::int64_t t, const images& all, std::int64_t side, std::int64_t above, std::int64_t left,
            P* outside, P** places) const;
  /// Of each of `count` tiles from `first` on, what `Map` makes of its pixels becomes a row of each of 36 matrices.
  /// @param rows_of_all of a matrix
  template <class Map>
  void spread(const T* x, std::int64_t first, std::int64_t count, const images& all, std::int64_t above,
              std::int64_t left, T* to, std::int64_t rows_of_all) const;
  /// The results of these tiles from the products.
  /// @param outside where results go that are none
  void gather(const T* products, std::int64_t count, std::int64_t rows_of_all, T* y, std::int64_t first,
              T* outside) const;
  /// Some elements of the gradient by each pixel of a filter.
  void to_filter(const T* sum, std::int64_t first, std::int64_t count, T* to) const;
  /// Working memory of this thread. All convolutions share it, so that it stays in the cache.
  [[nodiscard]] static T* room_of_thread(std::int64_t elements);
  void one_block(std::int64_t worker, const T* x, T* y, std::int64_t first, std::int64_t count) const;
  /// The gradient by the filter that is a part of all tiles.
  void one_part(std::int64_t part, const T* x, const T* dy, T* to) const;
  /// All tiles at once, the products shared by threads.
  void run_whole(const T* a, const T* b, T* out, runtime::executor& threads, runtime::helpers help) const;
  [[nodiscard]] T* arranged() const { return reinterpret_cast<T*>(arranged_.data()); }

  static constexpr std::int64_t least_channels = 16;  // what a map takes at once
  // Of a filter: channels times filters that stay in a near cache, and whose 36 matrices are not too much memory.
  static constexpr std::int64_t near = 8192, largest = 1 << 19;
  static constexpr std::int64_t room_of_block = 1 << 19, most_shared = 1 << 23;
  static constexpr std::int64_t of_task = 4;  // products, where these are shared by threads

  conv_role role_;
  images from_, to_;
  std::int64_t images_;
  std::int64_t above_, left_;  // zeros that windows see in front of rows and columns
  std::int64_t across_;        // tiles beside each other
  std::int64_t tiles_;         // of an image
  std::int64_t block_ = 1;     // the most tiles that are done together
  std::int64_t blocks_ = 1;    // or parts of the sum, if tiles are summed
  std::int64_t tasks_ = 1;
  bool lasting_, small_;
  bool whole_ = false;                             // large filters for few tiles
  std::uint64_t arranged_of_ = ~std::uint64_t{0};  // `writes` of the filter that is arranged
  runtime::aligned_bytes arranged_;                // the filter as 36 matrices, or parts of a sum; and zeros
  runtime::aligned_bytes shared_;                  // what threads share where they share products
  T* zeros_ = nullptr;                             // for each channel
  const T* bias_ = nullptr;
  alignas(64) T bounds_[32];
#if TAGMA_ONEDNN_PRIMITIVES
  [[nodiscard]] dnnl_owned_layout layout(std::int64_t rows, std::int64_t columns, bool transposed) const;
  static constexpr std::size_t most_sizes = 4;
  std::int64_t sizes_[most_sizes]{};            // of blocks
  heap_array<owned<onednn_product>> products_;  // of each worker, for each size
#endif
};

template <class T>
TAGMA_COLD owned<image_convolution> winograd_convolution<T>::make(const conv_problem& p, conv_role role,
                                                                  const conv_epilogue& after, bool lasting,
                                                                  std::int64_t threads) {
  const auto is_three = [](const conv_axis& axis) {
    return axis.size == 3 && axis.stride == 1 && axis.dilation == 1 && axis.before <= 2 && axis.after <= 2;
  };
  if (p.groups != 1 || !is_three(p.rows) || !is_three(p.columns) || p.channels < least_channels ||
      p.filters < least_channels || p.images == 0 || p.positions() == 0 || p.channels * p.filters > largest)
    return nullptr;
  owned<winograd_convolution> made(new winograd_convolution(p, role, after, lasting));
  if (!made->is_worth_it(p)) return nullptr;
  made->prepare(p, threads);
  made->template becomes<winograd_convolution>();
  if (lasting) runtime::stored_variable::count_writes();
  return made;
}

template <class T>
TAGMA_COLD winograd_convolution<T>::winograd_convolution(const conv_problem& p, conv_role role,
                                                         const conv_epilogue& after, bool lasting)
    : role_(role), images_(p.images), lasting_(lasting), small_(p.is_small()) {
  const images x{p.rows.in, p.columns.in, p.channels}, y{p.rows.out, p.columns.out, p.filters};
  const bool turned = is(conv_role::input_gradient);
  from_ = turned ? y : x, to_ = turned ? x : y;
  above_ = turned ? 2 - p.rows.before : p.rows.before, left_ = turned ? 2 - p.columns.before : p.columns.before;
  across_ = pieces(to_.columns, winograd::tile);
  tiles_ = across_ * pieces(to_.rows, winograd::tile);
  for (int i = 0; i < 16; ++i) {
    bounds_[i] = after.relu ? 0 : -__builtin_huge_valf();
    bounds_[16 + i] = after.six ? 6 : __builtin_huge_valf();
  }

  const std::int64_t all = images_ * tiles_, filter = x.channels * y.channels;
  const std::int64_t of_tile = winograd::terms * (x.channels + y.channels), fitting = room_of_block / of_tile;
  const auto clamp = [](std::int64_t n, std::int64_t least, std::int64_t most) {
    return n < least ? least : n < most ? n : most;
  };
  if (sums()) {
    blocks_ = clamp(all / 64, 1, 8);
    block_ = (clamp(fitting, 64, 128) - 1) | 1;
  } else {
    // Few tiles are hardly worth the way of a filter from a cache that is far, or from memory.
    const std::int64_t least = filter <= near ? 16 : filter <= 16 * near ? 32 : 64;
    const std::int64_t wanted = pieces(least, tiles_), many = images_ / 16;
    together = clamp(wanted < many ? pieces(4 * least, tiles_) : wanted, 1, wanted > many ? wanted : many);
    block_ = (clamp(clamp(all / 8, least, fitting), least, 96) - 1) | 1;
    if (block_ < together * tiles_ && together * tiles_ < 2 * least) block_ = together * tiles_;
    const std::int64_t groups = images_ / together;
    blocks_ = groups * blocks_of(together) + blocks_of(images_ - groups * together);
  }
  whole_ = filter > near && blocks_ < 8 && all * of_tile <= most_shared;
  if (whole_) together = 0, blocks_ = 1;
  tasks_ = clamp(blocks_, 1, 16);
}

template <class T>
TAGMA_COLD bool winograd_convolution<T>::is_worth_it(const conv_problem& p) const {
  // By multiplications of a channel and a filter: those of products, what the maps take, the way of the filter where it
  // is not near, bringing it, or its gradient, into another form, and calls of oneDNN's plain function, if they are.
  // Most filters of forward convolutions are brought there once.
#if TAGMA_ONEDNN_PRIMITIVES
  const bool plain = machine_level() != level::v4;
#else
  const bool plain = false;
#endif
  const auto c = static_cast<double>(p.channels), f = static_cast<double>(p.filters);
  const double maps = plain ? 24 : 16, calls = plain ? 8e3 / (c * f) : 0;
  const double tiles = static_cast<double>(images_ * tiles_) * (1 + maps / f + maps / c);
  const bool is_near = p.channels * p.filters <= near;
  const double way = calls + (is_near ? 3 : 9), form = calls + (p.channels * p.filters <= 16 * near ? 18 : 26);
  const double rest = sums() ? static_cast<double>(blocks_) * form
                             : static_cast<double>(blocks_) * way + (is(conv_role::forward) ? 0 : form);
  return winograd::terms * (tiles + rest) < 0.85 * 9 * static_cast<double>(p.images * p.positions());
}

template <class T>
template <class Use>
void winograd_convolution<T>::for_sizes(Use&& use) const {
  const auto split = [&](std::int64_t tiles, std::int64_t each) {
    if (tiles >= each) use(each);
    if (tiles % each > 0) use(tiles % each);
  };
  if (whole_) {
    use(images_ * tiles_);
  } else if (sums()) {
    const std::int64_t all = images_ * tiles_, each = pieces(all, blocks_);
    split(each, block_);
    split(all - (pieces(all, each) - 1) * each, block_);
  } else {
    if (images_ >= together) split(together * tiles_, block_of(together));
    if (const std::int64_t rest = images_ % together; rest > 0) split(rest * tiles_, block_of(rest));
  }
}

template <class T>
TAGMA_COLD void winograd_convolution<T>::prepare(const conv_problem& p, std::int64_t threads) {
  const std::int64_t filter = p.channels * p.filters, zeros = p.channels + p.filters;
  const std::int64_t kept = !sums() ? winograd::terms * filter : blocks_ > 1 ? blocks_ * 9 * filter : 0;
  arranged_ = runtime::aligned_bytes(static_cast<std::size_t>(kept + zeros) * sizeof(T));
  zeros_ = arranged() + kept;
  std::memset(zeros_, 0, static_cast<std::size_t>(zeros) * sizeof(T));
  if (whole_) {
    const std::int64_t shared = images_ * tiles_ * zeros + (sums() ? filter : 0);
    shared_ = runtime::aligned_bytes(static_cast<std::size_t>(winograd::terms * shared) * sizeof(T));
  }
#if TAGMA_ONEDNN_PRIMITIVES
  use_one_openmp_thread();  // oneDNN plans for as many threads as there are now
  const std::int64_t workers = whole_                                           ? winograd::terms / of_task
                               : is(conv_role::forward) && tasks_ < threads + 1 ? threads + 1
                                                                                : tasks_;
  std::size_t found = 0;
  products_ = heap_array<owned<onednn_product>>(static_cast<std::size_t>(workers) * most_sizes);
  for_sizes([&](std::int64_t tiles) {
    for (std::size_t i = 0; i < found; ++i)
      if (sizes_[i] == tiles) return;
    sizes_[found] = tiles;
    const gemm_args<T> g = product(tiles);
    const dnnl_owned_desc desc =
        onednn_product::describe(dnnl_f32, layout(g.m, g.k, g.transpose_a), layout(g.k, g.n, g.transpose_b),
                                 layout(g.m, g.n, false), sums() && !whole_ ? make_dnnl_sum() : make_dnnl_attributes());
    for (std::int64_t w = 0; w < workers && desc != nullptr; ++w)
      products_[static_cast<std::size_t>(w) * most_sizes + found] = owned<onednn_product>(new onednn_product(desc));
    ++found;
  });
#else
  static_cast<void>(threads);
#endif
}

#if TAGMA_ONEDNN_PRIMITIVES
template <class T>
TAGMA_COLD dnnl_owned_layout winograd_convolution<T>::layout(std::int64_t rows, std::int64_t columns,
                                                             bool transposed) const {
  const dnnl_dims_t dims = {whole_ ? of_task : winograd::terms, rows, columns};
  const dnnl_dims_t strides = {rows * columns, transposed ? 1 : columns, transposed ? rows : 1};
  return make_dnnl_layout(3, dims, strides);
}
#endif

template <class T>
gemm_args<T> winograd_convolution<T>::product(std::int64_t tiles) const {
  gemm_args<T> g;
  g.transpose_a = sums(), g.transpose_b = is(conv_role::input_gradient);
  g.m = sums() ? from_.channels : tiles, g.n = to_.channels, g.k = sums() ? tiles : from_.channels;
  g.lda = from_.channels, g.ldb = g.transpose_b ? from_.channels : to_.channels, g.ldc = to_.channels;
  return g;
}

template <class T>
void winograd_convolution<T>::multiply(std::int64_t worker, std::int64_t tiles, const T* a, const T* b, T* c,
                                       T* spare) const {
#if TAGMA_ONEDNN_PRIMITIVES
  for (std::size_t i = 0; i < most_sizes; ++i)
    if (sizes_[i] == tiles)
      if (const auto& made = products_[static_cast<std::size_t>(worker) * most_sizes + i]; made != nullptr)
        return made->run(a, b, c);
#else
  static_cast<void>(worker);
#endif
  gemm_args<T> g = product(tiles);
  const std::int64_t size = g.m * g.n;
  for (std::int64_t i = 0; i < (whole_ ? of_task : winograd::terms); ++i) {
    T* const sum = c + i * size;
    g.a = a + i * g.m * g.k, g.b = b + i * g.k * g.n, g.c = spare != nullptr ? spare : sum;
    gemm(g);
    if (spare != nullptr) dispatch<sum_vectors<T>>(sum, static_cast<const T*>(sum), size, std::int64_t{2}, spare - sum);
  }
}

template <class T>
template <class P>
void winograd_convolution<T>::find(P* first, std::int64_t t, const images& all, std::int64_t side, std::int64_t above,
                                   std::int64_t left, P* outside, P** places) const {
  const std::int64_t image = t / tiles_, line = (t - image * tiles_) / across_;
  const std::int64_t top = line * winograd::tile - above;
  const std::int64_t start = (t - image * tiles_ - line * across_) * winograd::tile - left;
  first += image * all.size();
  for (std::int64_t i = top; i < top + side; ++i)
    for (std::int64_t j = start; j < start + side; ++j)
      *places++ =
          i >= 0 && i < all.rows && j >= 0 && j < all.columns ? first + (i * all.columns + j) * all.channels : outside;
}

template <class T>
template <class Map>
void winograd_convolution<T>::spread(const T* x, std::int64_t first, std::int64_t count, const images& all,
                                     std::int64_t above, std::int64_t left, T* to, std::int64_t rows_of_all) const {
  const T* from[winograd::terms];
  T* rows[winograd::terms];
  const std::int64_t next = rows_of_all * all.channels;
  for (std::int64_t t = 0; t < count; ++t) {
    find<const T>(x, first + t, all, Map::in, above, left, zeros_, from);
    for (std::int64_t i = 0; i < winograd::terms; ++i) rows[i] = to + i * next + t * all.channels;
    dispatch<winograd::map<Map>>(static_cast<const T* const*>(from), static_cast<T* const*>(rows), all.channels);
  }
}

template <class T>
T* winograd_convolution<T>::room_of_thread(std::int64_t elements) {
  thread_local runtime::aligned_bytes memory;
  const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(T);
  if (memory.size() < bytes) memory = runtime::aligned_bytes(bytes);
  return reinterpret_cast<T*>(memory.data());
}

template <class T>
void winograd_convolution<T>::gather(const T* products, std::int64_t count, std::int64_t rows_of_all, T* y,
                                     std::int64_t first, T* outside) const {
  const T* from[winograd::terms];
  T* places[winograd::tile * winograd::tile];
  const std::int64_t next = rows_of_all * to_.channels;
  for (std::int64_t t = 0; t < count; ++t) {
    for (std::int64_t i = 0; i < winograd::terms; ++i) from[i] = products + i * next + t * to_.channels;
    find<T>(y, first + t, to_, winograd::tile, 0, 0, outside, places);
    dispatch<winograd::map<winograd::to_results>>(static_cast<const T* const*>(from), static_cast<T* const*>(places),
                                                  to_.channels, bias_, static_cast<const T*>(bounds_));
  }
}

template <class T>
void winograd_convolution<T>::one_block(std::int64_t worker, const T* x, T* y, std::int64_t first,
                                        std::int64_t count) const {
  const std::int64_t seen = winograd::terms * count * from_.channels, made = winograd::terms * count * to_.channels;
  T *const matrices = room_of_thread(seen + made + to_.channels), *const products = matrices + seen;
  spread<winograd::of_image>(x, first, count, from_, above_, left_, matrices, count);
  multiply(worker, count, matrices, arranged(), products, nullptr);
  gather(products, count, count, y, first, products + made);
}

template <class T>
void winograd_convolution<T>::to_filter(const T* sum, std::int64_t first, std::int64_t count, T* to) const {
  const T* from[winograd::terms];
  T* places[9];
  const std::int64_t filter = from_.channels * to_.channels;
  for (std::int64_t i = 0; i < winograd::terms; ++i) from[i] = sum + i * filter + first;
  for (std::int64_t i = 0; i < 9; ++i) places[i] = to + i * filter + first;
  dispatch<winograd::map<winograd::to_filter>>(static_cast<const T* const*>(from), static_cast<T* const*>(places),
                                               count);
}

template <class T>
void winograd_convolution<T>::one_part(std::int64_t part, const T* x, const T* dy, T* to) const {
  const std::int64_t all = images_ * tiles_, each = pieces(all, blocks_), filter = from_.channels * to_.channels;
  const std::int64_t first = part * each, end = first + each < all ? first + each : all;
  const std::int64_t most = end - first < block_ ? end - first : block_;
  const std::int64_t seen = winograd::terms * most * from_.channels, given = winograd::terms * most * to_.channels,
                     summed = winograd::terms * filter;
  T *const matrices = room_of_thread(seen + given + summed + filter), *const others = matrices + seen,
           *const sum = others + given;
  std::memset(sum, 0, static_cast<std::size_t>(summed) * sizeof(T));
  for (std::int64_t t = first; t < end; t += block_) {
    const std::int64_t count = end - t < block_ ? end - t : block_;
    spread<winograd::of_image>(x, t, count, from_, above_, left_, matrices, count);
    spread<winograd::of_results>(dy, t, count, to_, 0, 0, others, count);
    multiply(part, count, matrices, others, sum, sum + summed);
  }
  to_filter(sum, 0, filter, to);
}

template <class T>
void winograd_convolution<T>::run_whole(const T* a, const T* b, T* out, runtime::executor& threads,
                                        runtime::helpers help) const {
  const std::int64_t all = images_ * tiles_, filter = from_.channels * to_.channels;
  T *const seen = reinterpret_cast<T*>(shared_.data()), *const other = seen + winograd::terms * all * from_.channels;
  T* const behind = other + winograd::terms * all * to_.channels;
  const std::int64_t each = pieces(all, 16), parts = pieces(all, each);
  const auto spread_some = [&](std::int64_t t) __attribute__((cold)) {
    const std::int64_t first = t * each, count = all - first < each ? all - first : each;
    spread<winograd::of_image>(a, first, count, from_, above_, left_, seen + first * from_.channels, all);
    if (sums()) spread<winograd::of_results>(b, first, count, to_, 0, 0, other + first * to_.channels, all);
  };
  const auto multiply_some = [&](std::int64_t t) __attribute__((cold)) {
    const std::int64_t i = t * of_task, of_all = i * all;
    if (sums())
      multiply(t, all, seen + of_all * from_.channels, other + of_all * to_.channels, behind + i * filter, nullptr);
    else
      multiply(t, all, seen + of_all * from_.channels, arranged() + i * filter, other + of_all * to_.channels, nullptr);
  };
  const auto finish_some = [&](std::int64_t t) __attribute__((cold)) {
    if (sums()) {
      const std::int64_t some = filter / 16 / 16 * 16, first = t * some;
      return to_filter(behind, first, t == 15 ? filter - first : some, out);
    }
    const std::int64_t first = t * each, count = all - first < each ? all - first : each;
    gather(other + first * to_.channels, count, all, out, first, room_of_thread(to_.channels));
  };
  threads.parallel_for(parts, spread_some, help);
  threads.parallel_for(winograd::terms / of_task, multiply_some, help);
  threads.parallel_for(sums() ? 16 : parts, finish_some, help);
}

template <class T>
TAGMA_COLD void winograd_convolution<T>::begin(const T* filter, const T* bias, const run_context& context) {
  bias_ = bias != nullptr ? bias : zeros_;
  if (lasting_ && arranged_of_ == context.writes) return;
  const std::int64_t all = from_.channels * to_.channels, tasks = all < 32768 ? 1 : all / 16384;
  const bool turned = is(conv_role::input_gradient);
  const auto some = [&](std::int64_t t) __attribute__((cold)) {
    const T* from[9];
    T* places[winograd::terms];
    const std::int64_t first = t * 16384, count = t + 1 < tasks ? 16384 : all - first;
    for (std::int64_t i = 0; i < 9; ++i) from[i] = filter + (turned ? 8 - i : i) * all + first;
    for (std::int64_t i = 0; i < winograd::terms; ++i) places[i] = arranged() + i * all + first;
    dispatch<winograd::map<winograd::of_filter>>(static_cast<const T* const*>(from), static_cast<T* const*>(places),
                                                 count);
  };
  context.threads->parallel_for(tasks, some, runtime::helpers::awake);
  arranged_of_ = context.writes;
}

template <class T>
TAGMA_COLD void winograd_convolution<T>::run(const T* a, const T* b, const T* bias, T* out, const kernel_args& args,
                                             const run_context& context) {
  const runtime::helpers help = small_ ? runtime::helpers::awake : runtime::helpers::woken;
  if (sums() && !whole_) {
    const std::int64_t filter = 9 * from_.channels * to_.channels;
    T* const to = blocks_ > 1 ? arranged() : out;
    context.threads->parallel_for(
        blocks_, [&](std::int64_t t) __attribute__((cold)) { one_part(t, a, b, to + t * filter); }, help);
    if (blocks_ > 1) dispatch<sum_vectors<T>>(out, static_cast<const T*>(to), filter, blocks_, filter);
    return;
  }
  const bool some = args.all > 0;
  if (!some && !sums()) begin(b, bias, context);
  if (whole_) return run_whole(a, b, out, *context.threads, help);
  const std::int64_t count = some ? args.in[0].dims[0] : images_, of_group = blocks_of(together);
  const std::int64_t groups = count / together, blocks = groups * of_group + blocks_of(count - groups * together);
  const std::int64_t tasks = some ? 1 : tasks_;
  const auto task = [&](std::int64_t i) __attribute__((cold)) {
    for (std::int64_t k = i * blocks / tasks; k < (i + 1) * blocks / tasks; ++k) {
      const std::int64_t group = k / of_group < groups ? k / of_group : groups;
      const std::int64_t own = group < groups ? together : count - groups * together;
      const std::int64_t each = block_of(own), first = (k - group * of_group) * each, rest = own * tiles_ - first;
      one_block(some ? args.worker : i, a + group * together * from_.size(), out + group * together * to_.size(), first,
                rest < each ? rest : each);
    }
  };
  tasks == 1 ? task(0) : context.threads->parallel_for(tasks, task, help);
}

}  // namespace tagma::device::cpu::detail
