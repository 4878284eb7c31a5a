// SPDX-License-Identifier: BSL-1.0
// A file that is read has a program that is written as the same file; small ones are run, with what sessions of one and
// of several threads make compared. Inputs of one byte stand for the programs of program_seeds.hpp. Fuzzers change
// parts of programs, and let sizes, checksums, fingerprints and declared results fit.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "fuzz/fuzz.hpp"
#include "fuzz/program_model.hpp"
#include "fuzz/program_seeds.hpp"
#include "tagma/programs.hpp"

namespace {

namespace fuzz = tagma::fuzz;
namespace ir = tagma::ir;
using fuzz::draws;
using tagma::extent;
using tagma::status_code;

constexpr extent most_elements = 4096;
constexpr std::size_t most_feeds = 6;

/// Elements of any type: few different ones, of which some are extreme.
class made_tensor {
 public:
  made_tensor(tagma::dtype type, const tagma::shape& dims, draws& d) : type_(type), dims_(dims) {
    const auto count = static_cast<std::size_t>(dims.elements());
    const bool wild = d.once_in(4);
    if (type == tagma::dtype::string) texts_.resize(count, "a text");
    bytes_.resize(count * tagma::size_of(type));
    std::size_t size = tagma::size_of(type);
    for (std::size_t i = 0; i < count && type != tagma::dtype::string; ++i) {
      const std::uint64_t bits = element(d, wild);
      std::memcpy(bytes_.data() + i * size, &bits, size);
    }
  }
  [[nodiscard]] tagma::raw_view view() const {
    if (type_ == tagma::dtype::string) return {texts_.data(), type_, dims_};
    return {bytes_.data(), type_, dims_};
  }

 private:
  [[nodiscard]] std::uint64_t element(draws& d, bool wild) const {
    constexpr double reals[] = {0, 1, -1, 0.5, 2, 3.25, -2.75, 1e-3, 1e30, -1e30, HUGE_VAL, -HUGE_VAL, NAN, 1e-40};
    constexpr std::uint16_t halves[] = {0, 0x3c00, 0xbc00, 0x3f80, 0x4000, 0x7c00, 0x7e00, 1};
    constexpr std::int64_t integers[] = {0, 1, 2, 3, 4, -1, 7, INT64_MAX, INT64_MIN, INT32_MAX, 1000};
    switch (type_) {
      case tagma::dtype::float64:
        return std::bit_cast<std::uint64_t>(reals[d.below(wild ? 14 : 8)]);
      case tagma::dtype::float32:
        return std::bit_cast<std::uint32_t>(static_cast<float>(reals[d.below(wild ? 14 : 8)]));
      case tagma::dtype::float16:
      case tagma::dtype::bfloat16:
        return halves[d.below(wild ? 8 : 5)];
      case tagma::dtype::boolean:
        return d.below(2);
      default:
        return static_cast<std::uint64_t>(integers[d.below(wild ? 11 : 3)]);
    }
  }

