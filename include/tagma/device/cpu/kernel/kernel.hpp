// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What kernels of the CPU share. They are registered for `on_cpu`, as device/kernel.hpp says.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/math.hpp"
#include "tagma/device/functions.hpp"
#include "tagma/device/index.hpp"
#include "tagma/device/kernel.hpp"
#include "tagma/runtime/aligned_bytes.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma::device {

/// The CPU, as the device of a kernel.
struct on_cpu;

}  // namespace tagma::device

namespace tagma::device::cpu {

/// The number of operations of loops that are compiled for AVX-512, too, because they have this one: any number with an
/// element-wise operation that computes much, few with one that is faster by those instructions.
template <const char& Operation>
inline constexpr std::size_t longest_wide_loop = 0;
/// True of those that compute with doubles, whatever they are given: loops of 16-bit floats with one are not.
template <const char& Operation>
inline constexpr bool computes_doubles = false;

/// Memory of a kernel that keeps nothing from one run to the next.
template <class T>
struct scratch final : kernel_state {
  explicit scratch(std::int64_t size) : bytes_(static_cast<std::size_t>(bounded_product(size, sizeof(T)))) {}
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(bytes_.data()); }

 private:
  runtime::aligned_bytes bytes_;
};

/// Copies with a conversion, and rounds where the target has 16 bits. What is left of the last pack is computed with
/// the elements before it.
template <int Lanes>
struct convert_elements_of {
  template <class From, class To>
  TAGMA_INLINE static void run(const From* from, To* to, std::int64_t n) {
    for (std::int64_t i = 0; i + Lanes <= n; i += Lanes) store(to + i, load<Lanes>(from + i));
    const int rest = static_cast<int>(n % Lanes);
    if (rest > 0 && n > Lanes)
      store(to + n - Lanes, load<Lanes>(from + n - Lanes));
    else if (rest > 0)
      store(to + n - rest, load<Lanes>(from + n - rest, rest), rest);
  }
};
using convert_elements = with_wide<convert_elements_of<default_width>, convert_elements_of<wide_width>>;

/// Where a kernel forms sums: in its result, or for 16-bit floats in wider ones that it keeps.
template <class T>
[[nodiscard]] compute_t<T>* wide_result(const kernel_args& args) {
  if constexpr (std::is_same_v<T, compute_t<T>>)
    return args.out.as<T>();
  else
    return static_cast<scratch<compute_t<T>>*>(args.state)->data();
}

/// Rounds `count` sums from `first` on, once, to the result; nothing where they are there.
template <class T>
void round_result(const kernel_args& args, std::int64_t first, std::int64_t count) {
  using C = compute_t<T>;
  if constexpr (!std::is_same_v<T, C>)
    dispatch<convert_elements>(static_cast<const C*>(wide_result<T>(args)) + first, args.out.as<T>() + first, count);
}

/// The entry of a kernel that asks for `wide_result<T>`.
template <class T>
[[nodiscard]] constexpr kernel_entry wide_entry(runtime::kernel_function run) {
  if constexpr (std::is_same_v<T, compute_t<T>>)
    return {run};
  else
    return {run, [](const kernel_args& args, const run_context&) -> owned<kernel_state> {
              return make_owned<scratch<compute_t<T>>>(args.out.elements());
            }};
}

}  // namespace tagma::device::cpu
