// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What an operation takes, asked of arguments that no compiler has seen: those of a graph from a file or from the
/// network. An operation says it beside its `infer`, in a function `takes(auto& t)` that lists inputs and attributes;
/// `t` is `ir::arguments`. Programs that are compiled do not include this header, and instantiate none of that.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/ir/op.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma::ir {

/// The most inputs of one node, and the most attributes.
inline constexpr extent most_inputs = INT16_MAX;

/// What element types an input may have.
struct element_class {
  bool (*has)(dtype type);
  const char* rule;  ///< of docs/diagnostics.md
  const char* text;
};

/// Why arguments are refused, as values, so that the check is one of the compiler, too; `to_string` makes a sentence.
struct refusal {
  enum class reason : std::uint8_t { none, inputs, attributes, spec, type, alike, rank, range, rule, resource };

  reason why = reason::none;
  const char* rule = "";  ///< its number in docs/diagnostics.md, or nothing
  const char* text = "";  ///< the name of an attribute, what is missing
  extent index = 0;       ///< of an input
  extent other = 0;       ///< of the input that it is compared with
  extent found = 0, least = 0, most = 0;

  [[nodiscard]] constexpr explicit operator bool() const { return why != reason::none; }
};

/// The number of the rule that a value breaks as the type of a tensor, or nullptr if it can be one: an element type
/// that there is, a rank up to six, extents that are numbers or `dyn`, and a size that can be addressed.
[[nodiscard]] constexpr const char* broken_rule(const tensor_spec& s) {
  if (static_cast<std::size_t>(s.type) >= tagma::detail::dtype_count) return "TAGMA-E001";
  if (s.dims.rank < 0 || s.dims.rank > max_rank) return "TAGMA-E002";
  for (int i = 0; i < s.dims.rank; ++i)
    if (s.dims.extents[i] < dyn) return "TAGMA-E002";
  return is_addressable(s) ? nullptr : "TAGMA-E081";
}

/// What inputs need to be that their types do not tell, one bit each: those who read graphs look at the nodes.
struct input_roles {
  std::uint64_t variables = 0;  ///< written: variables
  std::uint64_t heads = 0;      ///< heads of loops
  int first_resource = 0;       ///< things of a container: as many inputs as `resources` from this one on
  int resources = 0;
};

/// An input that stands for a thing of a container: the name of its operation, and what tells it apart from others. Of
/// another input both are empty.
struct resource_input {
  std::string_view kind{};
  attribute_list attributes{};
};

/// What an operation asks of one attribute.
struct asked_attribute {
  enum class kind : std::uint8_t { integer, flag, number, element_type, axes };

  const char* name = "";
  kind what = kind::integer;
  extent least = 0, most = 0;
  int position = 0;       ///< among the attributes; there may be none
  bool optional = false;  ///< who gives attributes by name may leave it out: then it is `least`
};
/// Hears what an operation asks for while nothing is refused.
struct attribute_listener {
  void (*hear)(attribute_listener& self, const asked_attribute& asked);
};

/// The arguments of one node, asked one after another. The first answer that is no is kept; what is asked afterwards is
/// answered with something harmless, so that an operation lists what it takes without looking back.
class arguments {
 public:
  /// @param of the inputs and attributes; `out` is the claimed result, for operations whose type is given
  /// @param things an element for each input, or none if no input is a thing of a container
  /// @param listener to attributes; nullptr: nobody
  constexpr explicit arguments(const infer_args& of, array_view<const resource_input> things = {},
                               attribute_listener* listener = nullptr)
      : of_(of), things_(things), listener_(listener) {
    if (of.in.size() > static_cast<std::size_t>(most_inputs)) refuse_count(refusal::reason::inputs, 0, most_inputs);
    if (of.attributes.size() > static_cast<std::size_t>(most_inputs))
      refuse_count(refusal::reason::attributes, 0, most_inputs);
    for (int i = 0; i < count() && fine(); ++i) sound(of_.in[i], i);
  }

  [[nodiscard]] constexpr bool fine() const { return !refused_; }
  [[nodiscard]] constexpr const refusal& why() const { return refused_; }
  /// True if the type of the result is given and not inferred.
  [[nodiscard]] constexpr bool is_given() const { return given_; }