  tagma::dtype type_;
  tagma::shape dims_;
  std::vector<std::byte> bytes_;
  std::vector<std::string_view> texts_;
};

/// True for programs that do little, whatever extents up to 5 they meet.
bool is_small(const tagma::any_program& program) {
  const ir::graph_view g = program.graph();
  if (g.size() > 400 || program.outputs().size() > 12) return false;
  std::size_t feeds = 0;
  for (ir::node_id i = 0; i < g.size(); ++i) {
    const tagma::shape dims = g[i].spec.dims.with_dyn(5);
    extent elements = 1;
    for (const extent e : dims.span()) {
      if (e > most_elements) return false;
      elements *= e;
      if (elements > most_elements) return false;
    }
    feeds += g.info(i).is(ir::op_kind::placeholder) ? 1u : 0u;
  }
  for (const ir::loop_info& l : g.loops)
    if (g[l.head].op == &ir::rules<ir::times_head> && g.attributes(l.head)[0] > 1000) return false;
  return feeds <= most_feeds && program.peak_bytes(5) < extent{1} << 20;
}

template <std::size_t... I>
std::vector<tagma::any_tensor> run_with(tagma::session<tagma::any_program>& session,
                                        const std::vector<tagma::output_name>& outputs,
                                        const std::vector<tagma::named_feed>& feeds, std::index_sequence<I...>) {
  return session.run(outputs, tagma::timeout(std::chrono::milliseconds(500)), feeds[I]...);
}
template <std::size_t N = 0>
std::vector<tagma::any_tensor> run_fed(tagma::session<tagma::any_program>& session,
                                       const std::vector<tagma::output_name>& outputs,
                                       const std::vector<tagma::named_feed>& feeds) {
  if constexpr (N < most_feeds)
    if (feeds.size() > N) return run_fed<N + 1>(session, outputs, feeds);
  return run_with(session, outputs, feeds, std::make_index_sequence<N>{});
}

bool are_same(const tagma::any_tensor& a, const tagma::any_tensor& b) {
  if (a.type() != b.type() || !(a.dims() == b.dims())) return false;
  if (a.type() == tagma::dtype::none || a.view().bytes() == 0) return true;
  if (a.type() != tagma::dtype::string) return std::memcmp(a.view().data, b.view().data, a.view().bytes()) == 0;
  const auto one = a.as<std::string_view>(), other = b.as<std::string_view>();
  return std::equal(one.data(), one.data() + one.size(), other.data());
}

/// Runs all outputs, and some, in sessions of one and of two threads.
void run(const tagma::any_program& program, std::uint64_t seed) {
  if (!is_small(program)) return;
  const ir::graph_view g = program.graph();
  tagma::session one(program, {.seed = 3, .intra_op_threads = 1, .cpu_devices = 3});
  tagma::session two(program, {.seed = 3, .intra_op_threads = 2, .inter_op_threads = 2, .cpu_devices = 3});
  bool alike = true;
  for (int round = 0; round < 3; ++round) {
    draws d(seed + static_cast<std::uint64_t>(round));
    const auto usual = static_cast<extent>(d.below(5));
    std::vector<made_tensor> made;
    std::vector<tagma::named_feed> feeds;
    made.reserve(most_feeds);
    for (ir::node_id i = 0; i < g.size(); ++i) {
      if (!g.info(i).is(ir::op_kind::placeholder)) continue;
      const bool known = std::any_of(feeds.begin(), feeds.end(), [&](const auto& f) { return f.name == g[i].name; });
      if (known) continue;
      tagma::shape dims = g[i].spec.dims;
      for (int k = 0; k < dims.rank; ++k)
        if (dims.extents[k] == tagma::dyn) dims.extents[k] = d.once_in(16) ? static_cast<extent>(d.below(6)) : usual;
      made.emplace_back(g[i].spec.type, dims, d);
      feeds.push_back({g[i].name, made.back().view()});
    }
    std::vector<tagma::output_name> outputs;
    for (const std::string& name : program.outputs())
      if (round == 0 || d.once_in(2)) outputs.push_back(name);
    if (outputs.empty()) continue;
    std::vector<tagma::any_tensor> found[2];
    for (int s = 0; s < 2; ++s) try {
        found[s] = run_fed(s == 0 ? one : two, outputs, feeds);
      } catch (const tagma::error& e) {
        fuzz::expect_error(
            e,
            {status_code::invalid_argument, status_code::out_of_range, status_code::failed_precondition,
             status_code::deadline_exceeded, status_code::resource_exhausted, status_code::unimplemented},
            "");
        if (e.code() == status_code::deadline_exceeded) return;
      }
    // A run that failed may have updated some variables, and which ones depends on the order of its steps.
    alike = alike && !found[0].empty() && !found[1].empty();
    for (std::size_t k = 0; alike && k < outputs.size(); ++k)
      fuzz::expect(are_same(found[0][k], found[1][k]), "threads change no byte");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& seeds = fuzz::seeds();
  const std::string bytes(size == 1 ? std::string_view(seeds[data[0] % seeds.size()]) : fuzz::text_of(data, size));
  try {
    const tagma::any_program program = tagma::read_program_bytes(bytes);
    fuzz::expect(tagma::write_program(program) == bytes, "what is read is written as the same file");
    run(program, tagma::hash_text(bytes));
  } catch (const tagma::error& e) {
    fuzz::expect_error(e,
                       {status_code::data_loss, status_code::invalid_argument, status_code::unimplemented,
                        status_code::resource_exhausted},
                       "");
  }
  return 0;
}

/// Called by fuzzers in place of changes of single bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  draws d(seed);
  const auto& seeds = fuzz::seeds();
  std::string bytes(fuzz::text_of(data, size));
  if (size < 64) bytes = seeds[size == 1 ? data[0] % seeds.size() : d.below(seeds.size())];
  if (d.once_in(32)) {
    bytes[d.below(bytes.size())] = static_cast<char>(d.bits());
  } else {
    try {
      fuzz::program_model m = fuzz::program_model::of(bytes);
      for (std::size_t changes = 1 + d.below(4); changes > 0; --changes) fuzz::change(m, d);
      if (!d.once_in(8)) m.infer();
      bytes = m.mended();
    } catch (const tagma::error&) {
      bytes = seeds[d.below(seeds.size())];
    }
  }
  if (bytes.size() > most) return size;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
