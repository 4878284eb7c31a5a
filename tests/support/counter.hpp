// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A resource for tests: a number that many runs count up.

#include <atomic>
#include <string>

#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace tagma::test {

/// A number that many runs count up from where its attribute says.
struct counter : tagma::op::resource {
  static constexpr std::string_view name = "counter";
};
/// Its number, which goes up.
struct count {
  static constexpr std::string_view name = "test.next";
  static constexpr tagma::ir::op_kind kind = tagma::ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr const char* infer(tagma::ir::infer_args& a) {
    a.out = {tagma::dtype::int64, {}};
    return nullptr;
  }
};

struct counted_number final : tagma::runtime::resource {
  counted_number(std::string name, std::int64_t first) : resource("counter", std::move(name)), begins(first) {
    ++alive;
  }
  ~counted_number() override { --alive; }
  std::int64_t begins;
  std::atomic<std::int64_t> number{0};
  static inline int alive = 0;
};

}  // namespace tagma::test

template <>
struct tagma::runtime::resource_of<tagma::ir::key<tagma::test::counter>> {
  static counted<resource> make(const resource_request& r) {
    return counted<resource>(new test::counted_number(std::string(r.name), r.attributes[0]));
  }
  static void check(const resource& found, const resource_request& r) {
    if (const auto begins = static_cast<const test::counted_number&>(found).begins; begins != r.attributes[0])
      fail(status_code::invalid_argument, {"the container has counter '", r.name, "' that begins with ", begins,
                                           ", the program one that begins with ", r.attributes[0]});
  }
};
template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<tagma::test::count>> {
  template <tagma::dtype, tagma::dtype...>
  static constexpr kernel_entry entry{[](const kernel_args& args, const run_context&) {
    auto& c = args.in[0].resource<test::counted_number>();
    *args.out.as<std::int64_t>() = c.begins + c.number.fetch_add(1);
  }};
};

namespace tagma::test {

template <tagma::fixed_string Name, tagma::ir::attribute First = 0>
constexpr auto make_counter() {
  return tagma::make_resource<counter, Name, tagma::ir::pack_attributes(First)>();
}
template <tagma::expression C, class Place = TAGMA_FRESH_TYPE(C)>
constexpr auto next_of(const C& c) {
  return tagma::make_operation<count, tagma::ir::attributes<0>{}, Place>(c);
}

}  // namespace tagma::test
