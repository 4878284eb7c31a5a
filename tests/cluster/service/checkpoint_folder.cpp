// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/checkpoint_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

namespace {

namespace tg = tagma;
namespace service = tagma::service;
using tg::test::temporary_directory;
using tg::test::text_of;

/// A container with one variable of three floats.
struct one_variable {
  tg::runtime::state_container state{};
  explicit one_variable(const char* name = "w") {
    (void)state.find_or_add("variable", name, [&] {
      return tg::counted<tg::runtime::resource>(new tg::runtime::stored_variable(
          name, {tg::dtype::float32, {3}}, tg::runtime::on_host, tg::counted<tg::runtime::accelerator>()));
    });
  }
  tg::runtime::stored_variable& variable(const char* name = "w") {
    return static_cast<tg::runtime::stored_variable&>(*state.find("variable", name));
  }
  void set(float value) {
    const float all[] = {value, value, value};
    variable().assign(all);
  }
  float get() { return *reinterpret_cast<const float*>(variable().data()); }
};
void save(service::checkpoint_folder& to, one_variable& v, const char* name, std::uint64_t token,
          std::uint32_t keep = 0) {
  const auto attempt = to.begin(token);
  const auto made = to.save({"", name, token, false, false}, service::picture(v.state, true), attempt);
  to.commit({name, token, keep, {{"container", ""}}}, made);
  to.end(token, true);
}

TEST_CASE("names of checkpoints are no paths, and may have numbers") {
  for (const char* good : {"a", "model-7", "A.b_c-", "0"}) CHECK(service::is_checkpoint_name(good));
  for (const char* bad : {"", "a/b", ".", "..", "-a", "_a", "a b", "a\\b", "a*", "\xc3\xa9"})
    CHECK_FALSE(service::is_checkpoint_name(bad));
  CHECK_FALSE(service::is_checkpoint_name(std::string(101, 'a')));
  CHECK(service::split_checkpoint_name("model-7").series == "model");
  CHECK(service::split_checkpoint_name("model-7").number == 7);
  CHECK(service::split_checkpoint_name("a-b-0").series == "a-b");
  for (const char* none : {"model", "model-", "-7", "model-7x", "model-99999999999999999999"}) {
    CHECK(service::split_checkpoint_name(none).series == none);
    CHECK(service::split_checkpoint_name(none).number == -1);
  }
}

TEST_CASE("a folder has the newest checkpoints of a series, and what they name") {
  const temporary_directory folder;
  service::checkpoint_folder all(folder.path.string(), {"ps", 3}, 2);
  one_variable v;
  CHECK(text_of([&] { save(all, v, "m-1", 1); }) ==
        "FailedPrecondition: variable 'w' float32 [3] has no value yet, so nothing was saved");
  v.set(1);
  save(all, v, "m-9", 1);
  v.set(2);
  save(all, v, "m-10", 2);
  save(all, v, "other", 3);
  save(all, v, "m-11", 4);  // names the file of m-10
  CHECK(all.newest("m") == "m-11");
  CHECK(all.newest("n").empty());
  CHECK(all.names() == std::vector<std::string>{"m-10", "m-11", "m-9", "other"});
  CHECK(folder.files().count("m-10-0000000000000004-ps-3.safetensors") == 1);
  CHECK(folder.files().count("m-11-0000000000000008-ps-3.safetensors") == 0);
  v.set(3);
  save(all, v, "m-12", 5, 2);
  CHECK(all.names() == std::vector<std::string>{"m-11", "m-12", "other"});
  CHECK(folder.files().count("m-9-0000000000000002-ps-3.safetensors") == 0);
  CHECK(folder.files().count("m-10-0000000000000004-ps-3.safetensors") == 1);
  (void)all.restore({"", "m-11", 0, false}, {"w"}, v.state);
  CHECK(v.get() == 2);
  (void)all.restore({"", "m-*", 0, true}, {"w"}, v.state);
  CHECK(v.get() == 2);
  (void)all.restore({"", "m-*", 0, false}, {"w"}, v.state);
  CHECK(v.get() == 3);

  tg::runtime::state_container empty;
  std::size_t count = 0, elsewhere = 0;
  const auto texts = all.restore_all("m", empty, {}, count, elsewhere).texts;
  CHECK(count == 1);
  CHECK(texts.back() == std::pair<std::string, std::string>{"name", "m-12"});
  CHECK(*reinterpret_cast<const float*>(
            static_cast<tg::runtime::stored_variable&>(*empty.find("variable", "w")).data()) == 3);
  CHECK(all.restore_all("none", empty, {}, count, elsewhere).texts.empty());
}

TEST_CASE("what a save that died has left goes, what one that goes on has written stays") {
  const temporary_directory folder;
  service::checkpoint_folder all(folder.path.string(), {"ps", 0}, 8), other(folder.path.string(), {"ps", 1}, 8);
  one_variable v;
  v.set(1);
  const char* const open = "m-0000000000000007-ps-1.safetensors";
  const auto going_on = other.save({"", "m", 7, false, false}, service::picture(v.state, true), other.begin(7));
  folder.put("m-0123456789abcdef-ps-5.safetensors", "left");
  folder.put("n-0123456789abcdef-ps-5.safetensors", "of another");
  folder.put("m-notes.safetensors", "somebody's");
  save(all, v, "m", 1);
  CHECK(folder.files().count(open) == 1);
  CHECK(folder.files().count("m-0123456789abcdef-ps-5.safetensors") == 0);
  CHECK(folder.files().count("n-0123456789abcdef-ps-5.safetensors") == 1);
  CHECK(folder.files().count("m-notes.safetensors") == 1);
  other.end(7, false);
  save(all, v, "m", 2);
  CHECK(folder.files().count(open) == 0);
  CHECK(text_of([&] {
          other.commit({"m", 7, 0, {}}, going_on);
        }).find("with variable 'w', is not there") != std::string::npos);
  CHECK(all.restore({"", "m", 0, false}, {"w"}, v.state).texts.size() == 3);
  // While an index cannot be read, nobody knows what it names.
  folder.put("x.safetensors.index.json", "{");
  folder.put("m-0123456789abcdef-ps-5.safetensors", "left");
  save(all, v, "m", 3);
  CHECK(folder.files().count("m-0123456789abcdef-ps-5.safetensors") == 1);
}

TEST_CASE("the file of a save that is given up goes, unless an index names it") {
  const temporary_directory folder;
  service::checkpoint_folder first(folder.path.string(), {"ps", 0}, 2), second(folder.path.string(), {"ps", 1}, 2);
  one_variable v("v"), w("w");
  const auto save_both = [&](const char* name, std::uint64_t token) {
    const service::save_shard how{"", name, token, false, false};
    auto made = first.save(how, service::picture(v.state, true), first.begin(token));
    for (auto& more : second.save(how, service::picture(w.state, true), second.begin(token)).variables)
      made.variables.push_back(std::move(more));
    return made;
  };
  v.variable("v").assign(std::vector<float>(3, 1.0f).data());
  w.set(1);
  (void)save_both("m-1", 1);
  CHECK(folder.files().size() == 2);
  first.end(1, false);
  second.end(1, false);
  CHECK(folder.files().empty());

  first.commit({"m-2", 2, 0, {}}, save_both("m-2", 2));
  first.end(2, false);  // whoever committed it has heard nothing of that
  second.end(2, false);
  CHECK(folder.files().size() == 3);
  (void)first.restore({"", "m-2", 0, true}, {"v"}, v.state);

  const auto made = save_both("m-3", 3);
  second.end(3, false);
  CHECK(text_of([&] { first.commit({"m-3", 3, 0, {}}, made); }).find("is not there") != std::string::npos);
  CHECK(first.names() == std::vector<std::string>{"m-2"});
  first.end(3, false);

  // The end of a save may be heard of before its beginning is done.
  const auto attempt = first.begin(4);
  first.end(4, false);
  CHECK(text_of([&] {
          (void)first.save({"", "m-4", 4, false, true}, service::picture(v.state, true), attempt);
        }).find("Aborted: checkpoint 'm-4' was given up") == 0);
  CHECK(folder.files().size() == 3);

  // Somebody is about to remove a file.
  auto with_other = first.save({"", "m-5", 5, false, true}, service::picture(v.state, true), first.begin(5));
  folder.put("m-0123456789abcdef-ps-1.safetensors", "of another");
  with_other.variables.push_back({"w", "m-0123456789abcdef-ps-1.safetensors", 12, true});
  {
    const tg::detail::descriptor held(
        ::open((folder / "m-0123456789abcdef-ps-1.safetensors").c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(::flock(held.get(), LOCK_EX | LOCK_NB) == 0);
    CHECK(text_of([&] { first.commit({"m-5", 5, 0, {}}, with_other); }).find("is not there") != std::string::npos);
  }
  first.commit({"m-5", 5, 0, {}}, with_other);
  CHECK(first.names() == std::vector<std::string>{"m-2", "m-5"});
}

TEST_CASE("a save that is asked for again is written once more, under another name, and what comes late goes") {
  const temporary_directory folder;
  service::checkpoint_folder all(folder.path.string(), {"ps", 0}, 2);
  one_variable v;
  const service::save_shard how{"", "m-1", 7, false, false};
  v.set(1);
  const service::picture early(v.state, true);
  const auto lost = all.begin(7);
  v.set(2);
  const auto again = all.begin(7);
  const auto made = all.save(how, service::picture(v.state, true), again);
  const std::string file = "m-1-0000000000000008-ps-0.safetensors";
  CHECK(made.variables.at(0).file == file);
  CHECK(text_of([&] { (void)all.save(how, early, lost); }).find("Aborted: checkpoint 'm-1' was given up") == 0);
  all.give_up(7, lost);
  CHECK(folder.files() == std::set<std::string>{file});
  // A third one, behind an answer that was lost.
  const auto third = all.save(how, service::picture(v.state, true), all.begin(7));
  CHECK(folder.files() == std::set<std::string>{"m-1-0000000000000009-ps-0.safetensors"});
  all.commit({"m-1", 7, 0, {{"container", ""}}}, third);
  all.end(7, true);
  v.set(0);
  (void)all.restore({"", "m-1", 0, false}, {"w"}, v.state);
  CHECK(v.get() == 2);
  // The last attempt ends the save.
  const auto last = all.begin(8);
  (void)all.save({"", "m-2", 8, false, true}, service::picture(v.state, true), last);
  CHECK(folder.files().size() == 3);
  all.give_up(8, last);
  CHECK(folder.files().size() == 2);
  // No attempt has the number of one before it, which may be writing yet.
  CHECK(all.begin(8) != last);
  CHECK(text_of([&] { (void)all.save({"", "m-2", 8, false, true}, early, last); }).find("Aborted") == 0);
  CHECK(folder.files().size() == 2);
}

TEST_CASE("one variable is not on two tasks of a checkpoint, and there is a directory") {
  const temporary_directory folder;
  service::checkpoint_folder all(folder.path.string(), {"ps", 0}, 8), none("", {"ps", 0}, 8),
      gone(folder / "gone", {"ps", 0}, 8);
  one_variable v;
  v.set(1);
  const auto made = all.save({"", "m", 1, false, false}, service::picture(v.state, true), all.begin(1));
  auto twice = made;
  twice.variables.push_back(made.variables[0]);
  CHECK(text_of([&] { all.commit({"m", 1, 0, {}}, twice); }).find("'w' is on two tasks") != std::string::npos);
  CHECK(text_of([&] { save(none, v, "m", 1); }).find("--checkpoints") != std::string::npos);
  CHECK(text_of([&] { save(gone, v, "m", 1); }).find(folder / "gone") != std::string::npos);
  CHECK(text_of([&] {
          (void)all.restore({"", "m", 0, false}, {"w"}, v.state);
        }).find("no checkpoint 'm'") != std::string::npos);
}

}  // namespace
