// SPDX-License-Identifier: BSL-1.0
// What leads from part to part: parts that are built by names, of which one hands over what the other takes.
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "conformance/built/built.hpp"
#include "tagma/parts.hpp"
#include "tagma/tagma.hpp"

namespace tagma::conformance {

namespace {

/// The attributes of a node that takes a tensor of this type and shape.
std::vector<attribute_value> taken(int edge, int task, const tensor_spec& s) {
  ir::attribute words[ir::queue_component_words]{};
  ir::write_component(words, s);
  std::vector<attribute_value> all{attribute_value(edge), attribute_value(task)};
  all.insert(all.end(), std::begin(words), std::end(words));
  return all;
}

TEST_CASE("parts that a process builds hand texts over") {
  for (const tensor_spec& s : {tensor_spec{dtype::string, {3}}, tensor_spec{dtype::string, {dyn}}}) {
    graph_builder from, to;
    const graph_node x = from.placeholder("x", s.type, s.dims);
    const any_program sends = from.build({{"sent", from.add("send", {x}, {attribute_value(4), attribute_value(1)})}});
    const graph_node y = to.add(s.dims.is_static() ? "receive" : "receive_open", {}, taken(4, 0, s));
    const any_program receives = to.build({{"twice", to.add("concat", {y, y}, {attribute_value(0)})}, {"once", y}});
    for (const int threads : {1, 2}) {
      session one(sends, options_with(threads)), two(receives, options_with(threads));
      for (const extent count : {3, 0, 5}) {
        if (s.dims.is_static() && count != 3) continue;
        const std::string texts[] = {"", "a text", std::string(70'000, 'x'), "b", std::string("\0", 1)};
        tensor<std::string_view> value({count});
        std::size_t bytes = 0;
        for (extent i = 0; i < count; ++i) value[i] = texts[i], bytes += 8 + texts[i].size();
        runtime::local_rendezvous meeting;
        const runtime::run_numbers numbers{0, 0, &meeting};
        const int root[] = {0}, both[] = {0, 1};
        const ir::node_id fed[] = {0};
        const runtime::node_feed feed{fed, erase(value)};
        std::int64_t sent = 0;
        std::thread other([&] {
          one.run_nodes(
              root, {&feed, 1}, {}, source_line::here(),
              [&](std::size_t, const raw_view& v) { sent = v.as<std::int64_t>()[0]; }, &numbers);
        });
        any_tensor found[2];
        two.run_nodes(
            both, {}, {}, source_line::here(),
            [&](std::size_t f, const raw_view& v) { found[f] = any_tensor::copy_of(v); }, &numbers);
        other.join();
        CHECK(sent == static_cast<std::int64_t>(bytes));
        CHECK(meeting.bytes() == static_cast<std::int64_t>(bytes));
        REQUIRE(found[0].dims() == shape{2 * count});
        REQUIRE(found[1].dims() == shape{count});
        for (extent i = 0; i < 2 * count; ++i) CHECK(found[0].as<std::string_view>()[i] == texts[i % count]);
        for (extent i = 0; i < count; ++i) CHECK(found[1].as<std::string_view>()[i] == texts[i]);
      }
    }
  }
}

TEST_CASE("parts that a process builds meet") {
  const tensor_spec specs[] = {{dtype::float32, {2, 3}}, {dtype::int16, {dyn, 3}}};
  for (const tensor_spec& s : specs) {
    graph_builder from, to;
    const graph_node x = from.placeholder("x", s.type, s.dims);
    const any_program sends = from.build({{"sent", from.add("send", {x}, {attribute_value(4), attribute_value(1)})}});
    const graph_node y = to.add(s.dims.is_static() ? "receive" : "receive_open", {}, taken(4, 0, s));
    const any_program receives = to.build({{"twice", to.add("add", {y, y})}});
    note_operations(sends);
    note_operations(receives);
    for (const int threads : {1, 2}) {
      session one(sends, options_with(threads)), two(receives, options_with(threads));
      for (const extent rows : {2, 0, 5}) {
        if (s.dims.is_static() && rows != 2) continue;
        const shape dims{rows, 3};
        std::vector<std::byte> bytes(static_cast<std::size_t>(rows) * 3 * size_of(s.type));
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i % 50);
        const raw_view value{bytes.data(), s.type, dims};
        runtime::local_rendezvous meeting;
        const runtime::run_numbers numbers{0, 0, &meeting};
        const int root[] = {0};
        const ir::node_id fed[] = {0};
        const runtime::node_feed feed{fed, value};
        std::thread other([&] {
          one.run_nodes(
              root, {&feed, 1}, {}, source_line::here(), [](std::size_t, const raw_view&) {}, &numbers);
        });
        any_tensor found;
        two.run_nodes(
            root, {}, {}, source_line::here(), [&](std::size_t, const raw_view& v) { found = any_tensor::copy_of(v); },
            &numbers);
        other.join();
        REQUIRE(found.dims() == dims);
        const array sent = array_of(value), got = array_of(found.view());
        for (std::size_t i = 0; i < sent.at.size(); ++i) CHECK(got.at[i] == sent.at[i] + sent.at[i]);
        CHECK(meeting.bytes() == static_cast<std::int64_t>(bytes.size()));
      }
    }
  }
}

}  // namespace

}  // namespace tagma::conformance
