// SPDX-License-Identifier: BSL-1.0
// A server of a cluster: keeps variables, queues and other state, and runs the programs that clients give it. Which
// task it is, command line and environment say as they do everywhere (docs/cluster.md).
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gpus.hpp"
#include "option_file.hpp"
#include "refusal.hpp"
#include "tagma/servers.hpp"
#include "tagma/tagma.hpp"

namespace {

constexpr const char* help =
    "tagma-server [--cluster JSON or FILE] [--ps_hosts LIST] ... [--job NAME] [--task INDEX]\n"
    "  Keeps the state of a task of a cluster, and runs the parts of programs that are placed there.\n"
    "  --bind ADDRESS         where it listens, if that is not the address of the task\n"
    "  --secret-file FILE     what servers and clients share; needed beyond this machine\n"
    "  --chief-secret-file FILE  what chiefs have in its place; only they reset, save, restore and stop then\n"
    "  --tls-ca FILE, --tls-cert FILE, --tls-key FILE  certificates, in place of secrets: of authorities, of the\n"
    "                         task (for the URI tagma:/job:NAME/task:INDEX), and the key to that\n"
    "  --insecure             goes without: whoever reaches the port runs programs here\n"
    "  --no-shared-memory     clients and servers of this machine use sockets for all bytes\n"
    "  --threads NUMBER       of a kernel\n"
    "  --gpus                 programs are placed on the GPUs of this machine as well; CUDA_VISIBLE_DEVICES says "
    "which\n"
    "  --gpu-memory-fraction F  of each GPU's memory, for this server, up to 1; what is free if not said\n"
    "  --gpu-memory-growth    takes that as it is needed, not all of it at the first use\n"
    "  --fake-gpus            two GPUs that the CPU stands in for, to try placement without any\n"
    "  --checkpoints DIR      where it writes checkpoints when clients ask for them; one directory for all servers\n"
    "  --checkpoint-every S   saves its variables by itself, every so many seconds, and begins with them\n"
    "  --keep NUMBER          of these checkpoints; 5 if not said\n"
    "  --help, --version\n"
    "  Ends with SIGTERM or SIGINT. Exit status: 0, 1 for what cannot be done, 2 for wrong arguments.\n";

struct wrong_arguments {
  std::string why;
};

/// The value of an option of this program; removes both from the list.
std::string take(std::vector<std::string>& from, const std::string& name) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::string value;
    if (from[i] == name) {
      if (i + 1 == from.size()) throw wrong_arguments{name + " needs a value"};
      value = from[i + 1];
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else if (from[i].starts_with(name + "=")) {
      value = from[i].substr(name.size() + 1);
    } else {
      continue;
    }
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(i));
    if (value.empty()) throw wrong_arguments{name + " needs a value"};
    for (const std::string& other : from)
      if (other == name || other.starts_with(name + "=")) throw wrong_arguments{name + ": this was said before"};
    return value;
  }
  return {};
}
bool take_flag(std::vector<std::string>& from, const std::string& name) {
  const auto erased = std::erase(from, name);
  return erased != 0;
}

/// What is left describes the cluster, or is a mistake: as options of a program of somebody's own it would be passed
/// over.
void check_rest(const std::vector<std::string>& arguments) {
  static const std::set<std::string> known{"cluster",      "job",         "job_name",     "task",
                                           "task_index",   "jobs",        "port",         "ps_hosts",
                                           "worker_hosts", "chief_hosts", "master_hosts", "evaluator_hosts"};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    const std::size_t equals = a.find('=');
    std::string name = a.substr(0, equals);
    std::replace(name.begin(), name.end(), '-', '_');
    if (!name.starts_with("__") || known.count(name.substr(2)) == 0) throw wrong_arguments{"'" + a + "' is no option"};
    if (equals == std::string::npos) ++i;
  }
}

/// The secret in the file that an option names; empty without the option.
std::string take_secret(std::vector<std::string>& from, const std::string& option) {
  const std::string path = take(from, option);
  return path.empty() ? std::string() : tagma::tools::secret_in(option, path);
}

/// The cluster and the role in it. What describes them is wrong also if a file is not there.
tagma::discovery discovered(const std::vector<std::string>& arguments) {
  try {
    return tagma::discover(arguments, tagma::environment::of_process());
  } catch (const tagma::error& e) {
    // What went wrong with the machine may be over when it is tried again.
    using enum tagma::status_code;
    const bool wrong = e.code() == invalid_argument || e.code() == not_found || e.code() == failed_precondition;
    if (!wrong) throw;
    tagma::tools::refuse(tagma::tools::exit_status::usage, {e.what()});
  }
}

