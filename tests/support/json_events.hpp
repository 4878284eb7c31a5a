// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What our reader of JSON meets in a text beside what another one meets.

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tagma/base/json.hpp"

namespace tagma::test {

/// What a reader meets, in order: "{", "name a", "number 1", "}".
using events = std::vector<std::string>;

inline std::string number_event(std::string_view digits) {
  const std::string text(digits);
  const bool whole = text.find_first_of(".eE") == text.npos;
  const double real = std::strtod(text.c_str(), nullptr);
  const bool fits = real >= -9.2e18 && real <= 9.2e18;
  return "number " + (whole && fits ? std::to_string(std::strtoll(text.c_str(), nullptr, 10)) : text);
}

inline bool read_value(json::reader& in, std::string_view text, events& out) {
  std::string string;
  std::string_view digits;
  switch (in.next()) {
    case json::kind::object:
      out.push_back("{");
      if (!in.members([&](std::string_view name) {
            out.push_back("name " + std::string(name));
            return read_value(in, text, out);
          }))
        return false;
      out.push_back("}");
      return true;
    case json::kind::array:
      out.push_back("[");
      if (!in.elements([&] { return read_value(in, text, out); })) return false;
      out.push_back("]");
      return true;
    case json::kind::string:
      if (!in.string(string)) return false;
      out.push_back("string " + string);
      return true;
    case json::kind::number:
      if (!in.number(digits)) return false;
      out.push_back(number_event(digits));
      return true;
    default: {
      const std::size_t first = in.position();
      if (!in.skip()) return false;
      out.emplace_back(text.substr(first, in.position() - first));
      return true;
    }
  }
}

struct reading {
  bool good = false;
  events what;
  std::string problem;  // "5 expected ':'"
};

inline reading read_by_us(std::string_view text) {
  reading r;
  json::reader in(text);
  r.good = read_value(in, text, r.what) && in.end();
  r.problem = std::to_string(in.position()) + " " + in.reason();
  return r;
}

/// What nlohmann/json meets. It takes names that appear twice, and no numbers beyond double.
struct oracle_events final : nlohmann::json_sax<nlohmann::json> {
  events out;
  std::vector<std::set<std::string>> names;
  bool twice = false, beyond = false;

  bool add(std::string event) { return (out.push_back(std::move(event)), true); }
  bool null() override { return add("null"); }
  bool boolean(bool b) override { return add(b ? "true" : "false"); }
  bool number_integer(std::int64_t n) override { return add(number_event(std::to_string(n))); }
  bool number_unsigned(std::uint64_t n) override { return add(number_event(std::to_string(n))); }
  bool number_float(double, const std::string& text) override { return add(number_event(text)); }
  bool string(std::string& text) override { return add("string " + text); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return (names.emplace_back(), add("{")); }
  bool key(std::string& name) override {
    twice = !names.back().insert(name).second || twice;
    return add("name " + name);
  }
  bool end_object() override { return (names.pop_back(), add("}")); }
  bool start_array(std::size_t) override { return add("["); }
  bool end_array() override { return add("]"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    beyond = e.id == 406;
    return false;
  }
};

/// False if the two readers disagree about a text.
[[nodiscard]] inline bool agree(const std::string& text) {
  oracle_events theirs;
  // It takes a zero for the end of the text, and a byte order mark.
  const bool accepted = nlohmann::json::sax_parse(text, &theirs) && !theirs.twice && text.find('\0') == text.npos &&
                        !text.starts_with("\xef\xbb\xbf");
  if (theirs.beyond) return true;
  const reading ours = read_by_us(text);
  json::reader skipped(text);
  const bool skips = skipped.skip() && skipped.end();
  return ours.good == accepted && skips == accepted && (!accepted || ours.what == theirs.out);
}

}  // namespace tagma::test
