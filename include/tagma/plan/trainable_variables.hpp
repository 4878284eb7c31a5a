// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What an optimizer would train, before there is one.

#include "tagma/base/config.hpp"
#include "tagma/nn/optimizers.hpp"
#include "tagma/plan/program.hpp"

namespace tagma {

/// A variable as the compiler knows it.
struct variable_description {
  std::string_view name;
  tensor_spec spec;
};

namespace detail {

template <class Loss, class... Option>
struct training_closure {
  static constexpr auto attributes = attributes_of_training<ir::training_mode::update, Option...>;
  using node = decltype(make_optimizer<void, attributes, Loss>(
      std::declval<const sgd&>(),
      std::tuple_cat(std::declval<std::tuple<Loss>>(), variables_among(std::declval<const Option&>()...)),
      std::declval<const Option&>()...));

  [[nodiscard]] auto operator()() const -> decltype(outputs(std::declval<const node&>()));
};

/// True for a variable of a graph that `sgd` updates.
[[nodiscard]] constexpr bool is_updated(const ir::graph_view& g, ir::node_id variable) {
  if (!g.info(variable).is(ir::op_kind::variable) || g.attributes(variable)[1] == 0) return false;
  for (ir::node_id i = variable + 1; i < g.size(); ++i)
    if (g.inputs(i).size() > 0 && g.inputs(i)[0] == variable &&
        (g.info(i).key == &ir::key<op::apply_sgd> || g.info(i).key == &ir::key<op::apply_rows<op::apply_sgd>>))
      return true;
  return false;
}

}  // namespace detail

/// The variables that `minimize(loss, optimizer, options...)` trains, with their types, in the order of the graph; none
/// where there are none. The compiler knows them:
///
///     for (const auto& v : tg::trainable_variables(loss, tg::in_scope<"head">)) std::cout << v.name << '\n';
///     static_assert(tg::trainable_variables(loss).size() == 4);  // of a loss that is constexpr
/// Options are what is chosen: variables, `in_scope<"name", ...>` or `except_scope<"name", ...>`.
/// Raises TAGMA-E062, TAGMA-E301 and TAGMA-E302 as `minimize`, and what `compile` raises of the graph.
template <expression L, class... Option>
[[nodiscard]] constexpr auto trainable_variables(const L&, const Option&...) {
  static_assert(diagnose::is_scalar_loss<typename L::spec_type>,
                "TAGMA-E062 trainable_variables: the loss must be one floating number; use tagma::mean or tagma::sum");
  static_assert(diagnose::are_options<Option...>,
                "TAGMA-E301 trainable_variables: behind the loss stand variables, or in_scope<\"name\"> or "
                "except_scope<\"name\">");
  static_assert(
      diagnose::are_trainable<Option...>,
      "TAGMA-E302 trainable_variables: what is to be trained must be variables, without tagma::not_trainable");
  if constexpr (diagnose::is_scalar_loss<typename L::spec_type> && diagnose::are_options<Option...> &&
                diagnose::are_trainable<Option...>) {
    using closure = detail::training_closure<L, Option...>;
    using graph = detail::compiled_graph<closure>;
    constexpr bool empty =
        graph::problem == ir::build_problem::nothing_to_train || graph::problem == ir::build_problem::empty_scope;
    if constexpr (empty) {
      return fixed_array<variable_description, 0>{};
    } else if constexpr (graph::problem != ir::build_problem::none) {
      return decltype(early::compile(closure{})){};
    } else {
      constexpr std::size_t count = [] {
        std::size_t n = 0;
        for (ir::node_id i = 0; i < graph::view.size(); ++i)
          if (detail::is_updated(graph::view, i)) ++n;
        return n;
      }();
      fixed_array<variable_description, count> found{};
      std::size_t n = 0;
      for (ir::node_id i = 0; i < graph::view.size(); ++i)
        if (detail::is_updated(graph::view, i)) found[n++] = {graph::view[i].name, graph::view[i].spec};
      return found;
    }
  }
}

}  // namespace tagma
