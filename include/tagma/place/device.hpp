// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which device: tags for the devices of this process and TensorFlow's device strings, read by the compiler or at run
/// time.
///
///     spec      = "" | "/" | component { component }
///     component = "/job:" ( name | "*" ) | "/replica:" ( number | "*" ) | "/task:" ( number | "*" )
///               | "/device:" ( name | "*" ) [ ":" ( number | "*" ) ]
///               | ( "/cpu:" | "/CPU:" | "/gpu:" | "/GPU:" ) ( number | "*" )
///     name      = letter { letter | digit | "_" }
///
/// Components come in any order; a later one replaces an earlier one of its kind; `*` leaves a component unset.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/fixed_string.hpp"
#include "tagma/base/hash.hpp"
#include "tagma/place/rules.hpp"

namespace tagma {

/// A job name or a device type inside a `device_spec`: at most 31 characters, empty if unset.
struct device_text {
  static constexpr std::size_t capacity = 31;
  char text[capacity + 1]{};

  constexpr device_text() = default;
  /// The first 31 characters of `s`.
  constexpr explicit device_text(std::string_view s) {
    for (std::size_t i = 0; i < s.size() && i < capacity; ++i) text[i] = s[i];
  }

  /// The braced list of characters by which nvcc names a template argument to the host compiler.
  constexpr device_text(const char (&characters)[capacity + 1]) {
    for (std::size_t i = 0; i <= capacity; ++i) text[i] = characters[i];
  }

  /// The text.
  [[nodiscard]] constexpr std::string_view view() const { return {text}; }
  /// True if there is none.
  [[nodiscard]] constexpr bool empty() const { return text[0] == '\0'; }
  friend constexpr bool operator==(const device_text&, const device_text&) = default;
};

/// A device, or a part of a device's name: each component is set or left open. A structural value, usable as template
/// argument.
struct device_spec {
  device_text job;            ///< Empty if unset.
  std::int32_t replica = -1;  ///< -1 if unset, as in the two other numbers.
  std::int32_t task = -1;
  device_text type;  ///< "CPU", "GPU"; upper and lower case differ.
  std::int32_t id = -1;

  /// True if no component is set.
  [[nodiscard]] constexpr bool empty() const { return *this == device_spec{}; }
  /// True if every component is set: the name of exactly one device.
  [[nodiscard]] constexpr bool complete() const {
    return !job.empty() && replica >= 0 && task >= 0 && !type.empty() && id >= 0;
  }
  friend constexpr bool operator==(const device_spec&, const device_spec&) = default;
};

/// A hash of a spec, equal in every process.
[[nodiscard]] constexpr std::uint64_t hash_of(const device_spec& spec) {
  std::uint64_t h = hash_combine(hash_text(spec.job.view()), hash_text(spec.type.view()));
  for (const std::int32_t number : {spec.replica, spec.task, spec.id})
    h = hash_combine(h, static_cast<std::uint64_t>(number));
  return h;
}

/// A spec in its canonical spelling, as a constant: "/job:worker/replica:0/task:1/device:GPU:3". A type without id
/// prints `:*`, the empty spec prints nothing.
class device_spelling {
 public:
  TAGMA_COLD constexpr explicit device_spelling(const device_spec& spec) {
    if (!spec.job.empty()) add("/job:"), add(spec.job.view());
    if (spec.replica >= 0) add("/replica:"), add(spec.replica);
    if (spec.task >= 0) add("/task:"), add(spec.task);
    if (spec.type.empty() && spec.id < 0) return;
    add("/device:"), add(spec.type.empty() ? std::string_view("*") : spec.type.view()), add(":");
    if (spec.id >= 0)
      add(spec.id);
    else
      add("*");
  }
  /// The text.
  [[nodiscard]] constexpr std::string_view view() const { return {text_, size_}; }

 private:
  TAGMA_COLD constexpr void add(std::string_view text) {
    for (const char c : text) text_[size_++] = c;
  }
  TAGMA_COLD constexpr void add(std::int32_t number) {
    std::int32_t unit = 1;
    while (number / unit >= 10) unit *= 10;
    for (; unit > 0; unit /= 10) text_[size_++] = static_cast<char>('0' + number / unit % 10);
  }

  char text_[2 * device_text::capacity + 64]{};
  std::size_t size_ = 0;
};

/// A spec in its canonical spelling, "/job:worker/replica:0/task:1/device:GPU:3", made at run time.
[[nodiscard]] TAGMA_COLD inline std::string to_string(const device_spec& spec) {
  return sentence({device_spelling(spec).view()});
}

/// What a parser found: a spec, or the byte at which the text stops being one and the reason.
struct parsed_device {
  device_spec spec;
  std::size_t position = 0;
  std::string_view reason;  ///< Empty if the text was parsed.

