// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/program_file.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/filter.hpp"
#include "tagma/iterators.hpp"
#include "tagma/plan/parts.hpp"
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::status_code;
using tg::test::code_of;
using tg::test::thrown;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
constexpr auto labels = tg::placeholder<"labels", int, tg::dyn>();

tg::any_program small() {
  const auto v = tg::variable<"v", float, 8>(tg::tensor<float>({8}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const auto y = tg::on<"/device:CPU:1">([](const auto& a, const auto& b) { return a * b + 2.0f; })(x, v);
  return tg::any_program(tg::compile([=] { return tg::outputs(y, tg::sum(y)); }), {"y", "sum"});
}

/// Writes a program, reads it back, and compares.
void check_written(const tg::any_program& program) {
  const std::string bytes = tg::write_program(program);
  const tg::any_program read = tg::read_program_bytes(bytes);
  CHECK(tg::write_program(read) == bytes);
  CHECK(read.fingerprint() == program.fingerprint());
  CHECK(read.outputs() == program.outputs());
  CHECK(read.soft() == program.soft());
  CHECK(read.peak_bytes(4) == program.peak_bytes(4));
  REQUIRE(read.values().parts().size() == program.values().parts().size());
  for (int i = 0; static_cast<std::size_t>(i) < program.values().parts().size(); ++i) {
    const auto *a = program.values().find(i), *b = read.values().find(i);
    REQUIRE((a == nullptr) == (b == nullptr));
    if (a != nullptr) CHECK(*a == *b);
  }
}

/// The same bytes with a checksum that fits.
std::string with_checksum(std::string bytes) {
  const std::uint32_t crc = tg::io::crc32c(std::string_view(bytes).substr(0, bytes.size() - 4));
  for (std::size_t i = 0; i < 4; ++i) bytes[bytes.size() - 4 + i] = static_cast<char>(crc >> 8 * i & 0xff);
  return bytes;
}

TEST_CASE("a program is what it was when it has been written and read") {
  check_written(small());
  const auto logits = tg::dense<"out", 4>(tg::dense<"hidden", 16>(x, tg::relu));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, labels));
  const auto adam = tg::minimize(loss, tg::adam{.learning_rate = 0.1});
  check_written(tg::any_program(tg::compile([=] { return tg::outputs(loss, adam, logits); }), {"loss", "train", "y"}));
  constexpr auto images = tg::placeholder<"images", float, tg::dyn, 8, 8, 1>();
  const auto maps = tg::max_pool<2>(tg::conv2d<"conv", 4, 3>(images, tg::relu));
  const auto cost = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"top", 4>(tg::flatten(maps)), labels));
  const auto learn = tg::minimize(cost, tg::momentum{.learning_rate = tg::exponential_decay{
                                                         .initial = 0.1, .decay_steps = 100, .decay_rate = 0.5}});
  check_written(tg::any_program(tg::compile([=] { return tg::outputs(cost, learn); })));
}

TEST_CASE("programs with loops, branches and what kernels find are written") {
  constexpr auto series = tg::placeholder<"series", float, tg::dyn, 5, 3>();
  constexpr auto keep = tg::placeholder<"keep", bool, tg::dyn>();
  const auto cells = tg::lstm<"cells", 6>(tg::boolean_mask(series, keep));
  const auto loss = tg::mean(tg::square(tg::dense<"last", 2>(cells) - 1.0f));
  const auto train = tg::minimize(loss, tg::rmsprop{.learning_rate = 0.05});
  check_written(tg::any_program(tg::compile([=] { return tg::outputs(loss, train); }), {"loss", "train"}));
  const auto chosen = tg::cond(
      tg::reduce_max(x) > 0.0f, [](const auto& a) { return tg::sum(tg::exp(a)); },
      [](const auto& a) { return tg::sum(a * 2.0f); }, x);
  check_written(tg::any_program(tg::compile([=] { return tg::outputs(chosen, tg::gradient(chosen, x)); })));
}

