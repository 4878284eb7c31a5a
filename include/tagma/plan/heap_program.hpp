// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs whose graphs a process builds: what `compile` says of a type is an error here, with the same number.

#include "tagma/base/config.hpp"
#include "tagma/graph/heap_build.hpp"
#include "tagma/plan/any_program.hpp"

namespace tagma::detail {

/// The rule that a graph breaks; what it is about is told behind it.
[[nodiscard]] TAGMA_COLD constexpr const char* sentence_of(ir::build_problem problem) {
  switch (problem) {
    case ir::build_problem::none:
      break;
    case ir::build_problem::name_clash:
      return "TAGMA-E060 compile: two variables or placeholders of one name have different types";
    case ir::build_problem::two_beginnings:
      return "TAGMA-E060 compile: two variables of one name begin in different ways, or only one of them is trained";
    case ir::build_problem::no_gradient:
      return "TAGMA-E061 gradient: an operation between the loss and a variable has no gradient";
    case ir::build_problem::independent:
      return "TAGMA-E064 gradient: the first operand does not depend on the second";
    case ir::build_problem::nothing_to_train:
      return "TAGMA-E063 minimize: the loss depends on no trainable variable";
    case ir::build_problem::no_averages:
      return "TAGMA-E306 update_averages: the expression depends on no layer that keeps averages, as batch_norm for "
             "training";
    case ir::build_problem::empty_scope:
      return "TAGMA-E300 minimize: a scope that says what is trained, or is not, has no such variable behind the loss";
    case ir::build_problem::too_large:
      return "TAGMA-E080 compile: the graph has more nodes than a process builds";
    case ir::build_problem::too_many_scopes:
      return "TAGMA-E273 compile: scopes ask for more than 62 devices, have more than 16 functions, or are around "
             "nodes "
             "in more than 1,023 ways";
    case ir::build_problem::malformed_device:
      return "TAGMA-E146 on: a device function returned a text that names no device, such as \"/job:ps/task:1\"";
    case ir::build_problem::oversized:
      return "TAGMA-E081 compile: a tensor has at most 2^56 bytes";
    case ir::build_problem::beyond_loop:
      return "TAGMA-E204 compile: a value of the body of a loop is used behind the loop; hand it out of the body with "
             "tagma::next(...).emit(value)";
    case ir::build_problem::too_many_loops:
      return "TAGMA-E205 compile: a graph has at most 64 loops, with those of its gradients";
    case ir::build_problem::update_in_loop:
      return "TAGMA-E206 compile: the body of a loop or a branch cannot update a variable, as a batch_norm that is "
             "trained does";
    case ir::build_problem::update_in_block:
      return "TAGMA-E264 repeat: a block that updates its variables is written out: repeat<\"block\", 12>(block, "
             "tagma::unrolled)";
    case ir::build_problem::resource_in_block:
      return "TAGMA-E265 repeat: a block with a queue or another resource of its own is written out: "
             "repeat<\"block\", 12>(block, tagma::unrolled)";
    case ir::build_problem::endless_loop:
      return "TAGMA-E209 compile: the gradient of a while_loop needs the most iterations that there may be: "
             "while_loop<100>(...)";
    case ir::build_problem::second_while:
      return "TAGMA-E219 compile: the gradient of a while_loop has no gradient itself";
    case ir::build_problem::other_spec:
      return "TAGMA-E210 passes: a pass replaces a node by one of another type or shape";
    case ir::build_problem::misfit:
      return "TAGMA-E211 passes: a pass adds an operation over operands that it does not take";
    case ir::build_problem::out_of_body:
      return "TAGMA-E271 passes: a pass uses a value of the body of a loop where that loop has ended";
  }
  return "";
}

/// Throws InvalidArgument, or ResourceExhausted for a graph that is too large.
[[noreturn]] TAGMA_COLD inline void refuse_graph(const ir::build_status& s) {
  std::string text = sentence({sentence_of(s.problem)});
  if (s.op != nullptr) append_parts(text, {": ", s.op->name});
  if (!s.text.empty()) append_parts(text, {s.op != nullptr ? " '" : ": '", s.text, "'"});
  if (s.first.type != dtype::none) append_parts(text, {", ", to_string(s.first)});
  if (s.second.type != dtype::none) append_parts(text, {" and ", to_string(s.second)});
  const bool large = !ir::differ(s.problem, ir::build_problem::too_large);
  fail(large ? status_code::resource_exhausted : status_code::invalid_argument, text);
}

/// Throws what `compile` says of a finished graph, as InvalidArgument.
TAGMA_COLD inline void check_sound(const ir::heap_tables& built) {
  const ir::graph_view g = built.view();
  if (const ir::build_status found = status_of(built.status(), g); !found.good()) refuse_graph(found);
  if (!g.loops.empty() && ir::has_late_in_loop(g))
    fail(status_code::invalid_argument,
         "TAGMA-E207 compile: an operation in the body of a loop cannot find extents, as boolean_mask, nonzero and "
         "unique do");
  if (const std::string_view shared = ir::find_shared_name(g); !shared.empty())
    fail(status_code::invalid_argument,
         {"TAGMA-E161 compile: two variables have one name, which is that of a slot or of the step of an optimizer: ",
          shared});
}

/// The graph behind some outputs, as a process builds it. Throws what `compile` says of a type, InvalidArgument, and
/// `no_memory`.
/// @param roots,named as of `ir::heap_build`
/// @param passes that rewrite it
[[nodiscard]] TAGMA_COLD inline owned<ir::heap_build> build_sound_graph(
    array_view<const ir::record* const> roots, array_view<const ir::record* const> named,
    array_view<void (*const)(ir::rewriter&)> passes = {}) {
  try {
    auto built = make_owned<ir::heap_build>(roots, named);
    for (void (*const pass)(ir::rewriter&) : passes)
      if (built->status().good()) built->rewrite(pass);
    check_sound(*built);
    return built;
  } catch (const char* problem) {  // what `infer` says of a node that a gradient adds
    fail(status_code::internal, {"compile: the graph cannot be built: ", problem});
  }
}

}  // namespace tagma::detail