  [[nodiscard]] constexpr explicit operator bool() const { return reason.empty(); }
  [[nodiscard]] constexpr const device_spec& operator*() const { return spec; }
  [[nodiscard]] constexpr const device_spec* operator->() const { return &spec; }
};

namespace detail {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

class device_parser {
 public:
  constexpr explicit device_parser(std::string_view text) : text_(text) {}

  constexpr parsed_device full() {
    if (text_ == "/") return {};
    while (at_ < text_.size() && component()) {
    }
    return result();
  }

  constexpr parsed_device local() {
    if (name(spec_.type)) {
      if (!skip(":"))
        stop("a local device name is a type, a colon and a number, such as CPU:0");
      else if (number(spec_.id) && at_ < text_.size())
        stop("nothing may follow the number");
    }
    return result();
  }

 private:
  constexpr parsed_device result() const {
    if (!reason_.empty()) return {{}, at_, reason_};
    return {spec_, 0, {}};
  }
  constexpr bool component() {
    if (skip("/job:")) return name(spec_.job = {}, true);
    if (skip("/replica:")) return number(spec_.replica = -1, true);
    if (skip("/task:")) return number(spec_.task = -1, true);
    if (skip("/device:")) {
      spec_.id = -1;
      return name(spec_.type = {}, true) && (!skip(":") || number(spec_.id, true));
    }
    const bool is_cpu = skip("/cpu:") || skip("/CPU:");
    if (is_cpu || skip("/gpu:") || skip("/GPU:")) {
      spec_.type = device_text(is_cpu ? "CPU" : "GPU");
      return number(spec_.id = -1, true);
    }
    return stop("expected /job:, /replica:, /task:, /device:, /cpu: or /gpu:");
  }
  constexpr bool skip(std::string_view prefix) {
    if (!text_.substr(at_).starts_with(prefix)) return false;
    at_ += prefix.size();
    return true;
  }
  constexpr bool name(device_text& target, bool wildcard = false) {
    if (wildcard && skip("*")) return true;
    const std::size_t first = at_;
    if (at_ == text_.size() || !is_letter(text_[at_])) return stop("a name begins with a letter");
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '_')) ++at_;
    if (at_ - first > device_text::capacity) {
      at_ = first;
      return stop("a name has at most 31 characters");
    }
    target = device_text(text_.substr(first, at_ - first));
    return true;
  }
  constexpr bool number(std::int32_t& target, bool wildcard = false) {
    if (wildcard && skip("*")) return true;
    if (at_ == text_.size() || !is_digit(text_[at_])) return stop("expected an unsigned decimal number");
    const std::size_t first = at_;
    std::int64_t value = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      value = value * 10 + (text_[at_++] - '0');
      if (value > INT32_MAX) {
        at_ = first;
        return stop("a number is at most 2147483647");
      }
    }
    target = static_cast<std::int32_t>(value);
    return true;
  }
  constexpr bool stop(std::string_view reason) {
    reason_ = reason;
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view reason_;
  device_spec spec_;
};

}  // namespace detail

/// Reads a full or partial device name, such as "/job:worker/task:1/gpu:0". `/cpu:` and `/gpu:` mean the types CPU and
/// GPU; a type after `/device:` keeps its case.
[[nodiscard]] constexpr parsed_device parse_device(std::string_view text) { return detail::device_parser(text).full(); }

/// Reads the name of a device inside one task: "CPU:10".
[[nodiscard]] constexpr parsed_device parse_local_device(std::string_view text) {
  return detail::device_parser(text).local();
}

/// `parse_device` for callers that cannot go on without a device. Throws `invalid_argument`.
[[nodiscard]] inline device_spec device_from(std::string_view text) {
  const parsed_device parsed = parse_device(text);
  if (!parsed)
    fail(status_code::invalid_argument,
         {"device string \"", text, "\", position ", parsed.position, ": ", parsed.reason});
  return *parsed;
}

/// True if the compiler can read `Text` as a device name.
template <fixed_string Text>
inline constexpr bool device_string_parses = static_cast<bool>(parse_device(Text.view()));

namespace diagnose {
/// A text is a device name.
template <class Text>
inline constexpr bool is_device_name = std::is_void_v<Text>;
/// Devices of a type are counted from 0.
template <int Id>
inline constexpr bool is_device_number = Id >= 0;
}  // namespace diagnose

