// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A program that is cut into parts, each of which has a session and a container of its own, in one process.

#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tagma/parts.hpp"
#include "tagma/programs.hpp"

namespace tagma::test {

class cut_session {
 public:
  /// @param task of each node of the program
  cut_session(const any_program& whole, array_view<const std::int16_t> task, int tasks, isolation kept_apart)
      : whole_(whole), cut_(ir::cut(whole.graph(), {task, {}, tasks})) {
    for (const ir::graph_part& part : cut_.parts) {
      programs_.push_back(program_of_part(whole, part));
      states_.push_back(kept_apart == isolation::runs ? container() : container(kept_apart));
    }
    for (std::size_t p = 0; p < programs_.size(); ++p)
      sessions_.push_back(make_owned<session<any_program>>(
          programs_[p], session_options{.intra_op_threads = 1, .inter_op_threads = 1, .state = states_[p]}));
  }

  [[nodiscard]] const ir::cut_graph& graph() const { return cut_; }
  [[nodiscard]] const any_program& program(std::size_t part) const { return programs_[part]; }
  /// Bytes that have led from one part to another.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  /// One run: a thread for each part.
  /// @param before called by the thread of each part before it begins
  template <class Before>
  std::vector<any_tensor> run(const std::vector<output_name>& outputs, const std::vector<named_feed>& feeds,
                              const Before& before) {
    std::vector<int> wanted;
    for (const output_name& o : outputs) wanted.push_back(whole_.find_output(o.name()));
    const auto asked = outputs_of_parts(cut_, wanted);
    std::vector<any_tensor> results(outputs.size());
    runtime::local_rendezvous meeting;
    const runtime::run_numbers numbers{0, step_++, &meeting};
    std::exception_ptr first;
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (std::size_t p = 0; p < asked.size(); ++p) {
      if (asked[p].empty()) continue;
      threads.emplace_back([&, p] {
        try {
          before(p);
          run_part(p, asked[p], wanted, feeds, numbers, results);
        } catch (const error& e) {
          {
            const std::lock_guard<std::mutex> lock(mutex);
            if (first == nullptr) first = std::current_exception();
          }
          meeting.abort(e);
        }
      });
    }
    for (std::thread& t : threads) t.join();
    bytes_ += meeting.bytes();
    if (first != nullptr) std::rethrow_exception(first);
    return results;
  }
  std::vector<any_tensor> run(const std::vector<output_name>& outputs, const std::vector<named_feed>& feeds) {
    return run(outputs, feeds, [](std::size_t) {});
  }

 private:
  void run_part(std::size_t p, const std::vector<int>& roots, const std::vector<int>& wanted,
                const std::vector<named_feed>& feeds, const runtime::run_numbers& numbers,
                std::vector<any_tensor>& results) {
    const ir::graph_view g = programs_[p].graph();
    std::vector<std::vector<ir::node_id>> nodes;
    std::vector<runtime::node_feed> given;
    nodes.reserve(feeds.size());
    for (const named_feed& f : feeds) {
      nodes.emplace_back();
      for (ir::node_id i = 0; i < g.size(); ++i)
        if (g.info(i).is(ir::op_kind::placeholder) && g[i].name == f.name) nodes.back().push_back(i);
      if (!nodes.back().empty()) given.push_back({nodes.back(), f.value});
    }
    sessions_[p]->run_nodes(
        roots, given, {}, source_line::here(),
        [&](std::size_t r, const raw_view& value) {
          const std::int32_t output = cut_.parts[p].outputs[static_cast<std::size_t>(roots[r])];
          for (std::size_t k = 0; k < wanted.size(); ++k)
            if (wanted[k] == output && value.type != dtype::none) results[k] = any_tensor::copy_of(value);
        },
        &numbers);
  }

  any_program whole_;
  ir::cut_graph cut_;
  std::vector<any_program> programs_;
  std::vector<container> states_;
  std::vector<owned<session<any_program>>> sessions_;
  std::uint64_t step_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace tagma::test
