#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Builds and runs a consumer of the library in a fresh folder, the way users do: through an installed CMake package that
was moved after the installation, add_subdirectory, FetchContent, the port for vcpkg, the recipe for Conan, pkg-config, or the single header; and links two units that both
include every umbrella, in two orders. With the compiled half, the same ways, and as one file without CMake."""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run(*command, env=None):
    words = [str(word) for word in command]
    print("+", " ".join(words), flush=True)
    subprocess.run(words, check=True, env={**os.environ, **(env or {})})


def output_of(*command, env=None):
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, text=True).stdout.split()


def install(arguments, work):
    """Installs, then moves: a package that remembers where it was installed is broken."""
    output_of(arguments.cmake, "--install", arguments.build, "--prefix", work / "first")
    shutil.move(work / "first", work / "moved")
    return work / "moved"


def configure(arguments, work, project, *definitions):
    """Neither optimised nor with what debuggers want: nearly all of the time is the compiler's."""
    run(arguments.cmake, "-S", HERE / project, "-B", work / "build", f"-DCMAKE_CXX_COMPILER={arguments.compiler}",
        "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", *definitions)


def cmake_consumer(arguments, work, project, *definitions, targets=("consumer",)):
    configure(arguments, work, project, *definitions)
    run(arguments.cmake, "--build", work / "build", "--target", *targets)
    run(work / "build/consumer", arguments.version)


def find_package(arguments, work):
    prefix = install(arguments, work)
    cmake_consumer(arguments, work, "find_package", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEXPECTED_VERSION={arguments.version}",
                   "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF", targets=("consumer", "data"))
    run(work / "build/data")


def add_subdirectory(arguments, work):
    cmake_consumer(arguments, work, "add_subdirectory", f"-DTAGMA_SOURCE={ROOT}")


def fetch_content(arguments, work):
    """An archive of what CMake needs, which FetchContent unpacks."""
    archive = work / "tagma.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as packed:
        for name in ("CMakeLists.txt", "LICENSE", ".cmake", "include", "tools"):
            packed.add(ROOT / name, f"tagma/{name}")
    cmake_consumer(arguments, work, "fetch_content", f"-DTAGMA_ARCHIVE={archive.as_uri()}",
                   f"-DTAGMA_ARCHIVE_SHA256={hashlib.sha256(archive.read_bytes()).hexdigest()}")


def vcpkg(arguments, work):
    """The port, run as vcpkg does, and what it installed, moved; what vcpkg.json says, without vcpkg."""
    port = ROOT / "tools/vcpkg/tagma"
    manifest = json.loads((port / "vcpkg.json").read_text(encoding="utf-8"))
    if (manifest["name"], manifest["version"]) != ("tagma", arguments.version):
        sys.exit(f"vcpkg.json is of {manifest['name']} {manifest['version']}, not of tagma {arguments.version}")
    backends = (ROOT / ".cmake/backends.cmake").read_text(encoding="utf-8")
    known = set(re.findall(r"^tagma_optional\((\w+)", backends, re.M))
    if set(manifest["features"]) != known or not set(manifest["default-features"]) <= known:
        sys.exit(f"vcpkg.json has the features {sorted(manifest['features'])}, CMake knows {sorted(known)}")

    def install_port(features, folder):
        command = [arguments.cmake, f"-DPORTFILE={port / 'portfile.cmake'}", f"-DFEATURES={';'.join(features)}",
                   f"-DCOMPILER={arguments.compiler}", f"-DCURRENT_PACKAGES_DIR={folder}", "-P", HERE / "vcpkg/run_port.cmake"]
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)

    bare = install_port(["core", "zlib"], work / "bare")
    if bare.returncode:
        sys.exit(f"without a library for matrix products the port fails:\n{bare.stderr[:2000]}")
    answer = install_port(["core", arguments.math], work / "first")
    if answer.returncode:
        sys.exit(f"the port fails:\n{answer.stderr[:3000]}")
    shutil.move(work / "first", work / "moved")
    cmake_consumer(arguments, work, "find_package", f"-Dtagma_DIR={work / 'moved/share/tagma'}",
                   f"-DEXPECTED_VERSION={arguments.version}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")


def conan(arguments, work):
    """The recipe and its test package, with the libraries of this machine."""
    program = shutil.which("conan")
    if program is None:
        print("conan was not found: tools/conan/conanfile.py is not tried")
        sys.exit(77)
    env = {"CONAN_HOME": str(work / "conan"), "CXX": arguments.compiler}
    run(program, "profile", "detect", env=env)
    shutil.copytree(ROOT / "tools/conan", work / "copy/tools/conan")  # building leaves files beside the test package
    for name in (".cmake", "include"):
        shutil.copytree(ROOT / name, work / "copy" / name)
    for name in ("CMakeLists.txt", "LICENSE"):
        shutil.copy(ROOT / name, work / "copy")
    run(program, "create", work / "copy/tools/conan", "-o", "tagma/*:system=True", "-s", "compiler.cppstd=20", env=env)


