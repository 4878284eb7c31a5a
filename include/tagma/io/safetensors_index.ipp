// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of safetensors_index.hpp: in the compiled half, or else in each file that includes it.

#include <charconv>

#include "tagma/base/config.hpp"
#include "tagma/io/safetensors_index.hpp"

namespace tagma::safetensors {

TAGMA_DECL bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name.front() != '.' &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

TAGMA_DECL std::string to_json(const index& of) {
  std::string text = "{\n  \"metadata\": {\n    \"total_size\": " + std::to_string(of.total_size);
  for (const auto& [name, value] : of.texts) {
    text += ",\n    ";
    json::append_quoted(text, name);
    text += ": ";
    json::append_quoted(text, value);
  }
  text += "\n  },\n  \"weight_map\": {";
  const char* before = "\n    ";
  for (const auto& [tensor, file] : of.files) {
    if (!is_file_name(file)) fail(status_code::invalid_argument, {"'", file, "' is not the name of a file"});
    text += before;
    json::append_quoted(text, tensor);
    text += ": ";
    json::append_quoted(text, file);
    before = ",\n    ";
  }
  return text + "\n  }\n}\n";
}

TAGMA_DECL index index_from_json(std::string_view text, std::string_view path) {
  const auto corrupt = [&](std::string_view how) {
    fail(status_code::data_loss, {path, ": not a sound index of safetensors files: ", how});
  };
  index made;
  bool has_files = false;
  json::reader in(text);
  if (in.next() != json::kind::object) corrupt("it is no object");
  const auto read_metadata = [&](std::string_view name) {
    const json::kind found = in.next();
    if (name == "total_size" && found == json::kind::number) {
      std::string_view digits;
      if (!in.number(digits)) return false;
      const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), made.total_size);
      if (status != std::errc() || end != digits.data() + digits.size()) made.total_size = 0;  // some write a fraction
      return true;
    }
    if (found != json::kind::string || name == "total_size") return in.skip();
    if (made.texts.size() >= max_texts) corrupt("it has too many texts");
    return in.string(made.texts[std::string(name)]);
  };
  const auto read_file = [&](std::string_view tensor) {
    if (in.next() != json::kind::string) corrupt(sentence({"tensor \"", tensor, "\" has no name of a file"}));
    std::string& file = made.files[std::string(tensor)];
    if (!in.string(file)) return false;
    if (!is_file_name(file))
      corrupt(sentence({"tensor \"", tensor, "\" is in \"", file, "\", which is no file beside it"}));
    return true;
  };
  const bool good = in.members([&](std::string_view name) {
    if (name == "metadata" && in.next() == json::kind::object) return in.members(read_metadata);
    if (name != "weight_map") return in.skip();
    if (in.next() != json::kind::object) corrupt("weight_map is no object");
    has_files = true;
    return in.members(read_file);
  }) && in.end();
  if (!good) corrupt(sentence({"byte ", in.position(), ": ", in.reason()}));
  if (!has_files) corrupt("it has no weight_map");
  return made;
}

TAGMA_DECL index read_index(const std::string& path) {
  input_file in(path);
  if (in.size() > max_index)
    fail(status_code::data_loss, {path, ": not a sound index of safetensors files: it has ", in.size(), " bytes"});
  std::string text(static_cast<std::size_t>(in.size()), '\0');
  in.read(text.data(), text.size());
  return index_from_json(text, path);
}

}  // namespace tagma::safetensors
