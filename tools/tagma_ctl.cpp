// SPDX-License-Identifier: BSL-1.0
/// @file
/// tagma-ctl: how the servers of a cluster are, what they have, who waits for whom, and whether they reach each other.

#include <cstdio>
#include <string>
#include <vector>

#include "ctl_checkpoints.hpp"
#include "ctl_diagnosis.hpp"
#include "ctl_trace.hpp"

namespace {

using namespace tagma;
using namespace tagma::tools;

exit_status go(const ctl::request& given) {
  if (given.help) return print(ctl::help_text()), exit_status::ok;
  if (given.version) return print("tagma-ctl " TAGMA_VERSION "\n"), exit_status::ok;
  struct command {
    const char* name;
    void (*go)(ctl::asked_cluster&, const ctl::request&);
  };
  constexpr command commands[] = {
      {"status", ctl::show_status},       {"devices", ctl::show_devices},   {"containers", ctl::show_containers},
      {"variables", ctl::show_variables}, {"queues", ctl::show_queues},     {"why", ctl::explain_waits},
      {"doctor", ctl::examine},           {"reset", ctl::reset_containers}, {"stop", ctl::stop_servers},
      {"metrics", ctl::show_metrics},     {"save", ctl::save_container},    {"restore", ctl::restore_container},
      {"trace", ctl::record_timeline},
  };
  ctl::asked_cluster all(given);
  for (const command& c : commands)
    if (given.command == c.name) c.go(all, given);
  for (const std::string& problem : all.problems())
    (void)std::fprintf(stderr, "tagma-ctl: %s\n", printable(problem).c_str());
  return all.is_ill() ? exit_status::run_failed : exit_status::ok;
}

int end(const refusal& r) {
  (void)std::fprintf(stderr, "tagma-ctl: %s\n", printable(r.text).c_str());
  return static_cast<int>(r.status);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return static_cast<int>(go(ctl::request_reader(std::vector<std::string>(arguments + 1, arguments + count)).read()));
  } catch (const refusal& r) {
    return end(r);
  } catch (const error& e) {
    return end({exit_status::run_failed, sentence_of(e)});
  } catch (const std::exception& e) {
    return end({exit_status::run_failed, e.what()});
  }
}