void serve(std::vector<std::string> arguments, const sigset_t& ends) {
  tagma::server_options options;
  if (const std::string bind = take(arguments, "--bind"); !bind.empty())
    options.bind = tagma::address_from(bind, {.use = tagma::address_use::bind});
  options.secret = take_secret(arguments, "--secret-file");
  options.chief_secret = take_secret(arguments, "--chief-secret-file");
  options.tls = {take(arguments, "--tls-ca"), take(arguments, "--tls-cert"), take(arguments, "--tls-key")};
  options.insecure = take_flag(arguments, "--insecure");
  options.shared_memory = !take_flag(arguments, "--no-shared-memory");
  if (const std::string threads = take(arguments, "--threads"); !threads.empty()) {
    char* end = nullptr;
    const long n = std::strtol(threads.c_str(), &end, 10);
    if (*end != '\0' || n < 1 || n > 1024) throw wrong_arguments{"--threads: '" + threads + "' is not from 1 to 1024"};
    options.intra_op_threads = static_cast<int>(n);
  }
  const bool gpus = take_flag(arguments, "--gpus"), fake_gpus = take_flag(arguments, "--fake-gpus");
  if (gpus && fake_gpus) throw wrong_arguments{"--gpus and --fake-gpus are one at a time"};
  options.gpu.allow_growth = take_flag(arguments, "--gpu-memory-growth");
  if (const std::string fraction = take(arguments, "--gpu-memory-fraction"); !fraction.empty()) {
    char* end = nullptr;
    options.gpu.memory_fraction = std::strtod(fraction.c_str(), &end);
    if (*end != '\0' || !(options.gpu.memory_fraction > 0 && options.gpu.memory_fraction <= 1))
      throw wrong_arguments{"--gpu-memory-fraction: '" + fraction + "' is not above 0 and up to 1"};
  }
  if (!gpus && (options.gpu.allow_growth || options.gpu.memory_fraction > 0))
    throw wrong_arguments{"--gpu-memory-fraction and --gpu-memory-growth need --gpus"};
  options.checkpoints = take(arguments, "--checkpoints");
  if (!options.checkpoints.empty() && !std::filesystem::is_directory(options.checkpoints))
    throw wrong_arguments{"--checkpoints: '" + options.checkpoints + "' is no directory"};
  if (const std::string every = take(arguments, "--checkpoint-every"); !every.empty()) {
    if (options.checkpoints.empty()) throw wrong_arguments{"--checkpoint-every needs --checkpoints"};
    char* end = nullptr;
    const double seconds = std::strtod(every.c_str(), &end);
    if (*end != '\0' || !(seconds >= 0.001 && seconds <= 1e6))
      throw wrong_arguments{"--checkpoint-every: '" + every + "' is not from 0.001 to 1000000 seconds"};
    options.checkpoint_every_ns = static_cast<std::int64_t>(seconds * 1e9);
  }
  if (const std::string keep = take(arguments, "--keep"); !keep.empty()) {
    if (options.checkpoints.empty()) throw wrong_arguments{"--keep needs --checkpoints"};
    char* end = nullptr;
    const long n = std::strtol(keep.c_str(), &end, 10);
    if (*end != '\0' || n < 1 || n > 1'000'000)
      throw wrong_arguments{"--keep: '" + keep + "' is not from 1 to 1000000"};
    options.checkpoints_kept = static_cast<std::uint32_t>(n);
  }
  tagma::atomic<bool> is_asked{false};
  options.stop_asked = [&is_asked] {
    is_asked.store(true);
    (void)::kill(::getpid(), SIGTERM);  // for which the first thread waits
  };
  std::string told;
  bool listens = false;
  std::mutex mutex;
  options.told = [&](const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (listens)
      std::fprintf(stderr, "tagma-server: %s\n", what.c_str());
    else
      told += "tagma-server: " + what + "\n";
  };
  check_rest(arguments);
  const tagma::discovery found = discovered(arguments);
  const tagma::server server(found.role, options, tagma::tools::asked_devices(gpus, fake_gpus));
  // Where others reach it, as far as that is known without the port that the system chose.
  const tagma::address known = found.role.task_address();
  const std::string at = known.port == 0 ? server.target() : "tagma://" + to_string(known);
  std::fprintf(stderr, "tagma-server: %s at %s\n", tagma::to_string(found.role.id()).c_str(), at.c_str());
  {
    const std::lock_guard<std::mutex> lock(mutex);
    listens = true;
    std::fputs(told.c_str(), stderr);
  }
  int which = 0;
  sigwait(&ends, &which);
  if (is_asked.load())
    std::fprintf(stderr, "tagma-server: ends, as a chief asks\n");
  else
    std::fprintf(stderr, "tagma-server: ends, as signal %d asks\n", which);
}

}  // namespace

int main(int count, char** list) {
  const std::vector<std::string> arguments(list + 1, list + count);
  // Before there is a thread, so that all of them leave these signals to `sigwait`.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  for (const std::string& a : arguments) {
    if (a == "--help") return std::fputs(help, stdout) < 0 ? 1 : 0;
    if (a == "--version") return std::puts(TAGMA_VERSION) < 0 ? 1 : 0;
  }
  try {
    serve(arguments, ends);
    return 0;
  } catch (const wrong_arguments& e) {
    std::fprintf(stderr, "tagma-server: %s; --help shows what there is\n", e.why.c_str());
    return 2;
  } catch (const tagma::tools::refusal& r) {
    std::fprintf(stderr, "tagma-server: %s\n", r.text.c_str());
    return static_cast<int>(r.status);
  } catch (const tagma::error& e) {
    std::fprintf(stderr, "tagma-server: %s\n", e.what());
    return e.code() == tagma::status_code::invalid_argument ? 2 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tagma-server: %s\n", e.what());
    return 1;
  }
}
