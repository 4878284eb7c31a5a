// SPDX-License-Identifier: BSL-1.0
#include "tagma/place/partition.hpp"

namespace {

using namespace tagma;

constexpr tensor_spec floats{dtype::float32, {4, 8, 16, 32}}, strings{dtype::string, {4, 8, 16, 32}};

// TensorFlow's figures: as few parts as have at most so many bytes.
static_assert(axis_size_partitioner{131072, 0}(floats) == partition{0, 1});
static_assert(axis_size_partitioner{65536, 1}(floats) == partition{1, 1});
static_assert(axis_size_partitioner{32768, 2}(floats) == partition{2, 2});
static_assert(axis_size_partitioner{2048, 3}(floats) == partition{3, 32});
static_assert(axis_size_partitioner{1024, 3}(floats) == partition{3, 32});
static_assert(axis_size_partitioner{1024, 3, 33}(floats) == partition{3, 32});
static_assert(axis_size_partitioner{1024, 3, 2}(floats) == partition{3, 2});
static_assert(axis_size_partitioner{32768, 3, 0, 8}(strings) == partition{3, 4});

static_assert(fixed_size_partitioner{3}(floats) == partition{0, 3});
static_assert(fixed_size_partitioner{100, 1}(floats) == partition{1, 8});

static_assert(min_max_partitioner{100, 3, 16384}(floats) == partition{3, 4});
static_assert(min_max_partitioner{3, 3, 16384}(floats) == partition{3, 3});
static_assert(min_max_partitioner{100, 0, 1024}(floats) == partition{0, 4});
static_assert(min_max_partitioner{100, 0}(floats) == partition{0, 1});

// The first parts take what is left over.
static_assert(part_extent(10, 4, 0) == 3 && part_extent(10, 4, 1) == 3 && part_extent(10, 4, 2) == 2);
static_assert(part_begin(10, 4, 0) == 0 && part_begin(10, 4, 2) == 6 && part_begin(10, 4, 3) == 8);

}  // namespace