TEST_CASE("an output that nobody named has a name that no other has") {
  constexpr auto second = tg::placeholder<"output_1", float>();
  const auto doubled = second * 2.0f;
  const tg::any_program program(tg::compile([=] { return tg::outputs(second, doubled, second); }));
  CHECK(program.outputs() == std::vector<std::string>{"output_1", "output_1_", "output_2"});
  for (int i = 0; i < 3; ++i) CHECK(program.find_output(program.outputs()[static_cast<std::size_t>(i)]) == i);
  CHECK(program.find_output("output_0") == -1);
  check_written(program);
}

TEST_CASE("every byte of a program that is changed is noticed, or is verified") {
  const std::string bytes = tg::write_program(small());
  REQUIRE(bytes.size() < 2000);
  std::size_t read = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string other = bytes;
      other[i] = static_cast<char>(other[i] ^ flip);
      CHECK(code_of([&] { (void)tg::read_program_bytes(other); }) != status_code::ok);
      // Whoever makes the checksum as well is not believed either.
      try {
        const tg::any_program p = tg::read_program_bytes(with_checksum(other));
        CHECK(p.graph().size() > 0);
        ++read;
      } catch (const tg::error& e) {
        const bool known = e.code() == status_code::data_loss || e.code() == status_code::invalid_argument ||
                           e.code() == status_code::unimplemented;
        CHECK(known);
      }
    }
  CHECK(read > 0);  // numbers, and characters of names of outputs
  for (std::size_t size = 0; size < bytes.size(); ++size)
    REQUIRE(code_of([&] { (void)tg::read_program_bytes(std::string_view(bytes).substr(0, size)); }) ==
            status_code::data_loss);
  CHECK(code_of([&] { (void)tg::read_program_bytes(bytes + '\0'); }) == status_code::data_loss);
}

TEST_CASE("a program in a file") {
  const tg::test::temporary_directory folder;
  const std::string file = folder / "program.tagma";
  const tg::any_program program = small();
  tg::write_program(program, file);
  CHECK(tg::write_program(tg::read_program(file)) == tg::write_program(program));
  CHECK(code_of([&] { (void)tg::read_program(folder / "none"); }) == status_code::not_found);
}

