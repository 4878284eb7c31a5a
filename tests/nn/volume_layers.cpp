// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/volume_layers.hpp"

#include <catch2/catch.hpp>

#include "support/gradient_check.hpp"
#include "support/waves.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;
using tagma::test::waves;

namespace {

/// One axis of a convolution: where its windows begin, and how many there are.
struct axis {
  tg::extent in, size, stride, dilation;
  bool same;

  [[nodiscard]] tg::extent reach() const { return (size - 1) * dilation + 1; }
  [[nodiscard]] tg::extent count() const { return same ? (in + stride - 1) / stride : (in - reach()) / stride + 1; }
  [[nodiscard]] tg::extent before() const {
    const tg::extent missing = (count() - 1) * stride + reach() - in;
    return same && missing > 0 ? missing / 2 : 0;
  }
};

/// The convolution by its definition.
tg::tensor<double> expected(const tg::tensor<double>& x, const tg::tensor<double>& k, const axis& z, const axis& y,
                            const axis& w) {
  const tg::shape in = x.dims(), filter = k.dims();
  tg::tensor<double> out(tg::shape{in[0], z.count(), y.count(), w.count(), filter[4]});
  tg::extent at = 0;
  for (tg::extent b = 0; b < in[0]; ++b)
    for (tg::extent d = 0; d < z.count(); ++d)
      for (tg::extent r = 0; r < y.count(); ++r)
        for (tg::extent c = 0; c < w.count(); ++c)
          for (tg::extent f = 0; f < filter[4]; ++f) {
            double sum = 0;
            for (tg::extent i = 0; i < z.size; ++i)
              for (tg::extent j = 0; j < y.size; ++j)
                for (tg::extent l = 0; l < w.size; ++l) {
                  const tg::extent p = d * z.stride + i * z.dilation - z.before();
                  const tg::extent q = r * y.stride + j * y.dilation - y.before();
                  const tg::extent s = c * w.stride + l * w.dilation - w.before();
                  if (p < 0 || p >= z.in || q < 0 || q >= y.in || s < 0 || s >= w.in) continue;
                  for (tg::extent n = 0; n < in[4]; ++n)
                    sum += x[(((b * z.in + p) * y.in + q) * w.in + s) * in[4] + n] *
                           k[(((i * y.size + j) * w.size + l) * in[4] + n) * filter[4] + f];
                }
            out[at++] = sum;
          }
  return out;
}

template <tg::volume Kernel, tg::conv3d_options Options, tg::extent Depth, tg::extent Height, tg::extent Width,
          tg::extent Channels>
void check(tg::extent rows) {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, Depth, Height, Width, Channels>();
  const auto y = tg::conv3d<"c", 3, Kernel, Options>(x);
  const auto kernel =
      tg::variable<"c/kernel", double, Kernel.depth, Kernel.height, Kernel.width, Channels, 3>(tg::glorot_uniform);
  const auto loss = tg::sum(tg::sin(y));
  const auto slope = tg::gradient(loss, x);
  const auto by_kernel = tg::gradient(loss, kernel);
  tg::session session(tg::compile([=] { return tg::outputs(kernel, y, loss, slope, by_kernel); }), {.seed = 4});
  const auto in = waves({rows, Depth, Height, Width, Channels}, 0.2);
  const auto k = session.run(kernel);
  const auto got = session.run(y, x = in);
  const auto right = expected(in, k, {Depth, Kernel.depth, Options.stride.depth, Options.dilation.depth, Options.same},
                              {Height, Kernel.height, Options.stride.height, Options.dilation.height, Options.same},
                              {Width, Kernel.width, Options.stride.width, Options.dilation.width, Options.same});
  REQUIRE(got.dims() == right.dims());
  for (tg::extent i = 0; i < got.dims().elements(); ++i) CHECK(got[i] == Approx(right[i]).epsilon(1e-11).margin(1e-13));
  if (rows > 0)
    tg::test::check_gradient([&](const tg::tensor<double>& at) { return session.run(tg::fetch(loss, slope), x = at); },
                             in);
}

}  // namespace

TEST_CASE("a convolution of volumes is its definition, and so is its gradient", "[volume_layers]") {
  using options = tg::conv3d_options;
  check<tg::volume(3), options{}, 4, 5, 6, 2>(2);
  check<tg::volume(1, 3, 2), options{}, 3, 4, 4, 2>(1);
  check<tg::volume(2, 1, 1), options{.stride = {2, 1, 1}}, 5, 2, 3, 1>(2);
  check<tg::volume(3, 2, 3), options{.same = true}, 4, 3, 5, 2>(2);
  check<tg::volume(3, 3, 3), options{.stride = {2, 2, 1}, .same = true}, 5, 4, 3, 1>(2);
  check<tg::volume(2), options{.stride = {3, 1, 2}, .same = true, .dilation = {2, 1, 1}}, 7, 3, 4, 1>(1);
  check<tg::volume(2, 2, 2), options{.dilation = {3, 2, 1}}, 6, 4, 3, 2>(2);
  check<tg::volume(1), options{.stride = 2}, 4, 4, 4, 2>(1);
  check<tg::volume(3), options{.same = true}, 1, 1, 1, 1>(2);  // zeros around one voxel
  check<tg::volume(2), options{}, 2, 2, 2, 1>(0);              // no volumes
}
