// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/attention.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "support/gradient_check.hpp"
#include "support/waves.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;
using tagma::test::waves;

namespace {

/// The rows of `x`, [batch, time, n], times a matrix.
tg::tensor<double> times(const tg::tensor<double>& x, const tg::tensor<double>& kernel) {
  const tg::extent rows = x.dims()[0] * x.dims()[1], n = x.dims()[2], m = kernel.dims()[1];
  tg::tensor<double> y(tg::shape{x.dims()[0], x.dims()[1], m});
  for (tg::extent r = 0; r < rows; ++r)
    for (tg::extent j = 0; j < m; ++j) {
      double sum = 0;
      for (tg::extent i = 0; i < n; ++i) sum += x[r * n + i] * kernel[i * m + j];
      y[r * m + j] = sum;
    }
  return y;
}

/// Attention by its definition, with a function that says whether query i of batch b sees key j.
template <class Seen>
tg::tensor<double> attended(const tg::tensor<double>& q, const tg::tensor<double>& k, const tg::tensor<double>& v,
                            tg::extent heads, Seen seen) {
  const tg::extent batch = q.dims()[0], queries = q.dims()[1], keys = k.dims()[1];
  const tg::extent n = q.dims()[2], m = v.dims()[2], depth = n / heads, wide = m / heads;
  tg::tensor<double> y(tg::shape{batch, queries, m});
  for (tg::extent b = 0; b < batch; ++b)
    for (tg::extent h = 0; h < heads; ++h)
      for (tg::extent i = 0; i < queries; ++i) {
        std::vector<double> share(static_cast<std::size_t>(keys));
        double total = 0;
        for (tg::extent j = 0; j < keys; ++j) {
          double product = 0;
          for (tg::extent d = 0; d < depth; ++d)
            product += q[(b * queries + i) * n + h * depth + d] * k[(b * keys + j) * n + h * depth + d];
          const double e = seen(b, i, j) ? std::exp(product / std::sqrt(static_cast<double>(depth))) : 0;
          share[static_cast<std::size_t>(j)] = e;
          total += e;
        }
        for (tg::extent d = 0; d < wide; ++d) {
          double sum = 0;
          for (tg::extent j = 0; j < keys; ++j)
            sum += share[static_cast<std::size_t>(j)] / total * v[(b * keys + j) * m + h * wide + d];
          y[(b * queries + i) * m + h * wide + d] = sum;
        }
      }
  return y;
}

void check_equal(const tg::tensor<double>& got, const tg::tensor<double>& expected) {
  REQUIRE(got.dims() == expected.dims());
  for (tg::extent i = 0; i < got.dims().elements(); ++i)
    CHECK(got[i] == Approx(expected[i]).epsilon(1e-11).margin(1e-13));
}

}  // namespace

