// SPDX-License-Identifier: BSL-1.0
// Programs that are compiled late are those that are compiled early, whatever their records have.
#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "tagma/explain.hpp"
#include "tagma/late.hpp"
#include "tagma/own_operations.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace tg = tagma;

namespace mine {

/// A composition, which no list has.
struct doubled : tg::op::composition<2> {
  static constexpr const char* name = "mine.late_doubled";
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void expand(auto& e) { e.result = e.emit(tg::op::add{}, e.in(0), e.in(0)); }
};

template <int Number>
struct cubed {
  static constexpr const char* name = Number == 0 ? "mine.late_cubed" : "mine.late_unknown";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void gradient(tg::ir::gradient_args& g) {
    const auto three = g.emit(tg::op::add{}, g.emit(tg::op::add{}, g.in(0), g.in(0)), g.in(0));
    g.set(0, g.emit(tg::op::multiply{}, g.upstream, g.emit(tg::op::multiply{}, three, g.in(0))));
  }
};

struct cube_kernel {
  using kernel_args = tg::device::kernel_args;
  static void run(const kernel_args& args, const tg::device::run_context&) {
    for (tg::extent i = 0; i < args.out.dims.elements(); ++i) {
      const float v = args.in[0].as<const float>()[i];
      args.out.as<float>()[i] = v * v * v;
    }
  }
  template <tg::dtype Out, tg::dtype...>
  static constexpr tg::device::kernel_entry entry{&run};
};

/// An optimizer by its formula.
struct signs {
  tg::rate learning_rate = 0.1;
  static constexpr tg::fixed_string name = "signs";
  static constexpr tg::optimizer_slots<1> slots{tg::optimizer_slot{"/signs"}};
  [[nodiscard]] static tg::optimizer_numbers<0> numbers() { return {}; }
  static constexpr void update(auto& u) {
    u.set_value(u.value() - u.learning_rate() * sign(u.gradient() + u.slot(0)));
    u.set_slot(0, u.gradient());
  }
};

}  // namespace mine

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<mine::cubed<0>>> : mine::cube_kernel {};
template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<mine::cubed<1>>> : mine::cube_kernel {};