  // What there is.
  [[nodiscard]] constexpr int count() const { return static_cast<int>(of_.in.size()); }
  /// Attributes that were not asked for yet.
  [[nodiscard]] constexpr int rest() const { return static_cast<int>(of_.attributes.size()) - next_; }
  [[nodiscard]] constexpr tensor_spec in(int i) const { return fine() && i < count() ? of_.in[i] : tensor_spec{}; }
  [[nodiscard]] constexpr int rank(int i) const { return in(i).dims.rank; }
  [[nodiscard]] constexpr tensor_spec out() const { return of_.out; }

  /// The number that the rules which follow have in docs/diagnostics.md, and so what `infer` refuses.
  constexpr void rule(const char* number) {
    if (fine()) rule_ = number;
  }

  /// As many inputs.
  constexpr void inputs(extent least, extent most) {
    if (count() < least || count() > most) refuse_count(refusal::reason::inputs, least, most);
  }
  constexpr void inputs(extent all) { inputs(all, all); }

  /// As many inputs of one type.
  /// @{
  constexpr void any(int n) { same(n, {&is_any, "TAGMA-E001", "elements"}); }
  constexpr void no_strings(int n) { same(n, no_string_class()); }
  constexpr void numbers(int n) { same(n, {&is_numeric, "TAGMA-E016", "numbers"}); }
  constexpr void floats(int n) { same(n, {&is_floating, "TAGMA-E014", "of a floating element type"}); }
  constexpr void booleans(int n) { same(n, {&is_bool, "TAGMA-E017", "bool"}); }
  /// @}

  /// The element type of one input.
  /// @{
  constexpr void any_at(int i) { type(i, {&is_any, "TAGMA-E001", "elements"}); }
  constexpr void no_string_at(int i) { type(i, no_string_class()); }
  constexpr void number_at(int i) { type(i, {&is_numeric, "TAGMA-E016", "numbers"}); }
  constexpr void float_at(int i) { type(i, {&is_floating, "TAGMA-E014", "of a floating element type"}); }
  constexpr void boolean_at(int i) { type(i, {&is_bool, "TAGMA-E017", "bool"}); }
  constexpr void index_at(int i) { type(i, {&is_index, "TAGMA-E107", "int32, int64 or uint8"}); }
  constexpr void integer_at(int i) { type(i, {&is_integer, rule_, "integers"}); }
  constexpr void byte_at(int i) { type(i, {&is_byte, rule_, "int8 or uint8"}); }
  constexpr void float64_at(int i) { type(i, {&is_float64, rule_, "float64"}); }
  constexpr void int64_at(int i) { type(i, {&is_int64, rule_, "int64"}); }
  /// @}
  /// Input `i` has the element type of input `j`.
  constexpr void alike(int i, int j = 0) {
    if (in(i).type != in(j).type) refuse({refusal::reason::alike, "TAGMA-E010", "", i, j});
  }
  /// All inputs from `first` on have that of input 0.
  constexpr void all_alike(int first = 1) {
    for (int i = first; i < count(); ++i) alike(i);
  }

  /// Input `i` is a variable that is written, or the head of a loop.
  /// @{
  constexpr void variable(int i) { roles_.variables |= std::uint64_t{1} << i; }
  constexpr void head(int i) { roles_.heads |= std::uint64_t{1} << i; }
  /// @}
  [[nodiscard]] constexpr const input_roles& roles() const { return roles_; }
  /// Input `i` is a thing of a container, and its operation is called `kind`. Those of one operation are neighbours.
  /// Returns its attributes, which were checked before; none where it is something else.
  constexpr attribute_list resource(int i, const char* kind) {
    if (roles_.resources == 0) roles_.first_resource = i;
    roles_.resources = i + 1 - roles_.first_resource;
    const bool is_one = fine() && i < count() && static_cast<std::size_t>(i) < things_.size() &&
                        things_[i].kind == std::string_view(kind);
    if (!is_one) refuse({refusal::reason::resource, "", kind, i});
    return is_one ? things_[i].attributes : attribute_list{};
  }

  /// The axes of input `i`.
  constexpr void axes(int i, int least, int most = max_rank) {
    if (rank(i) < least || rank(i) > most) refuse({refusal::reason::rank, rule_, "", i, 0, rank(i), least, most});
  }
  constexpr void scalar(int i) { axes(i, 0, 0); }

