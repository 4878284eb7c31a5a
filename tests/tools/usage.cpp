// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>

#include "tagma/io/npy.hpp"
#include "tagma/io/safetensors.hpp"
#include "tools/programs.hpp"

namespace tg = tagma;

namespace {

using tg::test::has;
using tg::test::workplace;

/// What the command says to these words behind the program; on standard error, as one line.
void check_refused(const workplace& here, int status, std::initializer_list<std::string> words,
                   const std::string& part) {
  std::vector<std::string> all{here.network};
  all.insert(all.end(), words.begin(), words.end());
  const auto said = here.run(all);
  CAPTURE(said.err, part);
  CHECK(said.status == status);
  CHECK(said.out.empty());
  CHECK(said.err.starts_with("tagma-run: "));
  CHECK(has(said.err, part));
  CHECK(said.err.find('\n') == said.err.size() - 1);
}

TEST_CASE("a command line of tagma-run that makes no sense") {
  const workplace here;
  check_refused(here, 2, {"--explian"}, "unknown option '--explian'; did you mean --explain?");
  check_refused(here, 2, {"--bench"}, "unknown option '--bench'; did you mean --benchmark?");
  check_refused(here, 2, {"--something-else"}, "unknown option '--something-else'; --help lists");
  check_refused(here, 2, {"-x"}, "unknown option '-x'; ");
  check_refused(here, 2, {"other.tagma"}, "one program at a time: '" + here.network + "' and 'other.tagma'");
  check_refused(here, 2, {"--train"}, "--train takes N behind it");
  check_refused(here, 2, {"--train", "0"}, "--train takes a whole number from 1 on, not '0'");
  check_refused(here, 2, {"--train", "many"}, "not 'many'");
  check_refused(here, 2, {"--benchmark="}, "--benchmark takes a whole number from 1 on, not ''");
  check_refused(here, 2, {"--gpus"}, "--gpus is for --run, --train, --benchmark or --explain");
  check_refused(here, 2, {"--run", "--gpus", "--fake-gpus"}, "--gpus and --fake-gpus are one at a time");
  check_refused(here, 2, {"--run", "--threads", "1.5"}, "--threads takes a whole number from 1 on, not '1.5'");
  check_refused(here, 2, {"--run", "--seed", "-1"}, "--seed takes a whole number from 0 on, not '-1'");
  check_refused(here, 2, {"--run=yes"}, "--run takes nothing behind a '='");
  check_refused(here, 2, {"--run", "--dot"}, "are one at a time");
  check_refused(here, 2, {"--dot", "--json"}, "--dot prints no JSON");
  check_refused(here, 2, {"--benchmark", "--run"}, "--benchmark measures runs that do nothing else; leave --run out");
  check_refused(here, 2, {"--feed", "x=ones"}, "--feed is for --run, --train or --benchmark, which is not asked for");
  check_refused(here, 2, {"--benchmark", "--save", "w.safetensors"}, "--save is for --run or --train");
  check_refused(here, 2, {"--train", "2", "--output", "o.npy"}, "--output is for --run");
  check_refused(here, 2, {"--run", "--weights", "a", "--weights", "b"}, "--weights is given twice");
  check_refused(here, 2, {"--run", "--size", "x"}, "--size takes a name, '=' and what it is, not 'x'");
  const auto nothing = here.run({});
  CHECK(nothing.status == 2);
  CHECK(has(nothing.err, "no program is given"));
  CHECK(here.run({"--", here.network}).status == 0);
}

TEST_CASE("names and sizes that a program does not have") {
  const workplace here;
  check_refused(here, 2, {"--run", "--fetch", "accuracy"},
                "--fetch accuracy: the program has no such output; outputs: loss, train, logits");
  check_refused(here, 2, {"--run", "--feed", "y=ones"},
                "--feed y: the program has no such input; inputs: x, labels; outputs: loss, train, logits");
  check_refused(here, 2, {"--run", "--feed", "train=ones"}, "--feed train: this output has no value");
  check_refused(here, 2, {"--run", "--feed", "x=ones", "--feed", "x=zeros"}, "--feed x is given twice");
  check_refused(here, 2, {"--run", "--feed", "x=what"}, "--feed x: 'what' is no FILE.npy, FILE.safetensors, random");
  check_refused(here, 2, {"--run"}, "input 'x', float32 [?, 8], is not fed: --feed x=FILE.npy, or --feed x=random");
  check_refused(here, 2, {"--run", "--feed", "x=ones", "--batch", "2"}, "input 'labels', int32 [?], is not fed");
  check_refused(here, 2, {"--run", "--feed", "random"},
                "'x', float32 [?, 8], has open extents: --size x=N, or --batch N");
  check_refused(here, 2, {"--run", "--feed", "random", "--size", "x=2,8"},
                "--size 'x', float32 [?, 8], has 1 open extent, and is given 2");
  check_refused(here, 2, {"--run", "--feed", "random", "--size", "z=2"}, "--size z: the program has no such input");
  check_refused(here, 2, {"--run", "--feed", "random", "--size", "x=two"}, "--size x takes a whole number from 0 on");
  check_refused(here, 2, {"--run", "--feed", "x=random:2,7"},
                "--feed 'x', float32 [?, 8], does not take the extents [2, 7]");
  check_refused(here, 2, {"--run", "--feed", "x=random:1,1,1,1,1,1,1"}, "does not take the extents");
  check_refused(here, 2, {"--run", "--feed", "x=random:2,8:5"}, "'5' is no range of numbers such as 0..9");
  check_refused(here, 2, {"--run", "--feed", "x=random:2,8:5..1"}, "'5..1' is no range");
  check_refused(here, 2, {"--run", "--fetch", "loss", "--feed", "random", "--batch", "4000000000000000000"},
                "--feed x: ");
  check_refused(here, 2, {"--run", "--feed", "random", "--batch", "2", "--output", "o.npy"},
                "--output o.npy takes one array, and 3 outputs are fetched: say which, --output NAME=o.npy");
  check_refused(here, 2, {"--run", "--feed", "random", "--batch", "2", "--output", "out=o.npy"},
                "--output out is not fetched; fetched: loss, train, logits");
  check_refused(here, 2, {"--run", "--feed", "random", "--batch", "2", "--output", "train=o.npy"},
                "--output o.npy: 'train' is nothing, which no such file has");
  check_refused(here, 2, {"--run", "--feed", "random", "--batch", "2", "--output", "o.txt"},
                "--output o.txt: results are written to .npy and .safetensors");
  check_refused(here, 2, {"--train", "2", "--fetch", "logits", "--feed", "random", "--batch", "2"},
                "--fetch logits: training prints numbers, and this is float32 [?, 4]; add --run to compute it");
  const std::string named = here.files / "named.tagma";
  tg::test::write_named(named, "v");
  const auto fixed = here.run({named, "--train", "3"});
  CHECK(fixed.status == 2);
  CHECK(fixed.err == "tagma-run: --train: no output updates a variable; outputs: v\n");
}

TEST_CASE("files that do not fit a program") {
  const workplace here;
  const auto path = [&](const char* name) { return here.files / name; };
  tg::write_npy(path("double.npy"), tg::tensor<double>({2, 8}));
  tg::write_npy(path("narrow.npy"), tg::tensor<float>({2, 7}));
  tg::write_npy(path("right.npy"), tg::tensor<float>({2, 8}));
  here.files.put("text.npy", "hello");
  const float numbers[16]{};
  const std::vector<tg::safetensors::named_tensor> two{{"a", tg::dtype::float32, {2, 7}, numbers},
                                                       {"b", tg::dtype::float64, {1, 8}, numbers}};
  tg::safetensors::write(path("two.safetensors"), two);
  const std::string pair = path("two.safetensors");

  check_refused(here, 4, {"--run", "--feed", "x=" + path("none.npy")},
                "--feed x: " + path("none.npy") + ": cannot be ");
  check_refused(here, 4, {"--run", "--feed", "x=" + path("text.npy")}, "is not a NumPy file");
  check_refused(here, 4, {"--run", "--feed", "x=" + path("double.npy")},
                "has elements of type '<f8', expected '<f4' for float32");
  check_refused(here, 4, {"--run", "--feed", "x=" + path("narrow.npy")},
                "--feed 'x' is float32 [?, 8], and " + path("narrow.npy") + " holds float32 [2, 7]");
  check_refused(here, 2, {"--run", "--feed", "x=" + path("right.npy"), "--size", "x=2"},
                "--size x: what is fed from a file has its own extents");
  check_refused(here, 4, {"--run", "--feed", "x=" + path("none.safetensors")}, "cannot be opened");
  check_refused(here, 4, {"--run", "--feed", "x=" + pair}, pair + " has no tensor 'x'; it has b, a");
  check_refused(here, 4, {"--run", "--feed", "x=" + pair + ":a"}, "holds float32 [2, 7]");
  check_refused(here, 4, {"--run", "--feed", "x=" + pair + ":b"},
                "--feed 'x' is float32 [?, 8], and 'b' of " + pair + " is float64 [1, 8]");
  check_refused(here, 4, {"--run", "--feed", "random", "--batch", "2", "--weights", path("none.safetensors")},
                "--weights " + path("none.safetensors") + ": cannot be opened");
  check_refused(here, 4, {"--run", "--feed", "random", "--batch", "2", "--weights", pair},
                "there is no tensor for variable 'hidden/kernel', which is float32 [8, 16]");
}

TEST_CASE("runs that fail") {
  const workplace here;
  // Extents that each input takes, and that do not go together.
  check_refused(here, 1, {"--run", "--fetch", "loss", "--feed", "random", "--size", "x=2", "--size", "labels=3"},
                "labels");
  const std::string nowhere = here.files / "nowhere/o.npy";
  const auto said =
      here.with_network({"--run", "--fetch", "logits", "--feed", "random", "--batch", "2", "--output", nowhere});
  CHECK(said.status == 1);
  CHECK(has(said.err, "tagma-run: "));
  CHECK(has(said.err, "nowhere"));
}

}  // namespace
