#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes docs/reference/ from the comments of the headers, with examples of tests/reference/, which are for the names that they list,
and for names without one from the guide and examples/. An example in tests/reference/PAGE.cpp, or PAGE_more.cpp:
      // example: the names of the page PAGE that it shows, as read_npy, io::read_npy
      a few lines, whose [shapes and values] in comments stand in a text that the test case compares
      // end
    reference.py                writes the pages
    reference.py --check        says which pages differ from what would be written
    reference.py --self-test"""

import fnmatch
import pathlib
import re
import sys
import tempfile

import docstrings

ROOT = pathlib.Path(__file__).resolve().parents[1]

# The pages in their order: file, title, what is said first, and the headers (the first pattern of any page that fits counts).
PAGES = [
    ("tensors", "Tensors", "Element types, shapes, tensors with memory and views of memory that others own.",
     ["tensor/*", "fwd.hpp", "base/bytes.hpp"]),
    ("variables", "Placeholders and variables",
     "What a graph begins with: placeholders, which a run feeds, variables, which a session keeps, constants, how variables begin, and names.",
     ["expr/placeholder.hpp", "expr/variable.hpp", "expr/literal.hpp", "nn/initializers.hpp", "nn/partitioned_variable.hpp",
      "expr/name.hpp", "base/fixed_string.hpp", "expr/scope.hpp", "expr/expression.hpp"]),
    ("math", "Operations: arithmetic and functions", "Element by element, with NumPy broadcasting; comparisons, logic and conversion.",
     ["expr/op/arithmetic.hpp", "expr/op/math.hpp", "expr/op/compare.hpp", "expr/operators.hpp", "expr/op/fill.hpp"]),
    ("activations", "Operations: activations", "`relu`, `tanh`, `sigmoid` and `softplus` are with the [functions](math.md).",
     ["nn/activations.hpp", "expr/op/softmax.hpp:softmax", "expr/op/softmax.hpp:log_softmax"]),
    ("shapes", "Operations: shapes, slices, indices", "What moves elements and leaves them as they are.",
     ["expr/op/view.hpp", "expr/op/transpose.hpp", "expr/op/concat.hpp", "expr/op/slice.hpp", "expr/op/gather.hpp", "expr/op/filter.hpp", "expr/op/positions.hpp"]),
    ("reductions", "Operations: reductions, sorts, sums",
     "Over axes, or over all elements; accuracy is a mean of `equal`, and top-k is `top_k`.",
     ["expr/op/reduce.hpp", "expr/op/moments.hpp", "expr/op/top_k.hpp", "expr/op/sort.hpp", "expr/op/scan.hpp"]),
    ("products", "Operations: products, convolutions, pooling", "Without variables of their own; [layers](layers.md) have these.",
     ["expr/op/matmul.hpp", "expr/op/matmul_integer.hpp", "expr/op/attention.hpp", "expr/op/window.hpp", "expr/op/conv.hpp", "expr/op/pool.hpp", "expr/op/normalize.hpp"]),
    ("random", "Operations: random numbers", "Their bytes follow from the seed of the session, the number of the run and the place in the program.",
     ["expr/op/random.hpp", "expr/op/shuffle.hpp"]),
    ("control", "Operations: order, loops, branches, state", "What runs before what, how often, and what it changes.",
     ["expr/op/control.hpp", "expr/op/state.hpp", "expr/op/loop.hpp", "expr/op/branch.hpp", "nn/repeat.hpp"]),
    ("layers", "Layers", "Functions that make the variables which they need, under a name.",
     ["nn/layers.hpp", "expr/phase.hpp", "nn/conv_layers.hpp", "nn/recurrent.hpp", "nn/cells.hpp"]),
    ("losses", "Losses", "Predictions come first, then labels. `sparse_softmax_cross_entropy` takes classes as integers.",
     ["nn/losses.hpp", "expr/op/softmax.hpp", "nn/weighted_losses.hpp"]),
    ("metrics", "Metrics", "What is measured over many batches.", ["nn/metric*", "train/metric*"]),
    ("optimizers", "Gradients and optimizers", "Derivatives, clipping, and updates of variables. All numbers of an optimizer are values of the running program.",
     ["expr/op/gradient.hpp", "nn/optimizers.hpp", "nn/training_options.hpp", "plan/trainable_variables.hpp", "nn/own_optimizer.hpp", "nn/optimizer*", "nn/clip.hpp", "nn/average_gradients.hpp"]),
    ("schedules", "Learning rates", "An optimizer's `learning_rate` is a number or one of these; the step counts the updates done so far, from 0.",
     ["nn/schedules.hpp"]),
    ("sessions", "Programs and sessions", "A program is what the compiler made of a graph; a session runs it and keeps its variables.",
     ["plan/program.hpp", "runtime/session.hpp", "runtime/session_core.hpp", "runtime/run_check.hpp", "runtime/run_limits.hpp",
      "plan/late_program.hpp", "plan/passes.hpp", "graph/pass/*", "runtime/container.hpp", "runtime/named_containers.hpp",
      "runtime/preload.hpp", "runtime/session_pools.hpp", "data/preload*"]),
    ("errors", "Errors", "All that goes wrong while a program runs is a `tg::error` with one of these codes; what the compiler refuses is in [diagnostics](../diagnostics.md).",
     ["base/error.hpp", "base/no_memory.hpp"]),
    ("saving", "Saving and training", "Files of variables, variables by name, and what long training needs.",
     ["train/*", "io/safetensors*", "runtime/named_variables.hpp", "runtime/summary.hpp"]),
    ("looking", "Looking inside", "What a program looks like, and where its time goes.",
     ["plan/print*.hpp", "observe/*", "data/explain.hpp", "device/cpu/build_info.hpp", "runtime/placement_log.hpp"]),
    ("data", "Datasets", "Pipelines of elements, and data sets in memory.",
     ["data/dataset.hpp", "data/make_dataset.hpp", "data/file_datasets.hpp", "data/labelled_slices.hpp", "data/batching.hpp",
      "data/parallel_map.hpp", "data/struct_batches.hpp", "data/file_cache.hpp", "data/autotune.hpp", "data/iterate.hpp",
      "data/iterator.hpp", "data/graph_iterator.hpp", "expr/op/iterator.hpp", "data/fashion_mnist.hpp", "data/batches.hpp",
      "data/splits.hpp", "data/permutation.hpp", "data/bytes_of.hpp"]),
    ("files", "Formats of files", "CSV, TFRecord, Example, IDX, NumPy, PNG and JPEG.",
     ["io/*", "expr/op/decode_*.hpp", "expr/op/parse_*.hpp", "base/file.hpp", "base/replace_file.hpp"]),
    ("queues", "Queues and readers", "Tuples of tensors that wait, for C++ and as nodes of graphs, threads that fill them, and readers of files.",
     ["data/queue.hpp", "ir/queue.hpp", "expr/op/queue.hpp", "expr/op/queue_list.hpp", "data/queue_runner.hpp", "data/coordinator.hpp",
      "data/producers.hpp", "data/batch.hpp", "ir/reader.hpp", "expr/op/reader.hpp"]),
    ("devices", "Devices", "Where nodes run.",
     ["place/*", "expr/on.hpp", "runtime/accelerator.hpp", "device/fake/data_devices.hpp", "device/gpus.hpp"]),
    ("programs", "Programs as data", "Graphs that a process runs without having been compiled with them, in memory and in files.",
     ["plan/any_program.hpp", "runtime/any_session.hpp", "tensor/any_tensor.hpp", "device/program_file.hpp", "device/graph_builder.hpp",
      "device/graph_node.hpp", "device/named_attributes.hpp", "device/cpu/listed_operation.hpp", "plan/parts.hpp", "plan/rewritten_program.hpp"]),
    ("cluster", "Clusters", "Several machines: which tasks there are, servers, and sessions over them.", ["cluster/*"]),
]
# What the library has for itself in the namespace of its users; operations and resources of one's own use some of it.
INTERNAL = ["base/*", "expr/carried.hpp", "expr/resource.hpp", "data/meter.hpp", "data/stage.hpp", "data/thread_search.hpp", "data/tuner.hpp",
            "runtime/mutex.hpp", "expr/op/text_constant.hpp", "cluster/updates_of_run.hpp"]
# Functions that need no example, and why. Everything that is not a function may have one.
NO_EXAMPLE = {
    ("sessions", "operator<<"): "without <tagma/explain.hpp> the compiler refuses it",
    ("devices", "gpus"): "the program links kernels that nvcc compiles",
}
SNIPPET = re.compile(r"^( *)// example: ([^\n]+(?:(?<=,)\n *// [^\n]+)*)\n(.*?)^ *// end\n", re.S | re.M)
CODE = re.compile(r"^```cpp\n(.*?)^```$", re.S | re.M)
# What only says that a call is refused is in docs/diagnostics.md.
REFUSED = re.compile(r"^([^.]*: TAGMA-E\d+\.\s*)+$")


def page_of(name):
    """The page that has a name; None for what is the library's own."""
    header = name.header.removeprefix("tagma/")
    for patterns, page in [(p[3], p[0]) for p in PAGES]:
        for pattern in patterns:
            path, _, only = pattern.partition(":")
            if fnmatch.fnmatchcase(header, path) and (not only or only == name.name) and "*" not in path:
                return page
    if any(fnmatch.fnmatchcase(header, pattern) for pattern in INTERNAL):
        return None
    for patterns, page in [(p[3], p[0]) for p in PAGES]:
        if any("*" in pattern and fnmatch.fnmatchcase(header, pattern) for pattern in patterns):
            return page
    for folder, page in [("nn/", "layers"), ("expr/op/", "math"), ("data/", "data"), ("runtime/", "sessions"), ("plan/", "sessions")]:
        if header.startswith(folder):
            return page
    return None


