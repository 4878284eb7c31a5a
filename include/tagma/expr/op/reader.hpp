// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Readers of records as nodes of a graph, which take the names of their files from a queue.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"
#include "tagma/expr/op/queue.hpp"
#include "tagma/expr/resource.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/ir/reader.hpp"

namespace tagma {
namespace op {

/// A reader. Its attributes are those of `ir::reader_attributes`.
struct reader : resource {
  static constexpr const char* name = "reader";
  static constexpr void takes(auto& t) {
    t.inputs(0), t.rule("TAGMA-E246");
    const extent kind = t.attribute("kind", 0, static_cast<extent>(reader_kind::identity));
    t.attribute("compression", 0, static_cast<extent>(file_compression::detect)), t.size("skip_header_lines");
    const bool fixed = kind == static_cast<extent>(reader_kind::fixed_length);
    t.attribute("record_bytes", fixed ? 1 : 0, fixed ? INT64_MAX : 0);
    t.size("header_bytes"), t.size("footer_bytes"), t.size("hop_bytes");
  }
};

/// Of the reader that is input 0, whose files come from the queue that is input 1: the key and the value of a record.
struct read {
  static constexpr const char* name = "read";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr bool stops_gradient = true;
  static constexpr int outputs = 2;
  static constexpr void takes(auto& t) { takes_records(t), t.attribute("count", -1, -1); }
  /// A reader, and a queue of the names of files.
  static constexpr void takes_records(auto& t) {
    t.inputs(2), (void)t.resource(0, "reader");
    const ir::attribute_list files = t.resource(1, "queue"), names = ir::components_of_queue(files);
    t.rule("TAGMA-E247");
    t.needs(names.size() == ir::queue_component_words && !ir::is_priority_queue(files) &&
                ir::queue_component(names, 0) == tensor_spec{dtype::string, {}},
            "the queue has the names of files, and no priorities");
    t.rule("");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::string, {}};
    return nullptr;
  }
};

/// Up to as many as attribute 0 says, of one file.
struct read_up_to : read {
  static constexpr const char* name = "read_up_to";
  static constexpr void takes(auto& t) { takes_records(t), t.rule("TAGMA-E248"), t.size("count", 1); }
  static constexpr bool late = true;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::string, shape{dyn}};
    return nullptr;
  }
  TAGMA_COLD static constexpr const char* bound(ir::infer_args& a) {
    a.out = {dtype::string, shape{a.attributes[0]}};
    return nullptr;
  }
};

/// A number that the reader counts: attribute 0 tells which. If that is 2, it begins anew first.
struct reader_count : queue_size {
  static constexpr const char* name = "reader_count";
  static constexpr void takes(auto& t) { t.inputs(1), (void)t.resource(0, "reader"), t.attribute("which", 0, 2); }
};

}  // namespace op

namespace diagnose {
/// Names of files are texts, one at a time, of a queue that is known when the program is compiled.
template <class Queue>
inline constexpr bool has_file_names =
    std::is_same_v<typename Queue::enqueued, std::tuple<spec<string_element>>>&& requires {
  Queue::handle();
};
/// Sizes that a reader can have.
template <reader_options O>
inline constexpr bool are_reader_options = O.skip_header_lines >= 0 && O.header_bytes >= 0 && O.footer_bytes >= 0 &&
                                           O.hop_bytes >= 0 &&
                                           (O.kind == reader_kind::fixed_length ? O.record_bytes > 0
                                                                                : O.record_bytes == 0);
}  // namespace diagnose

/// A reader of a container, as programs name it:
///
///     constexpr tg::queue_of<"files", tg::queue_options{}, tg::spec<std::string_view>> files;
///     constexpr tg::reader_of<"lines", tg::reader_options{.skip_header_lines = 1}> lines;
///     auto [key, line] = tg::read(lines, files);
///
/// Equal names are one reader, of all sessions over the container: each record is read once.
/// Raises TAGMA-E160 and E246.
template <fixed_string Name, reader_options Options = reader_options{}>
struct reader_of {
  TAGMA_NEEDS_NAME("reader_of", Name);
  static_assert(
      diagnose::are_reader_options<Options>,
      "TAGMA-E246 reader_of: no number is negative, and record_bytes is of a fixed length reader, at least 1");

  static constexpr reader_options options = Options;
  /// The handle of the resource, for operations.
  [[nodiscard]] static constexpr auto handle() {
    return make_resource<op::reader, Name, ir::reader_attributes<Options>>();
  }
};

namespace detail {
template <class T>
concept named_reader = std::is_same_v<std::remove_cv_t<decltype(T::options)>, reader_options>;
}  // namespace detail

#define TAGMA_NEEDS_FILE_NAMES(Who, Queue)       \
  static_assert(diagnose::has_file_names<Queue>, \
                "TAGMA-E247 " Who ": the queue has the names of files, spec<std::string_view>, and no priorities")

/// The next record: a tuple of its key and its value, scalars of strings. Where the file that is read has ended, the
/// queue gives the name of the next one; if that is closed and empty, OutOfRange. A file that cannot be opened or is
/// broken is an error, which names it; what is read after that is the next file.
/// Raises TAGMA-E247 for a queue of anything but names.
template <detail::named_reader Reader, detail::named_queue Queue, class Place = TAGMA_FRESH_TYPE(Reader)>
[[nodiscard]] constexpr auto read(const Reader& r, const Queue& files) {
  TAGMA_NEEDS_FILE_NAMES("read", Queue);
  return make_operation<op::read, ir::pack_attributes(-1), Place>(r.handle(), files.handle());
}
/// Up to `Count` records of one file, at least one: keys and values, [n]. Waits only while it has none.
/// Raises TAGMA-E248 if `Count` is less than 1.
template <extent Count, detail::named_reader Reader, detail::named_queue Queue, class Place = TAGMA_FRESH_TYPE(Reader)>
[[nodiscard]] constexpr auto read_up_to(const Reader& r, const Queue& files) {
  TAGMA_NEEDS_FILE_NAMES("read_up_to", Queue);
  static_assert(Count > 0, "TAGMA-E248 read_up_to: takes one record or more");
  if constexpr (Count > 0)
    return make_operation<op::read_up_to, ir::pack_attributes(Count), Place>(r.handle(), files.handle());
}
#undef TAGMA_NEEDS_FILE_NAMES
/// How many records a reader has given, int64.
template <detail::named_reader Reader, class Place = TAGMA_FRESH_TYPE(Reader)>
[[nodiscard]] constexpr auto records_produced(const Reader& r) {
  return make_operation<op::reader_count, ir::pack_attributes(0), Place>(r.handle());
}
/// How many files it has read to their ends, int64. An end is found by the read behind the last record.
template <detail::named_reader Reader, class Place = TAGMA_FRESH_TYPE(Reader)>
[[nodiscard]] constexpr auto files_completed(const Reader& r) {
  return make_operation<op::reader_count, ir::pack_attributes(1), Place>(r.handle());
}
/// Lets a reader leave its file and count anew; 0, int64. Its queue stays what it is.
template <detail::named_reader Reader, class Place = TAGMA_FRESH_TYPE(Reader)>
[[nodiscard]] constexpr auto reset_reader(const Reader& r) {
  return make_operation<op::reader_count, ir::pack_attributes(2), Place>(r.handle());
}

}  // namespace tagma
