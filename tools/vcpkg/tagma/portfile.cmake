# SPDX-License-Identifier: BSL-1.0
# The headers of the checkout that this port is in, and a CMake package, which finds the libraries of the features itself:
# vcpkg install tagma --overlay-ports=tools/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT EXISTS "${SOURCE_PATH}/include/tagma/tagma.hpp")
  message(FATAL_ERROR "the port of tagma belongs into tools/vcpkg of a checkout: there are no headers in ${SOURCE_PATH}")
endif()
if("onednn" IN_LIST FEATURES)
  set(math onednn)
elseif("eigen" IN_LIST FEATURES)
  set(math eigen)
else()
  set(math auto) # loops of the library's own, on x86-64; CMake says where there are none
endif()

set(VCPKG_BUILD_TYPE release) # headers alone
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DTAGMA_BUILD_TESTS=OFF
    -DTAGMA_BUILD_EXAMPLES=OFF
    -DTAGMA_BUILD_TOOLS=OFF
    -DTAGMA_MATH=${math}
    -DTAGMA_PACKAGE_DIR=share/${PORT}
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup()
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/licenses")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
