// SPDX-License-Identifier: BSL-1.0
/// @file
/// tagma-run: what a program in a file holds, what it computes, how it learns and how fast it is.

#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "facts.hpp"
#include "gpus.hpp"
#include "options.hpp"
#include "runs.hpp"

namespace {

using namespace tagma;
using namespace tagma::tools;

/// Reads and verifies. Sentences name the file.
any_program read(const std::string& file) {
  try {
    return read_program(file);
  } catch (const error& e) {
    const std::string why = sentence_of(e);
    refuse(exit_status::program_refused, {why.starts_with(file) ? "" : file + ": ", why});
  }
}

void verify(const options& given) {
  try {
    const any_program program = read(given.file);
    json_text j;
    j.begin('{').name("file").value(given.file).name("ok").value(true).end('}');
    if (given.json)
      print(j.text() + "\n");
    else
      print(sentence(
          {printable(given.file), ": ok, ", program.node_count(), " nodes, ", program.outputs().size(), " outputs\n"}));
  } catch (const refusal& r) {
    json_text j;
    j.begin('{').name("file").value(given.file).name("ok").value(false).name("error").value(r.text).end('}');
    if (given.json) print(j.text() + "\n");
    throw;
  }
}

std::string explained(const any_program& program, const options& given, extent batch) {
  for (const std::string& name : given.fetches)
    if (program.find_output(name) < 0)
      refuse(exit_status::usage,
             {"--fetch ", name, ": the program has no such output; outputs: ", joined(program.outputs())});
  return or_refuse(exit_status::run_failed, "", [&] {
    const runtime::device_kind* const others = asked_devices(given.gpus, given.fake_gpus);
    return given.fetches.empty() ? explain(program, batch, others) : explain(program, given.fetches, batch, others);
  });
}

void go(const options& given) {
  if (given.help) return print(help_text(build_info()));
  if (given.version)
    return print(sentence({"tagma-run " TAGMA_VERSION ", programs of format version ", tagma::detail::program_version,
                           "\n", build_info(), "\n"}));
  if (given.verify) return verify(given);
  const any_program program = read(given.file);
  const extent batch = given.batch == 0 ? 1 : given.batch;
  if (given.explain) return print(printable(explained(program, given, batch)));
  if (given.dot) return print(printable(or_refuse(exit_status::run_failed, "", [&] { return to_dot(program); })));
  const program_facts facts = facts_of(program);
  const arena_size arena = given.runs() && !given.json ? arena_size{} : arena_of(program, batch);
  json_text j;
  j.begin('{');
  add_to(j, facts, given.file, arena, batch);
  if (given.runs())
    program_runner(program, facts, given, j).go();
  else if (!given.json)
    print(text_of(facts, given.file, arena, batch));
  if (given.json) print(j.end('}').text() + "\n");
}

int end(const refusal& r) {
  const std::string text = "tagma-run: " + printable(r.text) + "\n";
  (void)std::fputs(text.c_str(), stderr);
  return static_cast<int>(r.status);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    go(option_reader(std::vector<std::string>(arguments + 1, arguments + count)).read());
    return static_cast<int>(exit_status::ok);
  } catch (const refusal& r) {
    return end(r);
  } catch (const error& e) {
    return end({exit_status::run_failed, sentence_of(e)});
  } catch (const std::exception& e) {
    return end({exit_status::run_failed, e.what()});
  }
}
