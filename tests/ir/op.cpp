// SPDX-License-Identifier: BSL-1.0
#include "tagma/ir/op.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace tagma;

struct plain {
  static constexpr std::string_view name = "plain";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::float32, {}};
    return a.in.size() == 0 ? nullptr : "takes nothing";
  }
};
struct rich : plain {
  static constexpr bool stateful = true;
  static constexpr std::uint8_t shape_only = 0b10, in_place = 0b1;
  static constexpr bool stops_gradient = true;
};

static_assert(ir::info<plain>.name == "plain" && ir::info<plain>.id == hash_text("plain"));
static_assert(!ir::info<plain>.stateful && ir::info<plain>.shape_only == 0 && ir::info<plain>.in_place == 0);
static_assert(ir::info<rich>.stateful && ir::info<rich>.shape_only == 2 && ir::info<rich>.in_place == 1);
static_assert(ir::rules<plain>.gradient == nullptr && ir::rules<plain>.expand == nullptr && ir::rules<plain>.fold == nullptr);
static_assert(!ir::rules<plain>.stops_gradient && ir::rules<rich>.stops_gradient);

static_assert(ir::pack_attributes().list().size() == 0);
static_assert(ir::pack_attributes(7, true, -3).list()[2] == -3);
static_assert(ir::as_double(ir::pack_attributes(1, 0.1).list()[1]) == 0.1);
static_assert(ir::as_double(ir::pack_attributes(-0.0f).list()[0]) == 0);

TEST_CASE("an operation is known by its run-time face") {
  const ir::op_info& info = ir::info<plain>;
  ir::infer_args args{{}, {}, {}};
  CHECK(info.infer(args) == nullptr);
  CHECK(args.out.type == dtype::float32);
  const tensor_spec one[1]{};
  ir::infer_args wrong{{one, 1}, {}, {}};
  CHECK(std::string_view(info.infer(wrong)) == "takes nothing");
}

}  // namespace
