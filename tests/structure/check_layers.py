#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""No upward or sideways include, no cycle, third-party headers only in the leaf that needs them, and compiler #ifs only
where they are at home. The order of the folders is layers.txt, and docs/architecture.md may only repeat it."""

import re

import tree

# The folders in which a third-party header may appear; what is not listed may appear nowhere.
THIRD_PARTY = [
    (re.compile(r"^(Eigen|unsupported/Eigen)/|^dnnl"), ("tagma/device/cpu/",)),
    (re.compile(r"^(zlib|png|jpeglib|jerror)\.h$"), ("tagma/io/",)),
    (re.compile(r"^boost/"), ("tagma/transport/asio/", "tagma/cluster/")),
    (re.compile(r"^openssl/"), ("tagma/transport/asio/",)),
    (re.compile(r"^(cu[A-Za-z_]*(\.h|\.hpp|\.cuh)$|cub/|thrust/|cuda/|cudnn|nv|cooperative_groups|mma\.h)"),
     ("tagma/device/cuda/",)),
    (re.compile(r"^nlohmann/"), ()),
]
STANDARD = re.compile(r"^[a-z_0-9]+$")
# POSIX and compiler headers: below the runtime, only files ask the operating system for anything.
PLATFORM = re.compile(r"^((sys|linux|netinet|arpa)/)?[a-z0-9_]+\.h$")
PLATFORM_HOMES = ("tagma/base/file", "tagma/base/large_pages", "tagma/base/replace_file")
COMPILER = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*\b(__GNUC__|__GNUG__|__clang__|__clang_major__|__CUDACC__|"
                      r"__NVCC__|_MSC_VER|__INTEL_COMPILER|__GLIBCXX__|_LIBCPP_VERSION)\b")
COMPILER_HOMES = ("tagma/base/config.hpp", "tagma/device/cpu/pack.hpp")
BLOCK = re.compile(r"<!-- layers -->(.*?)<!-- /?layers -->", re.S)


# What leaves of a layer share; it includes none of them.
SHARED = ("device/stream",)


def leaf(header):
    """device/cpu and device/cuda are one layer and two leaves; leaves of a layer never include each other."""
    parts = header.split("/")
    return "/".join(parts[1:3]) if len(parts) > 3 and parts[1] in ("device", "transport") else ""


def check_third_party(header, number, name, ranks):
    for pattern, homes in THIRD_PARTY:
        if pattern.search(name):
            if header.startswith(homes):
                return []
            where = " or ".join(homes) if homes else "no public header"
            return [f"include/{header}:{number}: <{name}> belongs in {where}"]
    if STANDARD.match(name):
        return []
    rank = ranks.get(tree.folder(header))
    if PLATFORM.match(name):
        if header.startswith(PLATFORM_HOMES) or (rank is not None and rank >= ranks["runtime"]):
            return []
        return [f"include/{header}:{number}: <{name}> is a platform header, which belongs in runtime/ or above it"]
    return [f"include/{header}:{number}: <{name}> is a third-party header that no folder may include"]


def check_cycles(graph):
    """A depth-first walk; each back edge is one complaint."""
    complaints, state = [], {}

    def visit(header, path):
        state[header] = "open"
        for target in graph.get(header, []):
            if state.get(target) == "open":
                loop = path[path.index(target):] if target in path else [header]
                complaints.append("includes form a cycle: " + " -> ".join(loop + [target]))
            elif target not in state:
                visit(target, path + [target])
        state[header] = "done"

    for header in sorted(graph):
        if header not in state:
            visit(header, [header])
    return complaints


def check_document(root, ranks):
    path = root / "docs/architecture.md"
    block = BLOCK.search(path.read_text(encoding="utf-8")) if path.exists() else None
    if not block:
        return []
    quoted = re.findall(r"^\s*\|?\s*(\d+)\s*\|?\s*`?([a-z]+)/?`?", block.group(1), re.M)
    if [(int(rank), name) for rank, name in quoted] == [(rank, name) for name, rank in ranks.items()]:
        return []
    return [f"docs/architecture.md quotes other layers than layers.txt: {quoted}"]


def check(root):
    ranks = tree.layers(root)
    complaints, graph = [], {}
    known = set(tree.headers(root))
    for header in sorted(known):
        mine = tree.folder(header)
        text = tree.read(root, header)
        if mine and mine not in ranks:
            complaints.append(f"include/{header}: folder {mine}/ is not in layers.txt")
            continue
        if not header.startswith(COMPILER_HOMES):
            for number, line in enumerate(text.splitlines(), 1):
                if COMPILER.match(line):
                    complaints.append(f"include/{header}:{number}: asks which compiler this is; that is base/config.hpp's")
        for number, quote, name in tree.includes(text):
            where = f"include/{header}:{number}"
            if not name.startswith("tagma/"):
                if quote == '"':
                    complaints.append(f'{where}: "{name}" should be written with tagma/ or with <>')
                else:
                    complaints += check_third_party(header, number, name, ranks)
                continue
            if tree.is_definitions_of(header, name):
                continue
            graph.setdefault(header, []).append(name)
            if name.endswith(".ipp") and not tree.is_definitions_of(name, header):
                complaints.append(f"{where}: {name} belongs to {name.replace('.ipp', '.hpp')}, which includes it")
            if quote == "<":
                complaints.append(f'{where}: <{name}> should be written "{name}"')
            if name not in known:
                complaints.append(f"{where}: {name} does not exist")
                continue
            theirs = tree.folder(name)
            if not mine:
                continue
            if not theirs:
                complaints.append(f"{where}: includes the umbrella {name}")
            elif theirs != mine and ranks.get(theirs, 99) >= ranks[mine]:
                complaints.append(f"{where}: {mine}/ ({ranks[mine]}) includes {name} of {theirs}/ ({ranks.get(theirs)})")
            elif leaf(header) and leaf(name) and leaf(header) != leaf(name) and leaf(name) not in SHARED:
                complaints.append(f"{where}: {leaf(header)}/ includes its sibling {name}")
    return complaints + check_cycles(graph) + check_document(root, ranks)


LAYERS = {"tests/structure/layers.txt": "# rank folder\n0 base\n1 tensor\n2 expr\n3 runtime\n4 device\n4 data\n5 cluster\n"}


def case(name, expected, files):
    return name, {**LAYERS, **{f"include/tagma/{key}": text for key, text in files.items()}}, expected


CASES = [
    case("downward and within", None, {"base/a.hpp": "#include <vector>\n", "base/b.hpp": '#include "tagma/base/a.hpp"\n',
                                       "tensor/c.hpp": '#include "tagma/base/a.hpp"\n',
                                       "all.hpp": '#include "tagma/tensor/c.hpp"\n'}),
    case("upward", "base/ (0) includes", {"base/a.hpp": '#include "tagma/tensor/c.hpp"\n', "tensor/c.hpp": "\n"}),
    case("definitions", None, {"base/a.hpp": '#include "tagma/base/a.ipp"\n', "base/a.ipp": '#include "tagma/base/a.hpp"\n'}),
    case("definitions of another", "belongs to tagma/base/a.hpp", {"base/b.hpp": '#include "tagma/base/a.ipp"\n', "base/a.ipp": "\n"}),
    case("sideways", "data/ (4) includes", {"data/a.hpp": '#include "tagma/device/c.hpp"\n', "device/c.hpp": "\n"}),
    case("between leaves", "includes its sibling", {"device/cpu/a.hpp": '#include "tagma/device/cuda/b.hpp"\n',
                                                    "device/cuda/b.hpp": "\n"}),
    case("what leaves share", None, {"device/fake/a.hpp": '#include "tagma/device/stream/b.hpp"\n',
                                     "device/stream/b.hpp": "\n"}),
    case("out of what leaves share", "includes its sibling", {"device/stream/a.hpp": '#include "tagma/device/fake/b.hpp"\n',
                                                              "device/fake/b.hpp": "\n"}),
    case("an umbrella", "includes the umbrella", {"base/a.hpp": '#include "tagma/all.hpp"\n', "all.hpp": "\n"}),
    case("a cycle", "cycle", {"base/a.hpp": '#include "tagma/base/b.hpp"\n', "base/b.hpp": '#include "tagma/base/a.hpp"\n'}),
    case("an unknown folder", "not in layers.txt", {"misc/a.hpp": "\n"}),
    case("a missing header", "does not exist", {"base/a.hpp": '#include "tagma/base/gone.hpp"\n'}),
    case("without tagma/", "should be written", {"base/a.hpp": '#include "b.hpp"\n', "base/b.hpp": "\n"}),
    case("with <>", "should be written", {"base/a.hpp": "#include <tagma/base/b.hpp>\n", "base/b.hpp": "\n"}),
    case("Eigen at home", None, {"device/cpu/a.hpp": "#include <Eigen/Core>\n"}),
    case("Eigen abroad", "belongs in", {"runtime/a.hpp": "#include <Eigen/Core>\n"}),
    case("oneDNN abroad", "belongs in", {"device/a.hpp": "#include <dnnl.hpp>\n"}),
    case("libpng abroad", "belongs in", {"data/a.hpp": "#include <png.h>\n"}),
    case("libjpeg abroad", "belongs in", {"device/cpu/a.hpp": "#include <jpeglib.h>\n"}),
    case("zlib abroad", "belongs in", {"device/cpu/a.hpp": "#include <zlib.h>\n"}),
    case("CUDA abroad", "belongs in", {"device/cpu/a.hpp": "#include <cuda_runtime.h>\n"}),
    case("OpenSSL abroad", "belongs in", {"cluster/a.hpp": "#include <openssl/ssl.h>\n"}),
    case("Boost below", "belongs in", {"runtime/a.hpp": "#include <boost/asio.hpp>\n"}),
    case("JSON", "no public header", {"cluster/a.hpp": "#include <nlohmann/json.hpp>\n"}),
    case("something unheard of", "no folder may", {"cluster/a.hpp": "#include <absl/strings/str_cat.h>\n"}),
    case("POSIX below the runtime", "platform header", {"expr/a.hpp": "#include <sys/mman.h>\n"}),
    case("POSIX files", None, {"base/file.hpp": "#include <fcntl.h>\n"}),
    case("POSIX above it", None, {"device/a.hpp": "#include <sys/mman.h>\n"}),
    case("a compiler #if", "asks which compiler", {"expr/a.hpp": "#if defined(__clang__)\n#endif\n"}),
    case("a compiler #if at home", None, {"base/config.hpp": "#if defined(__clang__)\n#endif\n"}),
    (*case("the document agrees", None, {})[:1],
     {**LAYERS, "include/tagma/a.hpp": "", "docs/architecture.md":
      "<!-- layers -->\n```\n0 base/ x\n1 tensor/\n2 expr/\n3 runtime/\n4 device/\n4 data/\n5 cluster/\n```\n<!-- layers -->\n"},
     None),
    (*case("the document lags", None, {})[:1],
     {**LAYERS, "include/tagma/a.hpp": "", "docs/architecture.md": "<!-- layers -->\n0 base/\n1 expr/\n<!-- /layers -->\n"},
     "quotes other layers"),
]

if __name__ == "__main__":
    tree.run(check, CASES, __doc__)