namespace {

const tg::listed_operation<mine::cubed<0>, float(float)> cubed_is_listed;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
constexpr auto images = tg::placeholder<"images", float, tg::dyn, 8, 8, 1>();
constexpr auto series = tg::placeholder<"series", float, tg::dyn, 5, 3>();

template <class Closure>
void compare(const Closure& closure) {
  const auto early = tg::compile(closure);
  const auto late = tg::compile(closure, tg::late);
  CHECK(late.fingerprint() == early.fingerprint());
  CHECK(late.peak_bytes(5) == early.peak_bytes(5));
}

template <class Optimizer>
void compare_clips(const Optimizer& optimizer) {
  const auto loss = tg::mean(tg::square(tg::dense<"out", 2>(x)));
  compare([=] { return tg::outputs(tg::minimize(loss, optimizer)); });
  compare([=] { return tg::outputs(tg::minimize(loss, optimizer, tg::clip_by_value(-1.0, 1.0))); });
  compare([=] { return tg::outputs(tg::minimize(loss, optimizer, tg::clip_by_norm(1.0))); });
  compare([=] { return tg::outputs(tg::minimize(loss, optimizer, tg::clip_by_global_norm(1.0))); });
}

TEST_CASE("the registry has each optimizer with each way to clip") {
  compare_clips(tg::sgd{});
  compare_clips(tg::momentum{});
  compare_clips(tg::adagrad{});
  compare_clips(tg::adadelta{});
  compare_clips(tg::rmsprop{});
  compare_clips(tg::centered_rmsprop{});
  compare_clips(tg::adam{});
  compare_clips(tg::adamw{});
  compare_clips(tg::ftrl{});
}

TEST_CASE("what is trained is part of a program that is compiled late") {
  const auto h = tg::batch_norm<"norm">(tg::dense<"body", 3>(x), tg::phase::training);
  const auto loss = tg::mean(tg::square(tg::dense<"out", 2>(h)));
  const auto kernel = tg::variable<"out/kernel", float, 3, 2>(tg::glorot_uniform);
  compare([=] { return tg::outputs(tg::minimize(loss, tg::sgd{}, tg::in_scope<"body", "norm">)); });
  compare([=] { return tg::outputs(tg::minimize(loss, tg::adam{}, tg::except_scope<"out">, tg::clip_by_norm(1.0))); });
  compare([=] { return tg::outputs(tg::minimize(loss, tg::sgd{}, kernel, tg::learning_rate(tg::mean(x)))); });
  const auto parts = tg::accumulate(loss, tg::momentum{}, tg::in_scope<"norm">);
  compare([=] { return tg::outputs(parts.add, parts.apply); });
  compare([=] { return tg::outputs(tg::update_averages(loss)); });
  compare([=] { return tg::outputs(tg::scope<"a">(tg::minimize(loss, tg::sgd{}, tg::in_scope<"norm">))); });
  compare([=] { return tg::outputs(tg::minimize(loss, mine::signs{})); });
  const auto volumes = tg::reshape<tg::dyn, 4, 4, 4, 1>(images);
  compare([=] { return tg::outputs(tg::conv3d<"volume", 2, 3>(volumes)); });
}

TEST_CASE("the registry has what only handles have") {
  const auto train = [](const auto& e) { return tg::minimize(tg::sum(tg::square(e)), tg::sgd{}); };
  compare([=] { return tg::outputs(train(tg::lstm<"lstm", 4>(series))); });
  compare([=] { return tg::outputs(train(tg::gru<"gru", 4>(series, tg::last_output | tg::unrolled))); });
  compare([=] { return tg::outputs(train(tg::rnn<"rnn", 4>(series, tg::return_sequences | tg::unrolled))); });
  const auto maps = tg::batch_norm<"norm">(tg::conv2d<"conv", 4, 3>(images), tg::phase::training);
  compare([=] { return tg::outputs(train(maps), tg::update_averages(maps)); });
  compare([=] { return tg::outputs(tg::layer_norm<"l">(x), tg::clip_by_norm(x, 2.0f), tg::global_norm(x, series)); });
  compare([=] { return tg::outputs(tg::dropout(tg::gelu(x), 0.5)); });
  const auto blocks = tg::repeat<"block", 3>([](const auto& in) { return tg::dense<"d", 8>(in, tg::tanh); })(x);
  compare([=] { return tg::outputs(train(blocks)); });
}

TEST_CASE("scopes of all kinds, and what waits, in programs that are compiled late") {
  const auto named = tg::scope<"a">([](const auto& in) { return tg::dense<"d", 2>(in); })(x);
  const auto again = tg::scope<"b">([](const auto& in) { return tg::scope<"c">(tg::dense<"d", 2>(in)); })(x);
  const auto count = tg::variable<"count", float>(tg::zeros);
  const auto up = tg::assign_add(count, 1.0f);
  const auto later = tg::after(up)(tg::identity(count));
  const auto beside = tg::colocate_with(count)(tg::exp(later));
  compare([=] { return tg::outputs(named, again, later, beside); });
  compare([=] { return tg::scope<"all">(tg::outputs(named, again)); });
}

TEST_CASE("one's own operations in programs that are compiled late") {
  const auto y = tg::make_operation<mine::doubled>(tg::make_operation<mine::cubed<0>>(x));
  const auto slope = tg::gradient(y, x);
  const auto closure = [=] { return tg::outputs(y, slope); };
  compare(closure);
  tg::session session(tg::compile(closure, tg::late));
  tg::tensor<float> in({1, 8});
  in[0] = 2;
  const auto [value, by] = session.run(tg::fetch(y, slope), x = in);
  CHECK(value[0] == 16);
  CHECK(by[0] == 24);

  const auto unknown = tg::make_operation<mine::cubed<1>>(x);
  tg::session other(tg::compile([=] { return tg::outputs(unknown); }, tg::late));
  const std::string text = tg::test::text_of([&] { (void)other.run(unknown, x = in); });
  CHECK(text.find("mine.late_unknown") != std::string::npos);
  CHECK(text.find("listed_operation") != std::string::npos);
}

TEST_CASE("text of programs that are compiled late") {
  const auto y = tg::sum(tg::exp(x));
  const auto z = tg::tanh(x);
  const auto closure = [=] { return tg::outputs(y, z); };
  const auto late = tg::compile(closure, tg::late);
  CHECK(tg::explain(late, 3) == tg::explain(late.data(), 3));
  CHECK(tg::explain(late, tg::outputs(z), 3) == tg::explain(late.data(), {"output_1"}, 3));
  CHECK(tg::to_dot(late) == tg::to_dot(late.data()));
}

}  // namespace
