# SPDX-License-Identifier: BSL-1.0
# clang 22 with a libc++ and linker of its own, from the Python package ziglang: .ci/toolchains puts it into
# build/toolchains.
file(GLOB tagma_zig "${CMAKE_CURRENT_LIST_DIR}/../build/toolchains/lib/python*/site-packages/ziglang/zig")
if(NOT tagma_zig)
  message(FATAL_ERROR "there is no clang 22 in build/toolchains: run .ci/toolchains")
endif()
set(CMAKE_CXX_COMPILER "${tagma_zig}" c++)
