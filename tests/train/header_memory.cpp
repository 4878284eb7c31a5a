// SPDX-License-Identifier: BSL-1.0
// What reading a header takes from the heap: this program counts it.
#include <malloc.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include <unistd.h>

#include "support/errors.hpp"
#include "support/sanitizers.hpp"
#include "tagma/io/safetensors.hpp"

namespace {

std::atomic<std::size_t> in_use{0}, peak{0};

#if HAS_ADDRESS_SANITIZER || HAS_THREAD_SANITIZER
constexpr bool counts = false;  // the sanitiser has operators of its own
#else
constexpr bool counts = true;

void* counted(std::size_t size, std::size_t alignment) {
  void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  const std::size_t now = in_use += malloc_usable_size(p);
  for (std::size_t most = peak; most < now && !peak.compare_exchange_weak(most, now);) {
  }
  return p;
}
void forget(void* p) {
  if (p != nullptr) in_use -= malloc_usable_size(p);
  std::free(p);
}
#endif

}  // namespace

#if !HAS_ADDRESS_SANITIZER && !HAS_THREAD_SANITIZER
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // inlined, new and free look like strangers
void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { forget(p); }
void operator delete(void* p, std::size_t) noexcept { forget(p); }
void operator delete(void* p, std::align_val_t) noexcept { forget(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { forget(p); }
#endif

namespace {

/// A header of about a million bytes: `text` again and again, each '#' a number of its own.
std::string many(std::string_view first, std::string_view text, std::string_view last) {
  std::string header(first);
  for (std::size_t i = 0; header.size() < 1'000'000; ++i) {
    if (i > 0) header += ',';
    const std::string number = std::to_string(i);
    for (const char c : text) c == '#' ? void(header += number) : header.push_back(c);
  }
  return header + std::string(last);
}

/// The most that is in use while a file with this header is read, beyond what was before, for each byte of the header.
double cost(const std::string& header) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("tagma-header-" + std::to_string(::getpid()))).string();
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  const std::string_view pieces[] = {length, header};
  tagma::replace_file(path, pieces);
  const std::size_t before = in_use;
  peak = before;
  try {
    const tagma::safetensors::file file(path);
  } catch (const tagma::error& e) {
    CHECK(e.code() == tagma::status_code::invalid_argument);  // more axes or texts than tagma takes
  }
  std::filesystem::remove(path);
  return static_cast<double>(peak - before) / static_cast<double>(header.size());
}

}  // namespace

TEST_CASE("a header takes a few times its size, whatever is in it") {
  if (!counts) return;
  const std::string entry = R"("dtype":"U8","shape":[0],"data_offsets":[0,0])",
                    more = "{\"a\":{" + entry + ",\"more\":";
  CHECK(cost(many(more + "[", "0", "]}}")) < 1.5);
  CHECK(cost(many(more + "[", "[]", "]}}")) < 1.5);
  CHECK(cost(many(more + "[", "{}", "]}}")) < 1.5);
  CHECK(cost(many(more + "[", R"("\u0061")", "]}}")) < 1.5);
  CHECK(cost(many(more + "{", R"("#":0)", "}}}")) < 3);
  CHECK(cost(many(R"({"a":{"dtype":"U8","shape":[)", "0", "]}}")) < 1.5);
  CHECK(cost(many("{", R"("#":{)" + entry + "}", "}")) < 6);
  CHECK(cost(many("{", R"("model.layers.#.attention.query.weight":{)" + entry + "}", "}")) < 4);
  CHECK(cost(many(R"({"__metadata__":{)", R"("#":"")", "}}")) < 12);
}

TEST_CASE("more texts than anybody has are refused") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("tagma-texts-" + std::to_string(::getpid()))).string();
  tagma::safetensors::metadata texts;
  for (std::size_t i = 1; i < tagma::safetensors::max_texts; ++i) texts.emplace(std::to_string(i), "");
  tagma::safetensors::write(path, {}, texts);  // and "format"
  CHECK(tagma::safetensors::file(path).metadata().size() == tagma::safetensors::max_texts);
  texts.emplace("one", "more");
  const std::string refusal = "InvalidArgument: " + path;
  CHECK(tagma::test::thrown([&] { tagma::safetensors::write(path, {}, texts); }).what() ==
        refusal + ": 65537 texts are more than the 65536 that tagma reads");
  std::filesystem::remove(path);
}
