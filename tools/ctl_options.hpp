// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The command line of tagma-ctl.

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "option_file.hpp"
#include "refusal.hpp"
#include "tagma/cluster/service/checkpoint_folder.hpp"
#include "tagma/transport/options.hpp"

namespace tagma::tools::ctl {

/// What a command line asks for.
struct request {
  std::string command;
  std::vector<std::string> names;  ///< behind the command
  std::string target;              ///< "tagma://host:port": a server that is asked for the cluster
  std::string job;                 ///< empty: of all jobs
  std::optional<int> task;         ///< of that job; not set: all
  std::optional<std::string> container;
  bool norms = false, full = false, json = false, insecure = false, help = false, version = false;
  std::uint32_t keep = 0;    ///< of checkpoints; 0: all
  std::int64_t seconds = 2;  ///< of a timeline
  std::string output;        ///< a file; empty: standard output
  std::string secret;
  transport::tls_files tls{};
  std::int64_t timeout_ns = 5'000'000'000;
  std::vector<std::string> cluster;  ///< what is left, for those who find clusters
};

/// A command, and what help says about it.
struct command_rule {
  const char* name;
  const char* arguments;
  const char* help;
};

inline constexpr command_rule command_rules[] = {
    {"status", "", "how each task is: since when, what it has, what it runs"},
    {"devices", "", "devices, and their memory: of variables, in use, and at most"},
    {"containers", "", "containers, and what they have"},
    {"variables", "", "variables with their types, shapes and bytes; --norms: what their elements are like"},
    {"queues", "", "queues, readers and iterators, and who waits at them"},
    {"why", "", "runs that are under way, and who waits for whom"},
    {"trace", "", "what all tasks do for some seconds, as one timeline for ui.perfetto.dev"},
    {"doctor", "", "whether every task reaches every other one, and what they disagree about"},
    {"save", "NAME", "have the servers write a checkpoint of a container, whoever made the variables"},
    {"restore", "NAME", "give the variables of a container the values of a checkpoint; \"model-*\" is the newest"},
    {"reset", "NAME...", "empty containers ('' is the default one), and end the sessions that use them"},
    {"stop", "", "end servers: all, or those of --job and --task"},
    {"metrics", "", "numbers of all tasks for Prometheus"},
};

inline constexpr const char* options_text =
    "  --target tagma://HOST:PORT  a server that is asked for the cluster; without it the cluster is looked for as\n"
    "                              tagma-server does: --cluster, --ps_hosts and so on, TAGMA_CLUSTER, TF_CONFIG, ...\n"
    "  --job NAME, --task INDEX    only the tasks of a job, or one of them\n"
    "  --container NAME            only what is in this container (variables, queues, save, restore)\n"
    "  --keep N, --full            of checkpoints \"model-1\", \"model-2\", ...: how many stay; also what is not new\n"
    "  --norms                     of variables: least, most, mean, norms, as each server computes them\n"
    "  --seconds N, --output FILE  of a timeline: how long it is (2), and where it goes in place of standard output\n"
    "  --json                      everything that is printed, as one JSON object; an \"error\" where nothing else is\n"
    "  --secret-file FILE          what servers and clients share; for what changes something, what chiefs share\n"
    "  --tls-ca FILE, --tls-cert FILE, --tls-key FILE\n"
    "                              certificates, in place of secrets: of authorities, an own one (for the URI\n"
    "                              tagma:/role:admin, to change something), and the key to it\n"
    "  --insecure                  goes without, beyond this machine as well\n"
    "  --timeout SECONDS           how long a task may take to answer (5)\n"
    "  --help, --version\n\n"
    "Exit status: 0 all is well; 1 a task is not, or what was asked for is not there; 2 the command line is wrong.\n";

[[nodiscard]] inline std::string help_text() {
  std::string text = "usage: tagma-ctl COMMAND [options]\n\nLooks into the servers of a cluster.\n\n";
  for (const command_rule& c : command_rules) {
    const std::string left = sentence({"  ", c.name, *c.arguments == '\0' ? "" : " ", c.arguments});
    append_parts(text, {left, std::string(left.size() < 17 ? 17 - left.size() : 1, ' '), c.help, "\n"});
  }
  return text + "\n" + options_text;
}

/// Reads a command line. Refuses what makes no sense.
class request_reader {
 public:
  explicit request_reader(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  [[nodiscard]] request read() {
    while (at_ < arguments_.size()) take();
    if (result_.help || result_.version) return std::move(result_);
    check();
    return std::move(result_);
  }

 private:
  /// The options of tagma-server that describe a cluster, by their names without dashes.
  [[nodiscard]] static bool describes_cluster(std::string_view name) {
    return name == "cluster" || name == "jobs" || name == "port" || name == "ps_hosts" || name == "worker_hosts" ||
           name == "chief_hosts" || name == "master_hosts" || name == "evaluator_hosts";
  }

  void take() {
    const std::string argument = arguments_[at_++];
    if (!argument.starts_with("--")) {
      if (result_.command.empty())
        result_.command = argument;
      else
        result_.names.push_back(argument);
      return;
    }
    const std::size_t equals = argument.find('=');
    const std::string written = argument.substr(0, equals);
    std::string name = written.substr(2);
    for (char& c : name)
      if (c == '-') c = '_';
    bool* const flag = flag_of(name);
    if (flag != nullptr) {
      if (equals != std::string::npos) refuse(exit_status::usage, {written, " takes nothing behind a '='"});
      *flag = true;
      return;
    }
    const std::string known = name == "job_name" ? "job" : name == "task_index" ? "task" : name;
    if (!seen_.insert(known).second) refuse(exit_status::usage, {"'", written, "' is given twice"});
    if (describes_cluster(name)) {
      result_.cluster.push_back(argument);
      if (equals == std::string::npos) result_.cluster.push_back(value(written));
      return;
    }
    if (!keep(name, written,
              [&] { return equals == std::string::npos ? value(written) : argument.substr(equals + 1); }))
      refuse(exit_status::usage, {"'", written, "' is no option; --help lists those that there are"});
  }

  [[nodiscard]] std::string value(const std::string& of) {
    if (at_ == arguments_.size()) refuse(exit_status::usage, {of, " needs a value"});
    return arguments_[at_++];
  }

  [[nodiscard]] bool* flag_of(std::string_view name) {
    if (name == "norms") return &result_.norms;
    if (name == "full") return &result_.full;
    if (name == "json") return &result_.json;
    if (name == "insecure") return &result_.insecure;
    if (name == "help") return &result_.help;
    if (name == "version") return &result_.version;
    return nullptr;
  }

  template <class Value>
  [[nodiscard]] bool keep(std::string_view name, const std::string& written, const Value& given) {
    if (name == "target") {
      result_.target = given();
      if (result_.target.empty()) refuse(exit_status::usage, {"--target needs a value"});
    } else if (name == "job" || name == "job_name") {
      result_.job = given();
    } else if (name == "task" || name == "task_index") {
      result_.task = static_cast<int>(number(written, given(), 0, 65535));
    } else if (name == "container") {
      result_.container = given();
    } else if (name == "keep") {
      result_.keep = static_cast<std::uint32_t>(number(written, given(), 1, 1'000'000));
    } else if (name == "seconds") {
      result_.seconds = number(written, given(), 1, 300);
      timed_ = true;
    } else if (name == "output") {
      result_.output = given();
      if (result_.output.empty()) refuse(exit_status::usage, {"--output needs the name of a file"});
    } else if (name == "timeout") {
      result_.timeout_ns = number(written, given(), 1, 3600) * 1'000'000'000;
    } else if (name == "tls_ca") {
      result_.tls.authorities = file(written, given());
    } else if (name == "tls_cert") {
      result_.tls.certificate = file(written, given());
    } else if (name == "tls_key") {
      result_.tls.key = file(written, given());
    } else if (name == "secret_file") {
      result_.secret = secret_in(written, given());
    } else {
      return false;
    }
    return true;
  }

  [[nodiscard]] static std::string file(const std::string& of, std::string path) {
    (void)opened(of, path);
    return path;
  }

  [[nodiscard]] static std::int64_t number(const std::string& of, const std::string& text, std::int64_t least,
                                           std::int64_t most) {
    std::int64_t n = 0;
    const auto [last, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (problem != std::errc{} || last != text.data() + text.size() || n < least || n > most)
      refuse(exit_status::usage, {of, ": '", text, "' is no whole number from ", least, " to ", most});
    return n;
  }

  /// As servers check it: "model-7", and for `restore` also "model-*".
  static void check_checkpoint(std::string_view name, bool restores) {
    const std::string_view series = restores && name.ends_with("-*") ? name.substr(0, name.size() - 2) : name;
    if (!service::is_checkpoint_name(series)) refuse(exit_status::usage, {service::no_checkpoint_name(name)});
  }

  void check() const {
    const request& r = result_;
    if (r.command.empty()) refuse(exit_status::usage, {"it needs a command; --help lists those that there are"});
    bool known = false;
    for (const command_rule& c : command_rules) known = known || r.command == c.name;
    if (!known) refuse(exit_status::usage, {"'", r.command, "' is no command; --help lists those that there are"});
    if (r.command == "reset" && r.names.empty())
      refuse(exit_status::usage, {"reset needs the name of a container, or several"});
    const bool saves = r.command == "save", is_checkpoint = saves || r.command == "restore";
    if (is_checkpoint && r.names.size() != 1)
      refuse(exit_status::usage, {r.command, " needs the name of a checkpoint, one"});
    if (is_checkpoint) check_checkpoint(r.names[0], !saves);
    if (is_checkpoint && !r.job.empty())
      refuse(exit_status::usage, {"--job is not for ", r.command, ": a checkpoint is of all tasks"});
    if ((r.keep != 0 || r.full) && !saves) refuse(exit_status::usage, {r.full ? "--full" : "--keep", " is for save"});
    if (r.command != "reset" && !is_checkpoint && !r.names.empty())
      refuse(exit_status::usage, {"'", r.names[0], "' is too much: ", r.command, " takes no names"});
    if (r.norms && r.command != "variables") refuse(exit_status::usage, {"--norms is for variables"});
    if (r.container && r.command != "variables" && r.command != "queues" && !is_checkpoint)
      refuse(exit_status::usage, {"--container is for variables, queues, save and restore"});
    if ((timed_ || !r.output.empty()) && r.command != "trace")
      refuse(exit_status::usage, {timed_ ? "--seconds" : "--output", " is for trace"});
    if (r.json && r.command == "trace") refuse(exit_status::usage, {"a timeline has one form, and that is JSON"});
    if (r.json && r.command == "metrics") refuse(exit_status::usage, {"metrics have one form; --json is no other"});
    if (r.task && r.job.empty()) refuse(exit_status::usage, {"--task needs a --job"});
    if (!r.target.empty() && !r.cluster.empty())
      refuse(exit_status::usage,
             {"--target asks a server for the cluster, ", r.cluster[0], " describes it: one of both"});
  }

  std::vector<std::string> arguments_;
  std::size_t at_ = 0;
  bool timed_ = false;
  std::set<std::string> seen_;
  request result_;
};

}  // namespace tagma::tools::ctl
