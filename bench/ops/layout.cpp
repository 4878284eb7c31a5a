// SPDX-License-Identifier: BSL-1.0
// What moves elements: transposition, gathering, slices, joins, for elements of one to eight bytes.
#include "operation.hpp"

namespace ops {

namespace {

template <class T>
void add_all() {
  const std::string of = std::string(".") + type_name<T>;
  constexpr auto& a = matrix_a<T>;
  constexpr auto& b = matrix_b<T>;
  add("transpose" + of, tg::transpose(a), a);
  add("heads" + of, tg::transpose<0, 2, 1, 3>(images<T>), images<T>);
  add("swap_first" + of, tg::transpose<1, 0, 2>(cube_a<T>), cube_a<T>);
  add("gather_0" + of, tg::gather<0>(a, indices), a, rows(indices));
  add("gather_1" + of, tg::gather<1>(a, indices), a, columns(indices));
  add("slice_1" + of, tg::slice<tg::range{}, tg::range{3, 203}>(a), a);
  add("pad" + of, tg::pad<tg::padding{1, 1}, tg::padding{2, 2}>(a, 0), a);
  add("concat_0" + of, tg::concat<0>(a, b), a, b);
  add("concat_1" + of, tg::concat<1>(a, b), a, b);
  add("tile_1" + of, tg::tile<1, 3>(a), a);
}

}  // namespace

void add_layout() {
  add_all<float>();
  add_all<double>();
  add_all<tg::float16>();
  add_all<std::int8_t>();
  constexpr auto& a = matrix_a<float>;
  add_with_gradient("gather_0.float32", tg::gather<0>(a, indices), a, rows(indices));
  add_with_gradient("gather_1.float32", tg::gather<1>(a, indices), a, columns(indices));
  add_with_gradient("slice_1.float32", tg::slice<tg::range{}, tg::range{3, 203}>(a), a);
  add_with_gradient("tile_1.float32", tg::tile<1, 3>(a), a);
  add("one_hot.int64", tg::one_hot<1000>(indices), rows(indices));
}

}  // namespace ops
