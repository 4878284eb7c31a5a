// SPDX-License-Identifier: BSL-1.0
#include "tagma/place/device.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

using tagma::covers;
using tagma::device_from;
using tagma::device_spec;
using tagma::device_text;
using tagma::merge;
using tagma::parse_device;
using tagma::parse_local_device;

namespace {

constexpr device_spec make(std::string_view job, int replica, int task, std::string_view type, int id) {
  return {device_text(job), replica, task, device_text(type), id};
}

// The compiler reads the whole grammar.
static_assert(*parse_device("/job:worker/replica:0/task:1/device:GPU:3") == make("worker", 0, 1, "GPU", 3));
static_assert(*parse_device("/job:foo_bar/replica:1/task:2/device:GPU:3") == make("foo_bar", 1, 2, "GPU", 3));
static_assert(*parse_device("/gpu:1/task:1/job:worker") == make("worker", -1, 1, "GPU", 1));
static_assert(parse_device("")->empty() && parse_device("/")->empty());
static_assert(parse_device("") && parse_device("/"));
static_assert(*parse_device("/cpu:0") == make("", -1, -1, "CPU", 0));
static_assert(*parse_device("/CPU:*") == make("", -1, -1, "CPU", -1));
static_assert(*parse_device("/gpu:*") == make("", -1, -1, "GPU", -1));
static_assert(*parse_device("/GPU:2") == *parse_device("/device:GPU:2"));
static_assert(*parse_device("/device:gpu:0") == make("", -1, -1, "gpu", 0));
static_assert(!(*parse_device("/device:gpu:0") == *parse_device("/gpu:0")));
static_assert(*parse_device("/device:TPU") == *parse_device("/device:TPU:*"));
static_assert(*parse_device("/job:*/replica:*/task:*/device:*") == device_spec{});
static_assert(*parse_device("/job:a/job:b2") == make("b2", -1, -1, "", -1));
static_assert(*parse_device("/job:a/job:*") == device_spec{});
static_assert(*parse_device("/task:1/task:2") == make("", -1, 2, "", -1));
static_assert(*parse_device("/cpu:1/device:GPU") == make("", -1, -1, "GPU", -1));
static_assert(*parse_device("/task:2147483647") == make("", -1, 2147483647, "", -1));

static_assert(tagma::device_string_parses<"/job:worker/task:1/gpu:1">);
static_assert(!tagma::device_string_parses<"/job:worker/tusk:1">);
static_assert(tagma::device_string<"/job:worker/task:1/gpu:1"> == make("worker", -1, 1, "GPU", 1));
static_assert(tagma::cpu<0>::spec == *parse_device("/cpu:0"));
static_assert(tagma::gpu<3>::spec == *parse_device("/device:GPU:3"));

static_assert(*parse_local_device("CPU:10") == make("", -1, -1, "CPU", 10));
static_assert(*parse_local_device("cpu:10") == make("", -1, -1, "cpu", 10));
static_assert(!parse_local_device("cpu:abc") && !parse_local_device("abc:") && !parse_local_device("abc"));
static_assert(!parse_local_device("") && !parse_local_device("CPU:1x") && !parse_local_device("CPU:*"));
static_assert(!parse_local_device("/cpu:1") && !parse_local_device("myspecialdevice"));

static_assert(parse_device("/job:worker/replica:0/task:1/device:GPU:3")->complete());
static_assert(!parse_device("/job:worker/replica:0/task:1/device:GPU:*")->complete());

// A spec is a template argument.
template <device_spec Spec>
constexpr int id_of = Spec.id;
static_assert(id_of<tagma::device_string<"/gpu:7">> == 7);

static_assert(covers({}, *parse_device("/cpu:0")));
static_assert(covers(*parse_device("/job:a"), *parse_device("/job:a/task:1/cpu:0")));
static_assert(!covers(*parse_device("/job:a/task:1"), *parse_device("/job:a")));
static_assert(merge(*parse_device("/gpu:*"), *parse_device("/cpu:1"), true).spec.empty());
static_assert(!merge(*parse_device("/gpu:*"), *parse_device("/cpu:1")));

}  // namespace

TEST_CASE("a text that is no device name is refused at a position with a reason") {
  struct refused {
    std::string_view text;
    std::size_t position;
    std::string_view reason;
  };
  constexpr std::string_view component = "expected /job:, /replica:, /task:, /device:, /cpu: or /gpu:";
  constexpr std::string_view letter = "a name begins with a letter";
  constexpr std::string_view number = "expected an unsigned decimal number";
  const refused cases[] = {
      {"/job:123/replica:1/task:2/device:GPU:3", 5, letter},
      {"/job:", 5, letter},
      {"/job:_a", 5, letter},
      {"/job:a-b", 6, component},
      {"/job:foo/replica:-1", 17, number},
      {"/job:foo/replica:1/task:-2", 24, number},
      {"/job:foo/replica:1/task:2/bar:3", 25, component},
      {"/job:foo/replica:1/task:2/device:GPU:3/extra", 38, component},
      {"/device:", 8, letter},
      {"/device:GPU:", 12, number},
      {"/device:GPU:-1", 12, number},
      {"/device:GPU:3x", 13, component},
      {"foobar", 0, component},
      {"//", 0, component},
      {"/cpu:0/", 6, component},
      {"/gpu:", 5, number},
      {"/gpu", 0, component},
      {"/cpu", 0, component},
      {"/Gpu:0", 0, component},
      {"CPU:0", 0, component},
      {"/task:2147483648", 6, "a number is at most 2147483647"},
      {"/task:99999999999999999999999999", 6, "a number is at most 2147483647"},
      {"/job:a1234567890123456789012345678901", 5, "a name has at most 31 characters"},
  };
  for (const refused& c : cases) {
    INFO(c.text);
    const auto parsed = parse_device(c.text);
    CHECK_FALSE(parsed);
    CHECK(parsed.position == c.position);
    CHECK(parsed.reason == c.reason);
    CHECK(parsed.spec.empty());
  }
  CHECK(parse_device("/job:a123456789012345678901234567890")->job.view() == "a123456789012345678901234567890");
}