std::string list_text(const auto& list) {
  std::string text = "[";
  for (const auto i : list) text += (text.size() > 1 ? ", " : "") + std::to_string(i);
  return text + "]";
}
std::string components_text(tg::array_view<const tg::tensor_spec> components) {
  std::string text;
  for (const tg::tensor_spec& c : components) text += (text.empty() ? "" : "; ") + tg::to_string(c);
  return text;
}
/// What a session makes of a node that stands for a thing of a container.
std::string resource_text(const tg::ir::node& n, tg::ir::attribute_list attributes) {
  const tg::runtime::resource_request request{n.op->info->name, n.name, attributes};
  const std::string who = std::string(request.kind) + " '" + std::string(n.name) + "' ";
  const auto text = [](const char* what, auto number) { return what + std::to_string(number); };
  if (request.kind == "queue") {
    const auto made = tg::runtime::resource_of<tg::ir::key<tg::op::queue>>::make(request);
    const auto& q = static_cast<const tg::runtime::queue&>(*made);
    const tg::queue_options& o = q.options();
    constexpr const char* kinds[] = {"fifo", "shuffle", "padding", "priority"};
    return who + kinds[static_cast<int>(o.kind)] + text(" capacity ", o.capacity) +
           text(" least ", o.min_after_dequeue) + text(" seed ", o.seed) + " of " + components_text(q.components());
  }
  if (request.kind == "reader") {
    const auto made = tg::runtime::resource_of<tg::ir::key<tg::op::reader>>::make(request);
    const tg::reader_options& o = static_cast<const tg::runtime::reader&>(*made).options();
    constexpr const char* kinds[] = {"text_lines", "fixed_length", "tf_record", "whole_file", "identity"};
    constexpr const char* formats[] = {"none", "gzip", "zlib", "detect"};
    return who + kinds[static_cast<int>(o.kind)] + " " + formats[static_cast<int>(o.compression)] +
           text(" skip ", o.skip_header_lines) + text(" record ", o.record_bytes) + text(" header ", o.header_bytes) +
           text(" footer ", o.footer_bytes) + text(" hop ", o.hop_bytes);
  }
  const auto made = tg::runtime::resource_of<tg::ir::key<tg::op::iterator>>::make(request);
  return who + "of " + components_text(static_cast<const tg::runtime::iterator&>(*made).components());
}
/// What program_reader.py prints.
std::string tables_of(const tg::any_program& program) {
  const tg::ir::graph_view g = program.graph();
  const auto text = [](auto number) { return std::to_string(number) + " "; };
  std::string all = "program " + std::to_string(program.fingerprint()) + (program.soft() ? " soft" : "") + "\n";
  for (std::size_t i = 0; i < g.requests.size(); ++i) all += "request " + text(i) + tg::to_string(g.requests[i]) + "\n";
  for (std::size_t i = 0; i < program.values().parts().size(); ++i) {
    const auto* const v = program.values().find(static_cast<std::int32_t>(i));
    all += "value " + text(i);
    all += v == nullptr ? "none"
                        : text(std::bit_cast<std::uint64_t>(v->number)) + text(v->integer) +
                              text(std::bit_cast<std::uint64_t>(v->second)) + tg::to_string(v->dims) + " " +
                              std::to_string(v->bytes.size());
    all += "\n";
  }
  for (tg::ir::node_id i = 0; i < g.size(); ++i) {
    const tg::ir::node& n = g[i];
    all += "node " + text(i) + std::string(n.op->info->name) + " 1 " + tg::to_string(n.spec) + " " + text(n.inputs) +
           text(n.controls) + text(n.colocated) +
           list_text(g.edges.subspan(n.first_edge, n.inputs + n.controls + n.colocated)) + " " +
           list_text(g.attributes(i)) + " " + text(n.value) + text(n.request) + std::string(n.name) +
           std::string(n.suffix) + "\n";
    if (n.op->info->is(tg::ir::op_kind::resource)) all += resource_text(n, g.attributes(i)) + "\n";
  }
  for (std::size_t i = 0; i < g.loops.size(); ++i)
    all += "loop " + text(i) + text(g.loops[i].head) + text(g.loops[i].parent) + std::to_string(g.loops[i].rank) + "\n";
  for (const auto& e : g.back_edges) all += "carried " + text(e.carried) + std::to_string(e.next) + "\n";
  if (!g.loops.empty()) all += "loop of nodes " + list_text(g.loop_of) + "\n";
  if (!g.numbers.empty()) all += "numbers " + list_text(g.numbers) + "\n";
  for (std::size_t i = 0; i < g.roots.size(); ++i)
    all += "output " + text(i) + text(g.roots[i]) + program.outputs()[i] + "\n";
  return all;
}

void check_reader(const tg::any_program& program, const tg::test::temporary_directory& folder) {
  const std::string script = (std::filesystem::path(__FILE__).parent_path() / "program_reader.py").string();
  tg::write_program(program, folder / "program");
  const std::string command = "python3 '" + script + "' '" + (folder / "program") + "' > '" + (folder / "tables") + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(tg::read_file(folder / "tables") == tables_of(program));
}

TEST_CASE("a reader that was written from the description alone finds the same tables") {
  const tg::test::temporary_directory folder;
  check_reader(small(), folder);
  constexpr auto series = tg::placeholder<"series", float, tg::dyn, 5, 3>();
  const auto loss = tg::mean(tg::square(tg::lstm<"cells", 6>(series)));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.05});
  check_reader(tg::any_program(tg::compile([=] { return tg::outputs(loss, train); }), {"loss", "train"}), folder);
}

