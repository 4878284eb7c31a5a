// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/layers.md: attention.
#include <catch2/catch.hpp>

#include <tagma/tagma.hpp>

#include "support/errors.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: attention") {
  // example: multi_head_attention
  constexpr auto words = tg::placeholder<"words", float, tg::dyn, tg::dyn, 16>();  // batch, time, features
  constexpr auto filled = tg::placeholder<"filled", bool, tg::dyn, tg::dyn>();     // false: padding
  auto all = tg::multi_head_attention<"attention", 4>(words, filled);              // [?, ?, 16]: 4 heads of 4 features
  auto past = tg::multi_head_attention<"decoder", 4, tg::causal>(words);           // step i sees steps 0 to i
  // end
  // example: transformer_block, transformer_options
  constexpr tg::transformer_options decoding{.attention = {.causal = true, .rotary = true}};
  auto encoded = tg::transformer_block<"encoder", 4, 64>(words, filled);  // [?, ?, 16]; 64 units within
  auto decoded =
      tg::transformer_block<"block", 4, 64, decoding>(words, [](const auto& e) { return tg::dropout(e, 0.1); });
  // end
  // example: transformer_decoder_block
  constexpr auto target = tg::placeholder<"target", float, tg::dyn, tg::dyn, 16>();
  auto answered =
      tg::transformer_decoder_block<"answer", 4, 64>(target, encoded);  // [?, ?, 16]: attends to the encoded words
  // end
  CHECK(text(answered) == "[?, ?, 16]");
  CHECK(text(all) == "[?, ?, 16]");
  CHECK(text(past) == "[?, ?, 16]");
  CHECK(text(encoded) == "[?, ?, 16]");
  CHECK(text(decoded) == "[?, ?, 16]");

  // example: cached_attention, decoding_layer, cached_transformer_block
  constexpr auto step = tg::placeholder<"step", float, 1, 1, 16>();  // one step of one sentence
  auto cached = tg::cached_attention<"decoder", 4, /*the most steps*/ 100, tg::causal>(step);
  auto answer = cached.output;  // [1, 1, 16], of this step and those of earlier runs
  auto forget = cached.reset;   // begins anew
  auto block =
      tg::cached_transformer_block<"block", 4, 64, 100, decoding>(step).output;  // the variables of transformer_block
  // end
  tg::session session(tg::compile([=] { return tg::outputs(all, past, encoded, answered, answer, forget, block); }));
  tg::tensor<float> sentence({1, 2, 16});
  for (std::size_t i = 0; i < sentence.size(); ++i) sentence.data()[i] = static_cast<float>(i % 7) - 3.0f;
  const tg::tensor<float> whole = session.run(past, words = sentence);
  CHECK(text(answer) == "[1, 1, 16]");
  for (tg::extent i = 0; i < 2; ++i) {
    const tg::tensor<float> one(tg::view<const float>(sentence.data() + 16 * i, {1, 1, 16}));
    const tg::tensor<float> said = session.run(answer, step = one);
    for (tg::extent f = 0; f < 16; ++f) CHECK(said.data()[f] == Approx(whole.data()[16 * i + f]).margin(1e-5));
    CHECK(session.run(block, step = one).dims() == tg::shape{1, 1, 16});
  }
  session.run(forget);
  CHECK(session.run(encoded, words = sentence, filled = tg::tensor<bool>({1, 2}, {true, true})).dims() ==
        sentence.dims());
  CHECK(session.run(all, words = sentence, filled = tg::tensor<bool>({1, 2}, {true, false})).dims() == sentence.dims());
  CHECK(session.run(answered, words = sentence, target = sentence, filled = tg::tensor<bool>({1, 2}, {true, true}))
            .dims() == sentence.dims());
}