  /// The next attribute, from `least` to `most`. Returns `least` where it is not there.
  constexpr extent attribute(const char* name, extent least, extent most) {
    return ask(asked_attribute::kind::integer, name, least, most);
  }
  /// An extent or a count; the most is what a tensor can have.
  constexpr extent size(const char* name, extent least = 0) { return attribute(name, least, max_bytes); }
  /// All attributes that are left are extents.
  constexpr void sizes(const char* name) {
    while (fine() && rest() > 0) size(name);
  }
  /// A number that is part of an attribute.
  constexpr extent within(const char* name, extent value, extent least, extent most) {
    if (least <= value && value <= most) return value;
    refuse({refusal::reason::range, rule_, name, 0, 0, value, least, most});
    return least;
  }
  /// Those that were not asked for yet, as they are.
  [[nodiscard]] constexpr attribute_list rest_of_attributes() const {
    return fine() && rest() > 0 ? of_.attributes.subspan(next_) : attribute_list{};
  }
  constexpr bool flag(const char* name) { return ask(asked_attribute::kind::flag, name, 0, 1) != 0; }
  /// An axis of a tensor of `rank` axes.
  constexpr int axis(const char* name, int rank) {
    const number_for own(*this, "TAGMA-E020");
    return static_cast<int>(attribute(name, 0, rank - 1));
  }
  /// A set of axes of a tensor of `rank` axes, one bit each.
  /// @param optional none where nobody says
  constexpr std::uint64_t mask(const char* name, int rank, bool optional = false) {
    const number_for own(*this, "TAGMA-E020");
    return static_cast<std::uint64_t>(ask(asked_attribute::kind::axes, name, 0, (extent{1} << rank) - 1, optional));
  }
  /// The number of a floating value: any bits.
  constexpr double number(const char* name) {
    return as_double(ask(asked_attribute::kind::number, name, INT64_MIN, INT64_MAX));
  }
  /// An element type: not a string, or a floating one.
  /// @{
  constexpr void element_type(const char* name) {
    const number_for own(*this, "TAGMA-E153");
    needs(is_no_string(type_in(name)), "the attribute names no element type of numbers or bool");
  }
  constexpr void float_type(const char* name) {
    needs(is_floating(type_in(name)), "the attribute names no floating element type");
  }
  /// @}

  /// Something else that is true of what was asked for before.
  /// @param text what it is; the sentence names all inputs behind it
  constexpr void needs(bool holds, const char* text) {
    if (!holds) refuse({refusal::reason::rule, rule_, text});
  }
  /// True for what a tensor can be.
  [[nodiscard]] static constexpr bool is_tensor(const tensor_spec& s) { return broken_rule(s) == nullptr; }
  /// The type of the result is given.
  constexpr void given() {
    given_ = true;
    result_is_sound();
  }
  /// The result is one that a tensor can have.
  constexpr void result_is_sound() { sound(of_.out, -1); }

  /// Nothing is left.
  constexpr void end() {
    if (missing_ || rest() != 0) refuse_count(refusal::reason::attributes, next_, next_);
  }
  /// What `infer` says.
  constexpr void inferred(const char* problem) {
    if (problem != nullptr) refuse({refusal::reason::rule, rule_, problem});
  }

 private:
  /// Lets rules have another number for a while.
  class number_for {
   public:
    constexpr number_for(arguments& a, const char* number) : a_(a), before_(a.rule_) { a.rule_ = number; }
    number_for(const number_for&) = delete;
    number_for& operator=(const number_for&) = delete;
    constexpr ~number_for() { a_.rule_ = before_; }

   private:
    arguments& a_;
    const char* before_;
  };

