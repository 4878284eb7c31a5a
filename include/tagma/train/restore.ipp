// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of restore.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "tagma/base/config.hpp"
#include "tagma/base/nearest.hpp"
#include "tagma/io/safetensors_index.hpp"
#include "tagma/runtime/scalar.hpp"
#include "tagma/train/restore.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL std::string to_string(const restore_report& report) {
  const std::size_t wanted = report.restored.size() + report.missing.size();
  std::string text = sentence({"restored ", report.restored.size(), " of ", wanted, " variables"});
  const auto list = [&](std::string_view title, const std::vector<std::string>& names) {
    for (const std::string& n : names) append_parts(text, {&n == names.data() ? title : ", ", n});
  };
  list("\nnot in the file: ", report.missing);
  list("\nnot used: ", report.unused);
  return text;
}

}  // namespace tagma

namespace tagma::detail {

TAGMA_DECL bool is_saved(const plan::plan_variable& v) { return v.initializer != tagma::detail::preloaded_kind; }

// Each star takes as little as it can, from the left. What does not fit then is tried again with the last star taking
// more, or, where that has come to the end of its part, the last pair; no star before these can make it fit.
TAGMA_DECL bool fits_pattern(std::string_view pattern, std::string_view text, std::vector<std::string_view>& stars) {
  constexpr auto none = std::string_view::npos;
  std::size_t p = 0, t = 0;
  std::size_t behind[2] = {none, none}, begin[2] = {}, end[2] = {},
              count[2] = {};  // of the last star, of the last pair
  const auto is_part = [&](std::size_t i) { return i < text.size() && text[i] != '.' && text[i] != '/'; };
  stars.clear();
  while (p < pattern.size() || t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      const bool pair = p + 1 < pattern.size() && pattern[p + 1] == '*';
      p += pair ? 2 : 1;
      if (pair) behind[0] = none;
      behind[pair] = p, begin[pair] = end[pair] = t, count[pair] = stars.size();
      stars.push_back(text.substr(t, 0));
      if (pair) continue;
    } else if (p < pattern.size() && t < text.size() && pattern[p] == text[t]) {
      ++p, ++t;
      continue;
    }
    if (behind[0] != none && !is_part(end[0])) behind[0] = none;
    const bool pair = behind[0] == none;
    if (behind[pair] == none || end[pair] == text.size()) return false;
    p = behind[pair], t = ++end[pair];
    stars.resize(count[pair] + 1);
    stars.back() = text.substr(begin[pair], t - begin[pair]);
  }
  return true;
}

