// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Data sets that are variables of a container, without a copy.

#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/variable.hpp"
#include "tagma/ir/record.hpp"
#include "tagma/runtime/container.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/runtime/stored_variable.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

namespace detail {
template <class V>
constexpr bool is_preloaded() {
  const ir::record& r = V::record();
  return r.op->info->is(ir::op_kind::variable) && r.attributes[0] == preloaded_kind;
}
}  // namespace detail

namespace diagnose {
/// What is preloaded is a handle of `preloaded`, given elements of its type.
template <class V, class T>
inline constexpr bool takes_preloaded = false;
template <expression V, class T>
inline constexpr bool takes_preloaded<V, T> = detail::is_preloaded<V>() && std::is_same_v<typename V::element_type, T>;
}  // namespace diagnose

namespace detail {

/// The memory of a variable that is a tensor.
template <class T>
struct tensor_block final : runtime::memory_block {
  explicit tensor_block(tensor<T>&& t) : own(std::move(t)) { data = reinterpret_cast<std::byte*>(own.data()); }
  tensor<T> own;
};

/// While it lives, no run is in a container that keeps runs apart.
class gate_pass {
 public:
  explicit gate_pass(runtime::state_container& of);
  gate_pass(const gate_pass&) = delete;
  gate_pass& operator=(const gate_pass&) = delete;
  ~gate_pass();

 private:
  runtime::gate* gate_;
};

template <class T>
TAGMA_COLD void preload_variable(const container_option& in, const ir::record& r, tensor<T>&& elements,
                                 std::string_view prefix) {
  runtime::check_variable_prefix(prefix);
  const std::string name = runtime::name_in_container(prefix, r.full_name());
  if (!(elements.dims() == r.spec.dims))
    fail(status_code::invalid_argument, {"preload: variable '", name, "' has shape ", to_string(r.spec.dims),
                                         ", the elements have ", to_string(elements.dims())});
  bool made = false;
  owned<runtime::memory_block> memory;
  memory = owned<runtime::memory_block>(new tensor_block<T>(std::move(elements)));
  const auto found = in.state()->find_or_add("variable", name, [&] {
    made = true;
    return counted<runtime::resource>(new runtime::stored_variable(name, r.spec, std::move(memory)));
  });
  if (made) return;
  auto& variable = static_cast<runtime::stored_variable&>(*found);
  if (!(variable.spec() == r.spec))
    fail(status_code::invalid_argument,
         {"preload: the container has ", variable.text(), ", asked for is one that is ", to_string(r.spec)});
  const gate_pass alone(*in.state());
  if (variable.device() < 0)
    variable.adopt(std::move(memory));
  else
    variable.assign(memory->data);
}

}  // namespace detail

/// Makes a tensor the value of a variable `preloaded` in a container, whose memory it becomes: before or behind the
/// sessions that read it, and again with other elements. A tensor that is not moved is copied first.
/// @param v its handle, in its scopes of names
/// @param variable_prefix of the sessions that read it
/// Throws InvalidArgument for another shape, for a prefix that sessions refuse, and if the container has another
/// variable of this name. Raises TAGMA-E252 for another variable, or another element type.
template <class V, class T>
void preload(const container& in, [[maybe_unused]] const V& v, tensor<T> elements,
             std::string_view variable_prefix = {}) {
  static_assert(diagnose::takes_preloaded<V, T>,
                "TAGMA-E252 preload: gives a variable of tagma::preloaded elements of its own type");
  if constexpr (diagnose::takes_preloaded<V, T>)
    detail::preload_variable(in, V::record(), std::move(elements), variable_prefix);
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/runtime/preload.ipp"
#endif
