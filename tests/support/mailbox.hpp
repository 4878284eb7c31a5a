// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Operations that send a number away and wait for one to come, as a parameter server and its workers do.

#include <deque>
#include <mutex>

#include "support/latches.hpp"

namespace tagma::test {

/// Numbers on their way. Whoever receives waits without a thread.
class mailbox {
 public:
  struct receiver final : runtime::kernel_state, runtime::stop_hook {
    explicit receiver(mailbox& b) : box(b) {}
    void stop() noexcept override { box.cancel(*this); }

    mailbox& box;
    runtime::completion done;
    std::byte* out = nullptr;
  };

  void put(float value) {
    const std::lock_guard lock(mutex_);
    if (receivers_.empty()) {
      values_.push_back(value);
      return;
    }
    receiver* const r = receivers_.front();
    receivers_.pop_front();
    hand_over(*r, value);
  }
  void take(receiver& r) {
    const std::lock_guard lock(mutex_);
    if (values_.empty()) return receivers_.push_back(&r);
    hand_over(r, values_.front());
    values_.pop_front();
  }
  void cancel(receiver& r) {
    const std::lock_guard lock(mutex_);
    for (auto i = receivers_.begin(); i != receivers_.end(); ++i)
      if (*i == &r) {
        receivers_.erase(i);
        return r.done.cancel();
      }
  }
  /// What was put there first, once there is something; NaN after a minute.
  [[nodiscard]] float await() {
    float value = __builtin_nanf("");
    static_cast<void>(comes([&] {
      const std::lock_guard lock(mutex_);
      if (values_.empty()) return false;
      value = values_.front();
      values_.pop_front();
      return true;
    }));
    return value;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    values_.clear();
  }

 private:
  static void hand_over(receiver& r, float value) {
    *reinterpret_cast<float*>(r.out) = value;
    r.done.succeed();
  }

  std::mutex mutex_;
  std::deque<float> values_;
  std::deque<receiver*> receivers_;
};

/// Attribute 0 of the operations below says which.
inline mailbox mailboxes[8];

/// Puts its input, or the first element of it, into a mailbox.
struct send_number : pass_on {
  static constexpr std::string_view name = "test.send";
  static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {}};
    return nullptr;
  }
};
/// A number out of a mailbox; its input is ignored.
struct receive_number : pass_on {
  static constexpr std::string_view name = "test.receive";
};

inline void run_send(const runtime::kernel_args& args, const runtime::run_context&) {
  hand_on(args);
  mailboxes[args.attributes[0]].put(*args.in[0].as<float>());
}
inline owned<runtime::kernel_state> prepare_receive(const runtime::kernel_args& args, const runtime::run_context&) {
  return make_owned<mailbox::receiver>(mailboxes[args.attributes[0]]);
}
inline void start_receive(const runtime::kernel_args& args, const runtime::run_context& context,
                          runtime::completion done) {
  auto& r = static_cast<mailbox::receiver&>(*args.state);
  r.done = done;
  r.out = args.out.data;
  r.box.take(r);
  if (!context.control->add(r)) r.stop();
}

}  // namespace tagma::test

namespace tagma::device {
template <>
struct kernel<on_cpu, ir::key<test::send_number>> {
  template <dtype, dtype...>
  static constexpr runtime::kernel_entry entry{&test::run_send};
};
template <>
struct kernel<on_cpu, ir::key<test::receive_number>> {
  template <dtype, dtype...>
  static constexpr runtime::kernel_entry entry{.prepare = &test::prepare_receive, .start = &test::start_receive};
};
}  // namespace tagma::device
