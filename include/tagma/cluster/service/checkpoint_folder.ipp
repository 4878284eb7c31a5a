// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of checkpoint_folder.hpp: in the compiled half, or else in each file that includes it.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <memory>
#include <set>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/file_folder.hpp"
#include "tagma/base/replace_file.hpp"
#include "tagma/cluster/service/checkpoint_folder.hpp"
#include "tagma/runtime/memory_place.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

namespace detail {

TAGMA_DECL constexpr std::string_view index_suffix = ".safetensors.index.json";
TAGMA_DECL constexpr std::string_view shard_suffix = ".safetensors";

TAGMA_DECL std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

/// Sixteen digits.
TAGMA_DECL std::string hex(std::uint64_t number) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}

TAGMA_DECL std::string utc_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, size);
}

/// The name of the checkpoint that a file was written for, "model-7" of "model-7-0123456789abcdef-ps-0.safetensors";
/// empty if it is none of ours.
TAGMA_DECL std::string_view checkpoint_of_shard(std::string_view file) {
  if (!file.ends_with(shard_suffix)) return {};
  file.remove_suffix(shard_suffix.size());
  for (int i = 0; i < 2; ++i) {
    const std::size_t hyphen = file.rfind('-');
    if (hyphen == std::string_view::npos) return {};
    file = file.substr(0, hyphen);
  }
  if (file.size() < 18 || file[file.size() - 17] != '-') return {};
  const std::string_view token = file.substr(file.size() - 16);
  if (token.find_first_not_of("0123456789abcdef") != std::string_view::npos) return {};
  return file.substr(0, file.size() - 17);
}

TAGMA_DECL transport::digest digest_of(std::string_view bytes) { return transport::sha256().add(bytes).result(); }

/// Variables beyond so many go without digests, which are texts of the file.
TAGMA_DECL constexpr std::size_t most_digests = 60'000;

}  // namespace detail

TAGMA_DECL bool is_checkpoint_name(std::string_view name) {
  const auto plain = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (name.empty() || name.size() > 100 || !plain(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return plain(c) || c == '.' || c == '_' || c == '-'; });
}

TAGMA_DECL std::string no_checkpoint_name(std::string_view name) {
  return sentence({"'", name, "' is no name of a checkpoint: letters, digits, '.', '_' and '-' are, at most 100"});
}

TAGMA_DECL numbered_name split_checkpoint_name(std::string_view name) {
  const std::size_t hyphen = name.rfind('-');
  if (hyphen == std::string_view::npos || hyphen == 0 || hyphen + 1 == name.size()) return {name, -1};
  std::int64_t number = -1;
  const char* const end = name.data() + name.size();
  const auto [last, status] = std::from_chars(name.data() + hyphen + 1, end, number);
  if (status != std::errc() || last != end || number < 0) return {name, -1};
  return {name.substr(0, hyphen), number};
}

TAGMA_DECL picture::picture(runtime::state_container& of, bool all) {
  std::vector<counted<runtime::stored_variable>> found;
  of.each([&](runtime::resource& r) {
    if (r.kind() == "variable") found.emplace_back(static_cast<runtime::stored_variable*>(&r));
  });
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->name() < b->name(); });
  for (const auto& v : found) {
    if (!v->initialized()) {
      if (!all) continue;
      fail(status_code::failed_precondition, {v->text(), " has no value yet, so nothing was saved"});
    }
    variables_.push_back({v, runtime::pinned_version(*v)});
  }
}

TAGMA_DECL checkpoint_folder::checkpoint_folder(std::string directory, task_id who, int chain)
    : directory_(std::move(directory)), who_(std::move(who)), chain_(chain) {}

TAGMA_DECL void checkpoint_folder::check(std::string_view name) const {
  if (directory_.empty())
    fail(status_code::failed_precondition, "the server was given no directory for checkpoints (--checkpoints)");
  if (!is_checkpoint_name(name)) fail(status_code::invalid_argument, no_checkpoint_name(name));
}

TAGMA_DECL std::string checkpoint_folder::index_path(std::string_view name) const {
  return directory_ + "/" + std::string(name) + std::string(detail::index_suffix);
}

TAGMA_DECL bool checkpoint_folder::has(const std::string& file) const {
  struct stat s {};
  return ::stat(path(file).c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

TAGMA_DECL checkpoint_folder::variables checkpoint_folder::last_of(const std::string& series) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = last_.find(series);
  return found == last_.end() ? variables() : found->second;
}

TAGMA_DECL std::uint32_t checkpoint_folder::begin(std::uint64_t token) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return saves_[token].attempt = attempts_++;
}

