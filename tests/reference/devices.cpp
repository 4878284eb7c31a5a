// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/devices.md.
#include <catch2/catch.hpp>

#include <tagma/fake_gpu_programs.hpp>
#include <tagma/programs.hpp>
#include <tagma/tagma.hpp>

#include "support/errors.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::code_of;
using tagma::test::text;

TEST_CASE("reference: device scopes") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  // example: on, cpu, none, colocate_with, device_name
  auto lower = tg::on<tg::cpu<0>>(tg::dense<"lower", 4>(x, tg::tanh));
  auto upper =
      tg::on<"/cpu:1">([](const auto& h) { return tg::dense<"upper", 3>(h); })(lower);  // lower stays where it is
  auto anywhere = tg::on<tg::none>(tg::exp(upper));  // scopes around it are not asked
  auto w = tg::variable<"lower/kernel", float, 2, 4>(tg::glorot_uniform);
  auto beside = tg::colocate_with(w)(tg::square(w));  // on the device of w
  tg::session session(tg::compile([=] { return tg::outputs(anywhere, beside); }), {.cpu_devices = 2});
  // end
  CHECK(session.run(anywhere, x = tg::tensor<float>({1, 2}, {1, 2})).dims() == tg::shape{1, 3});
  CHECK(session.run(beside).dims() == tg::shape{2, 4});

  // example: op_info, device_function, device_answer, device_counts, replica_device_setter, ps_strategy
  auto chosen = tg::on<[](tg::op_info op) { return op.is_variable ? "/cpu:1" : "/cpu:0"; }>(lower);
  auto spread = tg::on<tg::replica_device_setter{.ps_tasks = 2, .strategy = tg::ps_strategy::round_robin}>(lower);
  // end
  CHECK(text(chosen) == "[?, 4]");
  CHECK(text(spread) == "[?, 4]");

  // example: gpu, gpu_options, device_list, kind_options, kind_options_list
  auto on_gpu = tg::on<tg::gpu<0>>(tg::dense<"wide", 4>(x));  // compiles where a header provides GPUs: tagma/cuda.hpp
  tg::session_options options{.gpu = {.memory_fraction = 0.5, .visible_devices = {1, 0}},
                              .kinds = {{"NPU", {.memory_cap = 1 << 28}}}};  // what .gpu says is not for NPUs then
  // end
  CHECK(text(on_gpu) == "[?, 4]");
  CHECK(options.gpu.visible_devices.numbers().size() == 2);
}

