// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Attributes of operations by their names. Which ones there are, and where from and to, the operation says itself: its
/// `takes` is asked again with one attribute more until it has all that it asks for.

#include <bit>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/window.hpp"
#include "tagma/ir/arguments.hpp"

namespace tagma {

/// An attribute of an operation: an integer, a flag, an element type, or a floating number; the padding of a window.
class attribute_value {
 public:
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_same_v<T, dtype>)
  attribute_value(T value) : bits_(ir::as_attribute(value)), is_(kind_of<T>()) {}
  attribute_value(const window_padding& p) : bits_(op::window_plane::pack_padding(p)) {}
  /// The value as it stands in a graph.
  [[nodiscard]] ir::attribute bits() const { return bits_; }
  /// What kind of value it is.
  [[nodiscard]] ir::asked_attribute::kind is() const { return is_; }

 private:
  template <class T>
  [[nodiscard]] static constexpr ir::asked_attribute::kind kind_of() {
    using kind = ir::asked_attribute::kind;
    if constexpr (std::is_same_v<T, dtype>)
      return kind::element_type;
    else if constexpr (std::is_same_v<T, bool>)
      return kind::flag;
    else
      return std::is_floating_point_v<T> ? kind::number : kind::integer;
  }

  ir::attribute bits_;
  ir::asked_attribute::kind is_ = ir::asked_attribute::kind::integer;
};

/// The attribute "steps" of convolutions and pooling: how far a window moves, and how far apart its elements are.
/// Throws InvalidArgument for numbers that are below 1 or above 65535 (dilations: 32767).
[[nodiscard]] TAGMA_COLD inline attribute_value window_steps(const window& stride, const window& dilation = 1) {
  for (const int s : {stride.height, stride.width})
    if (s < 1 || s > 0xffff) fail(status_code::invalid_argument, {"window_steps: a stride is ", s, ", not 1 to 65535"});
  for (const int d : {dilation.height, dilation.width})
    if (d < 1 || d > 0x7fff)
      fail(status_code::invalid_argument, {"window_steps: a dilation is ", d, ", not 1 to 32767"});
  return op::window_plane::pack_steps(stride, dilation);
}

/// An attribute by name: `{"axis", 1}`. Several values are for an operation that asks for that name several times,
/// `{"extent", {8, 1}}`, and for a set of axes: `{"axes", {0, 1}}`, which as a number has a bit for each, 0b11.
struct named_attribute {
  named_attribute(std::string_view called, const attribute_value& value) : name(called), values{value} {}
  named_attribute(std::string_view called, std::initializer_list<attribute_value> all)
      : name(called), values(all), listed(true) {}
  named_attribute(std::string_view called, std::vector<attribute_value> all)
      : name(called), values(static_cast<std::vector<attribute_value>&&>(all)), listed(true) {}

  std::string_view name;
  std::vector<attribute_value> values;
  bool listed = false;
};

/// The attributes of one node by their names, in any order.
class named_attributes {
 public:
  named_attributes(std::initializer_list<named_attribute> list) : list_(list) {}
  explicit named_attributes(std::vector<named_attribute> list)
      : list_(static_cast<std::vector<named_attribute>&&>(list)) {}
  /// All of them, as they were given.
  [[nodiscard]] const std::vector<named_attribute>& list() const { return list_; }

 private:
  std::vector<named_attribute> list_;
};

namespace detail {

/// Puts attributes that have names in the order of their operation.
class attribute_sorter : ir::attribute_listener {
 public:
  using kind = ir::asked_attribute::kind;

  attribute_sorter(const ir::operation_face& face, array_view<const tensor_spec> in,
                   array_view<const ir::resource_input> things, const named_attributes& given)
      : attribute_listener{[](attribute_listener& self, const ir::asked_attribute& asked) {
          static_cast<attribute_sorter&>(self).asked_.push_back(asked);
        }},
        face_(face),
        in_(in),
        things_(things),
        given_(given.list()),
        used_(given_.size()) {}

