// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random programs over small cells of memory on fake devices and on the host, and what they compute one step after the
/// other.

#include <cstring>
#include <string>
#include <vector>

#include "tagma/base/random.hpp"
#include "tagma/device/fake/driver.hpp"
#include "tagma/device/stream/dispatch.hpp"

namespace tagma_tests {

namespace stream = tagma::device::stream;
namespace fake = tagma::device::fake;
using tagma::runtime::on_host;

using cell = tagma::philox_block;

/// A cell of a device, or of the pinned memory of the host.
struct cell_place {
  int device = on_host;
  std::size_t index = 0;
};

/// One step: what it writes is made of what it reads, or is a copy of it.
struct cell_step {
  stream::step_kind kind = stream::step_kind::kernel;
  std::vector<cell_place> in;
  cell_place out;
};

inline cell mixed(std::uint32_t salt, const std::vector<cell>& in) {
  cell c{salt, salt * 7 + 1, salt ^ 0x5555u, ~salt};
  for (const cell& i : in) c = tagma::philox(c[0], i[1], {i[0] ^ c[1], i[1] + c[2], i[2] ^ c[3], i[3]});
  return c;
}

/// Steps over `cells` cells in each place, with the edges that their reads and writes ask for, and some more.
class cell_program {
 public:
  static constexpr std::size_t cells = 5;

  cell_program(std::uint64_t seed, std::size_t size, int devices, bool with_host = true) : devices_(devices) {
    std::uint64_t draws = 0;
    const auto below = [&](std::size_t n) { return tagma::random_block({seed, 7, 0}, draws++)[0] % n; };
    for (std::size_t s = 0; s < size; ++s) {
      constexpr stream::step_kind kinds[] = {
          stream::step_kind::kernel,  stream::step_kind::kernel,  stream::step_kind::kernel,
          stream::step_kind::kernel,  stream::step_kind::kernel,  stream::step_kind::to_device,
          stream::step_kind::to_host, stream::step_kind::between, stream::step_kind::host};
      cell_step what;
      what.kind = kinds[below(with_host && below(3) == 0 ? 9 : 8)];
      const int device = static_cast<int>(below(static_cast<std::size_t>(devices)));
      stream::step entry{what.kind, below(16) != 0, static_cast<std::int16_t>(device),
                         static_cast<std::int16_t>((device + 1) % devices), static_cast<float>(1 + below(4))};
      if (devices == 1 && what.kind == stream::step_kind::between) what.kind = entry.kind = stream::step_kind::kernel;
      int from = device, to = device;
      if (what.kind == stream::step_kind::host) from = to = on_host;
      if (what.kind == stream::step_kind::to_device) from = on_host;
      if (what.kind == stream::step_kind::to_host) to = on_host;
      if (what.kind == stream::step_kind::between) to = entry.other;
      const bool copies = what.kind >= stream::step_kind::to_device;
      for (std::size_t k = copies ? 1 : below(4); k > 0; --k) what.in.push_back({from, below(cells)});
      what.out = {to, below(cells)};
      steps.push_back(what);
      entries.push_back(entry);
    }
    find_edges(below);
  }

  [[nodiscard]] stream::step_list list() const { return {entries, first_wait, waits}; }
  /// The number of a place among all of them.
  [[nodiscard]] std::size_t number(const cell_place& p) const {
    return static_cast<std::size_t>(p.device + 1) * cells + p.index;
  }
  [[nodiscard]] std::size_t places() const { return (static_cast<std::size_t>(devices_) + 1) * cells; }
  [[nodiscard]] int devices() const { return devices_; }
  [[nodiscard]] static bool is_copy(const cell_step& s) { return s.kind >= stream::step_kind::to_device; }

  /// Every step, one after the other.
  void compute(std::vector<cell>& memory) const {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      std::vector<cell> in;
      for (const cell_place& p : steps[s].in) in.push_back(memory[number(p)]);
      memory[number(steps[s].out)] = is_copy(steps[s]) ? in[0] : mixed(static_cast<std::uint32_t>(s), in);
    }
  }

  std::vector<cell_step> steps;
  std::vector<stream::step> entries;
  std::vector<std::int32_t> first_wait{0};
  std::vector<stream::step_id> waits;

 private:
  template <class Below>
  void find_edges(const Below& below) {
    std::vector<stream::step_id> writer(places(), -1);
    std::vector<std::vector<stream::step_id>> readers(places());
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const auto id = static_cast<stream::step_id>(s);
      const auto wait = [&](stream::step_id w) {
        if (w >= 0 && w != id) waits.push_back(w);
      };
      for (const cell_place& p : steps[s].in) {
        wait(writer[number(p)]);
        readers[number(p)].push_back(id);
      }
      const std::size_t out = number(steps[s].out);
      wait(writer[out]);
      for (const stream::step_id r : readers[out]) wait(r);
      readers[out].clear();
      writer[out] = id;
      if (s > 0 && below(8) == 0) wait(static_cast<stream::step_id>(below(s)));  // as control dependencies do
      first_wait.push_back(static_cast<std::int32_t>(waits.size()));
    }
  }

  int devices_;
};