namespace detail {
/// The text as a type if it is no device name, else void.
template <fixed_string Text>
constexpr auto find_bad_device() {
  if constexpr (!device_string_parses<Text>) return spelled<Text>{};
}
template <fixed_string Text>
using bad_device = decltype(find_bad_device<Text>());
}  // namespace detail

/// The device that `Text` names. Raises TAGMA-E070 if it names none.
template <fixed_string Text>
inline constexpr device_spec device_string = [] {
  TAGMA_NEEDS_DEVICE("device", Text);
  if constexpr (device_string_parses<Text>)
    return *parse_device(Text.view());
  else
    return device_spec{};
}();

/// The processor of this process, number `Id`.
template <int Id>
struct cpu {
  static_assert(diagnose::is_device_number<Id>, "TAGMA-E070 cpu: devices are counted from 0");
  static constexpr device_spec spec{{}, -1, -1, device_text("CPU"), Id};
};

/// The graphics processor of this process, number `Id`.
template <int Id>
struct gpu {
  static_assert(diagnose::is_device_number<Id>, "TAGMA-E070 gpu: devices are counted from 0");
  static constexpr device_spec spec{{}, -1, -1, device_text("GPU"), Id};
};

/// A device name in an option: `.ps_device = "/job:ps"`. A text that does not parse is no constant, so the compiler
/// refuses it.
struct device_name {
  device_spec spec;

  constexpr device_name() = default;
  constexpr device_name(const device_spec& s) : spec(s) {}
  constexpr device_name(const char* text) {
    const parsed_device parsed = parse_device(text);
    if (!parsed) throw "TAGMA-E070 device: this is no device name";
    spec = *parsed;
  }
};

/// True if every component that `spec` sets is set to the same in `name`.
[[nodiscard]] constexpr bool covers(const device_spec& spec, const device_spec& name) {
  return (spec.job.empty() || spec.job == name.job) && (spec.replica < 0 || spec.replica == name.replica) &&
         (spec.task < 0 || spec.task == name.task) && (spec.type.empty() || spec.type == name.type) &&
         (spec.id < 0 || spec.id == name.id);
}

/// `inner` with every component that it leaves open taken from `outer`: a scope inside a scope. Type and id are
/// separate components, so "/device:CPU" inside "/gpu:1" is "/device:CPU:1", as in TensorFlow.
[[nodiscard]] constexpr device_spec fill_from(device_spec inner, const device_spec& outer) {
  if (inner.job.empty()) inner.job = outer.job;
  if (inner.replica < 0) inner.replica = outer.replica;
  if (inner.task < 0) inner.task = outer.task;
  if (inner.type.empty()) inner.type = outer.type;
  if (inner.id < 0) inner.id = outer.id;
  return inner;
}

/// Two requests for one place joined, or what speaks against it.
struct merged_device {
  device_spec spec;
  std::string_view conflict;  ///< "incompatible jobs" and the like; empty if there is none.

  [[nodiscard]] constexpr explicit operator bool() const { return conflict.empty(); }
};

/// Joins two requests that must hold together. Components that only one sets are taken; components that differ are a
/// conflict. With `soft`, types that differ drop type and id, and ids that differ drop the id; jobs, replicas and tasks
/// never soften.
[[nodiscard]] constexpr merged_device merge(const device_spec& a, const device_spec& b, bool soft = false) {
  if (!a.job.empty() && !b.job.empty() && a.job != b.job) return {{}, "incompatible jobs"};
  if (a.replica >= 0 && b.replica >= 0 && a.replica != b.replica) return {{}, "incompatible replicas"};
  if (a.task >= 0 && b.task >= 0 && a.task != b.task) return {{}, "incompatible tasks"};
  device_spec joined = fill_from(a, b);
  if (!a.type.empty() && !b.type.empty() && a.type != b.type) {
    if (!soft) return {{}, "incompatible types"};
    joined.type = {};
    joined.id = -1;
  } else if (a.id >= 0 && b.id >= 0 && a.id != b.id) {
    if (!soft) return {{}, "incompatible ids"};
    joined.id = -1;
  }
  return {joined, {}};
}

/// `merge` for callers that cannot go on after a conflict. Throws `invalid_argument`.
[[nodiscard]] inline device_spec merge_or_fail(const device_spec& a, const device_spec& b, bool soft = false) {
  const merged_device merged = merge(a, b, soft);
  if (!merged)
    fail(status_code::invalid_argument,
         {"cannot merge devices with ", merged.conflict, ": '", to_string(a), "' and '", to_string(b), "'"});
  return merged.spec;
}

}  // namespace tagma