constexpr tg::iterator_of<"batches", tg::spec<float, tg::dyn, 8>, tg::spec<bool>> batches;
const auto batch_and_flag = tg::get_next(batches);
const auto batch = std::get<0>(batch_and_flag);
const auto flag = std::get<1>(batch_and_flag);

TEST_CASE("the parts of a program that was cut are programs in files") {
  const tg::test::temporary_directory folder;
  const tg::any_program whole = small();
  std::vector<std::int16_t> task;
  for (tg::ir::node_id i = 0; i < whole.graph().size(); ++i) {
    tg::ir::node_id of = i;
    while (whole.graph().info(of).shares_bytes()) of = whole.graph().inputs(of)[0];
    task.push_back(whole.graph().info(of).is(tg::ir::op_kind::variable) ? 1 : 0);
  }
  const tg::ir::cut_graph cut = tg::ir::cut(whole.graph(), {task, {}, 2});
  CHECK_FALSE(cut.edges.empty());
  for (const tg::ir::graph_part& part : cut.parts) {
    const tg::any_program program = tg::program_of_part(whole, part);
    const std::string bytes = tg::write_program(program);
    const tg::any_program again = tg::read_program_bytes(bytes);
    CHECK(tg::write_program(again) == bytes);
    const auto a = program.graph().numbers, b = again.graph().numbers;
    CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
    check_reader(program, folder);
  }
}

TEST_CASE("resources in programs are what the description says") {
  constexpr tg::queue_of<"files", tg::queue_options{}, tg::spec<std::string_view>> files;
  constexpr tg::reader_of<"records", tg::reader_options{.kind = tg::reader_kind::fixed_length,
                                                        .compression = tg::file_compression::gzip,
                                                        .record_bytes = 12,
                                                        .header_bytes = 3,
                                                        .footer_bytes = 2,
                                                        .hop_bytes = 5}>
      records;
  constexpr tg::queue_of<
      "examples", tg::queue_options{.kind = tg::queue_kind::shuffle, .capacity = 9, .min_after_dequeue = 3, .seed = 77},
      tg::spec<float, 8>, tg::spec<std::int64_t>>
      examples;
  constexpr tg::queue_of<"padded", tg::queue_options{.kind = tg::queue_kind::padding},
                         tg::spec<std::string_view, tg::dyn, 4>>
      padded;
  const auto key_and_value = tg::read_up_to<4>(records, files);
  const auto value = std::get<1>(key_and_value);
  const auto example_and_number = tg::dequeue_many<3>(examples);
  const auto example = std::get<0>(example_and_number);
  const auto number = std::get<1>(example_and_number);
  const auto lines = tg::dequeue_up_to<5>(padded);
  const tg::any_program program(tg::compile([=] { return tg::outputs(value, example, number, lines, batch, flag); }));
  check_written(program);
  const tg::test::temporary_directory folder;
  check_reader(program, folder);
  const std::string tables = tg::read_file(folder / "tables");
  CHECK(tables.find("queue 'examples' shuffle capacity 9 least 3 seed 77 of float32 [8]; int64 []\n") !=
        std::string::npos);
  CHECK(tables.find("iterator 'batches' of float32 [?, 8]; bool []\n") != std::string::npos);
}

TEST_CASE("what a program is not read for is said") {
  const std::string bytes = tg::write_program(small());
  const auto text_of = [](const std::string& of) {
    return std::string(thrown([&] { (void)tg::read_program_bytes(of); }).what());
  };
  std::string other = bytes;
  other[8] = 2;
  CHECK(text_of(other) == "Unimplemented: read_program: at byte 12: version 2, and this reads version 1");
  other = bytes;
  const std::size_t at = other.find("multiply");
  REQUIRE(at != other.npos);
  other[at] = 'M';
  CHECK(text_of(with_checksum(other)).find("operation 'Multiply' is not known") != std::string::npos);
  other = bytes;
  other[at - 6] = 9;
  CHECK(text_of(with_checksum(other)).find("operation 'multiply' has version 9, and is known with 1") !=
        std::string::npos);
}

}  // namespace
