// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/turned_halves.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tagma/tensor/half.hpp"
#include "tagma/with_macros.hpp"

namespace cpu = tagma::device::cpu;
using tagma::bfloat16;

TEST_CASE("matrices of 16-bit elements are turned, whatever their extents") {
  for (const std::int64_t rows : {1, 7, 8, 9, 16, 31, 40})
    for (const std::int64_t columns : {1, 7, 8, 9, 31, 32, 33, 70})
      for (const std::int64_t gap : {0, 5}) {
        const std::int64_t from_row = columns + gap, to_row = rows + gap;
        std::vector<bfloat16> from(static_cast<std::size_t>((rows - 1) * from_row + columns));
        std::vector<bfloat16> to(static_cast<std::size_t>((columns - 1) * to_row + rows));
        for (std::size_t i = 0; i < from.size(); ++i) from[i].bits = static_cast<std::uint16_t>(i * 7919 + 1);
        cpu::dispatch<cpu::detail::turn_halves>(static_cast<const bfloat16*>(from.data()), from_row, rows, columns,
                                                to.data(), to_row);
        std::int64_t wrong = 0;
        for (std::int64_t j = 0; j < columns; ++j)
          for (std::int64_t i = 0; i < to_row && j * to_row + i < static_cast<std::int64_t>(to.size()); ++i) {
            const int expected = i < rows ? from[static_cast<std::size_t>(i * from_row + j)].bits : 0;
            wrong += to[static_cast<std::size_t>(j * to_row + i)].bits == expected ? 0 : 1;
          }
        CAPTURE(rows, columns, gap);
        CHECK(wrong == 0);
      }
}