def umbrellas(root):
    """For each header, the umbrella that one includes to have it: tagma.hpp before others, then that of its folder, else the smallest."""
    base = pathlib.Path(root) / "include"
    direct = {p.relative_to(base).as_posix(): re.findall(r'^\s*#\s*include "(tagma/[^"]+)"', p.read_text(encoding="utf-8"), re.M)
              for p in base.rglob("*.hpp")}  # not what definitions include, which a compiled half has
    tops = {}
    for top in (h for h in direct if h.count("/") == 1 and h.endswith(".hpp")):
        seen, left = set(), [top]
        while left:
            header = left.pop()
            if header not in seen:
                seen.add(header)
                left += direct.get(header, [])
        tops[top] = seen
    found = {}
    for header in direct:
        having = sorted((t for t, seen in tops.items() if header in seen and t != "tagma/fwd.hpp"), 
                        key=lambda t: (t != "tagma/tagma.hpp", folder_umbrella(header) != t, kernel_of(header) not in tops[t], len(tops[t]), t))
        found[header] = having[0] if having else header
    return found


def kernel_of(header):
    """The kernel of an operation, without which nothing runs it, although some umbrellas have it for programs in files."""
    return "tagma/device/cpu/kernel/" + header.rpartition("/")[2]


def folder_umbrella(header):
    folder = header.split("/")[1]
    if header in ("tagma/plan/any_program.hpp", "tagma/tensor/any_tensor.hpp"):
        return "tagma/programs.hpp"
    return {"data": "tagma/datasets.hpp"}.get(folder, f"tagma/{folder}.hpp")


