# SPDX-License-Identifier: BSL-1.0
"""The headers of the checkout that this file is in, and its CMake package, for Conan 2:

    conan create tools/conan                          # with Eigen and zlib as packages of Conan
    conan create tools/conan -o "tagma/*:system=True"  # nothing is fetched: libraries are those of the machine"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, load

REQUIRES = {"eigen": "eigen/3.4.0", "zlib": "zlib/[>=1.2.11 <2]", "png": "libpng/[>=1.6 <2]", "jpeg": "libjpeg-turbo/[>=2.1 <4]",
            "asio": "boost/[>=1.74 <2]", "tls": "openssl/[>=3 <4]"}


class Tagma(ConanFile):
    name = "tagma"
    description = "A typed compute graph that the C++ compiler checks, plans and fuses"
    license = "BSL-1.0"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"system": [True, False], "eigen": [True, False], **{name: [True, False] for name in REQUIRES if name != "eigen"}}
    default_options = {"system": False, "eigen": True, "zlib": True, "png": False, "jpeg": False, "asio": False, "tls": False}
    no_copy_source = True

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "../../include/tagma/base/version.hpp"))
        self.version = re.search(r'#define TAGMA_VERSION "([0-9.]+)"', text).group(1)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "../..")
        for pattern in ("CMakeLists.txt", "LICENSE", ".cmake/*", "include/*"):
            copy(self, pattern, src=root, dst=self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("tagma is for Linux on x86-64 and aarch64")
        if self.options.tls and not self.options.asio:
            raise ConanInvalidConfiguration("tagma: tls=True is of use with asio=True only")
        if self.settings.arch != "x86_64" and not self.options.eigen and not self.options.system:
            raise ConanInvalidConfiguration("tagma needs a library for matrix products here: eigen=True, or with system=True oneDNN")

    def requirements(self):
        if not self.options.system:
            for name, reference in REQUIRES.items():
                if self.options.get_safe(name):
                    self.requires(reference, transitive_headers=True, transitive_libs=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "TOOLS"):
            toolchain.cache_variables[f"TAGMA_BUILD_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        # The package that CMake installed serves, which finds the libraries itself.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/tagma"]
        self.cpp_info.bindirs, self.cpp_info.libdirs = [], []
        self.cpp_info.system_libs = ["pthread"]