TEST_CASE("attention of several heads is its definition", "[attention]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, tg::dyn, 6>();
  const auto memory = tg::placeholder<"memory", double, tg::dyn, tg::dyn, 3>();
  const auto keys_seen = tg::placeholder<"keys_seen", bool, tg::dyn, tg::dyn>();
  const auto pairs_seen = tg::placeholder<"pairs_seen", bool, 1, tg::dyn, tg::dyn>();
  constexpr tg::attention_options wide{.causal = true, .units = 8};
  const auto causal = tg::multi_head_attention<"self", 2, wide>(x);
  const auto padded = tg::multi_head_attention<"self", 2, wide>(x, keys_seen);
  const auto cross = tg::multi_head_attention<"cross", 3>(x, memory);
  const auto chosen = tg::multi_head_attention<"cross", 3>(x, memory, pairs_seen);
  const auto query = tg::variable<"self/query/kernel", double, 6, 8>(tg::glorot_uniform);
  const auto key = tg::variable<"self/key/kernel", double, 6, 8>(tg::glorot_uniform);
  const auto value = tg::variable<"self/value/kernel", double, 6, 8>(tg::glorot_uniform);
  const auto output = tg::variable<"self/output/kernel", double, 8, 6>(tg::glorot_uniform);
  const auto bias = tg::variable<"self/value/bias", double, 8>(tg::zeros);
  const auto cross_query = tg::variable<"cross/query/kernel", double, 6, 6>(tg::glorot_uniform);
  const auto cross_key = tg::variable<"cross/key/kernel", double, 3, 6>(tg::glorot_uniform);
  const auto cross_value = tg::variable<"cross/value/kernel", double, 3, 6>(tg::glorot_uniform);
  const auto cross_output = tg::variable<"cross/output/kernel", double, 6, 6>(tg::glorot_uniform);
  const auto loss = tg::sum(tg::square(causal)) + tg::sum(tg::sin(padded)) + tg::sum(tg::square(chosen));
  const auto slope = tg::gradient(loss, x);
  const auto by_key = tg::gradient(loss, key);
  tg::session session(tg::compile([=] {
                        return tg::outputs(causal, padded, cross, chosen, query, key, value, output, bias, cross_query,
                                           cross_key, cross_value, cross_output, loss, slope, by_key);
                      }),
                      {.seed = 5});

  const auto xs = waves({2, 4, 6}, 0.1), memories = waves({2, 3, 3}, 0.9);
  const tg::tensor<bool> seen({2, 4}, {true, true, true, false, true, false, true, true});
  const tg::tensor<bool> pairs({1, 4, 3}, {true, false, false, true, true, false, false, true, true, true, true, true});
  const auto kernels = session.run(tg::fetch(query, key, value, output));
  const auto q = times(xs, std::get<0>(kernels)), k = times(xs, std::get<1>(kernels)),
             v = times(xs, std::get<2>(kernels));
  check_equal(session.run(causal, x = xs),
              times(attended(q, k, v, 2, [](auto, auto i, auto j) { return j <= i; }), std::get<3>(kernels)));
  // Two masks at once: what is behind a query, and what is padding. The first key is always seen here.
  check_equal(session.run(padded, x = xs, keys_seen = seen),
              times(attended(q, k, v, 2, [&](auto b, auto i, auto j) { return j <= i && seen[b * 4 + j]; }),
                    std::get<3>(kernels)));
  const auto crossing = session.run(tg::fetch(cross_query, cross_key, cross_value, cross_output));
  const auto cq = times(xs, std::get<0>(crossing)), ck = times(memories, std::get<1>(crossing)),
             cv = times(memories, std::get<2>(crossing));
  check_equal(session.run(cross, x = xs, memory = memories),
              times(attended(cq, ck, cv, 3, [](auto, auto, auto) { return true; }), std::get<3>(crossing)));
  check_equal(
      session.run(chosen, x = xs, memory = memories, pairs_seen = pairs),
      times(attended(cq, ck, cv, 3, [&](auto, auto i, auto j) { return pairs[i * 3 + j]; }), std::get<3>(crossing)));

  tg::test::check_gradient(
      [&](const tg::tensor<double>& at) {
        return session.run(tg::fetch(loss, slope), x = at, memory = memories, keys_seen = seen, pairs_seen = pairs);
      },
      xs);
  const auto biases = session.run(bias);
  for (const double b : biases.span()) CHECK(b == 0);
  const auto slopes = session.run(by_key, x = xs, memory = memories, keys_seen = seen, pairs_seen = pairs);
  CHECK(slopes.dims() == tg::shape{6, 8});
}

TEST_CASE("a query that sees no key gets zeros, and gives no gradient", "[attention]") {
  const auto q = tg::placeholder<"q", double, tg::dyn, 2, 2>();
  const auto k = tg::placeholder<"k", double, tg::dyn, 2, 2>();
  const auto v = tg::placeholder<"v", double, tg::dyn, 2, 1>();
  const auto keys_seen = tg::placeholder<"keys_seen", bool, tg::dyn, 2>();
  const auto pairs_seen = tg::placeholder<"pairs_seen", bool, tg::dyn, 2, 2>();
  const auto by_key = tg::scaled_dot_product_attention(q, k, v, keys_seen);
  const auto by_pair = tg::scaled_dot_product_attention(q, k, v, pairs_seen);
  const auto behind = tg::scaled_dot_product_attention<1, tg::causal>(q, k, v, keys_seen);
  const auto slope = tg::gradient(tg::sum(tg::square(by_pair)), v);
  const auto turn = tg::gradient(tg::sum(tg::square(by_pair)), q);
  tg::session session(tg::compile([=] { return tg::outputs(by_key, by_pair, behind, slope, turn); }));
  const tg::tensor<double> qs({2, 2, 2}, {1, 2, 0, 1, 3, 1, 2, 0}), ks({2, 2, 2}, {1, 2, 3, 4, 1, 0, 0, 1}),
      vs({2, 2, 1}, {2, 6, 3, 5});
  const tg::tensor<bool> keys({2, 2}, {false, false, false, true});
  const auto of_keys = session.run(by_key, q = qs, k = ks, v = vs, keys_seen = keys);
  CHECK((of_keys[0] == 0 && of_keys[1] == 0 && of_keys[2] == 5 && of_keys[3] == 5));
  // The second key of the second example is behind its first query.
  const auto of_both = session.run(behind, q = qs, k = ks, v = vs, keys_seen = keys);
  CHECK((of_both[0] == 0 && of_both[1] == 0 && of_both[2] == 0 && of_both[3] == 5));
  const tg::tensor<bool> pairs({2, 2, 2}, {false, false, true, false, false, true, false, false});
  const auto [of_pairs, slopes, turns] =
      session.run(tg::fetch(by_pair, slope, turn), q = qs, k = ks, v = vs, pairs_seen = pairs);
  CHECK((of_pairs[0] == 0 && of_pairs[1] == 2 && of_pairs[2] == 5 && of_pairs[3] == 0));
  CHECK((slopes[0] == 4 && slopes[1] == 0 && slopes[2] == 0 && slopes[3] == 10));
  for (const double t : turns.span()) CHECK(t == 0);
}