TAGMA_DECL saved_shard checkpoint_folder::save(const save_shard& how, const picture& what, std::uint32_t attempt) {
  check(how.name);
  open_save made;
  made.attempt = attempt;
  made.series = how.container + '\n' + std::string(split_checkpoint_name(how.name).series);
  made.file = how.name + "-" + detail::hex(how.token + attempt) + "-" + who_.job + "-" + std::to_string(who_.task) +
              std::string(detail::shard_suffix);
  const variables before = how.full ? variables() : last_of(made.series);
  saved_shard told;
  write(what, before, made, told);
  bool taken = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = saves_.find(how.token);
    taken = found != saves_.end() && found->second.attempt == attempt;
    if (taken) {
      if (made.lock.empty()) made.file.clear();
      std::swap(found->second, made);
    }
  }
  made.lock.clear();
  if (!made.file.empty()) remove_unnamed({made.file});  // this one's, or that of an attempt before it
  if (!taken) fail(status_code::aborted, {"checkpoint '", how.name, "' was given up before its file was written"});
  return told;
}

TAGMA_DECL void checkpoint_folder::write(const picture& what, const variables& before, open_save& made,
                                         saved_shard& told) const {
  std::vector<safetensors::named_tensor> tensors;
  std::vector<runtime::aligned_bytes> copies(what.variables_.size());
  safetensors::metadata texts;
  for (std::size_t i = 0; i < what.variables_.size(); ++i) {
    const runtime::stored_variable& v = *what.variables_[i].of;
    const std::byte* const bytes = v.read(*what.variables_[i].version, copies[i]);
    saved_variable now{detail::digest_of({reinterpret_cast<const char*>(bytes), v.bytes()}), made.file, 0};
    const auto old = before.find(v.name());
    const bool same = old != before.end() && old->second.digest == now.digest && old->second.age + 1 < chain_ &&
                      has(old->second.file);
    if (same) {
      now.file = old->second.file;
      now.age = old->second.age + 1;
      copies[i] = {};
    } else {
      tensors.push_back({v.name(), v.spec().type, v.spec().dims, bytes});
      if (texts.size() < detail::most_digests)
        texts["sha256:" + v.name()] = detail::hex(transport::bytes_of(now.digest));
    }
    told.variables.push_back({v.name(), now.file, v.bytes(), !same});
    made.now.emplace(v.name(), std::move(now));
  }
  if (tensors.empty()) return;
  safetensors::write(path(made.file), tensors, std::move(texts));
  tagma::detail::descriptor lock(::open(path(made.file).c_str(), O_RDONLY | O_CLOEXEC));
  if (lock.get() >= 0 && ::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) made.lock.push_back(std::move(lock));
}

TAGMA_DECL void checkpoint_folder::end(std::uint64_t token, bool committed) {
  if (!committed) return remove_unnamed(forget(token, nullptr));
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = saves_.find(token);
  if (found == saves_.end()) return;
  const std::string series = found->second.series;
  last_.insert_or_assign(series, std::move(found->second.now));
  // Those who began others, and have not said how they ended, may have died.
  std::erase_if(saves_, [&](const auto& s) { return s.second.series == series; });
}

TAGMA_DECL void checkpoint_folder::give_up(std::uint64_t token, std::uint32_t attempt) {
  remove_unnamed(forget(token, &attempt));
}

TAGMA_DECL std::vector<std::string> checkpoint_folder::forget(std::uint64_t token, const std::uint32_t* attempt) {
  std::vector<std::string> file;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = saves_.find(token);
  if (found == saves_.end() || (attempt != nullptr && found->second.attempt != *attempt)) return file;
  if (!found->second.file.empty()) file.push_back(std::move(found->second.file));
  saves_.erase(found);
  return file;
}