DIAGNOSTICS = {}  # where docs/diagnostics.md has each number


def read_diagnostics(root):
    DIAGNOSTICS.clear()
    path = pathlib.Path(root) / "docs/diagnostics.md"
    for heading in re.findall(r"^#+ (TAGMA-E.*)$", path.read_text(encoding="utf-8"), re.M) if path.exists() else []:
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for number in re.findall(r"E\d{3}", heading.split(":")[0]):
            DIAGNOSTICS.setdefault(number, slug)


def linked(match):
    slug = DIAGNOSTICS.get(match[2])
    return f"[{match[0]}](../diagnostics.md#{slug})" if slug else match[0]


def plain(text):
    """A line of a comment as Markdown: what stands in backticks is kept, numbers of diagnostics lead to them, all else is escaped."""
    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([*_])", r"\\\1", parts[i].replace("&", "&amp;").replace("<", "&lt;"))
        parts[i] = re.sub(r"\b(TAGMA-)?(E\d{3})\b", linked, parts[i])
    return "".join(parts)


class Sections:
    """What a comment says, by its commands."""

    def __init__(self, comment):
        self.text, self.parameters, self.templates, self.returned = [], [], [], ""
        to, code = self.text, False
        for line in comment.split("\n"):
            command = re.match(r"@(\w+)\s*(.*)", line)
            if command and command[1] in ("param", "tparam"):
                names, _, said = command[2].partition(" ")
                if names.endswith(","):  # @param a, b what
                    more, _, said = said.partition(" ")
                    names += more
                (self.parameters if command[1] == "param" else self.templates).append([names, said.strip()])
                to = self.parameters if command[1] == "param" else self.templates
            elif command and command[1].startswith("return"):
                self.returned, to = command[2], None
            elif command and command[1] in ("code", "endcode"):
                code = command[1] == "code"
            elif command:
                continue
            elif re.match(r"(Raises?|Throws?|TAGMA-E)\b", line) or line.strip() == "" or to is self.text:
                if to is not self.text and line.strip():
                    self.text.append("")
                to = self.text
                self.text.append("    " + line if code else line)
            elif to is None:
                self.returned += " " + line.strip()
            else:
                to[-1][1] += " " + line.strip()

    def markdown(self):
        lines, before = [], ""
        for line in self.text:
            if line.startswith("    ") and (before == "" or before.startswith("    ")):
                lines.append(line)
            else:
                if re.match(r"(Raises?|Throws?) ", line) and before:
                    lines.append("")
                lines.append(plain(line))
            before = line
        text = "\n".join(lines).strip("\n")
        for title, rows in (("Template parameters", self.templates), ("Parameters", self.parameters)):
            if rows:
                text += f"\n\n{title}:\n\n" + "\n".join(f"- `{n.replace(',', ', ')}`: {plain(s)}" for n, s in rows)
        if self.returned:
            text += f"\n\nReturns {plain(self.returned)}"
        return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def wrapped(signature):
    """Lines of at most 110 columns, broken behind commas; what the library has for itself is only named."""
    lines, signature = [], signature.replace("detail::", "")
    for line in signature.split("\n"):
        while len(line) > 110 and ", " in line[4:108]:
            at = line.rindex(", ", 4, 108) + 1
            lines.append(line[:at])
            line = "    " + line[at + 1:]
        lines.append(line)
    return "\n".join(lines)


