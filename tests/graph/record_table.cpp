// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/record_table.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tagma/graph/heap_records.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
constexpr auto labels = tg::placeholder<"labels", int, tg::dyn>();

struct first_cpu {
  constexpr tg::device_spec operator()(const tg::op_info& op) const {
    return *tg::parse_device(op.is_variable ? "/device:CPU:0" : "/device:CPU:1");
  }
};

struct doubled : tg::op::composition<2> {
  static constexpr const char* name = "mine.doubled";
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void expand(auto& e) { e.result = e.emit(tg::op::add{}, e.in(0), e.in(0)); }
};

/// What `Closure` returns, as numbers.
template <class Closure>
struct written {
  using traits = tg::detail::output_traits<tg::detail::closure_result<Closure>>;
  static constexpr auto list = tg::ir::list_records<1024>(traits::records, traits::named);
  static constexpr tg::ir::record_table_size size = list.size;
  static constexpr auto arrays = tg::ir::write_records<size.words, size.characters, size.operations, size.functions>(
      list, traits::records, traits::named);
  static constexpr tg::ir::record_table table{arrays.words,      arrays.text,      arrays.operations, arrays.functions,
                                              int{size.records}, int{size.scopes}, int{size.lists},   int{size.names}};
};

std::vector<const tg::ir::op_rules*> known;
const tg::ir::op_rules& find_known(const tg::ir::table_operation& named) {
  for (const tg::ir::op_rules* op : known)
    if (op->info->key == named.key) return *op;
  throw "an operation that nobody has";
}

/// Compares a record with the one that was written, and what it leads to by positions.
class comparison {
 public:
  comparison(tg::array_view<const tg::ir::record* const> from, const tg::ir::heap_records& made)
      : from_(from), made_(made) {}

  void compare() {
    for (std::size_t i = 0; i < from_.size(); ++i) compare(made_[i], *from_[i]);
  }
  void compare(tg::array_view<const tg::ir::record* const> a, tg::array_view<const tg::ir::record* const> b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(stands_for(a[i], b[i]));
  }

 private:
  bool stands_for(const tg::ir::record* a, const tg::ir::record* b) const {
    if (a == nullptr || b == nullptr) return a == b;
    for (std::size_t i = 0; i < from_.size(); ++i)
      if (from_[i] == b) return a == &made_[i];
    return false;
  }
  void compare(const tg::ir::record& a, const tg::ir::record& b) {
    CHECK(a.op == b.op);
    CHECK(a.hash == b.hash);
    CHECK(a.spec == b.spec);
    CHECK(a.name == b.name);
    CHECK(a.valued == b.valued);
    CHECK(a.carries == b.carries);
    CHECK(a.full_name() == b.full_name());
    CHECK(stands_for(a.bare, b.bare));
    CHECK(stands_for(a.copied, b.copied));
    compare(a.inputs, b.inputs), compare(a.controls, b.controls), compare(a.colocated, b.colocated);
    REQUIRE(a.attributes.size() == b.attributes.size());
    for (std::size_t i = 0; i < a.attributes.size(); ++i) CHECK(a.attributes[i] == b.attributes[i]);
    const tg::ir::scope *s = a.scopes, *t = b.scopes;
    for (; s != nullptr && t != nullptr; s = s->inner, t = t->inner) compare(*s, *t);
    CHECK(s == nullptr);
    CHECK(t == nullptr);
  }
  void compare(const tg::ir::scope& s, const tg::ir::scope& t) {
    CHECK((s.kind == t.kind && s.spec == t.spec && s.function == t.function && s.hash == t.hash));
    CHECK((s.prefix == t.prefix && s.copies == t.copies && s.alone == t.alone));
    compare(s.outside, t.outside);
    REQUIRE(s.names.size() == t.names.size());
    for (std::size_t i = 0; i < s.names.size(); ++i)
      CHECK((s.names[i].from == t.names[i].from && s.names[i].to == t.names[i].to));
  }

  tg::array_view<const tg::ir::record* const> from_;
  const tg::ir::heap_records& made_;
};

template <class Closure>
void compare_all(const Closure&) {
  using program = written<Closure>;
  known.clear();
  for (const tg::ir::record* r : program::list.records()) known.push_back(r->op);
  const tg::ir::heap_records made(program::table, &find_known);
  comparison c(program::list.records(), made);
  c.compare();
  c.compare(made.roots(), program::traits::records);
  c.compare(made.named(), program::traits::named);
  known.clear();
}

TEST_CASE("records are the same behind a table of numbers") {
  const auto hidden = tg::dense<"hidden", 16>(x, tg::relu);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"out", 4>(hidden), labels)) * 0.5f;
  const auto train = tg::minimize(loss, tg::adam{}, tg::clip_by_global_norm(1.0));
  compare_all([=] { return tg::outputs(loss, train); });
}

TEST_CASE("scopes, what waits and what runs beside others are the same behind a table") {
  const auto named = tg::scope<"outer">(
      [](const auto& in) { return tg::scope<"inner">([](const auto& i) { return tg::dense<"d", 2>(i); })(in); })(x);
  const auto placed = tg::on<first_cpu{}>([](const auto& in) { return tg::exp(in); })(x);
  const auto on_job = tg::on<"/job:ps/task:3/device:CPU:1">(tg::tanh(named));
  const auto count = tg::variable<"count", float>(tg::zeros);
  const auto up = tg::assign_add(count, 1.0f);
  const auto later = tg::after(up)(tg::identity(count));
  const auto beside = tg::colocate_with(count)(tg::exp(later));
  compare_all([=] { return tg::outputs(placed, on_job, beside); });
  compare_all([=] { return tg::scope<"all">(tg::outputs(named, placed)); });
  compare_all([=] { return tg::on<tg::cpu<1>>(tg::outputs(named, later)); });
}

TEST_CASE("a table has the rules of operations that no registry has") {
  const auto y = tg::make_operation<doubled>(tg::square(x));
  const auto closure = [=] { return tg::outputs(y); };
  using program = written<std::remove_const_t<decltype(closure)>>;
  int own = 0;
  for (const tg::ir::table_operation& op : program::table.operations) {
    CHECK((op.rules == nullptr) == (op.name != "mine.doubled"));
    own += op.rules != nullptr;
  }
  CHECK(own == 1);
  STATIC_REQUIRE(tg::ir::is_in_registry<tg::op::add>);
  STATIC_REQUIRE(tg::ir::is_in_registry<tg::ir::loop_end>);
  STATIC_REQUIRE(tg::ir::is_in_registry<tg::op::optimizer<tg::op::apply_adam>>);
  STATIC_REQUIRE(!tg::ir::is_in_registry<doubled>);
  STATIC_REQUIRE(!tg::ir::is_in_registry<tg::op::optimizer<doubled>>);
}

TEST_CASE("a table that is too small is listed anew with more room") {
  using traits = tg::detail::output_traits<tg::output_list<decltype(tg::dense<"hidden", 16>(x, tg::relu))>>;
  constexpr auto small = tg::ir::list_records<4>(traits::records, traits::named);
  constexpr auto large = tg::ir::list_records<64>(traits::records, traits::named);
  STATIC_REQUIRE(!small.is_whole());
  STATIC_REQUIRE(large.is_whole());
  CHECK(large.records().size() > 4);
}

}  // namespace