TAGMA_COLD TAGMA_DECL void write_permuted(std::byte* to, dtype type, const shape& dims,
                                          const safetensors::stored_tensor& from, array_view<const int> axes) {
  if (from.bytes == 0) return;
  const std::size_t from_size = size_of(from.type), to_size = size_of(type);
  extent strides[max_rank + 1] = {}, steps[max_rank + 1] = {};
  for (extent i = from.dims.rank, n = static_cast<extent>(from_size); i-- > 0; n *= from.dims.extents[i])
    strides[i] = n;
  bool in_order = true;
  for (int i = 0; i < dims.rank; ++i) {
    steps[i] = strides[axes.empty() ? i : axes[i]];
    in_order = in_order && steps[i] == strides[i];
  }
  if (in_order && from.type == type) {
    std::memcpy(to, from.data, from.bytes);
    return;
  }
  const int last = dims.rank - 1;
  const extent row = dims.rank == 0 ? 1 : dims[last], step = dims.rank == 0 ? 0 : steps[last];
  const auto* const data = static_cast<const std::byte*>(from.data);
  extent at[max_rank + 1] = {}, first = 0;  // where the row is
  const auto copy_row = [&]<std::size_t Size>(std::integral_constant<std::size_t, Size>) {
    for (extent i = 0; i < row; ++i, to += Size) std::memcpy(to, data + first + i * step, Size);
  };
  const auto read = []<class T>(const std::byte* element, T of) {
    std::memcpy(&of, element, sizeof of);
    return static_cast<double>(of);
  };
  for (;;) {
    if (from.type == type && to_size == 1)
      copy_row(std::integral_constant<std::size_t, 1>{});
    else if (from.type == type && to_size == 2)
      copy_row(std::integral_constant<std::size_t, 2>{});
    else if (from.type == type && to_size == 4)
      copy_row(std::integral_constant<std::size_t, 4>{});
    else if (from.type == type)
      copy_row(std::integral_constant<std::size_t, 8>{});
    else
      for (extent i = 0; i < row; ++i, to += to_size) {
        const std::byte* const element = data + first + i * step;
        const double number = from.type == dtype::float64   ? read(element, double{})
                              : from.type == dtype::float32 ? read(element, float{})
                              : from.type == dtype::float16 ? read(element, float16{})
                                                            : read(element, bfloat16{});
        runtime::detail::store_scalar(to, type, number, 0);
      }
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      first += steps[axis];
      if (++at[axis] < dims[axis]) break;
      first -= at[axis] * steps[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// The tensors of a file, or of all that an index names, which `files` keeps.
TAGMA_COLD TAGMA_DECL std::vector<const safetensors::stored_tensor*> open_tensors(const std::string& path,
                                                                                  std::vector<safetensors::file>& files,
                                                                                  safetensors::metadata& texts) {
  std::vector<const safetensors::stored_tensor*> all;
  if (!path.ends_with(".json")) {
    files.emplace_back(path);
    texts = files[0].metadata();
    for (const safetensors::stored_tensor& t : files[0].entries()) all.push_back(&t);
    return all;
  }
  const safetensors::index index = safetensors::read_index(path);
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  std::map<std::string_view, std::size_t> opened;
  for (const auto& [tensor, name] : index.files) {
    const auto [known, is_new] = opened.try_emplace(name, files.size());
    if (is_new) files.emplace_back(folder + name);
    const safetensors::file& in = files[known->second];
    all.push_back(in.find(tensor));
    if (all.back() == nullptr)
      fail(status_code::data_loss, {path, ": tensor '", tensor, "' is not in ", in.path(), ", where the index has it"});
  }
  texts = index.texts;
  return all;
}

TAGMA_COLD TAGMA_DECL std::size_t count_stars(std::string_view pattern) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '*') continue;
    ++count;
    if (i + 1 < pattern.size() && pattern[i + 1] == '*') ++i;
  }
  return count;
}

/// The name of a variable, with what the stars of the key stand for in place of its own.
TAGMA_COLD TAGMA_DECL std::string without_stars(std::string_view pattern, const std::vector<std::string_view>& stars) {
  std::string name;
  std::size_t next = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '*') {
      name += pattern[i];
      continue;
    }
    name += stars[next++];
    if (i + 1 < pattern.size() && pattern[i + 1] == '*') ++i;
  }
  return name;
}

TAGMA_COLD TAGMA_DECL std::string axes_text(array_view<const int> axes) {
  std::string text = "{";
  for (std::size_t i = 0; i < axes.size(); ++i) append_parts(text, {i == 0 ? "" : ", ", axes[i]});
  return text + "}";
}

/// Throws InvalidArgument unless each axis is there once.
TAGMA_COLD TAGMA_DECL void check_axes(array_view<const int> axes, std::string_view of) {
  bool good = axes.size() <= static_cast<std::size_t>(max_rank);
  for (std::size_t i = 0; good && i < axes.size(); ++i)
    good = std::count(axes.begin(), axes.end(), static_cast<int>(i)) == 1;
  if (!good)
    fail(status_code::invalid_argument,
         {of, ": the axes ", axes_text(axes), " are not the numbers from 0 on, each once, in some order"});
}

TAGMA_COLD TAGMA_DECL void check_rule(const restore_rule& r, const std::string& path) {
  const std::string of = sentence({path, ": the rule for '", r.key, "'"});
  check_axes(r.axes, of);
  const std::size_t there = count_stars(r.key), here = count_stars(r.variable);
  if (!r.variable.empty() && there != here)
    fail(status_code::invalid_argument, {of, " has ", there, " stars, and ", here, " in '", r.variable, "'"});
}

TAGMA_COLD TAGMA_DECL std::string_view type_text(const safetensors::stored_tensor& t) {
  return t.type == dtype::none ? t.format : to_string(t.type);
}

/// The axes of a tensor in the order in which a variable has them.
TAGMA_COLD TAGMA_DECL shape permuted(const shape& dims, array_view<const int> axes) {
  if (axes.empty()) return dims;
  shape turned;
  for (const int axis : axes) turned.push_back(dims[axis]);
  return turned;
}

