// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of slurm.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/sources/slurm.hpp"
#include "tagma/cluster/text.hpp"
#include "tagma/place/device.hpp"

namespace tagma::sources {

namespace detail {

using tagma::detail::is_digit;
using tagma::detail::quote;

TAGMA_DECL bool list_cursor::accept(std::string_view what) {
  if (text_.substr(at_, what.size()) != what) return false;
  at_ += what.size();
  return true;
}

TAGMA_DECL std::string_view list_cursor::digits() {
  const std::size_t first = at_;
  while (!ended() && is_digit(text_[at_])) ++at_;
  return text_.substr(first, at_ - first);
}

TAGMA_DECL std::int64_t list_cursor::number(std::string_view& written) {
  written = digits();
  if (written.empty()) refuse("expected a number");
  const std::optional<std::int64_t> value = tagma::detail::whole_number(written);
  if (!value) refuse("this number has more than 18 digits");
  return *value;
}

TAGMA_DECL void list_cursor::refuse(std::string_view why) const {
  fail(status_code::invalid_argument, {where_, " ", quote(text_), ", position ", at_, ": ", why});
}

TAGMA_DECL std::int64_t host_piece::count() const {
  if (ranges.empty()) return 1;
  std::int64_t sum = 0;
  for (const number_range& r : ranges) {
    sum += std::min<std::int64_t>(r.last - r.first, cluster_limits::tasks) + 1;
    if (sum > cluster_limits::tasks) break;
  }
  return sum;
}

TAGMA_DECL number_range read_range(list_cursor& in) {
  std::string_view low, high;
  number_range r;
  r.first = r.last = in.number(low);
  r.width = low[0] == '0' ? low.size() : 0;
  if (!in.accept("-")) return r;
  r.last = in.number(high);
  if (r.last < r.first) in.refuse("a range ends before it begins");
  if (high[0] == '0' && high.size() > 1 && high.size() != low.size())
    in.refuse("the ends of a range have different numbers of leading zeros");
  return r;
}

TAGMA_DECL bool is_host_character(char c) {
  return tagma::detail::is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
}

/// An item up to the comma behind it, or the end.
TAGMA_DECL std::vector<host_piece> read_item(list_cursor& in) {
  std::vector<host_piece> pieces;
  std::size_t length = 0;
  while (!in.ended() && !in.peek(',')) {
    host_piece piece;
    if (in.accept("[")) {
      do piece.ranges.push_back(read_range(in));
      while (piece.ranges.size() <= cluster_limits::tasks && in.accept(","));
      if (in.peek('[')) in.refuse("brackets stand in no brackets");
      if (!in.accept("]")) in.refuse("expected ',', '-' or ']'");
      ++length;
    } else {
      while (!in.ended() && !in.peek(',') && !in.peek('[')) {
        if (!is_host_character(in.front())) in.refuse("a host name has letters, digits, '-', '_' and '.'");
        piece.text += in.take();
      }
      length += piece.text.size();
    }
    if (length > cluster_limits::host_name) in.refuse("a host name has at most 253 characters");
    pieces.push_back(std::move(piece));
  }
  if (pieces.empty()) in.refuse("expected the name of a host");
  return pieces;
}

/// How many hosts an item stands for, at most one more than a cluster has tasks.
TAGMA_DECL std::int64_t count_of(const std::vector<host_piece>& pieces) {
  std::int64_t product = 1;
  for (const host_piece& piece : pieces)
    product = std::min<std::int64_t>(product * piece.count(), cluster_limits::tasks + std::int64_t{1});
  return product;
}

TAGMA_DECL std::string padded(std::int64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

/// Appends each text of pieces `k` and on to `host`, and the results to `hosts`.
TAGMA_DECL void append_hosts(std::vector<std::string>& hosts, const std::vector<host_piece>& pieces, std::size_t k,
                             std::string& host, const list_cursor& in) {
  if (host.size() > cluster_limits::host_name) in.refuse("a host name has at most 253 characters");
  if (k == pieces.size()) {
    hosts.push_back(host);
    return;
  }
  const std::size_t length = host.size();
  if (pieces[k].ranges.empty()) append_hosts(hosts, pieces, k + 1, host += pieces[k].text, in);
  for (const number_range& r : pieces[k].ranges) {
    for (std::int64_t n = r.first; n <= r.last; ++n) {
      host.resize(length);
      append_hosts(hosts, pieces, k + 1, host += padded(n, r.width), in);
    }
  }
  host.resize(length);
}

/// A variable of a step, or that of its job.
TAGMA_DECL std::string one_of(const environment& variables, std::initializer_list<const char*> names) {
  for (const char* const name : names)
    if (variables.has(name)) return name;
  return *names.begin();
}

TAGMA_DECL std::vector<int> slurm_tasks_per_node(const environment& variables, int nodes, int size) {
  const std::string name = one_of(variables, {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  if (const auto text = variables.find(name)) return expand_tasks_per_node(*text, name);
  if (size % nodes != 0)
    fail(status_code::invalid_argument,
         {"Slurm: ", size, " processes on ", nodes, " nodes, and ", name, " does not say how many each has"});
  return std::vector<int>(static_cast<std::size_t>(nodes), size / nodes);
}

/// Whether what Slurm says of this process is what a distribution in blocks makes of its rank.
TAGMA_DECL void check_block(const environment& variables, const launch& l, const std::vector<std::string>& nodes,
                            std::size_t node, int local) {
  const auto differs = [&](std::string_view name, std::string_view found, std::string_view expected) {
    fail(status_code::invalid_argument,
         {"Slurm: ", name, " is ", quote(found), ", where rank ", l.rank, " of a distribution in blocks has ",
          quote(expected), "; start with --distribution=block, or describe the cluster (--cluster, TAGMA_CLUSTER)"});
  };
  const auto check = [&](const char* name, const std::string& expected) {
    if (const auto found = variables.find(name); found && *found != expected) differs(name, *found, expected);
  };
  check("SLURM_NODEID", std::to_string(node));
  check("SLURM_LOCALID", std::to_string(local));
  check("SLURMD_NODENAME", nodes[node]);
}

}  // namespace detail

TAGMA_DECL std::vector<std::string> expand_host_list(std::string_view text, std::string_view where) {
  detail::list_cursor in(text, where);
  std::vector<std::string> hosts;
  do {
    const std::vector<detail::host_piece> pieces = detail::read_item(in);
    const std::int64_t count = detail::count_of(pieces);
    if (static_cast<std::int64_t>(hosts.size()) + count > cluster_limits::tasks)
      in.refuse(sentence({"more than ", cluster_limits::tasks, " hosts, which is the most that a cluster has"}));
    std::string host;
    detail::append_hosts(hosts, pieces, 0, host, in);
  } while (in.accept(","));
  return hosts;
}

TAGMA_DECL std::vector<int> expand_tasks_per_node(std::string_view text, std::string_view where) {
  detail::list_cursor in(text, where);
  std::vector<int> counts;
  std::int64_t sum = 0;
  do {
    std::string_view written;
    const std::int64_t count = in.number(written);
    std::int64_t nodes = 1;
    if (in.accept("(x")) {
      nodes = in.number(written);
      if (!in.accept(")")) in.refuse("expected ')'");
    }
    if (count == 0 || nodes == 0) in.refuse("each node has a process at least");
    constexpr std::int64_t most = cluster_limits::tasks;
    if (count > most || nodes > most || (sum += count * nodes) > most)
      in.refuse(sentence({"more than ", most, " processes, which is the most that a cluster has"}));
    counts.insert(counts.end(), static_cast<std::size_t>(nodes), static_cast<int>(count));
  } while (in.accept(","));
  if (!in.ended()) in.refuse("expected ',' or '(x'");
  return counts;
}

TAGMA_DECL std::uint16_t base_port_of_job(std::int64_t job) { return static_cast<std::uint16_t>(15000 + job % 10000); }

TAGMA_DECL std::vector<std::string> slurm_hosts(const environment& variables) {
  const std::string name = detail::one_of(variables, {"SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  const auto text = variables.find(name);
  return text ? expand_host_list(*text, name) : std::vector<std::string>();
}

TAGMA_DECL bool has_slurm(const environment& variables) {
  return variables.has("SLURM_PROCID") && (variables.has("SLURM_STEP_ID") || variables.has("SLURM_STEPID"));
}

TAGMA_DECL finding slurm(const environment& variables) {
  launch l;
  l.launcher = "Slurm";
  const std::string size_name = detail::one_of(variables, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"});
  const int size = variables.need_number(size_name, 1, cluster_limits::tasks, "Slurm");
  l.size = size;
  l.rank = variables.need_number("SLURM_PROCID", 0, size - 1, "Slurm");
  if (const auto job = variables.find("SLURM_JOB_ID"))
    l.base_port = base_port_of_job(tagma::detail::number_between(*job, 0, 999'999'999'999, "SLURM_JOB_ID"));

  const std::string list_name =
      detail::one_of(variables, {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  const std::vector<std::string> nodes = expand_host_list(variables.need(list_name, "Slurm"), list_name);
  const std::vector<int> counts = detail::slurm_tasks_per_node(variables, static_cast<int>(nodes.size()), size);
  if (counts.size() != nodes.size())
    fail(status_code::invalid_argument, {"Slurm: ", list_name, " has ", nodes.size(), " nodes, and there are ",
                                         counts.size(), " numbers of processes"});
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const int first = static_cast<int>(l.hosts.size()), count = counts[node];
    if (l.rank >= first && l.rank - first < count) {
      l.local_rank = l.rank - first;
      l.local_size = count;
      detail::check_block(variables, l, nodes, node, l.rank - first);
    }
    l.hosts.insert(l.hosts.end(), static_cast<std::size_t>(count), nodes[node]);
  }
  if (static_cast<int>(l.hosts.size()) != size)
    fail(status_code::invalid_argument,
         {"Slurm: ", size_name, " is ", size, ", and the nodes have ", l.hosts.size(), " processes together"});
  finding said;
  said.ranks = std::move(l);
  return said;
}

}  // namespace tagma::sources