def data_members(name):
    return [m for m in name.members if m.access == "public" and m.kind == "variable" and "static" not in m.signature]


def class_code(name):
    """A class of data as it is written: members, defaults and what is said of them."""
    lines = [wrapped(name.signature) + " {"]
    for m in data_members(name):
        comment = [f"  // {l}" for l in m.doc.split("\n") if l]
        if len(comment) == 1 and len(m.signature) + len(comment[0]) < 110:
            lines.append(f"  {m.signature};{comment[0]}")
        else:
            lines += comment + [f"  {m.signature};"]
    return "\n".join(lines + ["};"])


def is_special(member):
    if member.name in ("operator[]", "operator()"):
        return False
    return member.name.startswith(("operator", "~")) or re.search(r"= (default|delete)$", member.signature) is not None


def members_markdown(name):
    if name.kind == "enum":
        said = "\n".join(f"- `{m.signature}`" + (f": {plain(' '.join(m.doc.split()))}" if m.doc else "") for m in name.members)
        return said
    blocks, last = [], None
    for m in name.members:
        if m.access != "public" or m.kind in ("variable", "class", "enum") or is_special(m):
            continue
        if m.kind == "alias" and "detail::" in m.signature or m.kind == "function" and "diagnose::" in m.signature or REFUSED.match(m.doc or m.group):
            continue
        if last is not None and m.name == last[0] and m.doc in ("", last[1]):
            blocks[-1][0].append(m.signature)
            continue
        last = (m.name, m.doc)
        blocks.append(([m.signature], m.doc, m.group))
    text = ""
    for signatures, doc, group in blocks:
        said = Sections(doc or group).markdown() if doc or group else ""
        text += "```cpp\n" + ";\n".join(wrapped(s) for s in signatures) + ";\n```\n\n" + (said + "\n\n" if said else "")
    return text.strip("\n")