/// Throws InvalidArgument unless a tensor can become the value of a variable.
TAGMA_COLD TAGMA_DECL void check_source(const safetensors::stored_tensor& from, array_view<const int> axes, bool cast,
                                        const tensor_spec& to, const std::string& name, const std::string& path) {
  const std::string what =
      sentence({path, ": tensor '", from.name, "' is ", type_text(from), " ", to_string(from.dims)});
  if (!axes.empty() && axes.size() != static_cast<std::size_t>(from.dims.rank))
    fail(status_code::invalid_argument, {what, ", which has not the axes ", axes_text(axes)});
  const bool floats = is_floating(from.type) && is_floating(to.type);
  const bool same_type = from.type == to.type || (cast && floats);
  if (same_type && permuted(from.dims, axes) == to.dims) return;
  std::string turned, hint;
  if (!axes.empty())
    turned = sentence({", with the axes ", axes_text(axes), " ", to_string(permuted(from.dims, axes))});
  if (!same_type && floats) hint = "; the option cast converts it";
  if (axes.empty() && from.dims.rank > 1 && !(from.dims == to.dims)) {
    std::vector<int> likely;  // [out, in, ...] where others have [..., in, out]
    for (int i = 2; i < from.dims.rank; ++i) likely.push_back(i);
    likely.push_back(1), likely.push_back(0);
    if (permuted(from.dims, likely) == to.dims) append_parts(hint, {"; the axes ", axes_text(likely), " fit"});
  }
  fail(status_code::invalid_argument, {what, turned, from.name == name ? ", the variable of that name" : ", variable '",
                                       from.name == name ? std::string() : name + "'", " is ", to_string(to), hint});
}

