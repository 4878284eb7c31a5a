// SPDX-License-Identifier: BSL-1.0
// Names of a certificate, one a line: nobody is let in whom no line names, and what is said of them can be printed.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "tagma/transport/certificate_names.hpp"

namespace fuzz = tagma::fuzz;
namespace transport = tagma::transport;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> lines(1);
  for (const char c : fuzz::text_of(data, size)) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back().push_back(c);
  }
  const auto has = [&](const std::string& line) { return std::find(lines.begin(), lines.end(), line) != lines.end(); };
  const transport::certificate_names names(lines);
  transport::identity who;
  who.job = "ps";
  fuzz::expect(names.is_task(who) == (has("tagma:/job:ps") || has("tagma:/job:ps/task:0")), "a task is named");
  fuzz::expect((names.may() == transport::authority::chief) == (has("tagma:/role:chief") || has("tagma:/role:admin")),
               "a chief is named");
  who.job = "client";
  const auto no = names.contradict(who, true);
  fuzz::expect(no.has_value() == names.is_empty(), "a client has any name");
  if (const auto why = names.contradict(who, false)) {
    fuzz::expect_error(*why, {tagma::status_code::permission_denied}, "/job:client/task:0");
    for (const char c : std::string_view(why->what()))
      fuzz::expect(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "it can be printed");
  }
  return 0;
}
