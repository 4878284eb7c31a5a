// SPDX-License-Identifier: BSL-1.0
#include "conformance/arguments.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "conformance/suite.hpp"
#include "tagma/device/named_attributes.hpp"
#include "tagma/device/operation_faces.hpp"

namespace tagma::conformance {

namespace {

constexpr extent extremes[] = {0,
                               1,
                               2,
                               3,
                               4,
                               6,
                               7,
                               8,
                               9,
                               63,
                               64,
                               65,
                               -1,
                               -2,
                               -7,
                               0xffff,
                               0x10000,
                               INT32_MAX,
                               extent{INT32_MAX} + 1,
                               INT32_MIN,
                               extent{1} << 55,
                               max_bytes,
                               max_bytes + 1,
                               extent{1} << 60,
                               extent{1} << 62,
                               INT64_MAX - 1,
                               INT64_MAX,
                               INT64_MIN,
                               INT64_MIN + 1};

class changer {
 public:
  explicit changer(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }
  extent extreme() { return extremes[below(std::size(extremes))]; }
  void change(record_parts& r) {
    const std::size_t i = below(r.in.size()), a = below(r.attributes.size());
    switch (below(11)) {
      case 0:
      case 1:
        if (!r.attributes.empty()) r.attributes[a] = extreme();
        break;
      case 2:
        if (!r.attributes.empty())
          r.attributes[a] =
              static_cast<ir::attribute>(static_cast<std::uint64_t>(r.attributes[a]) ^ std::uint64_t{1} << below(64));
        break;
      case 3:
        if (below(2) == 0)
          r.attributes.push_back(extreme());
        else if (!r.attributes.empty())
          r.attributes.pop_back();
        break;
      case 4:
        if (!r.in.empty()) r.in[i].type = static_cast<dtype>(below(20) == 0 ? 12 + below(244) : below(12));
        break;
      case 5:
        if (!r.in.empty()) change_rank(r.in[i].dims);
        break;
      case 6:
      case 7:
        if (!r.in.empty()) r.in[i].dims[static_cast<int>(below(max_rank))] = extreme();
        break;
      case 8:
        if (below(2) == 0 || r.in.empty())
          r.in.push_back(r.in.empty() ? tensor_spec{dtype::float32, {2}} : r.in[i]);
        else
          r.in.pop_back();
        break;
      case 9:
        if (!r.in.empty()) std::swap(r.in[i], r.in[below(r.in.size())]);
        break;
      default:
        if (!r.in.empty()) r.in[i] = r.in[below(r.in.size())];
        break;
    }
  }
  /// Extents of a run.
  void bind(shape& dims) {
    for (int i = 0; i < dims.rank; ++i)
      if (dims[i] == dyn) dims[i] = static_cast<extent>(below(5));
  }

 private:
  void change_rank(shape& dims) {
    const int to = static_cast<int>(below(9)) - 1;
    for (int i = dims.rank < 0 ? 0 : dims.rank; i < to && i < max_rank; ++i)
      dims[i] = static_cast<extent>(below(4)) - 1;
    dims.rank = to;
  }