TEST_CASE("a local name is a type, a colon and a number") {
  CHECK(to_string(*parse_local_device("CPU:10")) == "/device:CPU:10");
  CHECK(parse_local_device("cpu:abc").position == 4);
  CHECK(parse_local_device("abc:").position == 4);
  CHECK(parse_local_device("abc").position == 3);
  CHECK(parse_local_device("CPU:1/task:0").reason == "nothing may follow the number");
}

TEST_CASE("a device prints in its canonical spelling, which parses to the same device") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", ""},
      {"/", ""},
      {"/cpu:1", "/device:CPU:1"},
      {"/gpu:*", "/device:GPU:*"},
      {"/device:GPU", "/device:GPU:*"},
      {"/device:*:3", "/device:*:3"},
      {"/device:foo:3", "/device:foo:3"},
      {"/job:worker", "/job:worker"},
      {"/gpu:3/task:1/replica:0/job:worker", "/job:worker/replica:0/task:1/device:GPU:3"},
      {"/task:7/job:*", "/task:7"},
  };
  for (const auto& [text, canonical] : cases) {
    INFO(text);
    const device_spec spec = device_from(text);
    CHECK(to_string(spec) == canonical);
    CHECK(device_from(canonical) == spec);
  }
}

TEST_CASE("a program that needs a device gets a sentence with the text and the position") {
  try {
    (void)device_from("/job:worker/gpu");
    FAIL("nothing was thrown");
  } catch (const tagma::error& e) {
    CHECK(e.code() == tagma::status_code::invalid_argument);
    CHECK(std::string(e.what()) ==
          "InvalidArgument: device string \"/job:worker/gpu\", position 11: "
          "expected /job:, /replica:, /task:, /device:, /cpu: or /gpu:");
  }
}

TEST_CASE("a spec covers the names that agree in all it sets") {
  const device_spec name = device_from("/job:a/replica:1/task:2/cpu:3");
  for (const auto* spec : {"", "/job:a", "/replica:1", "/task:2", "/device:CPU", "/cpu:3", "/job:a/cpu:*",
                           "/job:a/replica:1/task:2/cpu:3"})
    CHECK(covers(device_from(spec), name));
  for (const auto* spec : {"/job:b", "/replica:0", "/task:1", "/device:GPU", "/cpu:2", "/device:cpu:3",
                           "/job:a/task:0"})
    CHECK_FALSE(covers(device_from(spec), name));
  CHECK_FALSE(covers(name, device_from("/job:a/replica:1/task:2")));
}

TEST_CASE("merged requests take what one sets and refuse what differs") {
  const auto merged = [](const char* a, const char* b, bool soft) {
    const auto m = merge(device_from(a), device_from(b), soft);
    return m ? to_string(m.spec) : std::string(m.conflict);
  };
  CHECK(merged("", "", false).empty());
  CHECK(merged("/job:a", "/task:1/gpu:0", false) == "/job:a/task:1/device:GPU:0");
  CHECK(merged("/gpu:*", "/gpu:2", false) == "/device:GPU:2");
  CHECK(merged("/gpu:2", "/device:GPU", false) == "/device:GPU:2");
  for (const bool soft : {false, true}) {
    CHECK(merged("/job:a", "/job:b", soft) == "incompatible jobs");
    CHECK(merged("/replica:0", "/replica:1", soft) == "incompatible replicas");
    CHECK(merged("/task:0", "/task:1", soft) == "incompatible tasks");
  }
  CHECK(merged("/gpu:*", "/cpu:1", false) == "incompatible types");
  CHECK(merged("/gpu:1", "/gpu:2", false) == "incompatible ids");
  CHECK(merged("/gpu:*", "/cpu:1", true).empty());
  CHECK(merged("/task:3/gpu:1", "/job:a/cpu:1", true) == "/job:a/task:3");
  CHECK(merged("/device:GPU:1", "/device:GPU:2", true) == "/device:GPU:*");
  CHECK_THROWS_WITH(tagma::merge_or_fail(device_from("/gpu:1"), device_from("/job:a/gpu:2")),
                    "InvalidArgument: cannot merge devices with incompatible ids: '/device:GPU:1' and "
                    "'/job:a/device:GPU:2'");
  CHECK(tagma::merge_or_fail(device_from("/gpu:1"), device_from("/job:a")) == device_from("/job:a/gpu:1"));
}

TEST_CASE("an inner scope wins and an outer one fills what is open") {
  const auto filled = [](const char* inner, const char* outer) {
    return to_string(tagma::fill_from(device_from(inner), device_from(outer)));
  };
  CHECK(filled("/job:worker", "/job:ps/task:1/gpu:0") == "/job:worker/task:1/device:GPU:0");
  CHECK(filled("/device:CPU", "/gpu:1") == "/device:CPU:1");
  CHECK(filled("/device:GPU:*", "/device:GPU:7") == "/device:GPU:7");
  CHECK(filled("", "/task:4") == "/task:4");
}
