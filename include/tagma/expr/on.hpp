// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where nodes shall run: `on<gpu<0>>(e)`, `on<"/job:ps/task:1">(e)`, `on<function>(e)`, `colocate_with(v)(e)`.
///
/// A scope covers the expression that it is applied to: the node and all that it is made of, down to the inputs of the
/// program. Scopes inside have the first word. What a node waits for with `after` is no part of it.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/place/device.hpp"
#include "tagma/place/rules.hpp"

namespace tagma {

/// The scope that ends all scopes around it: `on<none>(e)`.
struct none {};

namespace detail {

/// A text, or the pointer that nvcc takes it for.
template <auto Text>
concept is_text = requires {
  Text.view();
}
|| requires { *Text == '0'; };

// Whatever `E` has of these names has two of them in `scope_members_of<E>`, and no address.
struct scope_members {
  void operator()();
  void inside();
};
template <class E>
struct scope_members_of : E, scope_members {};

/// What a scope is put around: an expression, a function of whatever operands, outputs.
template <class E>
concept scopable = expression<E> || std::is_function_v<std::remove_pointer_t<E>> || std::is_final_v<E> ||
    (std::is_class_v<E> && !requires {
      &scope_members_of<E>::operator();
      &scope_members_of<E>::inside;
    });

}  // namespace detail

namespace diagnose {
/// What stands between the brackets of `on` tells a device.
template <class Tag>
inline constexpr bool is_device_tag = std::is_same_v<Tag, none> || requires {
  Tag::spec.id;
};
template <int Id>
inline constexpr bool is_device_tag<cpu<Id>> = is_device_number<Id>;
template <int Id>
inline constexpr bool is_device_tag<gpu<Id>> = is_device_number<Id>;
/// A value between the brackets is a function that decides for each node.
template <auto Function>
inline constexpr bool decides_device = requires(const op_info& op, device_counts& counts, int& task) {
  detail::ask_device_function(Function, op, counts, task);
};
/// What stands in the parentheses can be put into a scope.
template <class E>
inline constexpr bool takes_scope = detail::scopable<E>;
}  // namespace diagnose

/// `E` can be put into a scope.
#define TAGMA_NEEDS_SCOPABLE(E)                    \
  static_assert(::tagma::diagnose::takes_scope<E>, \
                "TAGMA-E155 on: a scope is put around an expression, a function of expressions, or outputs")
/// What stands between the brackets tells a device.
#define TAGMA_NEEDS_TAG(...)                    \
  static_assert(::tagma::diagnose::__VA_ARGS__, \
                "TAGMA-E154 on: this is no device, no name of one, and no function of op_info that returns one")

namespace detail {

/// What a scope asks for, as a type.
template <ir::scope_kind Kind, device_spec Spec = device_spec{}, device_function Function = nullptr>
struct scope_layer {
  static constexpr ir::scope_kind kind = Kind;
  static constexpr device_spec spec = Spec;
  static constexpr device_function function = Function;
  /// Functions have no name that is equal in every process; handles that carry one are told apart by their types.
  static constexpr bool structural = Function == nullptr;
  /// The same around a whole program.
  using around_all = scope_layer;
  static constexpr std::uint64_t hash = hash_combine(static_cast<std::uint64_t>(Kind), hash_of(Spec));
  static constexpr std::string_view prefix{};
  static constexpr int copies = 1;
  template <class Id, class... Outside>
  static constexpr array_view<const ir::renamed> names{};
};

/// The record of `Id` inside a scope that ends at the records of `Outside`.
template <class Layer, class Id, class... Outside>
struct scoped_definition {
  static constexpr const ir::record* origin = find_record<Id>();
  static constexpr fixed_array<const ir::record*, sizeof...(Outside)> outside{{find_record<Outside>()...}};
  static constexpr std::uint64_t layer_hash = [] {
    std::uint64_t h = Layer::hash;
    for (const ir::record* o : outside) h = hash_combine(h, o->hash);
    return h;
  }();
  static constexpr ir::scope scope{Layer::kind,    Layer::spec, Layer::function, outside,
                                   origin->scopes, layer_hash,  Layer::prefix,   Layer::template names<Id, Outside...>,
                                   Layer::copies};
  static constexpr tensor_spec spec = origin->spec;
  static constexpr ir::record value = [] {
    ir::record r = *origin;
    r.scopes = &scope;
    if (r.bare == nullptr) r.bare = origin;
    r.copied = origin;
    r.hash = hash_combine(hash_combine(hash_text("on"), r.hash), layer_hash);
    return r;
  }();
};

/// Tells apart scopes with functions.
template <class Layer, class... Ids>
struct scope_place {};

template <class Layer, class... Outside, expression E>
[[nodiscard]] constexpr auto make_scoped(const E& e) {
  using definition = scoped_definition<Layer, typename E::id, typename Outside::id...>;
  using place = scope_place<Layer, typename E::id, typename Outside::id...>;
  if constexpr (Layer::structural && is_structural<typename E::id>)
    return make_handle<definition, place>(e);
  else
    return bind_handle<place_id<place>, definition, typename E::spec_type, E::carries>(e.values);
}

/// What a function returns, in a scope that ends at its operands.
template <class Layer, class... Outside, class Result>
[[nodiscard]] constexpr auto scope_result(const Result& result) {
  if constexpr (expression<Result>)
    return make_scoped<Layer, Outside...>(result);
  else
    return std::apply([](const auto&... e) { return std::tuple(make_scoped<Layer, Outside...>(e)...); }, result);
}

/// A scope that waits for the operands of a function.
template <class Layer, class Function>
struct scoped_call {
  Function function;

