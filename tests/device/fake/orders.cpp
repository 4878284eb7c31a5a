// SPDX-License-Identifier: BSL-1.0
// Control dependencies from steps of one device to steps of another, in random programs and random orders of the fake
// devices.
#include <catch2/catch.hpp>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "tagma/device/fake/provide.hpp"
#include "tagma/tagma.hpp"

namespace tagma::test {

/// Tells when it was called: attribute 0 goes to a list.
struct note_call {
  static constexpr std::string_view name = "test.note";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};
inline std::mutex noting;
inline std::vector<int> noted;

inline void run_note(const runtime::kernel_args& args, const runtime::run_context&) {
  const std::lock_guard lock(noting);
  noted.push_back(static_cast<int>(args.attributes[0]));
  *args.out.as<float>() = *args.in[0].as<float>() + 1;
}

/// The same, later: it waits without a thread, and ends on another one.
struct note_later : note_call {
  static constexpr std::string_view name = "test.note_later";
};
/// Ends what waits, in a random order.
class late_notes {
 public:
  late_notes()
      : thread_([this](const std::stop_token& stop) {
          std::mt19937 random(7);
          while (!stop.stop_requested()) {
            std::unique_lock lock(mutex_);
            if (waiting_.empty() || random() % 3 == 0) {
              lock.unlock();
              std::this_thread::yield();
              continue;
            }
            std::swap(waiting_[random() % waiting_.size()], waiting_.back());
            const note n = waiting_.back();
            waiting_.pop_back();
            *n.out = n.value;
            {
              const std::lock_guard also(noting);
              noted.push_back(n.number);
            }
            n.done.succeed();
          }
        }) {}
  void add(const runtime::kernel_args& args, runtime::completion done) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({static_cast<int>(args.attributes[0]), args.out.as<float>(), *args.in[0].as<float>() + 1, done});
  }

 private:
  struct note {
    int number;
    float* out;
    float value;
    runtime::completion done;
  };
  std::mutex mutex_;
  std::vector<note> waiting_;
  std::jthread thread_;
};
inline late_notes* late = nullptr;
inline void start_note(const runtime::kernel_args& args, const runtime::run_context&, runtime::completion done) {
  late->add(args, done);
}

}  // namespace tagma::test

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<tagma::test::note_later>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{.start = &test::start_note};
};
template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<tagma::test::note_call>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&test::run_note};
};