  constexpr dtype type_in(const char* name) {
    constexpr extent last = static_cast<extent>(tagma::detail::dtype_count) - 1;
    return static_cast<dtype>(ask(asked_attribute::kind::element_type, name, 1, last));
  }
  constexpr extent ask(asked_attribute::kind what, const char* name, extent least, extent most, bool optional = false) {
    optional = optional || what == asked_attribute::kind::flag || least == most;
    if (listener_ != nullptr && fine()) listener_->hear(*listener_, {name, what, least, most, next_, optional});
    if (rest() < 1) missing_ = true;
    if (!fine() || rest() < 1) return ++next_, least;
    return within(name, of_.attributes[next_++], least, most);
  }
  static constexpr bool is_any(dtype t) { return t != dtype::none; }
  static constexpr bool is_no_string(dtype t) { return t != dtype::none && t != dtype::string; }
  static constexpr bool is_bool(dtype t) { return t == dtype::boolean; }
  static constexpr bool is_byte(dtype t) { return t == dtype::int8 || t == dtype::uint8; }
  static constexpr bool is_float64(dtype t) { return t == dtype::float64; }
  static constexpr bool is_int64(dtype t) { return t == dtype::int64; }
  static constexpr bool is_index(dtype t) { return t == dtype::int32 || t == dtype::int64 || t == dtype::uint8; }
  static constexpr element_class no_string_class() { return {&is_no_string, "TAGMA-E153", "numbers or bool"}; }

  constexpr void sound(const tensor_spec& s, int i) {
    if (!fine()) return;
    if (const char* const broken = broken_rule(s)) refuse({refusal::reason::spec, broken, "", i});
  }
  constexpr void type(int i, const element_class& c) {
    if (!c.has(in(i).type)) refuse({refusal::reason::type, c.rule, c.text, i});
  }
  constexpr void same(int n, const element_class& c) {
    inputs(n);
    if (n > 0) type(0, c);
    all_alike();
  }
  constexpr void refuse(const refusal& r) {
    if (fine()) refused_ = r;
  }
  constexpr void refuse_count(refusal::reason why, extent least, extent most) {
    const auto found = why == refusal::reason::inputs ? of_.in.size() : of_.attributes.size();
    refuse({why, "", "", 0, 0, static_cast<extent>(found), least, most});
  }

  const infer_args& of_;
  array_view<const resource_input> things_;
  attribute_listener* listener_;
  refusal refused_;
  const char* rule_ = "";
  input_roles roles_;
  int next_ = 0;
  bool missing_ = false;
  bool given_ = false;
};

/// Why a node cannot be input `i` of an operation, whatever its type is; nullptr if it can.
/// @param roles of the inputs, as `check_arguments` says
/// @param of the operation of that node
[[nodiscard]] constexpr const char* broken_role(const op_info& op, const input_roles& roles, std::size_t i,
                                                const op_info& of) {
  const bool writes = i < 64 && ((roles.variables >> i) & 1) != 0, goes = i < 64 && ((roles.heads >> i) & 1) != 0;
  if (writes && !of.is(op_kind::variable)) return "is no variable";
  if (goes && !of.is(op_kind::loop)) return "is no head of a loop";
  if (!goes && of.is(op_kind::loop) && !op.is(op_kind::loop)) return "is a head";
  const auto place = static_cast<int>(i);
  const bool uses = place >= roles.first_resource && place < roles.first_resource + roles.resources;
  if (!uses && of.is(op_kind::resource)) return "is a resource";
  return of.outputs > 0 && !op.is(op_kind::output) ? "has several results" : nullptr;
}

namespace detail {

template <class Op>
constexpr void take(arguments& t) {
  Op::takes(t);
}
template <class Op>
constexpr std::int32_t version_of() {
  if constexpr (requires { Op::version; })
    return Op::version;
  else
    return 1;
}

}  // namespace detail

/// An operation to those who read graphs: its rules, what it takes, and the version of both. A version counts what its
/// attributes mean; a tag says another than 1 with `version`.
struct operation_face {
  const op_rules* rules = nullptr;
  void (*takes)(arguments& t) = nullptr;
  std::int32_t version = 1;

  [[nodiscard]] constexpr const op_info& info() const { return *rules->info; }
};
template <class Op>
inline constexpr operation_face face{&rules<Op>, &detail::take<Op>, detail::version_of<Op>()};