TEST_CASE("rotary positions turn the halves of each head", "[attention]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, tg::dyn, 8>();
  const auto first = tg::placeholder<"first", std::int32_t>();
  const auto turned = tg::rotary_embedding<2>(x);
  const auto later = tg::rotary_embedding<2, 100>(x, first);
  const auto loss = tg::sum(tg::sin(later));
  const auto slope = tg::gradient(loss, x);
  tg::session session(tg::compile([=] { return tg::outputs(turned, later, loss, slope); }));
  const auto xs = waves({2, 3, 8}, 0.4);
  const auto expected = [&](double base, int from) {
    tg::tensor<double> y(xs.dims());
    for (tg::extent i = 0; i < 48; ++i) {
      const tg::extent step = i / 8 % 3, feature = i % 4;  // two heads of 4 features, two halves of 2
      const double angle = static_cast<double>(step + from) * std::pow(base, -static_cast<double>(feature % 2) / 2);
      y[i] = feature < 2 ? xs[i] * std::cos(angle) - xs[i + 2] * std::sin(angle)
                         : xs[i] * std::cos(angle) + xs[i - 2] * std::sin(angle);
    }
    return y;
  };
  check_equal(session.run(turned, x = xs), expected(10000, 0));
  check_equal(session.run(later, x = xs, first = 7), expected(100, 7));
  tg::test::check_gradient(
      [&](const tg::tensor<double>& at) { return session.run(tg::fetch(loss, slope), x = at, first = 7); }, xs);
}

TEST_CASE("a block of a transformer is made of attention, normalisation and dense layers", "[attention]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, 3, 4>();
  const auto mask = tg::placeholder<"mask", bool, tg::dyn, 3>();
  const auto before = tg::transformer_block<"b", 2, 5, tg::transformer_options{.attention = tg::causal}>(x);
  const auto halved = [](const auto& e) { return e * tg::constant<"half">(0.5); };
  const auto behind = tg::transformer_block<"b", 2, 5, tg::transformer_options{.post_norm = true}>(x, mask, halved);
  const auto dense_layers = [](const auto& e) {
    return tg::dense<"b/output", 4>(tg::dense<"b/hidden", 5>(e, tg::gelu));
  };
  const auto h =
      x + tg::multi_head_attention<"b/attention", 2, tg::causal>(tg::layer_norm<"b/attention_norm">(x, 1e-5));
  const auto same_before = h + dense_layers(tg::layer_norm<"b/output_norm">(h, 1e-5));
  const auto g =
      tg::layer_norm<"b/attention_norm">(x + halved(tg::multi_head_attention<"b/attention", 2>(x, mask)), 1e-5);
  const auto same_behind = tg::layer_norm<"b/output_norm">(g + halved(dense_layers(g)), 1e-5);
  const auto loss = tg::sum(tg::sin(before)) + tg::sum(tg::sin(behind));
  const auto slope = tg::gradient(loss, x);
  tg::session session(tg::compile([=] { return tg::outputs(before, same_before, behind, same_behind, loss, slope); }),
                      {.seed = 11});
  const auto xs = waves({2, 3, 4}, 0.2);
  const tg::tensor<bool> seen({2, 3}, {true, true, false, false, true, true});
  const auto [a, b] = session.run(tg::fetch(before, same_before), x = xs);
  check_equal(a, b);
  const auto [c, d] = session.run(tg::fetch(behind, same_behind), x = xs, mask = seen);
  check_equal(c, d);
  tg::test::check_gradient(
      [&](const tg::tensor<double>& at) { return session.run(tg::fetch(loss, slope), x = at, mask = seen); }, xs);
}