namespace {

namespace tg = tagma;
namespace fake = tg::device::fake;

constexpr auto x = tg::placeholder<"x", float>();

constexpr std::size_t drawn(unsigned seed, int place, std::size_t below) {
  std::uint64_t h = (seed + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(place) * 0xbf58476d1ce4e5b9U;
  h ^= h >> 31;
  h *= 0x94d049bb133111ebU;
  return static_cast<std::size_t>((h ^ (h >> 29)) % below);
}

template <unsigned Seed, int Number>
struct place_of {};

template <std::size_t Device, class F, class E>
constexpr auto somewhere(const F& f, const E& e) {
  if constexpr (Device == 0)
    return tg::on<tg::cpu<0>>(f)(e);
  else if constexpr (Device == 1)
    return tg::on<tg::gpu<0>>(f)(e);
  else
    return tg::on<tg::gpu<1>>(f)(e);
}

/// Notes that read one of those before, wait for two others, and are on the host or on one of two devices.
/// @tparam Late half of those on the host end later
template <unsigned Seed, bool Late, int Number, int Count, class... E>
constexpr auto noting_program(const std::tuple<E...>& have) {
  if constexpr (Number == Count) {
    return have;
  } else {
    constexpr std::size_t size = sizeof...(E);
    const auto& read = std::get < drawn(Seed, 4 * Number, 3) == 0 ? 0 : drawn(Seed, 4 * Number + 1, size) > (have);
    constexpr std::size_t device = drawn(Seed, 1000 + Number, 3);
    using what = std::conditional_t<Late && device == 0 && drawn(Seed, 2000 + Number, 2) == 0, tg::test::note_later,
                                    tg::test::note_call>;
    const auto next = somewhere<device>(
        [&](const auto& e) {
          const auto note = tg::make_operation<what, tg::ir::pack_attributes(Number), place_of<Seed, Number>>(e);
          if constexpr (size < 3)
            return note;
          else
            return tg::after(std::get<1 + drawn(Seed, 4 * Number + 2, size - 1)>(have),
                             std::get<1 + drawn(Seed, 4 * Number + 3, size - 1)>(have))(note);
        },
        read);
    return noting_program<Seed, Late, Number + 1, Count>(std::tuple_cat(have, std::tuple(next)));
  }
}

/// Which notes the graph orders before others, by data or by `after`: `before[a][b]`.
template <class Graph>
std::vector<std::vector<bool>> orders_of(int count) {
  const auto size = static_cast<std::size_t>(Graph::view.size());
  std::vector<std::vector<bool>> behind(size, std::vector<bool>(size));
  std::vector<int> number(size, -1);
  for (int i = 0; i < Graph::view.size(); ++i) {
    const auto here = static_cast<std::size_t>(i);
    const auto add = [&](int from) {
      const auto there = static_cast<std::size_t>(from);
      behind[here][there] = true;
      for (std::size_t k = 0; k < size; ++k)
        if (behind[there][k]) behind[here][k] = true;
    };
    for (const int in : Graph::view.inputs(i)) add(in);
    for (const int in : Graph::view.controls(i)) add(in);
    if (Graph::view.info(i).name.starts_with("test.note"))
      number[here] = static_cast<int>(Graph::view.attributes(i)[0]);
  }
  std::vector<std::vector<bool>> before(static_cast<std::size_t>(count),
                                        std::vector<bool>(static_cast<std::size_t>(count)));
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t k = 0; k < size; ++k)
      if (number[i] >= 0 && number[k] >= 0 && behind[i][k])
        before[static_cast<std::size_t>(number[k])][static_cast<std::size_t>(number[i])] = true;
  return before;
}

int crossings = 0;  // control dependencies between devices that were seen to be kept
int free_orders = 0;

template <unsigned Seed, bool Late = false>
void check_orders() {
  constexpr int count = 14;
  const auto notes = noting_program<Seed, Late, 0, count>(std::tuple(x));
  const auto all = std::apply([](const auto&, const auto&... e) { return tg::group(e...); }, notes);
  const auto program = tg::compile([=] { return tg::outputs(all); });
  using graph = typename std::remove_const_t<decltype(program)>::graph;
  using where = tg::detail::placed_graph<graph>;
  const auto before = orders_of<graph>(count);
  for (int i = 0; i < graph::view.size(); ++i)
    for (const int c : graph::view.controls(i)) crossings += where::placed.devices()[i] != where::placed.devices()[c];
  std::vector<std::vector<int>> seen;
  for (std::uint64_t order = 0; order < 8; ++order)
    for (const bool graphs : {false, true}) {
      INFO("program " << Seed << ", order " << order << (graphs ? ", replayed" : ""));
      fake::machine machine({.devices = 2, .seed = order});
      tg::session_options options{.gpu = {.memory_fraction = 0.5, .streams = 3, .graphs = graphs}};
      if (order % 2 == 1) options.inter_op_pools = {{.threads = 1}};
      tg::session session(program, options);
      for (int run = 0; run < 4; ++run) {
        tg::test::noted.clear();
        session.run(all, x = 1.0F);
        REQUIRE(tg::test::noted.size() == count);
        std::vector<std::size_t> at(count);
        for (std::size_t i = 0; i < count; ++i) at[static_cast<std::size_t>(tg::test::noted[i])] = i;
        for (std::size_t a = 0; a < count; ++a)
          for (std::size_t b = 0; b < count; ++b)
            if (before[a][b] && at[a] >= at[b]) FAIL("note " << b << " came before note " << a);
        seen.push_back(tg::test::noted);
      }
    }
  for (const auto& one : seen) free_orders += one != seen[0];
}

TEST_CASE("control dependencies between the host and two devices hold in every order of the devices") {
  check_orders<1>();
  check_orders<2>();
  check_orders<3>();
  check_orders<4>();
  check_orders<5>();
  check_orders<6>();
  CHECK(crossings > 60);
  CHECK(free_orders > 100);
}

TEST_CASE("so do those of steps that wait without a thread") {
  tg::test::late_notes notes;
  tg::test::late = &notes;
  crossings = free_orders = 0;
  check_orders<11, true>();
  check_orders<12, true>();
  check_orders<13, true>();
  check_orders<14, true>();
  CHECK(crossings > 40);
  CHECK(free_orders > 60);
}

}  // namespace