def statements(code):
    """Pieces of code that end with a line at the outermost level."""
    found, piece, depth = [], [], 0
    for line in code.split("\n"):
        if not line.strip():
            continue
        piece.append(line)
        bare = re.sub(r'"(?:\\.|[^"\\])*"|//.*', "", line)
        depth += sum(bare.count(c) for c in "({[") - sum(bare.count(c) for c in ")}]")
        if depth <= 0 and bare.rstrip().endswith((";", "}", ":")) or line.lstrip().startswith(("#", "//")) and depth <= 0:
            found.append("\n".join(piece))
            piece, depth = [], 0
    return found + (["\n".join(piece)] if piece else [])


def examples(root):
    """Pieces of programs that the tests compile, and the documents they are from."""
    found = []
    guide = pathlib.Path(root) / "docs/guide.md"
    if guide.exists():
        for block in CODE.findall(guide.read_text(encoding="utf-8")):
            found += [(s, "../guide.md", "guide") for s in statements(block)]
    for path in sorted((pathlib.Path(root) / "examples").glob("*.cpp")):
        text = re.sub(r"^//.*\n|^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
        lines = [l for l in text.split("\n")]
        for i, line in enumerate(lines):
            piece = [line]
            j = i
            while j + 1 < len(lines) and j < i + 6 and not lines[j].rstrip().endswith((";", "{", "}")):
                j += 1
                piece.append(lines[j])
            indent = len(line) - len(line.lstrip())
            if "tg::" in line and piece[-1].rstrip().endswith(";"):
                found.append(("\n".join(l[indent:] for l in piece), f"../../examples/{path.name}", path.name))
    return found


def snippets(root):
    """The examples of tests/reference/: (page, name as the page has it) to [(declarations that it needs, code, file)]."""
    found = {}
    for path in sorted((pathlib.Path(root) / "tests/reference").glob("*.cpp")):
        for case in re.split(r"^TEST_CASE", path.read_text(encoding="utf-8"), flags=re.M):
            for snippet in SNIPPET.finditer(case):
                indent, names, code = snippet.groups()
                code = "\n".join(line.removeprefix(indent) for line in code.rstrip().split("\n"))
                before = "\n".join(line.removeprefix(indent) for line in case[:snippet.start()].split("\n")[1:])
                for name in split_names(names):
                    found.setdefault((path.stem.partition("_")[0], name), []).append((declared_before(code, before), code, path.name))
    return found


DECLARED = re.compile(r"(?:static |constexpr |const )*(?:auto|(?:tg|std)::[\w:]+(?:<[^=;(]*>)?)[&*]? (?:(\w+)(?: =|[({;])|\[([^\]]+)\] =)")


def declared_before(code, before):
    """The statements of a test case in front of an example that declare what it uses, and what these use in turn."""
    declaring, own = {}, set()
    for statement in statements(re.sub(r"^\s*//.*\n", "", before, flags=re.M)):
        match = DECLARED.match(statement)
        names = re.findall(r"\w+", (match[1] or match[2]) if match else "")
        if "tagma::test" in statement or words(statement) & own:
            own.update(re.findall(r"^(?:const )?[\w:]+ (\w+)[ ({;]", statement) + names)
        else:
            declaring.update({name: statement for name in names})
    needed, left, seen = [], words(code), set()
    while left:
        name = left.pop()
        if name in declaring and name not in seen and declaring[name] not in code:
            seen.add(name)
            needed.append(declaring[name])
            left |= words(declaring[name])
    order = list(declaring.values())
    return sorted(set(needed), key=order.index)


def shown_examples(found):
    """The text of all examples of a name; what one has declared, the next one leaves out."""
    text, said = f"\nExample, from [{found[0][2]}](../../tests/reference/{found[0][2]}):\n", ""
    for needed, code, _ in found:
        code = "".join(statement + "\n" for statement in needed if statement not in said) + code
        said += code
        text += f"\n```cpp\n{code}\n```\n"
    return text


def words(code):
    """The names in a piece of code that are no members and in no namespace."""
    return set(re.findall(r"(?<![\w.:])[A-Za-z_]\w*", re.sub(r'"(?:\\.|[^"\\])*"|//.*', "", code)))


def split_names(names):
    return re.split(r",\s+(?:// )?", names)


def uses(code, name):
    """Whether an example has the name of a function, the last word of it or the operator: in a comment, too, as `tg::add(a, b)` beside a + b."""
    word = name.rpartition("::")[2]
    if word.startswith("operator"):
        return word.removeprefix("operator").removeprefix('""').strip() in code
    return re.search(rf"\b{word}\b", code) is not None


def wrong_examples(root, names):
    """Functions without an example, examples of what is not there or is not in them, and comments that no test case compares."""
    all_snippets, pieces, functions, known = snippets(root), examples(root), {}, set()
    for name in names:
        page = page_of(name)
        if page is None or REFUSED.match(name.doc or name.group) or "diagnose::" in name.signature:
            continue
        spelled = docstrings.PUBLIC[name.scope] + "::" + name.name
        known.add((page, spelled.removeprefix("tg::")))
        if name.kind == "function" or name.kind == "variable" and "](" in name.signature:
            functions.setdefault((page, spelled.removeprefix("tg::")), name)
    for (page, name), where in functions.items():
        has = (page, name) in all_snippets or example_of("tg::" + name, pieces)
        if not has and (page, name) not in NO_EXAMPLE:
            yield f"{where.header}:{where.line}: {name} has no example; tests/reference/{page}.cpp has room for one"
        if has and (page, name) in NO_EXAMPLE:
            yield f"tools/reference.py: NO_EXAMPLE has {name} of {page}, which has one"
    if pathlib.Path(root) == ROOT:
        yield from (f"tools/reference.py: NO_EXAMPLE has {name} of {page}, which is not there" for page, name in NO_EXAMPLE if (page, name) not in functions)
    for (page, name), found in all_snippets.items():
        for _, code, file in found:
            if (page, name) not in known:
                yield f"tests/reference/{file}: an example of {name}, which docs/reference/{page}.md does not have"
            elif (page, name) in functions and not uses(code, name):
                yield f"tests/reference/{file}: an example of {name} that does not use it"
    for path in sorted((pathlib.Path(root) / "tests/reference").glob("*.cpp")):
        for case in re.split(r"^TEST_CASE", path.read_text(encoding="utf-8"), flags=re.M):
            compared = " ".join(re.findall(r'"((?:\\.|[^"\\])*)"', SNIPPET.sub("", case)))
            for _, _, code in SNIPPET.findall(case):
                for said in re.findall(r"//.*", code):
                    for value in bracketed(said):
                        if value not in compared:
                            yield f"tests/reference/{path.name}: no text of the test case has {value}, as an example says"


def bracketed(text):
    """What stands in outermost brackets, but those of an index, as in x[0]."""
    found, depth = [], 0
    for i, c in enumerate(text):
        if c == "[" and (depth := depth + 1) == 1:
            first = i
        elif c == "]" and depth and (depth := depth - 1) == 0:
            found += [text[first:i + 1]] if not re.match(r"[\w)\]]", text[first - 1:first]) else []
    return found


def example_of(spelled, pieces):
    use = re.compile(re.escape(spelled) + r"(?![\w])")
    return next((p for p in pieces if spelled in p[0] and p[0].count("\n") < 12 and use.search(re.sub(r"//.*", "", p[0]))), None)


def pages(root, all_names=None):
    """The text of each page by the name of its file, of these names or those of the headers."""
    homes = umbrellas(root)
    read_diagnostics(root)
    pieces, of_names = examples(root), snippets(root)
    by_page = {}
    for name in docstrings.read(root) if all_names is None else all_names:
        page = page_of(name)
        if page is None or REFUSED.match(name.doc or name.group) or "diagnose::" in name.signature:
            continue
        spelled = docstrings.PUBLIC[name.scope] + "::" + name.name
        by_page.setdefault(page, {}).setdefault(spelled, []).append(name)
    written, index, shown = {}, [], 0
    for file, title, first, patterns in PAGES:
        entries = by_page.get(file, {})
        if not entries:
            continue
        rank = {}
        order = sorted(entries.items(), key=lambda e: place(patterns, e[1][0]))
        text = f"# {title}\n\n{first}\n\n" + ", ".join(f"[`{s.removeprefix('tg::')}`](#{anchor(s)})" for s, _ in order) + "\n"
        for spelled, names in order:
            text += f'\n<a id="{anchor(spelled)}"></a>\n\n## {plain(spelled)}\n\n'
            text += "`#include <" + ">`, `#include <".join(dict.fromkeys(homes[n.header] for n in names)) + ">`\n"
            last = None
            for name in names:
                said = name.doc or name.group
                code = class_code(name) if name.kind == "class" and data_members(name) else wrapped(name.signature) + ";"
                if last is not None and said == last:
                    text = text.removesuffix(MARK)
                    at = text.rindex("\n```\n")
                    text = text[:at] + "\n" + code + text[at:]
                    continue
                last = said
                body = Sections(said).markdown()
                if name.doc and name.group and not REFUSED.match(name.group):
                    body += "\n\n" + Sections(re.sub(r"^@name.*\n?", "", name.group)).markdown()
                text += f"\n```cpp\n{code}\n```\n\n{body}\n".replace("\n\n\n", "\n\n")
                members = members_markdown(name)
                if members:
                    text += f"\n{members}\n"
            own = of_names.get((file, spelled.removeprefix("tg::")), [])
            example = None if own else example_of(spelled, pieces)
            shown += bool(own or example)
            if own:
                text += shown_examples(own)
            if example:
                text += f"\nExample, from [{example[2]}]({example[1]}):\n\n```cpp\n{example[0]}\n```\n"
        written[file + ".md"] = text
        index.append(f"| [{title}]({file}.md) | " + ", ".join(f"[`{s.removeprefix('tg::')}`]({file}.md#{anchor(s)})" for s, _ in order) + " |")
    count = sum(len(e) for e in by_page.values())
    written["index.md"] = (
        "# Reference\n\nEvery public name, from the comments of the headers: what it does, its parameters with their defaults, the variables that\n"
        "it makes, and its errors, by number (TAGMA-E: [diagnostics](../diagnostics.md), refused by the compiler) or by status code\n"
        "([errors](errors.md), thrown when the program runs). `namespace tg = tagma;` throughout. Names of PyTorch, Keras and TensorFlow:\n"
        f"[translation](../translation.md). {count} names, {shown} of them with an example that the tests run.\n\n"
        "`<tagma/tagma.hpp>` has graphs, layers, losses, optimizers, programs and sessions; `<tagma/train.hpp>` has `save`, `restore` and variables by\n"
        "name, `<tagma/fit.hpp>` has `fit`, `<tagma/data.hpp>` data sets in memory, `<tagma/datasets.hpp>` pipelines. Each entry says its header.\n\n"
        "These pages are written by `python3 tools/reference.py`; `mkdocs build -f tools/mkdocs.yml` makes a site of them that can be searched.\n\n"
        "| | |\n|---|---|\n" + "\n".join(index) + "\n")
    return written


MARK = ""


def place(patterns, name):
    header = name.header.removeprefix("tagma/")
    for i, pattern in enumerate(patterns):
        if fnmatch.fnmatchcase(header, pattern.partition(":")[0]):
            return (i, header, name.line)
    return (len(patterns), header, name.line)


def anchor(spelled):
    words = {"+": "plus", "-": "minus", "*": "times", "/": "divide", "<": "less", ">": "greater", "=": "equal", "&": "and", "|": "or",
             "!": "not", '"': ""}
    return "".join(words.get(c, c) for c in spelled.removeprefix("tg::")).replace("::", "-")


def check(root, names=None):
    folder = pathlib.Path(root) / "docs/reference"
    made = pages(root, names)
    complaints = [f"docs/reference/{f}: differs from what the headers say; run tools/reference.py" for f, text in made.items()
                  if not (folder / f).exists() or (folder / f).read_text(encoding="utf-8") != text]
    complaints += [f"docs/reference/{p.name}: no page of the reference" for p in sorted(folder.glob("*.md")) if p.name not in made]
    site = pathlib.Path(root) / "tools/mkdocs.yml"
    if site.exists():
        listed = site.read_text(encoding="utf-8")
        complaints += [f"tools/mkdocs.yml: does not list reference/{f}" for f in made if f"reference/{f}" not in listed]
    return complaints


def write(root):
    folder = pathlib.Path(root) / "docs/reference"
    folder.mkdir(exist_ok=True)
    made = pages(root)
    for path in folder.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for file, text in made.items():
        (folder / file).write_text(text, encoding="utf-8")
    return made


HEADER = """#pragma once
namespace tagma {
/// Doubles x.
/// @param x a number, by default 1
/// @return [batch], twice x
/// Raises TAGMA-E014.
template <class T, class Place = TAGMA_FRESH_TYPE(T)>
[[nodiscard]] constexpr T twice(T x = 1) { return x * 2; }
/// Names the members of a struct: specialise it.
template <class T>
struct members;
struct defined_elsewhere;
}  // namespace tagma
"""


EXAMPLE = """TEST_CASE("two") {
  const tagma::test::folder folder;
  const std::string unseen = folder.path;
  auto pair = tg::tensor<float>({2}, {2, 3});
  auto other = pair;
  // example: %s
  auto two = tg::twice(pair);  // [4, 6]
  // end
  CHECK(text(two) == "%s");
}
"""


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"include/tagma/nn/layers.hpp": HEADER, "include/tagma/tagma.hpp": '#include "tagma/nn/layers.hpp"\n',
                           "docs/guide.md": "```cpp\nauto two = tg::twice(1.0f);\n```\n"}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        page = pages(root)["layers.md"]
        guide = list(wrong_examples(root, docstrings.read(root)))
        (root / "docs/guide.md").write_text("", encoding="utf-8")
        without = list(wrong_examples(root, docstrings.read(root)))
        (root / "tests/reference").mkdir(parents=True)
        own = root / "tests/reference/layers.cpp"
        own.write_text(EXAMPLE % ("twice", "[4, 6]"), encoding="utf-8")
        right, shown = list(wrong_examples(root, docstrings.read(root))), pages(root)["layers.md"]
        own.write_text(EXAMPLE % ("twice, thrice", "[4, 5]"), encoding="utf-8")
        false = list(wrong_examples(root, docstrings.read(root)))
        own.unlink()
        (root / "docs/guide.md").write_text("```cpp\nauto two = tg::twice(1.0f);\n```\n", encoding="utf-8")
        before = check(root)
        write(root)
        wrong = [
            "template <class T>\nT twice(T x = 1);" not in page,
            "Doubles x." not in page,
            "template <class T>\nstruct members;" not in page or "specialise it" not in page,
            "defined_elsewhere" in page,
            "- `x`: a number, by default 1" not in page,
            "Returns [batch], twice x" not in page,
            "Raises TAGMA-E014." not in page,
            "auto two = tg::twice(1.0f);" not in page,
            "#include <tagma/tagma.hpp>" not in page,
            len(before) != 2,
            guide != [],
            len(without) != 1 or "twice has no example" not in without[0],
            right != [],
            "```cpp\nauto pair = tg::tensor<float>({2}, {2, 3});\nauto two = tg::twice(pair);  // [4, 6]\n```" not in shown or "layers.cpp" not in shown,
            len(false) != 2 or "thrice" not in false[0] or "[4, 6]" not in false[1],
            check(root) != [],
        ]
        (root / "docs/reference/layers.md").write_text("old", encoding="utf-8")
        wrong.append(len(check(root)) != 1)
        if any(wrong):
            print(page)
    print(f"self-test: {len(wrong)} judgements, {sum(wrong)} wrong")
    return 1 if any(wrong) else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:] == ["--check"]:
        complaints = check(ROOT)
        print("\n".join(complaints) or "docs/reference is what the headers say")
        return 1 if complaints else 0
    if sys.argv[1:]:
        sys.exit(__doc__)
    print(f"{len(write(ROOT))} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