TAGMA_DECL void checkpoint_folder::commit(const commit_save& how, const saved_shard& all) {
  check(how.name);
  safetensors::index made;
  std::set<std::string> seen;
  std::vector<tagma::detail::descriptor> held;  // until the index is there, so that nobody removes them
  for (const saved_shard::variable& v : all.variables) {
    if (!safetensors::is_file_name(v.file))
      fail(status_code::invalid_argument, {"'", v.file, "' is not the name of a file"});
    if (!made.files.emplace(v.name, v.file).second)
      fail(status_code::invalid_argument, {"variable '", v.name, "' is on two tasks, and a checkpoint has it once"});
    made.total_size += v.bytes;
    if (!seen.insert(v.file).second) continue;
    held.emplace_back(::open(path(v.file).c_str(), O_RDONLY | O_CLOEXEC));
    const bool going =
        held.back().get() >= 0 && ::flock(held.back().get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (going || !has(v.file))
      fail(status_code::failed_precondition,
           {"checkpoint '", how.name, "' was not made: ", path(v.file), ", with variable '", v.name,
            "', is not there; the tasks of a cluster need one directory"});
  }
  for (const auto& [name, text] : how.texts) made.texts[name] = text;
  made.texts["saved"] = detail::utc_time();
  const std::string text = safetensors::to_json(made);
  const std::string_view pieces[] = {text};
  if (TAGMA_BROKEN(old_goes_first)) remove_old(split_checkpoint_name(how.name).series, how.keep, 1);
  if (TAGMA_BROKEN(index_in_place))
    output_file(index_path(how.name)).write(text.data(), text.size());
  else
    replace_file(index_path(how.name), pieces);
  remove_old(split_checkpoint_name(how.name).series, how.keep);
}

TAGMA_DECL std::vector<std::string> checkpoint_folder::files() const {
  return tagma::detail::list_folder(directory_).names;
}

TAGMA_DECL std::vector<std::string> checkpoint_folder::names() const {
  std::vector<std::string> all;
  for (const std::string& file : files()) {
    if (!file.ends_with(detail::index_suffix)) continue;
    const std::string name = file.substr(0, file.size() - detail::index_suffix.size());
    if (is_checkpoint_name(name)) all.push_back(name);
  }
  return all;
}

TAGMA_DECL std::string checkpoint_folder::newest(std::string_view series) const {
  std::string found;
  std::int64_t number = -1;
  for (const std::string& name : names()) {
    const numbered_name n = split_checkpoint_name(name);
    if (n.series == series && n.number > number) number = n.number, found = name;
  }
  return found;
}

TAGMA_DECL void checkpoint_folder::remove_old(std::string_view series, std::uint32_t keep, std::size_t coming) const {
  std::vector<std::pair<std::int64_t, std::string>> of_series;
  for (const std::string& name : names())
    if (const numbered_name n = split_checkpoint_name(name); n.series == series && n.number >= 0)
      of_series.emplace_back(n.number, name);
  std::sort(of_series.begin(), of_series.end());
  for (std::size_t i = 0; keep > 0 && i + keep < of_series.size() + coming; ++i)
    ::unlink(index_path(of_series[i].second).c_str());
  std::vector<std::string> of_name;
  for (const std::string& file : files()) {
    const std::string_view of = detail::checkpoint_of_shard(file);
    if (!of.empty() && split_checkpoint_name(of).series == series) of_name.push_back(file);
  }
  remove_unnamed(of_name);
}

TAGMA_DECL std::set<std::string> checkpoint_folder::named_files() const {
  std::set<std::string> all;
  for (const std::string& name : names()) try {
      for (const auto& [variable, file] : safetensors::read_index(index_path(name)).files) all.insert(file);
    } catch (const error& e) {
      if (e.code() != status_code::not_found) throw;  // another one has removed it
    }
  return all;
}

TAGMA_DECL void checkpoint_folder::remove_unnamed(const std::vector<std::string>& files) const try {
  if (files.empty()) return;
  const std::set<std::string> used = named_files();
  // Whoever writes a checkpoint holds its files until there is an index, which is read once more when nobody does.
  std::vector<std::pair<std::string, tagma::detail::descriptor>> held;
  for (const std::string& file : files) {
    if (used.count(file) != 0) continue;
    tagma::detail::descriptor lock(::open(path(file).c_str(), O_RDONLY | O_CLOEXEC));
    if (lock.get() >= 0 && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) held.emplace_back(file, std::move(lock));
  }
  if (held.empty()) return;
  const std::set<std::string> now = named_files();
  for (const auto& [file, lock] : held)
    if (now.count(file) == 0) ::unlink(path(file).c_str());
} catch (const error&) {
  // Nobody knows what an index names that cannot be read.
}

TAGMA_DECL safetensors::index checkpoint_folder::find(const std::string& name) const {
  try {
    return safetensors::read_index(index_path(name));
  } catch (const error& e) {
    if (e.code() != status_code::not_found) throw;
    fail(status_code::not_found, {"there is no checkpoint '", name, "' in ", directory_});
  }
}

TAGMA_DECL restored_shard checkpoint_folder::restore(const restore_shard& how, const std::vector<std::string>& names,
                                                     runtime::state_container& to) {
  std::string name = how.name;
  const bool asks_newest = name.ends_with("-*");
  if (asks_newest) name.resize(name.size() - 2);
  check(name);
  if (asks_newest) {
    const std::string found = newest(name);
    if (found.empty()) fail(status_code::not_found, {"there is no checkpoint '", name, "-*' in ", directory_});
    name = found;
  }
  const safetensors::index all = find(name);
  std::map<std::string, std::vector<std::string>> by_file;
  for (const std::string& n : names) {
    const auto found = all.files.find(n);
    if (found == all.files.end()) fail(status_code::not_found, {"checkpoint '", name, "' has no variable '", n, "'"});
    by_file[found->second].push_back(n);
  }
  for (const auto& [file, wanted] : by_file) {
    if (!has(file))
      fail(status_code::not_found,
           {"variable '", wanted[0], "' of checkpoint '", name, "' is in ", path(file), ", which is not there"});
    const safetensors::file stored(path(file));
    for (const std::string& n : wanted) {
      const counted<runtime::resource> found = to.find("variable", n);
      if (!found) fail(status_code::not_found, {"there is no variable '", n, "' to restore"});
      auto& v = static_cast<runtime::stored_variable&>(*found);
      const safetensors::stored_tensor* const from = stored.find(n);
      if (from == nullptr)
        fail(status_code::data_loss,
             {path(file), ": there is no tensor '", n, "', which checkpoint '", name, "' has there"});
      if (from->type != v.spec().type || !(from->dims == v.spec().dims))
        fail(status_code::invalid_argument,
             {path(file), ": tensor '", n, "' is ", from->type == dtype::none ? from->format : to_string(from->type),
              " ", to_string(from->dims), ", the variable of that name is ", to_string(v.spec())});
      if (!how.checks_only) {
        v.assign(from->data);
        continue;
      }
      const auto digest = stored.metadata().find("sha256:" + n);
      const std::string_view bytes(static_cast<const char*>(from->data), from->bytes);
      if (digest != stored.metadata().end() &&
          digest->second != detail::hex(transport::bytes_of(detail::digest_of(bytes))))
        fail(status_code::data_loss, {path(file), ": tensor '", n, "' is not what was written"});
    }
  }
  restored_shard told;
  for (const auto& [key, text] : all.texts) told.texts.emplace_back(key, text);
  told.texts.emplace_back("name", name);
  return told;
}

namespace detail {

inline constexpr std::string_view device_key = "device:";

TAGMA_DECL std::string device_text_of(std::string_view type, int number) { return sentence({type, ":", number}); }

}  // namespace detail

TAGMA_DECL void checkpoint_folder::add_devices(runtime::state_container& of,
                                               std::vector<std::pair<std::string, std::string>>& to) {
  of.each([&](runtime::resource& r) {
    if (r.kind() != "variable") return;
    const auto& v = static_cast<const runtime::stored_variable&>(r);
    if (v.device() >= 0 && to.size() < detail::most_digests)
      to.emplace_back(std::string(detail::device_key) + v.name(), detail::device_text_of(v.device_type(), v.device()));
  });
}

TAGMA_DECL restored_shard checkpoint_folder::restore_all(const std::string& series, runtime::state_container& to,
                                                         const counted<runtime::accelerator>& others,
                                                         std::size_t& count, std::size_t& elsewhere) {
  const std::string name = newest(series);
  if (name.empty()) return {};
  const safetensors::index all = find(name);
  std::set<std::string> files;
  std::vector<std::string> names;
  for (const auto& [variable, file] : all.files) files.insert(file), names.push_back(variable);
  for (const std::string& file : files) {
    const safetensors::file stored(path(file));
    for (const safetensors::stored_tensor& t : stored.entries()) {
      const auto mapped = all.files.find(t.name);
      if (mapped == all.files.end() || mapped->second != file || t.type == dtype::none) continue;
      const auto text = all.texts.find(std::string(detail::device_key) + t.name);
      int device = runtime::on_host;
      for (int d = 0; others && text != all.texts.end() && d < others->devices(); ++d)
        if (text->second == detail::device_text_of(others->type(), d)) device = d;
      (void)to.find_or_add("variable", t.name, [&] {
        const tensor_spec spec{t.type, t.dims};
        if (device >= 0) try {
            return counted<runtime::resource>(new runtime::stored_variable(t.name, spec, device, others));
          } catch (const error& e) {
            if (e.code() != status_code::resource_exhausted) throw;
          }
        elsewhere += text != all.texts.end();
        return counted<runtime::resource>(
            new runtime::stored_variable(t.name, spec, runtime::on_host, counted<runtime::accelerator>()));
      });
    }
  }
  const restore_shard how{"", name, 0, true};
  (void)restore(how, names, to);
  count = names.size();
  return restore({"", name, 0, false}, names, to);
}

}  // namespace tagma::service
