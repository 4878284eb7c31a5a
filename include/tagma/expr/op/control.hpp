// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Order without data: group and after.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"

namespace tagma {
namespace op {

/// Done when everything it waits for is done.
struct group {
  static constexpr const char* name = "group";
  static constexpr ir::op_kind kind = ir::op_kind::control;
  static constexpr bool stateful = true;
  static constexpr void takes(auto& t) { t.inputs(0); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {};
    return nullptr;
  }
};

}  // namespace op

namespace detail {

/// A node that waits for others: the record of `Id` with more control dependencies.
template <class Id, class... Controls>
struct after_definition {
  static constexpr const ir::record* origin = find_record<Id>();
  static constexpr auto controls = [] {
    fixed_array<const ir::record*, origin->controls.size() + sizeof...(Controls)> all{};
    std::size_t n = 0;
    for (const ir::record* r : origin->controls) all[n++] = r;
    ((all[n++] = find_record<Controls>()), ...);
    return all;
  }();
  static constexpr tensor_spec spec = origin->spec;
  static constexpr ir::record value = [] {
    ir::record r = *origin;
    r.controls = controls;
    r.bare = nullptr;
    r.copied = origin;
    r.carries = r.carries || (false || ... || find_record<Controls>()->carries);
    r.hash = hash_combine(hash_text("after"), r.hash);
    for (const ir::record* c : controls) r.hash = hash_combine(r.hash, c->hash);
    return r;
  }();
};

}  // namespace detail

/// A node without value that is done when all its operands are: the usual fetch of several updates.
template <expression... E, class Place = TAGMA_FRESH_TYPE(E...)>
[[nodiscard]] TAGMA_INLINE constexpr auto group(const E&... e) {
  using definition =
      detail::node_definition<op::group, ir::attributes<0>{}, detail::id_list<>, detail::id_list<typename E::id...>>;
  return detail::make_handle<definition, Place>(e...);
}

namespace detail {

/// One `after` may be applied to several nodes.
template <class Place, class Id>
struct waiting {};

/// What `after` returns: applied to a handle, it makes that node wait.
template <class Place, class... Before>
struct after_all {
  std::tuple<Before...> before;

  template <expression E>
  [[nodiscard]] constexpr auto operator()(const E& e) const {
    using definition = after_definition<typename E::id, typename Before::id...>;
    using place = std::conditional_t<is_no_place<Place>, void, waiting<Place, typename E::id>>;
    return std::apply([&e](const Before&... b) { return make_handle<definition, place>(e, b...); }, before);
  }
};

}  // namespace detail

/// Control dependencies: `after(a, b)(e)` is `e`, computed once `a` and `b` are done. Only the node `e` waits, not the
/// nodes it is made of.
template <expression... Before, class Place = TAGMA_FRESH_TYPE(Before...)>
[[nodiscard]] TAGMA_INLINE constexpr auto after(const Before&... before) {
  return detail::after_all<Place, Before...>{{before...}};
}

}  // namespace tagma
