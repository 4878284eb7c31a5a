// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The beginning of tests that compile a part of the library under other names, with points (interleave.hpp): what that
/// part includes of other libraries comes first, with the usual names.

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <catch2/catch.hpp>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/comes.hpp"
#include "support/interleave.hpp"