def compile_and_run(arguments, work, flags, libraries):
    run(arguments.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", *flags, HERE / "consumer.cpp", "-o", work / "consumer",
        *libraries)
    run(work / "consumer", arguments.version)


def pkg_config(arguments, work):
    prefix = install(arguments, work)
    env = {"PKG_CONFIG_PATH": str(prefix / "share/pkgconfig")}
    package = f"tagma-{arguments.math}"
    version = output_of("pkg-config", "--modversion", package, env=env)
    if version != [arguments.version]:
        sys.exit(f"pkg-config says {version}, not {arguments.version}")
    compile_and_run(arguments, work, output_of("pkg-config", "--cflags", package, env=env),
                    output_of("pkg-config", "--libs", package, env=env))


def find_package_compiled(arguments, work):
    prefix = install(arguments, work)
    configure(arguments, work, "compiled", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
    run(arguments.cmake, "--build", work / "build")
    run(work / "build/consumer", arguments.version)
    run(work / "build/data")


def add_subdirectory_compiled(arguments, work):
    configure(arguments, work, "compiled", f"-DTAGMA_SOURCE={ROOT}")
    run(arguments.cmake, "--build", work / "build", "--target", "consumer")
    run(work / "build/consumer", arguments.version)


COMPILED = [HERE / "compiled.cpp", HERE / "compiled_other.cpp"]


def pkg_config_compiled(arguments, work):
    prefix = install(arguments, work)
    env = {"PKG_CONFIG_PATH": str(prefix / "share/pkgconfig")}
    flags = output_of("pkg-config", "--cflags", "tagma-compiled", env=env)
    libraries = output_of("pkg-config", "--static", "--libs", "tagma-compiled", env=env)
    os.chdir(work)
    run(arguments.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", *flags, *COMPILED, "-o", work / "consumer", *libraries)
    run(work / "consumer", arguments.version)


def compiled_file(arguments, work):
    """The one file, and what linkers say of files that do not agree with it."""
    flags = ["-std=c++20", "-O0", "-Wall", "-Wextra", f"-I{ROOT / 'include'}", *arguments.flag]
    compiled = [*flags, "-DTAGMA_COMPILED=1"]
    os.chdir(work)

    def compile(source, name, *more):
        run(arguments.compiler, *more, "-c", source, "-o", work / name)
        return work / name

    half = compile(ROOT / "include/tagma/compiled.cpp", "half.o", *compiled)
    main = compile(COMPILED[0], "main.o", *compiled)
    other = compile(COMPILED[1], "other.o", *compiled)
    link = [arguments.compiler, "-o", str(work / "program")]
    libraries = [*arguments.library, "-pthread"]
    run(*link, main, other, half, *libraries)
    run(work / "program", arguments.version)
    plain = compile(COMPILED[1], "plain.o", *flags)
    portable = compile(COMPILED[1], "portable.o", *compiled, "-DTAGMA_PORTABLE=1")
    for objects, sentence in (([main, plain, half], "all_files_of_a_program_define_TAGMA_COMPILED_or_none_does"),
                              ([plain, main, half], "all_files_of_a_program_define_TAGMA_COMPILED_or_none_does"),
                              ([half, plain, main], "all_files_of_a_program_define_TAGMA_COMPILED_or_none_does"),
                              ([main, portable, half], "compiled_for_all_processors"),
                              ([main, other], "version_")):
        answer = subprocess.run([*link, *map(str, objects), *libraries], capture_output=True, text=True, check=False)
        if answer.returncode == 0 or sentence not in answer.stderr:
            sys.exit(f"linking {[o.name for o in objects]} says nothing of {sentence}:\n{answer.stderr[:2000]}")
    refused = subprocess.run([arguments.compiler, *flags, "-fsyntax-only", str(ROOT / "include/tagma/compiled.cpp")],
                             capture_output=True, text=True, check=False)
    if refused.returncode == 0 or "define TAGMA_COMPILED=1" not in refused.stderr:
        sys.exit(f"without TAGMA_COMPILED the one file says:\n{refused.stderr[:2000]}")


def umbrellas(folder):
    """All but cuda.hpp, which wants nvcc; what defines and undefines macros comes last."""
    names = sorted(p.name for p in (ROOT / folder / "tagma").glob("*.hpp") if p.name != "cuda.hpp")
    return sorted(names, key=lambda name: name.endswith("_macros.hpp"))


def write_orders(folder, work):
    """Two headers that include every umbrella, one the other way round: none leans on what another leaves behind. The
    registry, which is all kernels, is for one file of a program."""
    names = [name for name in umbrellas(folder) if not name.endswith("_macros.hpp") and name != "registry.hpp"]
    last = ["with_macros.hpp", "without_macros.hpp"]
    for way, order in (("forwards", names + last), ("backwards", names[::-1] + last)):
        (work / f"{way}.hpp").write_text("".join(f'#include "tagma/{name}"\n' for name in order), encoding="utf-8")


def single_header(arguments, work):
    """One program; all files in two orders, which structure/headers/single compiles alone; and what is said where one lacks
    those beside it."""
    flags = [f"-I{ROOT / 'single_include'}", *arguments.flag]
    compile_and_run(arguments, work, flags, [*arguments.library, "-pthread"])
    write_orders("single_include", work)
    compiler = [arguments.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++"]
    for way in ("forwards", "backwards"):
        (work / f"{way}.cpp").write_text(f'#include "{way}.hpp"\n', encoding="utf-8")
        run(*compiler, *flags, work / f"{way}.cpp")
    for name in umbrellas("single_include"):
        alone = work / name.removesuffix(".hpp") / "tagma"
        alone.mkdir(parents=True)
        shutil.copy(ROOT / "single_include/tagma" / name, alone)
        needs = '#include "tagma.hpp"' in (alone / name).read_text(encoding="utf-8")
        if needs == (name in ("tagma.hpp", "fwd.hpp", "without_macros.hpp")):
            sys.exit(f"{name} {'includes' if needs else 'does not include'} the tagma.hpp beside it")
        if needs:
            answer = subprocess.run([arguments.compiler, "-std=c++20", "-w", "-Wfatal-errors", "-fsyntax-only", "-x", "c++",
                                     *arguments.flag, alone / name], capture_output=True, text=True, check=False)
            if answer.returncode == 0 or f"{name} of single_include/tagma needs tagma.hpp beside it" not in answer.stderr:
                sys.exit(f"without a tagma.hpp beside it {name} says:\n{answer.stderr[:2000]}")


def two_units(arguments, work):
    write_orders("include", work)
    run(arguments.compiler, "-std=c++20", "-Wall", "-Wextra", f"-I{ROOT / 'include'}", f"-I{work}", *arguments.flag,
        HERE / "two_units/a.cpp", HERE / "two_units/b.cpp", "-o", work / "two_units", *arguments.library, "-pthread")
    run(work / "two_units")


def link_in_orders(arguments, work, parts, orders, *libraries):
    for number, order in enumerate(orders):
        program = work / f"program{number}"
        run(arguments.compiler, *(parts[i] for i in order), "-o", program, *libraries, *arguments.library, "-pthread")
        run(program)


def header_model(arguments, work, *late):
    """A model in a header that nine files include, linked in two orders."""
    flags = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", *arguments.flag]
    parts = []
    for part in range(9):
        source = HERE / "header_model" / ("part.cpp" if part else "main.cpp")
        parts.append(work / f"part{part}.o")
        run(arguments.compiler, *flags, *late[:1], f"-DPART={part}", "-c", source, "-o", parts[-1])
    link_in_orders(arguments, work, parts, (range(9), range(8, -1, -1)), *late[1:])


def late_header_model(arguments, work):
    """The same, compiled late."""
    header_model(arguments, work, "-DTAGMA_LATE=1", arguments.registry)


def late_units(arguments, work):
    """Three files with programs that are compiled late, whose numbers have the same places, linked in three orders."""
    flags = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", *arguments.flag]
    parts = [work / f"part{part}.o" for part in range(3)] + [work / "main.o"]
    for number, part in enumerate(parts[:3]):
        run(arguments.compiler, *flags, f"-DPART={number}", "-c", HERE / "late_units/part.cpp", "-o", part)
    run(arguments.compiler, *flags, "-c", HERE / "late_units/main.cpp", "-o", parts[3])
    link_in_orders(arguments, work, parts, ((0, 1, 2, 3), (3, 2, 1, 0), (1, 0, 2, 3)), arguments.registry)


WAYS = {f.__name__: f for f in (find_package, add_subdirectory, fetch_content, vcpkg, conan, pkg_config, single_header, two_units, header_model, late_header_model, late_units,
                                find_package_compiled, add_subdirectory_compiled, pkg_config_compiled, compiled_file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=sorted(WAYS))
    parser.add_argument("--build", type=pathlib.Path, help="build tree to install from")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--version", required=True)
    parser.add_argument("--math", default="eigen")
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--registry", type=pathlib.Path, help="the registry as a library, for programs that are compiled late")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        try:
            WAYS[arguments.way](arguments, pathlib.Path(work))
        except subprocess.CalledProcessError as error:
            sys.exit(f"{arguments.way}: '{error.cmd[0]}' failed with {error.returncode}")


if __name__ == "__main__":
    main()
