// SPDX-License-Identifier: BSL-1.0
// Operations whose kernels find extents, for tests.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace tagma::test {

/// The elements above 0 of a vector.
struct positive {
  static constexpr std::string_view name = "test.positive";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool late = true;
  static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {dyn}};
    return nullptr;
  }
  static constexpr const char* bound(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};

/// The same, by an operation that knows no bound.
struct unbounded_positive {
  static constexpr std::string_view name = "test.unbounded_positive";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool late = true;
  static constexpr const char* infer(ir::infer_args& a) { return positive::infer(a); }
};

/// Elements above 0, all others, and how many elements there are.
struct parted {
  static constexpr std::string_view name = "test.parted";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool late = true;
  static constexpr int outputs = 3;
  static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {dyn}};
    if (a.output == 2) a.out = {dtype::int64, {}};
    return nullptr;
  }
  static constexpr const char* bound(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};

template <class T>
void run_positive(const device::kernel_args& args, const device::run_context&) {
  extent n = 0;
  const T* const from = args.in[0].as<const T>();
  for (extent i = 0; i < args.in[0].elements(); ++i)
    if (from[i] > 0) args.out.as<T>()[n++] = from[i];
  args.late->set(0, n);
}
template <class T>
void run_unbounded(const device::kernel_args& args, const device::run_context&) {
  extent n = 0;
  const T* const from = args.in[0].as<const T>();
  for (extent i = 0; i < args.in[0].elements(); ++i) n += from[i] > 0;
  T* to = reinterpret_cast<T*>(args.late->allocate(0, {n}));
  for (extent i = 0; i < args.in[0].elements(); ++i)
    if (from[i] > 0) *to++ = from[i];
}
template <class T>
void run_parted(const device::kernel_args& args, const device::run_context&) {
  extent n[2]{};
  const T* const from = args.in[0].as<const T>();
  for (extent i = 0; i < args.in[0].elements(); ++i) {
    const int r = from[i] > 0 ? 0 : 1;
    if (args.outs[r].data != nullptr) args.outs[r].as<T>()[n[r]] = from[i];
    ++n[r];
  }
  args.late->set(0, n[0], 0);
  args.late->set(0, n[1], 1);
  if (args.outs[2].data != nullptr) *args.outs[2].as<std::int64_t>() = args.in[0].elements();
}

/// Vectors on their way. Whoever takes one waits without a thread.
class vector_queue {
 public:
  struct taker final : runtime::kernel_state, runtime::stop_hook {
    explicit taker(vector_queue& q) : queue(q) {}
    void stop() noexcept override { queue.cancel(*this); }

    vector_queue& queue;
    runtime::completion done;
    runtime::late_results* late = nullptr;
  };

  void put(std::vector<float> v) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(v));
    if (takers_.empty()) return;
    hand_over(*takers_.front());
    takers_.pop_front();
  }
  void take(taker& t) {
    const std::lock_guard lock(mutex_);
    if (values_.empty()) return takers_.push_back(&t);
    hand_over(t);
  }
  void cancel(taker& t) {
    const std::lock_guard lock(mutex_);
    for (auto i = takers_.begin(); i != takers_.end(); ++i)
      if (*i == &t) {
        takers_.erase(i);
        return t.done.cancel();
      }
  }
  [[nodiscard]] std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return takers_.size();
  }

 private:
  void hand_over(taker& t) {
    const std::vector<float> v = std::move(values_.front());
    values_.pop_front();
    std::byte* const to = t.late->allocate(0, {static_cast<extent>(v.size())});
    if (!v.empty()) std::memcpy(to, v.data(), v.size() * sizeof(float));
    t.done.succeed();
  }

  std::mutex mutex_;
  std::deque<std::vector<float>> values_;
  std::deque<taker*> takers_;
};
inline vector_queue vectors;

/// What was put into the queue first, once there is something.
struct take_vector {
  static constexpr std::string_view name = "test.take_vector";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool late = true;
  static constexpr bool stateful = true;
  static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::float32, {dyn}};
    return nullptr;
  }
};
inline owned<runtime::kernel_state> prepare_take(const device::kernel_args&, const device::run_context&) {
  return make_owned<vector_queue::taker>(vectors);
}
inline void start_take(const device::kernel_args& args, const device::run_context& context, runtime::completion done) {
  auto& t = static_cast<vector_queue::taker&>(*args.state);
  t.done = done;
  t.late = args.late;
  t.queue.take(t);
  if (!context.control->add(t)) t.stop();
}
template <class Place = TAGMA_FRESH_TYPE(int)>
constexpr auto take() {
  return make_operation<take_vector, ir::attributes<0>{}, Place>();
}

template <class Op, expression E, class Place = TAGMA_FRESH_TYPE(E)>
constexpr auto late(const E& e) {
  return make_operation<Op, ir::attributes<0>{}, Place>(e);
}

}  // namespace tagma::test

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<tagma::test::positive>> {
  template <tagma::dtype Out, tagma::dtype...>
  static constexpr kernel_entry entry{&test::run_positive<stored<Out>>};
};
template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<tagma::test::unbounded_positive>> {
  template <tagma::dtype Out, tagma::dtype...>
  static constexpr kernel_entry entry{&test::run_unbounded<stored<Out>>};
};
template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<tagma::test::parted>> {
  template <tagma::dtype Out, tagma::dtype...>
  static constexpr kernel_entry entry{&test::run_parted<stored<Out>>};
};
template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<tagma::test::take_vector>> {
  template <tagma::dtype...>
  static constexpr kernel_entry entry{.prepare = &test::prepare_take, .start = &test::start_take};
};
