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

/// @param json what did not come about is an object as well; a command line that is wrong is none
int end(const refusal& r, bool json) {
  if (json && r.status == exit_status::run_failed) {
    const std::string object =
        json_text().begin('{').name("ok").value(false).name("error").value(r.text).end('}').text();
    (void)std::printf("%s\n", object.c_str());
    (void)std::fflush(stdout);
  }
  (void)std::fprintf(stderr, "tagma-ctl: %s\n", printable(r.text).c_str());
  return static_cast<int>(r.status);
}

}  // namespace

int main(int count, char** arguments) {
  bool json = false;
  try {
    const ctl::request given = ctl::request_reader(std::vector<std::string>(arguments + 1, arguments + count)).read();
    json = given.json;
    return static_cast<int>(go(given));
  } catch (const refusal& r) {
    return end(r, json);
  } catch (const error& e) {
    return end({exit_status::run_failed, sentence_of(e)}, json);
  } catch (const std::exception& e) {
    return end({exit_status::run_failed, e.what()}, json);
  }
}