TEST_CASE("decoding with a cache computes what all steps at once do", "[attention]") {
  constexpr tg::transformer_options options{.attention = {.causal = true, .rotary = true}};
  const auto x = tg::placeholder<"x", double, 2, 5, 4>();
  const auto prompt = tg::placeholder<"prompt", double, 2, 2, 4>();
  const auto step = tg::placeholder<"step", double, 2, 1, 4>();
  const auto all = tg::transformer_block<"b", 2, 8, options>(x);
  const auto begun = tg::cached_transformer_block<"b", 2, 8, 5, options>(prompt);
  const auto next = tg::cached_transformer_block<"b", 2, 8, 5, options>(step);
  const auto first = begun.output;
  const auto later = next.output;
  const auto reset = next.reset;
  const auto position = tg::variable<"b/attention/position", std::int32_t>(tg::zeros, tg::not_trainable);
  tg::session session(tg::compile([=] { return tg::outputs(all, first, later, reset, position); }), {.seed = 2});
  const auto xs = waves({2, 5, 4}, 0.3);
  const auto expected = session.run(all, x = xs);
  const auto part = [&](tg::extent from, tg::extent count) {
    tg::tensor<double> some(tg::shape{2, count, 4});
    for (tg::extent b = 0; b < 2; ++b)
      for (tg::extent i = 0; i < 4 * count; ++i) some[b * 4 * count + i] = xs[b * 20 + from * 4 + i];
    return some;
  };
  const auto check = [&](const tg::tensor<double>& got, tg::extent from) {
    const tg::extent count = got.dims()[1];
    for (tg::extent b = 0; b < 2; ++b)
      for (tg::extent i = 0; i < 4 * count; ++i)
        CHECK(got[b * 4 * count + i] == Approx(expected[b * 20 + from * 4 + i]).epsilon(1e-11).margin(1e-13));
  };
  for (int round = 0; round < 2; ++round) {
    check(session.run(first, prompt = part(0, 2)), 0);
    for (tg::extent t = 2; t < 5; ++t) check(session.run(later, step = part(t, 1)), t);
    CHECK(session.run(position) == 5);
    CHECK_THROWS_WITH(session.run(later, step = part(0, 1)), Catch::StartsWith("OutOfRange: scatter_add"));
    session.run(reset);
    CHECK(session.run(position) == 0);
  }
}

TEST_CASE("a block of a decoder attends to itself, and to a memory of another length", "[attention]") {
  const auto x = tg::placeholder<"x", double, tg::dyn, 3, 4>();
  const auto memory = tg::placeholder<"memory", double, tg::dyn, 5, 6>();
  const auto halved = [](const auto& e) { return e * tg::constant<"half">(0.5); };
  const auto before =
      tg::transformer_decoder_block<"b", 2, 5, tg::transformer_options{.attention = tg::causal}>(x, memory, halved);
  const auto behind = tg::transformer_decoder_block<"b", 2, 5, tg::transformer_options{.post_norm = true}>(x, memory);
  const auto dense_layers = [](const auto& e) {
    return tg::dense<"b/output", 4>(tg::dense<"b/hidden", 5>(e, tg::gelu));
  };
  const auto h =
      x + halved(tg::multi_head_attention<"b/attention", 2, tg::causal>(tg::layer_norm<"b/attention_norm">(x, 1e-5)));
  const auto m =
      h + halved(tg::multi_head_attention<"b/memory_attention", 2>(tg::layer_norm<"b/memory_norm">(h, 1e-5), memory));
  const auto same_before = m + halved(dense_layers(tg::layer_norm<"b/output_norm">(m, 1e-5)));
  const auto g = tg::layer_norm<"b/attention_norm">(x + tg::multi_head_attention<"b/attention", 2>(x), 1e-5);
  const auto n =
      tg::layer_norm<"b/memory_norm">(g + tg::multi_head_attention<"b/memory_attention", 2>(g, memory), 1e-5);
  const auto same_behind = tg::layer_norm<"b/output_norm">(n + dense_layers(n), 1e-5);
  const auto loss = tg::sum(tg::sin(before));
  const auto slope = tg::gradient(loss, memory);
  tg::session session(tg::compile([=] { return tg::outputs(before, same_before, behind, same_behind, loss, slope); }),
                      {.seed = 11});
  const auto xs = waves({2, 3, 4}, 0.2);
  const auto ms = waves({2, 5, 6}, 0.7);
  const auto [a, b, c, d] = session.run(tg::fetch(before, same_before, behind, same_behind), x = xs, memory = ms);
  check_equal(a, b);
  check_equal(c, d);
  tg::test::check_gradient(
      [&](const tg::tensor<double>& at) { return session.run(tg::fetch(loss, slope), x = xs, memory = at); }, ms);
}
