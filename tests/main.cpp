// SPDX-License-Identifier: BSL-1.0
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#if CATCH_VERSION_MAJOR >= 3
int main(int count, char** arguments) { return Catch::Session().run(count, arguments); }
#endif

// Tests ask for more memory than there is. Without a sanitizer that is an answer as others are; with one it would end
// the program.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
