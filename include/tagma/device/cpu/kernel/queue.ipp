// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of queue.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/queue.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL void queue_step::ended(std::exception_ptr error) noexcept { end(error); }

[[gnu::noinline]] TAGMA_DECL void queue_step::end(std::exception_ptr& error) noexcept {
  const runtime::completion done = done_;
  if (error != nullptr) return done.fail(static_cast<std::exception_ptr&&>(error));
  try {
    finish();
  } catch (...) {
    std::exception_ptr why = std::current_exception();
    if (!elements.empty() && takes()) queue_->give_back(static_cast<runtime::queue_elements&&>(elements));
    return done.fail(static_cast<std::exception_ptr&&>(why));
  }
  done.succeed();
}

TAGMA_DECL void enqueue_step::start(const kernel_args& args, const run_context& context, runtime::completion done) {
  auto& own = static_cast<enqueue_step&>(*args.state);
  own.begin(args, context, done, [&](runtime::queue& q) {
    const std::size_t first = args.attributes[1] != 0 ? 2 : 1, count = args.in.size() - first;
    raw_view tensors[ir::most_outputs];
    for (std::size_t i = 0; i < count; ++i) {
      const operand& o = args.in[first + i];
      tensors[i] = {o.data, o.type, o.dims};
    }
    const array_view<const raw_view> all(tensors, count);
    const auto* const priorities = first == 2 ? args.in[1].as<const std::int64_t>() : nullptr;
    const array_view<const std::int64_t> of_rows(priorities,
                                                 first == 2 ? static_cast<std::size_t>(args.in[1].elements()) : 0);
    runtime::queue_elements made =
        args.attributes[0] == 0 ? q.make(all, priorities) : q.make_rows(all, first == 2 ? &of_rows : nullptr);
    own.count_ = made.size();
    q.enqueue(own, static_cast<runtime::queue_elements&&>(made));
  });
}

TAGMA_DECL void dequeue_step::start(const kernel_args& args, const run_context& context, runtime::completion done) {
  auto& own = static_cast<dequeue_step&>(*args.state);
  own.begin(args, context, done, [&](runtime::queue& q) {
    if (!own.elements.empty()) q.reuse(static_cast<runtime::queue_elements&&>(own.elements));
    const extent count = args.attributes[0];
    q.dequeue(own, count < 0 ? 1 : count, args.attributes[args.attributes.size() - 1] != 0);
  });
}

TAGMA_DECL void dequeue_step::finish() {
  for (std::size_t i = 0; i < queue().components().size(); ++i) {
    std::byte* to = args().outs[i].data;
    if (to == nullptr) continue;
    elements.each([&](extent, const runtime::queue_element& e) {
      const raw_view from = e.component(i);
      const std::size_t bytes = from.bytes();
      if (bytes > 0) std::memcpy(to, from.data, bytes);
      to += bytes;
    });
  }
  if (!queue_has_texts()) queue().reuse(static_cast<runtime::queue_elements&&>(elements));
}

TAGMA_DECL void late_dequeue_step::finish() {
  const bool one = args().attributes[0] < 0;
  const array_view<const tensor_spec> components = queue().components();
  for (std::size_t i = 0; i < components.size(); ++i) {
    const operand& out = args().outs[i];
    const bool open = !components[i].dims.is_static();
    const shape own =
        one ? elements.front().component(i).dims : runtime::dims_of_batch(elements, i, components[i].dims);
    std::byte* to = out.data;
    if (args().late != nullptr && (open || queue_is_open())) {
      to = args().late->allocate(static_cast<int>(i), own);
    } else if (args().late != nullptr) {
      args().late->set(0, elements.size(), static_cast<int>(i));
    }
    if (to == nullptr) continue;
    if (open) std::memset(to, 0, raw_view{nullptr, components[i].type, own}.bytes());
    if (one)
      runtime::copy_into_corner(to, own, elements.front().component(i));
    else
      runtime::write_batch(elements, i, own, to);
  }
  if (!queue_has_texts()) queue().reuse(static_cast<runtime::queue_elements&&>(elements));
}

TAGMA_COLD TAGMA_DECL bool late_dequeue_step::queue_is_open() const {
  for (const tensor_spec& s : queue().components())
    if (!s.dims.is_static()) return true;
  return false;
}

TAGMA_COLD TAGMA_DECL bool dequeue_step::queue_has_texts() const {
  for (const tensor_spec& s : queue().components())
    if (s.type == dtype::string) return true;
  return false;
}

TAGMA_DECL void close_step::start(const kernel_args& args, const run_context& context, runtime::completion done) {
  auto& own = static_cast<close_step&>(*args.state);
  if (args.attributes[0] == 0) return own.begin(args, context, done, [&](runtime::queue& q) { q.close(own); });
  auto& q = args.in[0].resource<runtime::queue>();
  q.close_now();
  *args.out.as<std::int64_t>() = q.size();
  done.succeed();
}

}  // namespace tagma::device::cpu::detail
