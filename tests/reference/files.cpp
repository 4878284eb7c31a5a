// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/files.md: bytes, records and the formats of files, without a graph.
#include <catch2/catch.hpp>

#include <tagma/io.hpp>

#include <cerrno>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;
using tagma::test::thrown;

TEST_CASE("reference: bytes of files") {
  const tagma::test::working_directory folder;
  // example: output_file, read_file, replace_file
  const std::string_view pieces[] = {"two\n", "lines\n"};
  tg::replace_file("log.txt", pieces);         // whoever opens it finds the old file or all of the new one
  std::string all = tg::read_file("log.txt");  // "two\nlines\n"
  tg::output_file plain("log.txt");            // from the beginning, at once
  plain.write("one\n", 4);
  // end
  CHECK(all == "two\nlines\n");
  CHECK(tg::read_file("log.txt") == "one\n");

  // example: fail_errno, code_of_errno
  tg::status_code code = tg::code_of_errno(EACCES);  // permission_denied
  std::string message;
  try {
    tg::fail_errno(ENOENT, "a.csv", "opened");
  } catch (const tg::error& e) {
    message = e.what();  // "NotFound: a.csv: cannot be opened: No such file or directory"
  }
  // end
  CHECK(code == tg::status_code::permission_denied);
  CHECK(message == "NotFound: a.csv: cannot be opened: No such file or directory");

  // example: io::buffered_reader, io::memory_source, io::any_source, io::unknown_length
  tg::io::buffered_reader in(tg::io::memory_source("first line\nrest", "notes"));
  std::string_view line;
  std::string first;
  if (in.line(line)) first = line;    // "first line"; the view is valid until the next call
  std::uint64_t left = in.at_most();  // 4: a source of memory knows its length
  std::string rest(in.take(100));     // "rest": fewer bytes where the source ends
  // end
  CHECK(first == "first line");
  CHECK(left == 4);
  CHECK(rest == "rest");
}

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
TEST_CASE("reference: compressed files") {
  const tagma::test::working_directory folder;
  // example: io::create, io::open, io::any_sink, io::compression
  tg::io::any_sink out = tg::io::create("data.gz", tg::io::compression::gzip);
  out.write(std::as_bytes(std::span(std::string_view("hello"))));
  out.finish();  // the last bytes come with it
  tg::io::buffered_reader in(tg::io::open("data.gz", tg::io::compression::gzip));
  std::string text(in.take(100));  // "hello"
  // end
  CHECK(text == "hello");

  // example: io::deflated_sink, io::string_sink, io::unpacked, io::compression_from, io::inflated_source
  std::string packed;
  tg::io::deflated_sink sink(tg::io::string_sink(packed), tg::io::compression::zlib, /*level*/ 9);
  sink.write(std::as_bytes(std::span(std::string_view("hello"))));
  sink.finish();
  auto format = tg::io::compression_from("ZLIB");  // as TensorFlow names them
  tg::io::buffered_reader again(tg::io::unpacked(tg::io::memory_source(packed), format));
  std::string same(again.take(100));  // "hello"
  // end
  CHECK(same == "hello");
}
#endif

TEST_CASE("reference: checksums") {
  // example: io::crc32c, io::extend_crc32c, io::mask_crc, io::unmask_crc
  std::uint32_t sum = tg::io::crc32c("123456789");                                  // 0xe3069283
  std::uint32_t parts = tg::io::extend_crc32c(tg::io::crc32c("12345"), "6789", 4);  // the same
  std::uint32_t stored = tg::io::mask_crc(sum);                                     // as TFRecord files hold it
  std::uint32_t back = tg::io::unmask_crc(stored);
  // end
  CHECK(sum == 0xe3069283);
  CHECK(parts == sum);
  CHECK(stored != sum);
  CHECK(back == sum);
}

