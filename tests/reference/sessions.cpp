// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/sessions.md.
#include <catch2/catch.hpp>

#include <tagma/containers.hpp>
#include <tagma/passes.hpp>
#include <tagma/tagma.hpp>

#include <chrono>
#include <thread>

#include "support/errors.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using namespace std::chrono_literals;
using tagma::test::code_of;
using tagma::test::text;

TEST_CASE("reference: programs and sessions") {
  // example: compile, outputs, program, session, session_options, fetch, output_list, fetch_list
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  auto w = tg::variable<"w", float, 2, 1>(tg::ones);
  auto y = tg::matmul(x, w);
  auto loss = tg::mean(tg::square(y));
  auto program = tg::compile([=] { return tg::outputs(y, loss); });
  tg::session session(program, {.seed = 42, .intra_op_threads = 1});
  tg::tensor<float> rows({2, 2}, {1, 2, 3, 4});
  float value = session.run(loss, x = rows);                      // 29: a scalar is a number
  auto [sums, same] = session.run(tg::fetch(y, loss), x = rows);  // [[3], [7]] and 29, in one run
  // end
  CHECK(value == 29.0f);
  CHECK(text(sums) == "[[3], [7]]");
  CHECK(same == 29.0f);

  // example: program
  static_assert(decltype(program)::peak_bytes(/*batch*/ 32) < 4096);  // of intermediate tensors, known to the compiler
  std::size_t nodes = program.node_count();
  std::uint64_t graph = program.fingerprint();  // equal in every process
  // end
  CHECK(nodes > 3);
  CHECK(graph == decltype(program)::fingerprint());

  // example: timeout, no_timeout, time_limit, run_limits, on_caller_thread
  session.run(loss, x = rows, tg::timeout(500ms));         // later, the run throws DeadlineExceeded
  tg::session served(program, {.operation_timeout = 2s});  // of every run that says nothing else
  served.run(loss, x = rows, tg::no_timeout());
  served.run(loss, x = rows, tg::on_caller_thread());  // without other threads for its steps
  // end
  CHECK(code_of([&] { session.run(loss, x = rows, tg::timeout(-1ms)); }) == tg::status_code::deadline_exceeded);

  // example: stop_with, cancellation, stop_source
  tg::cancellation stop;
  std::thread other([&] { stop.cancel(); });  // ends runs that have it, from any thread
  other.join();
  tg::status_code code = tg::status_code::ok;
  try {
    session.run(loss, x = rows, tg::stop_with(stop));
  } catch (const tg::error& e) {
    code = e.code();  // cancelled
  }
  stop.reset();  // runs may begin again
  // end
  CHECK(code == tg::status_code::cancelled);

  // example: on_pool, inter_op_pool, inter_op_pool_list
  tg::session pools(program, {.inter_op_pools = {{.threads = 2}, {.threads = 1, .name = "small"}}});
  float by_second = pools.run(loss, x = rows, tg::on_pool(1));  // the first, without it
  // end
  CHECK(by_second == 29.0f);
}

TEST_CASE("reference: containers") {
  // example: container, container_option, isolation
  auto count = tg::variable<"count", float>(0.0f, tg::not_trainable);
  auto up = tg::assign_add(count, 1.0f);
  auto program = tg::compile([=] { return tg::outputs(count, up); });
  tg::container state(tg::isolation::variables);  // or tg::container state: runs wait for each other as a whole
  tg::session writer(program, {.state = state}), reader(program, {.state = state});
  writer.run(up);
  float seen = reader.run(count);  // 1: both have the same variables
  // end
  CHECK(seen == 1.0f);

  // example: named_container, reset_containers
  tg::container trial = tg::named_container("trial_1");  // the same one for all parts of the process
  tg::session in_trial(program, {.state = tg::named_container("trial_1")});
  std::size_t found = tg::reset_containers({"trial_1", "trial_2"});  // 1: its sessions end, their runs throw Aborted
  // end
  CHECK(found == 1);
  CHECK(code_of([&] { in_trial.run(count); }) == tg::status_code::aborted);

  // example: preload
  constexpr auto table = tg::preloaded<"table", float, 2, 2>();
  tg::container data;
  tg::preload(data, table, tg::tensor<float>({2, 2}, {1, 2, 3, 4}));  // without a copy; again with other elements
  auto sum = tg::sum(table);
  tg::session over(tg::compile([=] { return tg::outputs(sum); }), {.state = data});
  float total = over.run(sum);  // 10
  // end
  CHECK(total == 10.0f);
}

namespace {

// example: rewriter, passes
struct double_by_adding {  // 2 * x becomes x + x
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::multiply>() && r.constant(r.in(1)).is(2)) r.replace(r.emit(tg::op::add{}, r.in(0), r.in(0)));
  }
};
// end

}  // namespace

TEST_CASE("reference: passes") {
  constexpr auto images = tg::placeholder<"images", float, tg::dyn, 4, 4, 1>();
  // example: passes, passes_option, fold_batch_norm, fold_activation, fold_frozen
  auto features = tg::conv2d<"conv", 2, 3>(images);
  auto scores = tg::relu6(tg::batch_norm<"norm">(features, tg::phase::inference));
  auto program = tg::compile([=] { return tg::outputs(scores); },
                             tg::passes<tg::fold_batch_norm, tg::fold_activation, tg::fold_frozen>);
  // end
  const tg::tensor<float> some({1, 4, 4, 1});
  tg::session session(program, {.seed = 1});
  CHECK(session.run(scores, images = some).dims() == tg::shape{1, 2, 2, 2});
  tg::session rewritten(
      tg::compile([=] { return tg::outputs(tg::relu(images) * 2.0f); }, tg::passes<double_by_adding>));
}