  template <expression... E>
  [[nodiscard]] constexpr auto operator()(const E&... e) const {
    return scope_result<Layer, E...>(function(e...));
  }
};

template <class Layer, class E>
[[nodiscard]] constexpr auto apply_scope(const E& e) {
  if constexpr (expression<E>)
    return make_scoped<Layer>(e);
  else if constexpr (requires { e.template inside<typename Layer::around_all>(); })
    return e.template inside<typename Layer::around_all>();
  else
    return scoped_call<Layer, std::decay_t<E>>{e};
}

template <class Tag>
struct tag_layer {
  using type = scope_layer<ir::scope_kind::request, Tag::spec>;
};
template <>
struct tag_layer<none> {
  using type = scope_layer<ir::scope_kind::clear>;
};
template <fixed_string Device>
struct text_layer {
  static constexpr bool parses = device_string_parses<Device>;
  using type = scope_layer<ir::scope_kind::request, *parse_device(Device.view())>;
};
template <auto Function>
struct function_layer {
  using type = scope_layer<ir::scope_kind::function, device_spec{}, &call_device_function<Function>>;
};

}  // namespace detail

/// The expression `e` inside a device scope, which asks for `e` and for all that it is made of; or, for a function `f`,
/// `on<...>(f)(x, y)`: the expression `f(x, y)`, or each of a tuple of them, inside a scope that ends at `x` and `y`.
/// Scopes merge as in TensorFlow,
/// the innermost first: a device fills what is still open, what a function returns replaces all before it, and `none`
/// ends the walk. One structure asked for two devices is two nodes; what has a name or a state is always one, asked for
/// what its scopes agree on. A reader outside of all scopes takes the node that is there. Around `outputs(...)` it is a
/// scope around the whole program, whose handles stay what they are.
/// Raises TAGMA-E154 if what is asked for tells no device, E155 if `e` is neither expression nor function nor outputs,
/// and TAGMA-E071 or E148 when compiled for a device that has no kernel or does not exist.
/// @tparam Device `cpu<0>`, `none`, the name of a device in TensorFlow's grammar (TAGMA-E070 if it does not parse), a
/// function of `op_info` that returns such a name or a `device_spec` (TAGMA-E146), or a `replica_device_setter`
/// @{
template <class Device, class E>
[[nodiscard]] constexpr auto on(const E& e) {
  TAGMA_NEEDS_TAG(is_device_tag<Device>);
  TAGMA_NEEDS_SCOPABLE(E);
  if constexpr (diagnose::is_device_tag<Device>)
    return detail::apply_scope<typename detail::tag_layer<Device>::type>(e);
}
template <fixed_string Device, class E>
[[nodiscard]] constexpr auto on(const E& e) {
  TAGMA_NEEDS_DEVICE("on", Device);
  TAGMA_NEEDS_SCOPABLE(E);
  if constexpr (device_string_parses<Device>) return detail::apply_scope<typename detail::text_layer<Device>::type>(e);
}
template <auto Device, class E>
  requires(!detail::is_text<Device>)
[[nodiscard]] constexpr auto on(const E& e) {
  TAGMA_NEEDS_TAG(decides_device<Device>);
  TAGMA_NEEDS_SCOPABLE(E);
  if constexpr (diagnose::decides_device<Device>)
    return detail::apply_scope<typename detail::function_layer<Device>::type>(e);
}
/// @}

namespace detail {

/// The record of `Id`, to run where others run.
template <class Id, class... With>
struct colocated_definition {
  static constexpr const ir::record* origin = find_record<Id>();
  static constexpr auto colocated = [] {
    fixed_array<const ir::record*, origin->colocated.size() + sizeof...(With)> all{};
    std::size_t n = 0;
    for (const ir::record* r : origin->colocated) all[n++] = r;
    ((all[n++] = find_record<With>()), ...);
    return all;
  }();
  static constexpr ir::scope scope{ir::scope_kind::colocate, {}, nullptr, {}, origin->scopes};
  static constexpr tensor_spec spec = origin->spec;
  static constexpr ir::record value = [] {
    ir::record r = *origin;
    r.colocated = colocated;
    r.scopes = &scope;
    r.bare = nullptr;
    r.copied = origin;
    r.carries = r.carries || (false || ... || find_record<With>()->carries);
    r.hash = hash_combine(hash_text("colocate_with"), r.hash);
    for (const ir::record* c : colocated) r.hash = hash_combine(r.hash, c->hash);
    return r;
  }();
};

template <class Place, class... With>
struct colocate_all {
  std::tuple<With...> with;

  template <expression E>
  [[nodiscard]] constexpr auto operator()(const E& e) const {
    using definition = colocated_definition<typename E::id, typename With::id...>;
    using place = std::conditional_t<is_no_place<Place>, void, waiting<Place, typename E::id>>;
    return std::apply([&e](const With&... w) { return make_handle<definition, place>(e, w...); }, with);
  }
};

}  // namespace detail

/// `colocate_with(v)(e)` is `e`, computed on the device of `v`, wherever that is. Only the node `e` is bound, not the
/// nodes it is made of; device scopes around it do not reach it, scopes inside still hold. Applied twice, both hold.
template <expression... With, class Place = TAGMA_FRESH_TYPE(With...)>
[[nodiscard]] constexpr auto colocate_with(const With&... with) {
  return detail::colocate_all<Place, With...>{{with...}};
}

}  // namespace tagma

#undef TAGMA_NEEDS_SCOPABLE
#undef TAGMA_NEEDS_TAG