TEST_CASE("reference: CSV") {
  // example: io::decode_csv, io::csv_required, io::csv_default, io::csv_options
  std::vector<std::string_view> lines{"Ada;36", "\"Grace; Rear Admiral\";"};
  auto [names, ages] =
      tg::io::decode_csv(lines, {.delimiter = ';'}, tg::io::csv_required<std::string>(), tg::io::csv_default(-1.0f));
  // names: Ada, and Grace; Rear Admiral. ages: [36, -1]
  // end
  CHECK(text(names) == "['Ada', 'Grace; Rear Admiral']");
  CHECK(text(ages) == "[36, -1]");

  double total = 0;
  // example: io::csv_reader, io::csv_decoder, io::csv_field, io::csv_reader_options, io::record_name
  tg::io::csv_reader table(tg::io::memory_source("item,price,count\nnut,0.5,10\nbolt,2,3\n"),
                           {.skip_header_records = 1});
  tg::io::csv_decoder decoder({tg::io::csv_required<float>(), tg::io::csv_default(std::int64_t{0})},
                              {.columns = {1, 2}});
  float price = 0;
  std::int64_t count = 0;
  void* const to[] = {&price, &count};
  for (std::string_view record; table.next(record);) {
    decoder.decode(record, to, {table.key()});                         // errors name the record: "memory:2"
    total += static_cast<double>(price) * static_cast<double>(count);  // 11 in the end
  }
  // end
  CHECK(total == 11);
  CHECK(std::string(thrown([&] { decoder.decode("nut,x,1", to, {"memory:2"}); }).what()).find("memory:2") !=
        std::string::npos);

  // example: io::read_number, io::number_from
  std::string_view field = "3.5kg";
  float weight = 0;
  const char* unit =
      tg::io::read_number(field.data(), field.data() + field.size(), weight);  // weight is 3.5, unit at "kg"
  std::int32_t number = 0;
  bool whole = tg::io::number_from("3.5", number);  // false: all of the text would be one
  // end
  CHECK(weight == 3.5f);
  CHECK(std::string_view(unit, 2) == "kg");
  CHECK_FALSE(whole);
}

TEST_CASE("reference: records") {
  std::string joined;
  // example: io::text_line_reader, io::read, io::record, io::text_line_options, io::record_reader
  tg::io::text_line_reader lines(tg::io::memory_source("name\nAda\nGrace\n", "people.txt"), {.skip_header_lines = 1});
  for (tg::io::record r; tg::io::read(lines, r);)
    joined += r.key + " " + r.value + "; ";  // "people.txt:2 Ada; people.txt:3 Grace; "
  // end
  CHECK(joined == "people.txt:2 Ada; people.txt:3 Grace; ");

  std::vector<std::string> keys;
  // example: io::fixed_length_record_reader, io::fixed_length_options
  tg::io::fixed_length_record_reader rows(tg::io::memory_source("HEADabcdefgEND"),
                                          {.record_bytes = 3, .header_bytes = 4, .footer_bytes = 3});
  for (std::string_view row; rows.next(row);)
    keys.push_back(rows.key());  // memory:0 with "abc", memory:1 with "def"; "g" is none
  // end
  CHECK(text(keys) == "['memory:0', 'memory:1']");

  // example: io::whole_file_reader, io::identity_reader
  tg::io::whole_file_reader file(tg::io::memory_source("all of it", "a.bin"));  // one record, its key is "a.bin"
  tg::io::identity_reader name("photos/1.png");  // one record, the text itself: opens nothing
  std::string_view content, path;
  bool both = file.next(content) && name.next(path);  // true
  // end
  CHECK(both);
  CHECK(content == "all of it");
  CHECK(file.key() == "a.bin");
  CHECK(path == "photos/1.png");
}

