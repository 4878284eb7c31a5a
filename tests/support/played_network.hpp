// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A network that does what a test says, in one thread: links that answer as they are told to, and a clock that stands.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::test {

/// A question, and what became of it.
struct played_call final : transport::call {
  void replied(transport::incoming&) noexcept override { answered = true; }
  void failed(const error& why) noexcept override { failure = why.what(); }

  bool answered = false;
  std::string failure;
};

/// Takes what comes when `answers` are spent.
struct played_link final : transport::link {
  explicit played_link(std::shared_ptr<transport::handler> with) : told(std::move(with)) {}

  transport::send_result send(transport::outgoing) override { return answer(nullptr); }
  transport::send_result start(transport::outgoing m, std::int64_t timeout_ns, transport::call& with) override {
    kinds.push_back(m.kind);
    timeouts.push_back(timeout_ns);
    return answer(&with);
  }
  transport::send_result reply(std::uint64_t, transport::outgoing) override { return answer(nullptr); }
  transport::send_result fail(std::uint64_t, const error&) override { return answer(nullptr); }
  void cancel(std::uint64_t number) override { cancelled.push_back(number); }
  void discard(std::uint32_t) override {}
  void consumed(const transport::receipt&) override {}
  void close() override {}
  void abort(error) override {}
  [[nodiscard]] transport::identity peer() const override { return who; }
  [[nodiscard]] transport::link_counters counters() const override { return {}; }

  std::shared_ptr<transport::handler> told;
  transport::identity who{};
  std::deque<transport::send_status> answers;
  std::function<void()> before_answer{};  ///< called once, before the next answer is given
  std::vector<transport::call*> asked;    ///< that were taken
  std::vector<std::uint16_t> kinds;       ///< of all
  std::vector<std::int64_t> timeouts;     ///< likewise
  std::vector<std::uint64_t> cancelled;

 private:
  transport::send_result answer(transport::call* with) {
    transport::send_status status = transport::send_status::taken;
    if (!answers.empty()) {
      status = answers.front();
      answers.pop_front();
    }
    if (before_answer) std::exchange(before_answer, nullptr)();
    if (status == transport::send_status::taken && with != nullptr) asked.push_back(with);
    return {status, ++number_};
  }

  std::uint64_t number_ = 0;
};

struct played_network final : transport::network {
  played_network() = default;
  played_network(const played_network&) = delete;
  played_network& operator=(const played_network&) = delete;
  /// Links and who speaks through them keep each other as long as connections last.
  ~played_network() {
    later.clear();
    for (const auto& l : links) l->told.reset();
  }

  std::shared_ptr<transport::link> connect(const std::string&, const transport::options& how,
                                           std::shared_ptr<transport::handler> with, std::int64_t) override {
    patience = how.patience;
    links.push_back(std::make_shared<played_link>(std::move(with)));
    return links.back();
  }
  std::string listen(const std::string& address, const transport::options&, transport::acceptor) override {
    return address;
  }
  void stop_listening(const std::string&) override {}
  void after(std::int64_t ns, std::function<void()> what) override {
    later.emplace(runtime::later(time, ns), std::move(what));
  }
  [[nodiscard]] std::int64_t now() const override { return time; }
  /// Lets time go by, and calls what is due then.
  void pass(std::int64_t ns) {
    const std::int64_t end = time + ns;
    while (!later.empty() && later.begin()->first <= end) {
      time = later.begin()->first;
      later.extract(later.begin()).mapped()();
    }
    time = end;
  }

  std::vector<std::shared_ptr<played_link>> links;
  transport::patience patience{};  ///< of who connected last
  std::multimap<std::int64_t, std::function<void()>> later;
  std::int64_t time = 1'000'000'000;
};

}  // namespace tagma::test