/// The same program in the memory of a fake driver.
class cell_memory final : public stream::step_functions {
 public:
  cell_memory(fake::driver& driver, const cell_program& program) : driver_(driver), program_(program) {
    for (int d = on_host; d < program.devices(); ++d)
      data_.push_back(d == on_host ? driver.allocate_pinned(sizeof(cell) * cell_program::cells)
                                   : driver.allocate(d, sizeof(cell) * cell_program::cells));
    spare_ = driver.allocate_pinned(sizeof(cell) * cell_program::cells);
  }
  cell_memory(const cell_memory&) = delete;
  cell_memory& operator=(const cell_memory&) = delete;
  ~cell_memory() {
    for (int d = on_host; d < program_.devices(); ++d)
      d == on_host ? driver_.deallocate_pinned(data_[0])
                   : driver_.deallocate(d, data_[static_cast<std::size_t>(d) + 1]);
    driver_.deallocate_pinned(spare_);
  }

  /// Copies all cells to the devices, or from them.
  void store(const std::vector<cell>& memory) {
    for (int d = on_host; d < program_.devices(); ++d) {
      std::memcpy(d == on_host ? data_[0] : spare_, &memory[program_.number({d, 0})],
                  sizeof(cell) * cell_program::cells);
      if (d != on_host) transfer({data_[static_cast<std::size_t>(d) + 1], d}, {spare_, on_host}, d);
    }
  }
  [[nodiscard]] std::vector<cell> load() {
    std::vector<cell> memory(program_.places());
    for (int d = on_host; d < program_.devices(); ++d) {
      if (d != on_host) transfer({spare_, on_host}, {data_[static_cast<std::size_t>(d) + 1], d}, d);
      std::memcpy(&memory[program_.number({d, 0})], d == on_host ? data_[0] : spare_,
                  sizeof(cell) * cell_program::cells);
    }
    return memory;
  }

  void launch(std::size_t s, tagma::runtime::stream_ref stream) override {
    const cell_step& what = program_.steps[s];
    std::vector<fake::access> accesses;
    for (const cell_place& p : what.in) accesses.push_back({address(p), sizeof(cell), false});
    accesses.push_back({address(what.out), sizeof(cell), true});
    driver_.launch_kernel(
        stream, [this, s] { compute(s); }, accesses, describe(s));
  }
  [[nodiscard]] stream::copy_request copy(std::size_t s) override {
    const cell_step& what = program_.steps[s];
    return {{address(what.out), what.out.device}, {address(what.in[0]), what.in[0].device}, sizeof(cell)};
  }
  void run_host(std::size_t s) override {
    const cell_step& what = program_.steps[s];
    for (const cell_place& p : what.in) driver_.check_host_access({address(p), sizeof(cell), false});
    driver_.check_host_access({address(what.out), sizeof(cell), true});
    compute(s);
  }
  [[nodiscard]] std::string describe(std::size_t s) const override { return "step " + std::to_string(s); }
  [[nodiscard]] std::uint64_t arguments(std::size_t, std::size_t) const override { return argument; }

  std::uint64_t argument = 1;

 private:
  [[nodiscard]] std::byte* address(const cell_place& p) const {
    return data_[static_cast<std::size_t>(p.device + 1)] + p.index * sizeof(cell);
  }
  void compute(std::size_t s) {
    std::vector<cell> in(program_.steps[s].in.size());
    for (std::size_t k = 0; k < in.size(); ++k) std::memcpy(&in[k], address(program_.steps[s].in[k]), sizeof(cell));
    const cell out = mixed(static_cast<std::uint32_t>(s), in);
    std::memcpy(address(program_.steps[s].out), &out, sizeof(cell));
  }
  void transfer(tagma::runtime::memory_place to, tagma::runtime::memory_place from, int device) {
    const tagma::runtime::owned_stream s(driver_, driver_.make_stream(device));
    const tagma::runtime::owned_event e(driver_, driver_.make_event(device));
    driver_.copy(s.get(), to, from, sizeof(cell) * cell_program::cells);
    driver_.record(e.get(), s.get());
    static_cast<void>(driver_.host_wait(e.get(), -1));
  }

  fake::driver& driver_;
  const cell_program& program_;
  std::vector<std::byte*> data_;
  std::byte* spare_ = nullptr;
};

}  // namespace tagma_tests