TAGMA_COLD TAGMA_DECL restore_report restore_variables(runtime::session_core& session, const std::string& path,
                                                       const restore_options& options, const target_function& map) {
  struct source {
    const safetensors::stored_tensor* tensor = nullptr;
    std::vector<int> axes{};
    bool asked_for = false;  // by a rule or the function
  };
  for (const restore_rule& r : options.rules) check_rule(r, path);
  restore_report report;
  std::vector<safetensors::file> files;
  const std::vector<const safetensors::stored_tensor*> tensors = open_tensors(path, files, report.texts);

  // Which variables are to be restored.
  std::map<std::string_view, std::size_t> positions;
  std::vector<std::string_view> names, stars;
  std::vector<bool> wanted(session.variables().size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!is_saved(session.variables()[i])) continue;
    names.push_back(session.variable(i).name());
    positions.emplace(names.back(), i);
    wanted[i] = options.variables.empty();
  }
  // Whether a name, or a pattern of names, is one of those that files leave out.
  const auto is_preloaded = [&](std::string_view pattern) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!is_saved(session.variables()[i]) && fits_pattern(pattern, session.variable(i).name(), stars)) return true;
    return false;
  };
  for (const std::string& pattern : options.variables) {
    bool found = false;
    for (const auto& [name, i] : positions)
      if (fits_pattern(pattern, name, stars)) wanted[i] = found = true;
    if (!found && is_preloaded(pattern))
      fail(status_code::invalid_argument, {path, ": variable '", pattern, "' is preloaded, and not restored"});
    if (!found)
      fail(status_code::not_found,
           {path, ": the program has no variable '", pattern, "' to restore", nearest_text(pattern, names)});
  }

  // Where each tensor goes.
  std::vector<source> sources(wanted.size());
  std::vector<bool> matched(options.rules.size());
  for (const safetensors::stored_tensor* const t : tensors) {
    restore_target target{t->name, {}};
    const restore_rule* rule = nullptr;
    for (std::size_t r = 0; r < options.rules.size(); ++r) {
      if (!fits_pattern(options.rules[r].key, t->name, stars)) continue;
      matched[r] = true;
      if (rule != nullptr) continue;
      rule = &options.rules[r];
      target = {without_stars(rule->variable, stars), rule->axes};
    }
    if (rule == nullptr && map.call != nullptr) {
      target = map.call(map.of, *t);
      check_axes(target.axes, sentence({path, ": tensor '", t->name, "'"}));
    }
    if (target.variable.empty()) continue;
    const auto found = positions.find(target.variable);
    if (found == positions.end()) {
      const bool named = rule != nullptr && options.strict && count_stars(rule->key) == 0;
      if (named && is_preloaded(target.variable))
        fail(status_code::invalid_argument, {path, ": tensor '", t->name, "' is for variable '", target.variable,
                                             "', which is preloaded, and not restored"});
      if (named)
        fail(status_code::not_found, {path, ": tensor '", t->name, "' is for variable '", target.variable,
                                      "', which the program has not", nearest_text(target.variable, names)});
      continue;
    }
    const std::size_t i = found->second;
    if (!wanted[i]) continue;
    source& s = sources[i];
    const bool asked_for = rule != nullptr || map.call != nullptr;
    if (s.tensor != nullptr && s.asked_for && asked_for)
      fail(status_code::invalid_argument,
           {path, ": tensors '", s.tensor->name, "' and '", t->name, "' are both for variable '", found->first, "'"});
    if (s.tensor == nullptr || asked_for) s = {t, std::move(target.axes), asked_for};
  }
  const auto keys_near = [&](std::string_view name) {
    std::vector<std::string_view> keys;
    for (const safetensors::stored_tensor* const t : tensors) keys.push_back(t->name);
    return nearest_text(name, std::move(keys));
  };
  for (std::size_t r = 0; options.strict && r < matched.size(); ++r)
    if (!matched[r] && count_stars(options.rules[r].key) == 0)
      fail(status_code::not_found, {path, ": there is no tensor '", options.rules[r].key, "', which a rule names",
                                    keys_near(options.rules[r].key)});

  // Whether each fits.
  std::vector<std::size_t> restored;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const tensor_spec& to = session.variables()[i].spec;
    const std::string& name = session.variable(i).name();
    if (sources[i].tensor != nullptr) {
      check_source(*sources[i].tensor, sources[i].axes, options.cast, to, name, path);
      report.restored.push_back({name, sources[i].tensor->name});
      restored.push_back(i);
    } else if (options.strict) {
      fail(status_code::not_found,
           {path, ": there is no tensor for variable '", name, "', which is ", to_string(to), keys_near(name)});
    } else {
      report.missing.push_back(name);
    }
  }
  std::vector<const safetensors::stored_tensor*> used;
  for (const std::size_t i : restored) used.push_back(sources[i].tensor);
  std::sort(used.begin(), used.end());
  for (const safetensors::stored_tensor* const t : tensors)
    if (!std::binary_search(used.begin(), used.end(), t)) report.unused.push_back(t->name);
  std::uint64_t step = 0;
  const auto text = report.texts.find("step");
  const bool is_whole = options.strict && options.variables.empty();
  const bool has_step = is_whole && text != report.texts.end();
  if (has_step) {
    const char* const end = text->second.data() + text->second.size();
    const auto [last, problem] = std::from_chars(text->second.data(), end, step);
    if (problem != std::errc{} || last != end)
      fail(status_code::data_loss,
           path + ": the text \"step\" is \"" + text->second + "\", expected the number of a run");
  }

  // What is written to a device in another form than it has in the file is made here first.
  runtime::aligned_bytes made;
  const runtime::stored_variable* largest = nullptr;
  for (const std::size_t i : restored) {
    const runtime::stored_variable& v = session.variable(i);
    if (v.device() >= 0 && (largest == nullptr || v.bytes() > largest->bytes())) largest = &v;
  }
  if (largest != nullptr) made = largest->host_room("a copy of ");
  // All begin before the first is written, in the order in which runs begin several: what may fail then changes
  // nothing.
  std::sort(restored.begin(), restored.end(),
            [&](std::size_t a, std::size_t b) { return &session.variable(a) < &session.variable(b); });
  const runtime::session_core::pass writing(session, true, path + ": nothing was restored: ");
  std::vector<std::byte*> to;
  to.reserve(restored.size());
  try {
    for (const std::size_t i : restored) to.push_back(session.variable(i).begin_update(false));
    for (std::size_t r = 0; r < restored.size(); ++r) {
      const runtime::stored_variable& v = session.variable(restored[r]);
      const source& s = sources[restored[r]];
      write_permuted(v.device() < 0 ? to[r] : made.data(), v.spec().type, v.spec().dims, *s.tensor, s.axes);
      if (v.device() >= 0) v.write(to[r], made.data());
    }
  } catch (...) {
    for (std::size_t r = 0; r < to.size(); ++r) session.variable(restored[r]).abandon_update();
    throw;
  }
  for (const std::size_t i : restored) session.variable(i).end_update();
  if (has_step) session.set_step(step);
  return report;
}

}  // namespace tagma::detail