/// Says whether an operation takes arguments. If it does, calling its `infer` is safe, and has been done.
/// @param args inputs, attributes, and which result is asked for; its `out` becomes the spec of that. Where the type of
/// the result is given, `out` is checked
/// @param roles written, if it is given and nothing is refused
/// @param things,listener as of `arguments`
/// @return what is refused
[[nodiscard]] TAGMA_COLD constexpr refusal check_arguments(const operation_face& of, infer_args& args,
                                                           input_roles* roles = nullptr,
                                                           array_view<const resource_input> things = {},
                                                           attribute_listener* listener = nullptr) {
  arguments t(args, things, listener);
  if (t.fine()) {
    const int results = of.info().outputs;
    t.within("output", args.output, 0, results > 0 ? results - 1 : 0);
    if (of.info().is(op_kind::elementwise)) t.rule("TAGMA-E011");
    of.takes(t);
    t.end();
  }
  if (roles != nullptr) *roles = t.roles();
  if (!t.fine() || t.is_given()) return t.why();
  t.inferred(of.info().infer(args));
  t.result_is_sound();
  return t.why();
}

namespace detail {

/// A type that may not be one.
[[nodiscard]] TAGMA_COLD inline std::string safe_text(const tensor_spec& s) {
  if (static_cast<std::size_t>(s.type) >= tagma::detail::dtype_count)
    return sentence({"of element type ", static_cast<int>(s.type)});
  if (s.dims.rank < 0 || s.dims.rank > max_rank) return sentence({"of ", s.dims.rank, " axes"});
  return to_string(s);
}
[[nodiscard]] TAGMA_COLD inline std::string range_text(extent least, extent most) {
  if (least == most) return sentence({least});
  if (most == most_inputs) return sentence({least, " or more"});
  return sentence({least, " to ", most});
}
[[nodiscard]] TAGMA_COLD inline std::string input_text(const infer_args& args, extent i) {
  return sentence({"input ", i, ", ", safe_text(args.in[static_cast<std::size_t>(i)])});
}

}  // namespace detail

/// The sentence: number, operation, and both sides of what does not fit.
/// @param args what was checked
[[nodiscard]] TAGMA_COLD inline std::string to_string(const refusal& r, const op_info& op, const infer_args& args) {
  using why = refusal::reason;
  const std::string who = sentence({r.rule, *r.rule != '\0' ? " " : "", op.name, ": "});
  switch (r.why) {
    case why::none:
      return {};
    case why::inputs:
    case why::attributes:
      return sentence({who, "there are ", r.found, r.why == why::inputs ? " inputs" : " attributes", ", not ",
                       detail::range_text(r.least, r.most)});
    case why::spec:
      if (r.index < 0)
        return sentence({who, "the result would be ", detail::safe_text(args.out), ", which no tensor is"});
      return sentence({who, detail::input_text(args, r.index), ", is no tensor"});
    case why::type:
      return sentence({who, detail::input_text(args, r.index), ", needs to be ", r.text});
    case why::alike:
      return sentence(
          {who, detail::input_text(args, r.index), ", needs the element type of ", detail::input_text(args, r.other)});
    case why::rank:
      return sentence({who, detail::input_text(args, r.index), ", has ", r.found, " axes, not ",
                       detail::range_text(r.least, r.most)});
    case why::range:
      return sentence({who, "attribute ", r.text, " is ", r.found, ", not ", detail::range_text(r.least, r.most)});
    case why::resource:
      return sentence({who, "input ", r.index, " needs to be a ", r.text, " of a container"});
    case why::rule:
      break;
  }
  std::string text = sentence({who, r.text});
  for (std::size_t i = 0; i < args.in.size() && i < 4; ++i)
    append_parts(text, {i == 0 ? "; inputs: " : ", ", detail::safe_text(args.in[i])});
  for (std::size_t i = 0; i < args.attributes.size() && i < 8; ++i)
    append_parts(text, {i == 0 ? "; attributes: " : ", ", args.attributes[i]});
  return text;
}

/// The same in one: empty, or why an operation does not take arguments, or has another result than is claimed.
/// @param args as `check_arguments`
/// @param claimed the result that somebody says there is
[[nodiscard]] TAGMA_COLD inline std::string refuse(const operation_face& of, infer_args& args,
                                                   const tensor_spec& claimed, input_roles* roles = nullptr) {
  args.out = claimed;
  if (const refusal r = check_arguments(of, args, roles)) return to_string(r, of.info(), args);
  if (args.out == claimed) return {};
  return sentence(
      {of.info().name, ": the result is said to be ", detail::safe_text(claimed), ", and is ", to_string(args.out)});
}

}  // namespace tagma::ir
