// SPDX-License-Identifier: BSL-1.0
// Readers, and what takes records apart, in programs as data.
#include <catch2/catch.hpp>
#include <fstream>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/images.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/readers.hpp"
#include "tagma/sequence_examples.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::feed_to;
using tg::test::text_of;

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }
/// A program as it is read from the bytes that it is written to.
tg::any_program reread(const tg::any_program& program) {
  const std::string bytes = tg::write_program(program);
  const tg::any_program read = tg::read_program_bytes(bytes);
  CHECK(tg::write_program(read) == bytes);
  return read;
}
template <class T>
std::vector<T> elements(const tg::any_tensor& t) {
  const auto all = t.as<T>();
  return {all.data(), all.data() + t.dims().elements()};
}

constexpr auto n = tg::placeholder<"n", std::int64_t>();

TEST_CASE("readers and what takes records apart") {
  const tg::test::temporary_directory folder;
  for (const char* name : {"a.csv", "b.csv"}) {
    std::ofstream file(folder / name);
    file << "number,price,who\n3,1.5,anne\n4,,\n5,2.5," << name << "\n";
  }
  constexpr tg::queue_of<"files", tg::queue_options{}, tg::spec<std::string_view>> files;
  constexpr tg::reader_of<"lines", tg::reader_options{.skip_header_lines = 1}> lines;
  constexpr auto name = tg::placeholder<"name", std::string_view>();
  const auto put = tg::enqueue(files, name);
  const auto key_and_line = tg::read(lines, files);
  const auto line = std::get<1>(key_and_line);
  const auto keys_and_several = tg::read_up_to<2>(lines, files);
  const auto several = std::get<1>(keys_and_several);
  const auto number_and_price =
      tg::decode_csv(several, tg::required<std::int64_t>, 0.5f, tg::text_constant<"nobody at all">);
  const auto number = std::get<0>(number_and_price);
  const auto price = std::get<1>(number_and_price);
  const auto who = std::get<2>(number_and_price);
  const auto records = tg::records_produced(lines);
  const auto program = tg::compile([=] { return tg::outputs(put, line, number, price, who, records); });
  tg::session session(reread(tg::any_program(program, {"put", "line", "number", "price", "who", "records"})));
  for (const char* file : {"a.csv", "b.csv"}) session.run("put", feed_to("name", std::string_view(folder / file)));
  const auto first = session.run({"number", "price", "who"});
  CHECK(elements<std::int64_t>(first[0]) == std::vector<std::int64_t>{3, 4});
  CHECK(elements<float>(first[1]) == std::vector<float>{1.5f, 0.5f});
  CHECK(elements<tg::string_element>(first[2]) == std::vector<tg::string_element>{"anne", "nobody at all"});
  CHECK(session.run("line").value<tg::string_element>() == "5,2.5,a.csv");
  CHECK(session.run("line").value<tg::string_element>() == "3,1.5,anne");
  CHECK(session.run("records").value<std::int64_t>() == 4);
}

TEST_CASE("texts of bytes and of features") {
  constexpr auto text = tg::placeholder<"text", std::string_view, tg::dyn>();
  const auto fixed = tg::decode_raw<std::int16_t, 2>(text);
  const auto open = tg::decode_raw<std::uint8_t>(text);
  const auto label = tg::parse_example(text, tg::feature<"label", std::int64_t>.otherwise(n));
  const auto tags = tg::parse_example(text, tg::feature<"tags", std::int64_t, tg::dyn>);
  const auto program = tg::compile([=] { return tg::outputs(fixed, open, label, tags); });
  tg::session compiled(program);
  tg::session read(reread(tg::any_program(program, {"fixed", "open", "label", "tags"})));
  const tg::tensor<tg::string_element> of({2}, {"abcd", "efgh"});
  const auto wanted = compiled.run(fixed, text = of);
  CHECK(elements<std::int16_t>(read.run("fixed", feed_to("text", of))) ==
        std::vector<std::int16_t>(wanted.data(), wanted.data() + 4));
  CHECK(elements<std::uint8_t>(read.run("open", feed_to("text", of))).size() == 8);
  const tg::tensor<tg::string_element> none({1}, {""});
  CHECK(elements<std::int64_t>(read.run("label", feed_to("text", none), feed_to("n", std::int64_t{-1}))) ==
        std::vector<std::int64_t>{-1});
  CHECK(read.run("tags", feed_to("text", none)).dims() == tg::shape{1, 0});
}

TEST_CASE("lists of features, and pictures") {
  constexpr auto text = tg::placeholder<"text", std::string_view, tg::dyn>();
  const auto parsed =
      tg::parse_sequence_example(text, tg::feature<"label", std::int64_t>.otherwise(n),
                                 tg::feature_list<"words", float, 2>.may_be_missing(), tg::list_length<"words">);
  const auto label = std::get<0>(parsed);
  const auto words = std::get<1>(parsed);
  const auto length = std::get<2>(parsed);
  const auto picture = tg::decode_image<4, 5, 3>(text);
  const tg::any_program data =
      reread(tg::any_program(tg::compile([=] { return tg::outputs(label, words, length, picture); }),
                             {"label", "words", "length", "picture"}));
  tg::session session(data);
  const tg::tensor<tg::string_element> none({2}, {"", ""});
  const auto got = session.run({"label", "words", "length"}, feed_to("text", none), feed_to("n", std::int64_t{-1}));
  CHECK(elements<std::int64_t>(got[0]) == std::vector<std::int64_t>{-1, -1});
  CHECK(got[1].dims() == tg::shape{2, 0, 2});
  CHECK(elements<std::int64_t>(got[2]) == std::vector<std::int64_t>{0, 0});
  CHECK(has(text_of([&] { session.run("picture", feed_to("text", none)); }), "decode_image"));
}

}  // namespace