TEST_CASE("reference: TFRecord and Example") {
  const tagma::test::working_directory folder;
  std::vector<float> pixels(4);
  std::vector<std::int64_t> classes;
  // example: io::tf_record_writer, io::example_writer
  tg::io::example_writer message;
  message.add("pixels", std::vector<float>{0, 0.5f, 1, 0.25f});
  message.add("class", std::vector<std::int64_t>{7});
  tg::io::tf_record_writer writer(tg::io::create("train.tfrecord"));
  writer.write(message.message());
  writer.close();
  // end
  // example: io::tf_record_reader, io::example, io::fixed_feature, io::feature, io::to_string, io::feature_kind
  tg::io::tf_record_reader records(tg::io::open("train.tfrecord"));
  tg::io::example example;
  for (std::string_view record; records.next(record);) {
    example.parse(record, records.key());
    example.read(tg::io::fixed_feature<float>{"pixels", {2, 2}},
                 std::span<float>(pixels));  // throws unless there are four
    example.append("class", classes);        // any number of values
  }
  std::string_view list = tg::io::to_string(example.find("class")->kind);  // "int64"
  // end
  CHECK(text(pixels) == "[0, 0.5, 1, 0.25]");
  CHECK(text(classes) == "[7]");
  CHECK(list == "int64");

  std::vector<std::int64_t> words;
  // example: io::sequence_example_writer, io::sequence_example, io::fixed_feature_list
  tg::io::sequence_example_writer sentence;
  sentence.context.add("class", std::vector<std::int64_t>{1});
  sentence.add_step("words", std::vector<std::int64_t>{12});
  sentence.add_step("words", std::vector<std::int64_t>{48});
  const std::string bytes = sentence.message();  // outlives what is read of it
  tg::io::sequence_example sequence(bytes);
  std::size_t steps =
      sequence.read(tg::io::fixed_feature_list<std::int64_t>{"words", {}}, words);  // 2; words is [12, 48]
  // end
  CHECK(steps == 2);
  CHECK(text(words) == "[12, 48]");
}

TEST_CASE("reference: NumPy and IDX") {
  const tagma::test::working_directory folder;
  // example: write_npy, read_npy
  tg::write_npy("a.npy", tg::tensor<float>({2, 2}, {1, 2, 3, 4}));
  auto t = tg::read_npy<float>("a.npy");  // [[1, 2], [3, 4]]; another element type throws InvalidArgument
  // end
  CHECK(text(t) == "[[1, 2], [3, 4]]");
  CHECK(thrown([&] { (void)tg::read_npy<double>("a.npy"); }).code() == tg::status_code::invalid_argument);

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
  // example: write_npz, npz_file, npz_array, npz_options
  tg::tensor<float> kernel({2, 1}, {0.5f, 2}), bias({1}, {3});
  tg::write_npz("a.npz", {{"kernel", kernel}, {"bias", bias}}, {.deflate = true});
  tg::npz_file weights("a.npz");
  std::vector<std::string> names = weights.names();  // kernel, bias
  auto k = weights.read<float>("kernel");            // [[0.5], [2]]
  // end
  CHECK(text(names) == "['kernel', 'bias']");
  CHECK(text(k) == "[[0.5], [2]]");
#endif

  // example: io::read_npy, io::read_npy_header, io::npy_header_of, io::npy_header
  std::string file = tg::io::npy_header_of(tg::dtype::uint8, {2, 2}) + "abcd";
  tg::io::buffered_reader in((tg::io::memory_source(file)));
  tg::io::npy_header header = tg::io::read_npy_header(in);  // header.descr is "|u1", header.dims [2, 2]
  auto letters = tg::io::read_npy<std::uint8_t>(tg::io::memory_source(file));  // [[97, 98], [99, 100]]
  // end
  CHECK(header.descr == "|u1");
  CHECK(tg::to_string(header.dims) == "[2, 2]");
  CHECK(text(letters) == "[[97, 98], [99, 100]]");

  // example: write_idx, read_idx, io::read_idx
  tg::write_idx("a.idx", tg::tensor<std::uint8_t>({3}, {7, 2, 1}));  // the format of MNIST
  auto labels = tg::read_idx("a.idx");                               // [7, 2, 1], of std::uint8_t unless said otherwise
  auto same = tg::io::read_idx<std::uint8_t>(tg::io::open("a.idx"));  // of any source of bytes
  // end
  CHECK(text(labels) == "[7, 2, 1]");
  CHECK(text(same) == "[7, 2, 1]");

  // example: io::read_elements, io::reverse_bytes
  tg::io::buffered_reader raw(tg::io::memory_source(std::string_view("\0\1\0\2", 4)));
  auto big_endian = tg::io::read_elements<std::int16_t>(raw, {2}, std::endian::big);  // [1, 2]
  std::uint16_t word = 0x1234;
  tg::io::reverse_bytes(&word, /*count*/ 1, /*size*/ 2);  // 0x3412
  // end
  CHECK(text(big_endian) == "[1, 2]");
  CHECK(word == 0x3412);
}