  /// Throws InvalidArgument.
  [[nodiscard]] TAGMA_COLD std::vector<ir::attribute> sorted() {
    for (std::size_t i = 0; i < given_.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (given_[i].name == given_[k].name) refuse(given_[i].name, " is given twice");
    for (;;) {
      const ir::refusal refused = ask();
      if (settles()) continue;
      if (const std::size_t next = unused(); next < given_.size()) {
        // Where an operation takes any number of them, it asks once they are there.
        take(next);
        continue;
      }
      const bool counted = !refused || refused.why == ir::refusal::reason::attributes;
      if (counted && settled_ < bits_.size()) surplus(given_[from_[settled_].given]);
      for (const named_attribute& n : given_)
        if (n.values.empty() && !is_asked(n.name)) refuse(n.name, " has no values");
      return bits_;
    }
  }

 private:
  /// Where an attribute comes from.
  struct origin {
    std::size_t given = 0, value = 0;
  };

  [[nodiscard]] ir::refusal ask() {
    asked_.clear();
    ir::infer_args args{in_, bits_, {}};
    return check_arguments(face_, args, nullptr, things_, this);
  }
  [[nodiscard]] std::size_t unused() const {
    std::size_t i = 0;
    while (i < given_.size() && used_[i] == given_[i].values.size()) ++i;
    return i;
  }
  void take(std::size_t i) {
    from_.push_back({i, used_[i]});
    bits_.push_back(given_[i].values[used_[i]++].bits());
  }
  /// Goes along with what is asked for, from the first attribute that is not where it belongs. True if one was added or
  /// moved: then the operation is to be asked again.
  [[nodiscard]] bool settles() {
    for (const ir::asked_attribute& a : asked_) {
      const auto at = static_cast<std::size_t>(a.position);
      if (at < settled_) continue;
      if (at == bits_.size()) return add(a), true;
      std::size_t found = at;
      while (found < bits_.size() && given_[from_[found].given].name != a.name) ++found;
      if (found == bits_.size()) return false;
      const bool moved = found > at;
      for (; found > at; --found) std::swap(from_[found], from_[found - 1]), std::swap(bits_[found], bits_[found - 1]);
      settle(a);
      if (moved) return true;
    }
    return false;
  }
  /// The next one is asked for: by this name, or it may be left out.
  void add(const ir::asked_attribute& a) {
    const std::string_view name = a.name;
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (given_[i].name != name) continue;
      if (a.what == kind::axes && given_[i].listed && used_[i] == 0) return add_axes(i, a);
      if (used_[i] == given_[i].values.size()) continue;
      take(i);
      return settle(a);
    }
    for (const named_attribute& n : given_)
      if (n.name == name && !n.values.empty()) refuse(name, sentence({" has too few values, ", n.values.size()}));
    if (a.optional) return add_settled({}, a.least);
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (used_[i] == 0 && !is_asked(given_[i].name)) unknown(given_[i].name);
    refuse(name, sentence({" is not given, and needs to be ", text_of(a)}));
  }
  void add_axes(std::size_t i, const ir::asked_attribute& a) {
    ir::attribute mask = 0;
    for (const attribute_value& v : given_[i].values) {
      if (v.is() != kind::integer)
        refuse(a.name, sentence({" has ", text_of(v.is()), ", and needs to be ", text_of(a)}));
      if (v.bits() < 0 || v.bits() >= max_rank || (ir::attribute{1} << v.bits()) > a.most)
        refuse(a.name, sentence({" has axis ", v.bits(), ", and needs to be ", text_of(a)}));
      mask |= ir::attribute{1} << v.bits();
    }
    used_[i] = given_[i].values.size();
    add_settled({i, 0}, mask);
  }
  void add_settled(const origin& from, ir::attribute bits) {
    from_.push_back(from);
    bits_.push_back(bits);
    ++settled_;
  }
  [[nodiscard]] bool is_asked(std::string_view name) const {
    for (const ir::asked_attribute& a : asked_)
      if (a.name == name) return true;
    return false;
  }
  /// The operation asks for the first attribute that is not settled, which has that name.
  void settle(const ir::asked_attribute& a) {
    const origin& from = from_[settled_];
    const named_attribute& n = given_[from.given];
    const attribute_value& v = n.values[from.value];
    const bool whole = v.is() == kind::integer;
    bool fits = v.is() == a.what || (a.what == kind::axes && whole);
    if (a.what == kind::integer) fits = whole || v.is() == kind::element_type;
    if (a.what == kind::flag || a.what == kind::number) fits = fits || whole;
    if (!fits) refuse(n.name, sentence({" is ", text_of(v.is()), ", and needs to be ", text_of(a)}));
    if (a.what == kind::number && whole) bits_[settled_] = ir::as_attribute(static_cast<double>(v.bits()));
    ++settled_;
  }

  [[nodiscard]] static std::string_view text_of(kind what) {
    switch (what) {
      case kind::integer:
        return "an integer";
      case kind::flag:
        return "a flag";
      case kind::number:
        return "a floating number";
      case kind::axes:
        return "a set of axes";
      case kind::element_type:
        break;
    }
    return "an element type";
  }
  [[nodiscard]] static std::string text_of(const ir::asked_attribute& a) {
    std::string text(text_of(a.what));
    if (a.what == kind::axes && a.most == 0) return text + ", of which there are none";
    if (a.what == kind::axes)
      return sentence({text, " from 0 to ", std::bit_width(static_cast<std::uint64_t>(a.most)) - 1});
    if (a.what != kind::integer) return text;
    if (a.least == a.most) return sentence({a.least});
    if (a.least > -max_bytes) append_parts(text, {" from ", a.least});
    if (a.most < max_bytes) append_parts(text, {a.least > -max_bytes ? " to " : " up to ", a.most});
    return text;
  }
  /// One that nobody asked for.
  [[noreturn]] void surplus(const named_attribute& n) const {
    if (!is_asked(n.name)) unknown(n.name);
    refuse(n.name, sentence({" has too many values, ", n.values.size()}));
  }
  [[noreturn]] void unknown(std::string_view name) const {
    std::string known;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      bool again = false;
      for (std::size_t k = 0; k < i; ++k) again = again || std::string_view(asked_[k].name) == asked_[i].name;
      if (!again)
        append_parts(known, {known.empty() ? "; it takes " : ", ", asked_[i].name, " (", text_of(asked_[i]), ")"});
    }
    fail(status_code::invalid_argument, {"graph_builder: ", face_.info().name, ": there is no attribute ", name,
                                         known.empty() ? "; it takes none" : "", known});
  }
  [[noreturn]] void refuse(std::string_view name, std::string_view problem) const {
    fail(status_code::invalid_argument, {"graph_builder: ", face_.info().name, ": attribute ", name, problem});
  }

  const ir::operation_face& face_;
  array_view<const tensor_spec> in_;
  array_view<const ir::resource_input> things_;
  const std::vector<named_attribute>& given_;
  std::vector<std::size_t> used_;  // of each that is given, how many values
  std::vector<ir::asked_attribute> asked_;
  std::vector<ir::attribute> bits_;
  std::vector<origin> from_;  // of each of `bits_`
  std::size_t settled_ = 0;   // so many of the first are where they belong
};

}  // namespace detail
}  // namespace tagma