TEST_CASE("reference: names of devices") {
  // example: device_from, parse_device, parsed_device, parse_local_device, to_string, device_spec, device_text
  tg::device_spec gpu = tg::device_from("/job:worker/task:1/gpu:3");  // throws InvalidArgument for what is no name
  std::string spelled = tg::to_string(gpu);                           // "/job:worker/task:1/device:GPU:3"
  tg::parsed_device wrong = tg::parse_device("/job:worker/gpu:x");
  if (!wrong.reason.empty())
    std::printf("at byte %zu: %.*s\n", wrong.position, int(wrong.reason.size()), wrong.reason.data());
  tg::device_spec local = tg::parse_local_device("CPU:10").spec;  // type and number alone
  // end
  CHECK(spelled == "/job:worker/task:1/device:GPU:3");
  CHECK_FALSE(wrong.reason.empty());
  CHECK(local.id == 10);
  CHECK(code_of([] { (void)tg::device_from("/gpu:x"); }) == tg::status_code::invalid_argument);

  // example: device_string, device_string_parses, device_spelling, hash_of
  static_assert(tg::device_string_parses<"/cpu:0"> && !tg::device_string_parses<"cpu">);
  constexpr tg::device_spec cpu = tg::device_string<"/cpu:0">;  // read by the compiler
  constexpr tg::device_spelling text(cpu);                      // text.view() is "/device:CPU:0"
  std::uint64_t key = tg::hash_of(cpu);                         // equal in every process
  // end
  CHECK(text.view() == "/device:CPU:0");
  CHECK(key == tg::hash_of(tg::device_from("/device:CPU:0")));

  // example: covers, fill_from, merge, merged_device, merge_or_fail
  tg::device_spec worker = tg::device_from("/job:worker"), first = tg::device_from("/job:worker/gpu:0");
  bool both = tg::covers(worker, first);  // true: what worker sets is set to the same
  tg::device_spec inner = tg::fill_from(tg::device_from("/cpu:0"), worker);        // "/job:worker/device:CPU:0"
  tg::device_spec joined = tg::merge_or_fail(worker, tg::device_from("/task:2"));  // "/job:worker/task:2"
  tg::merged_device conflict =
      tg::merge(first, tg::device_from("/job:ps"));  // conflict.conflict is "incompatible jobs"
  tg::merged_device soft = tg::merge(first, tg::device_from("/gpu:1"), /*soft*/ true);  // "/job:worker/device:GPU:*"
  // end
  CHECK(both);
  CHECK(tg::to_string(inner) == "/job:worker/device:CPU:0");
  CHECK(tg::to_string(joined) == "/job:worker/task:2");
  CHECK(conflict.conflict == "incompatible jobs");
  CHECK(soft.conflict.empty());
  CHECK(tg::to_string(soft.spec) == "/job:worker/device:GPU:*");

  // example: is_same_task, computes_on_host, device_entry, memory_kind
  tg::device_entry host{tg::device_from("/job:worker/replica:0/task:0/cpu:0")};
  tg::device_entry card{tg::device_from("/job:worker/replica:0/task:0/gpu:0"), tg::memory_kind::own};
  bool same = tg::is_same_task(host.name, card.name);  // true
  bool reads = tg::computes_on_host(card, host);       // false: it has memory of its own, so tensors are copied
  // end
  CHECK(same);
  CHECK_FALSE(reads);
}

TEST_CASE("reference: partitions") {
  // example: part_extent, part_begin, partition
  tg::extent third = tg::part_extent(10, /*parts*/ 3, /*number*/ 0);  // 4: the first parts take one more
  tg::extent begin = tg::part_begin(10, 3, 2);                        // 7: parts of 4, 3 and 3 rows
  // end
  CHECK(third == 4);
  CHECK(begin == 7);

  // example: fixed_size_partitioner, min_max_partitioner, axis_size_partitioner
  auto three = tg::partitioned_variable<"a", tg::fixed_size_partitioner{3}, float, 10, 4>(tg::zeros);
  auto large = tg::partitioned_variable<"b", tg::min_max_partitioner{.most_parts = 8, .least_bytes = 64}, float, 10, 4>(
      tg::zeros);  // 160 / 64: three
  auto small =
      tg::partitioned_variable<"c", tg::axis_size_partitioner{.most_bytes = 80}, float, 10, 4>(tg::zeros);  // two of 80
  // end
  auto part = tg::variable<"c/part_1", float, 5, 4>(tg::zeros);
  auto second = tg::variable<"b/part_1", float, 3, 4>(tg::zeros);
  tg::session session(
      tg::compile([=] { return tg::outputs(tg::sum(three), tg::sum(large), tg::sum(small), part, second); }));
  CHECK(session.run(part).dims() == tg::shape{5, 4});
}

TEST_CASE("reference: fake GPUs") {
  constexpr auto x = tg::placeholder<"x", float>();
  auto y = tg::square(x);
  // example: fake_gpus
  tg::any_program data(tg::compile([=] { return tg::outputs(y); }), {"y"});
  tg::session session(data, {.seed = 3}, tg::fake_gpus());                // for tests on machines without GPUs
  float value = session.run("y", tg::feed_to("x", 3.0f)).value<float>();  // 9
  // end
  CHECK(value == 9.0f);
}