  std::mt19937_64 random_;
};

/// True if a kernel of these types is in the list.
bool is_listed(const ir::op_info& op, const record_parts& r, dtype out) {
  for (const operation& row : all_operations()) {
    if (row.rules->info != &op || op.is(ir::op_kind::update)) continue;
    for (const signature& s : row.signatures) {
      bool fits = s.out == out;
      for (std::size_t i = 0; i < r.in.size(); ++i)
        fits = fits && (op.ignores_elements(static_cast<int>(i)) || s.input(i) == r.in[i].type);
      if (fits) return true;
    }
    return false;
  }
  return true;
}

/// Of what is expected a million times: assertions of the framework take longer than what they are about.
void expect(bool holds, const char* what) {
  if (!holds) FAIL("this is not so: " << what);
}

/// Checks one record; returns why it is refused.
std::string check_one(const ir::operation_face& face, const record_parts& r, changer& random) {
  const ir::op_info& op = face.info();
  const int results = op.outputs > 0 ? op.outputs : 1;
  for (int k = 0; k < results; ++k) {
    ir::infer_args args{r.in, r.attributes, r.out, k};
    const ir::refusal no = ir::check_arguments(face, args);
    if (no) return to_string(no, op, args);
    expect(ir::broken_rule(args.out) == nullptr, "a tensor can be the result");
    expect(k > 0 || !op.is(ir::op_kind::compute) || is_listed(op, r, args.out.type),
           "a kernel of these types is listed");
    const tensor_spec claimed = args.out;
    expect(ir::refuse(face, args, claimed).empty(), "what is inferred is the result");
    tensor_spec other = claimed;
    other.dims.rank = other.dims.rank == 0 ? 1 : other.dims.rank - 1;
    ir::arguments given(args);
    face.takes(given);
    if (given.is_given()) continue;
    expect(!ir::refuse(face, args, other).empty(), "another result is refused");
    // The same with the extents of a run, as a session infers it.
    record_parts bound = r;
    for (tensor_spec& s : bound.in) random.bind(s.dims);
    ir::infer_args run{bound.in, r.attributes, {}, k};
    if (const ir::refusal late = ir::check_arguments(face, run)) continue;
    expect(compatible(run.out.dims, claimed.dims), "the result of a run fits");
    if (op.bound != nullptr) {
      ir::infer_args most = run;
      expect(op.bound(most) != nullptr || compatible(most.out.dims, claimed.dims), "and so does the largest");
    }
    expect(op.work == nullptr || k > 0 || op.work(run) >= 0, "work is a number");
  }
  return {};
}

/// Hears the attributes of a record.
struct asked_attributes : ir::attribute_listener {
  asked_attributes()
      : attribute_listener{[](attribute_listener& self, const ir::asked_attribute& asked) {
          static_cast<asked_attributes&>(self).list.push_back(asked);
        }} {}
  std::vector<ir::asked_attribute> list;
};

/// Gives the attributes of a record that is taken by their names, from the last to the first: they are sorted again.
void check_names(const ir::operation_face& face, const record_parts& r) {
  asked_attributes asked;
  ir::infer_args args{r.in, r.attributes, r.out};
  ir::arguments t(args, {}, &asked);
  face.takes(t);
  if (t.is_given()) return;
  std::vector<named_attribute> named;
  for (const ir::asked_attribute& a : asked.list) {
    const ir::attribute bits = r.attributes[static_cast<std::size_t>(a.position)];
    const attribute_value value = a.what == ir::asked_attribute::kind::number ? attribute_value(ir::as_double(bits))
                                  : a.what == ir::asked_attribute::kind::element_type
                                      ? attribute_value(static_cast<dtype>(bits))
                                      : attribute_value(bits);
    std::size_t i = 0;
    while (i < named.size() && named[i].name != a.name) ++i;
    if (i < named.size())
      named[i].values.push_back(value);
    else
      named.emplace_back(a.name, value);
  }
  std::reverse(named.begin(), named.end());
  const named_attributes given(named);
  const auto sorted = tagma::detail::attribute_sorter(face, r.in, {}, given).sorted();
  expect(sorted == r.attributes, "attributes by name are those in order");
}

}  // namespace

void check_arguments(const ir::op_rules& rules, const record_parts& good, int changes) {
  const ir::operation_face* const face = tagma::device::operations::find_operation_face(rules.info->name);
  INFO("what " << rules.info->name << " takes");
  REQUIRE(face != nullptr);
  REQUIRE(face->rules == &rules);
  changer random(good.attributes.size() + 31 * good.in.size());
  REQUIRE(check_one(*face, good, random) == "");
  check_names(*face, good);
  for (int i = 0; i < changes; ++i) {
    record_parts r = good;
    for (std::size_t n = 1 + random.below(3); n > 0; --n) random.change(r);
    const std::string why = check_one(*face, r, random);
    if (why.empty()) check_names(*face, r);
    expect(why.empty() || why.find(std::string(rules.info->name) + ": ") != std::string::npos, "its name is told");
  }
}

namespace {

using tagma::device::operations::find_operation_face;

/// Why an operation does not take arguments.
std::string refused(const char* name, const record_parts& r, tensor_spec claimed = {}) {
  ir::infer_args args{r.in, r.attributes, {}};
  return ir::refuse(*find_operation_face(name), args, claimed);
}

}  // namespace

TEST_CASE("every operation of a graph has one name, and says what it takes") {
  std::vector<std::string> names;
  for (const ir::operation_face* const f : tagma::device::operations::operation_faces()) {
    INFO(f->info().name);
    CHECK(f->takes != nullptr);
    CHECK(f->version >= 1);
    CHECK(find_operation_face(f->info().name) == f);
    // No arguments at all are no harm.
    ir::infer_args args{{}, {}, {}};
    const ir::refusal r = ir::check_arguments(*f, args);
    CHECK((r || f->info().name == "group"));
  }
  CHECK(find_operation_face("no such operation") == nullptr);
}

TEST_CASE("what a graph has beside the operations of programs is checked as well") {
  const tensor_spec number{dtype::float32, {}}, matrix{dtype::float32, {dyn, 3}}, known{dtype::float32, {5, 3}};
  const tensor_spec head{dtype::int64, {dyn}}, five{dtype::int64, {5}}, decision{dtype::boolean, {}};
  const ir::attribute bits = ir::as_attribute(2.5);
  check_arguments(ir::rules<op::placeholder>, {{}, {}, matrix}, 2000);
  check_arguments(ir::rules<op::placeholder>, {{}, {}, {dtype::string, {dyn}}}, 2000);
  check_arguments(ir::rules<op::variable>, {{}, {0, 1, 0}, known}, 2000);
  check_arguments(ir::rules<op::variable>, {{}, {11, 0, bits}, known}, 2000);
  check_arguments(ir::rules<op::literal>, {{}, {}, number}, 2000);
  check_arguments(ir::rules<ir::constant_op>, {{}, {bits}, number}, 2000);
  check_arguments(ir::rules<ir::output_op>, {{{}}, {1}, known}, 2000);
  check_arguments(ir::rules<op::group>, {}, 2000);
  check_arguments(ir::rules<op::row>, {{known}, {4}}, 2000);
  check_arguments(ir::rules<ir::loop_head>, {{matrix, {dtype::string, {7}}}, {dyn, 0}}, 2000);
  check_arguments(ir::rules<ir::loop_head>, {{}, {5, 1}}, 2000);
  check_arguments(ir::rules<ir::times_head>, {{decision}, {1, 0}}, 2000);
  check_arguments(ir::rules<ir::times_head>, {{{dtype::int64, {}}}, {9, 1}}, 2000);
  check_arguments(ir::rules<ir::while_head>, {{decision}, {0, 0}}, 2000);
  check_arguments(ir::rules<ir::loop_given>, {{matrix, head}, {}}, 2000);
  check_arguments(ir::rules<ir::loop_element>, {{head, known}, {}}, 2000);
  check_arguments(ir::rules<ir::loop_member>, {{five, known, known, known, known, known}, {}}, 2000);
  check_arguments(ir::rules<ir::loop_carried>, {{head, known}, {2}}, 2000);
  check_arguments(ir::rules<ir::loop_result>, {{head, known}, {0}}, 2000);
  check_arguments(ir::rules<ir::loop_copy>, {{known}, {}}, 2000);
  check_arguments(ir::rules<ir::loop_copy>, {{known, head}, {}}, 2000);
  check_arguments(ir::rules<ir::loop_last>, {{known, head, known}, {}}, 2000);
  check_arguments(ir::rules<ir::loop_stack>, {{matrix, head}, {}}, 2000);
}

TEST_CASE("things of containers, and what takes records apart, take what they say") {
  const tensor_spec texts{dtype::string, {dyn, 3}}, number{dtype::float32, {}};
  const ir::attribute any = -1, float32 = 2, int64 = 5, string = 11, name = 0x6c6562616c;  // "label"
  check_arguments(ir::rules<op::queue>, {{}, {1, 9, 3, 77, float32, 2, any, 4, 0, 0, 0, 0}}, 2000);
  check_arguments(ir::rules<op::queue>, {{}, {0, any, 0, 0, string, 0, 0, 0, 0, 0, 0, 0, int64, 1, 2, 0, 0, 0, 0, 0}},
                  2000);
  check_arguments(ir::rules<op::reader>, {{}, {1, 3, 0, 12, 3, 2, 5}}, 2000);
  check_arguments(ir::rules<op::iterator>, {{}, {any, float32, 2, any, 4, 0, 0, 0, 0, 0}}, 2000);
  check_arguments(ir::rules<op::text_constant>, {{}, {11, 0x123456789, 0x777}}, 2000);
  check_arguments(ir::rules<op::text_constant>, {{}, {0}}, 2000);
  check_arguments(ir::rules<op::decode_raw>, {{texts}, {float32, 4, 1}}, 2000);
  check_arguments(ir::rules<op::decode_raw_open>, {{texts}, {int64, any, 0}}, 2000);
  check_arguments(ir::rules<op::decode_csv>,
                  {{texts, number}, {',', 1, 0, 0, 3, float32, 0, 1, int64, 2, any, string, 0, any, 1, 4, 5, 9}}, 2000);
  check_arguments(ir::rules<op::decode_csv>, {{texts, number, texts}, {',', 1, 0, 0, 1, float32, 0, 1}}, 2000);
  check_arguments(ir::rules<op::parse_example>,
                  {{texts, number}, {1, float32, 1, 3, 0, 0, 0, 0, 0, 5, name, 0, string, 0, 0, 0, 0, 0, 0, 0, 0}},
                  2000);
  check_arguments(ir::rules<op::parse_example>, {{texts, number, texts}, {1, float32, 1, 3, 0, 0, 0, 0, 0, 5, name}},
                  2000);
  check_arguments(ir::rules<op::decode_image>, {{texts}, {7, 5, 3}}, 2000);
  check_arguments(ir::rules<op::decode_image>, {{texts, texts}, {7, 5, 3}}, 2000);
  check_arguments(ir::rules<op::parse_feature_lists>,
                  {{texts}, {0, float32, 1, any, 0, 0, 0, 0, 0, 5, name, 2, int64, 0, 0, 0, 0, 0, 0, 0, 0}}, 2000);
  check_arguments(ir::rules<op::parse_feature_lists>, {{texts, texts}, {0, float32, 1, any, 0, 0, 0, 0, 0, 5, name}},
                  2000);
  check_arguments(ir::rules<op::parse_example_open>, {{texts}, {0, int64, 1, any, 0, 0, 0, 0, 0, 5, name}}, 2000);
}

TEST_CASE("operations that find extents take what they say") {
  const tensor_spec numbers{dtype::int32, {dyn, 3}}, mask{dtype::boolean, {4, 3}}, rows{dtype::string, {4, dyn, 2}};
  check_arguments(ir::rules<op::nonzero>, {{numbers}, {0}}, 2000);
  check_arguments(ir::rules<op::nonzero>, {{mask, rows}, {1}}, 2000);
  check_arguments(ir::rules<op::merge_axes>, {{rows}, {2}}, 2000);
  check_arguments(ir::rules<op::unique>, {{{dtype::float64, {dyn}}}, {}}, 2000);
}

TEST_CASE("a refusal names the operation, what is wrong, and both sides") {
  const tensor_spec a{dtype::float32, {2, 3}}, b{dtype::float32, {4, 5}}, c{dtype::int32, {2, 3}};
  CHECK(refused("add", {{a}, {}}) == "add: there are 1 inputs, not 2");
  CHECK(refused("add", {{a, a}, {7}}) == "add: there are 1 attributes, not 0");
  CHECK(refused("add", {{a, b}, {}}) ==
        "TAGMA-E011 add: shapes do not broadcast; inputs: float32 [2, 3], float32 [4, 5]");
  CHECK(refused("add", {{a, c}, {}}) ==
        "TAGMA-E010 add: input 1, int32 [2, 3], needs the element type of input 0, float32 [2, 3]");
  CHECK(refused("exp", {{c}, {}}) == "TAGMA-E014 exp: input 0, int32 [2, 3], needs to be of a floating element type");
  CHECK(refused("softmax", {{{dtype::float32, {}}}, {}}) ==
        "TAGMA-E025 softmax: input 0, float32 [], has 0 axes, not 1 to 6");
  CHECK(refused("sum", {{a}, {9, 0}}) == "TAGMA-E020 sum: attribute axes is 9, not 0 to 3");
  CHECK(refused("matmul", {{a, b}, {0, 0}}) ==
        "TAGMA-E012 matmul: inner extents differ; inputs: float32 [2, 3], float32 [4, 5]; attributes: 0, 0");
  CHECK(refused("matmul_integer", {{{dtype::int8, {2, 3}}, c}, {0, 0}}) ==
        "TAGMA-E316 matmul_integer: input 1, int32 [2, 3], needs to be int8 or uint8");
  CHECK(refused("exp", {{{dtype::float32, {-2}}}, {}}) == "TAGMA-E002 exp: input 0, float32 [-2], is no tensor");
  CHECK(refused("exp", {{{static_cast<dtype>(77), {2}}}, {}}) ==
        "TAGMA-E001 exp: input 0, of element type 77, is no tensor");
  CHECK(refused("tile", {{a}, {max_bytes, 2}}) ==
        "TAGMA-E081 tile: the result would be float32 "
        "[144115188075855872, 6], which no tensor is");
  CHECK(refused("exp", {{a}, {}}, b) == "exp: the result is said to be float32 [4, 5], and is float32 [2, 3]");
}

// The check is one of the compiler, too.
namespace {
constexpr bool compiler_checks = [] {
  const tensor_spec in[] = {{dtype::float32, {2, 3}}, {dtype::float32, {3, 4}}};
  const ir::attribute plain[] = {0, 0}, turned[] = {1, 0};
  ir::infer_args good{in, plain, {}}, bad{in, turned, {}};
  return !ir::check_arguments(ir::face<op::matmul>, good) && good.out == tensor_spec{dtype::float32, {2, 4}} &&
         ir::check_arguments(ir::face<op::matmul>, bad);
}();
static_assert(compiler_checks);
}  // namespace

}  // namespace tagma::conformance
