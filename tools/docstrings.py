# SPDX-License-Identifier: BSL-1.0
"""Reads the public names of the headers, and what their comments say: one list for the pages of docs/reference and for the
tests that compare documents with headers."""

import pathlib
import re

# Namespaces whose names programs write. All others are the library's own.
PUBLIC = {"tagma": "tg", "tagma::early": "tg", "tagma::datasets": "tg::datasets", "tagma::io": "tg::io", "tagma::literals": "tg::literals",
          "tagma::metrics": "tg::metrics", "tagma::safetensors": "tg::safetensors"}
OPENS = re.compile(r"^namespace (%s) \{" % "|".join(PUBLIC), re.M)
TOKEN = re.compile(r'///[^\n]*|//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
                   r"|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|'?[\w.])*|::|->|&&|\|\||[<>=!]=|\.\.\.|\n|\s|.", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
# Words before a declaration that say nothing to who reads about it.
QUIET = re.compile(r"^(TAGMA_[A-Z_]+|inline|static|constexpr|consteval|constinit|extern|friend|nodiscard)$")


class Name:
    """One public name: kind is function, variable, class, enum, alias or concept."""

    def __init__(self, kind, scope, name, signature, doc, group, header, line, access="public"):
        self.kind, self.scope, self.name, self.signature, self.doc, self.group = kind, scope, name, signature, doc, group
        self.header, self.line, self.access, self.members = header, line, access, []

    @property
    def text(self):
        """What is said of it, by itself or by the group in which it stands."""
        return self.doc or self.group


def tokens(text):
    """(text, line) of what stands in a header, without directives and without comments that are no docstrings."""
    text = DIRECTIVE.sub(lambda m: "\n" * m.group().count("\n"), text)
    found, line = [], 1
    for match in TOKEN.finditer(text):
        token = match.group()
        if token.startswith("/**<"):  # behind a member, over several lines
            found.append(("///< " + " ".join(token[4:-2].split()), line))
        elif token.startswith("///") or not (token.isspace() or token.startswith(("//", "/*"))):
            found.append((token, line))
        elif token == "\n" and found and found[-1][0] != "\n":
            found.append(("\n", line))
        line += token.count("\n")
    return found


def matching(words, i):
    """The position behind what the bracket at `i` opens."""
    depth = 0
    while i < len(words):
        if words[i] in OPEN:
            depth += 1
        elif words[i] in CLOSE:
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return i


def behind_angles(words, i):
    """The position behind the '>' that closes the '<' at `i`."""
    depth = 0
    while i < len(words):
        if words[i] in OPEN:
            i = matching(words, i)
            continue
        depth += {"<": 1, ">": -1}.get(words[i], 0)
        i += 1
        if depth == 0:
            return i
    return i


def spell(words):
    """Tokens as a line of C++."""
    text = ""
    for i, word in enumerate(words):
        last = words[i - 1] if i else ""
        tight = (not text or word in (",", ";", ")", "]", "::", "(", "[", ".", "->", ">", "...") or
                 last in ("(", "[", "::", ".", "->", "<", "!", "~") or (word == "<" and last not in ("operator", "template")) or
                 (word in ("&", "*", "&&") and last not in (",", "=", "requires")) or (word == "{" and last not in (")", "const", "=")) or
                 last == "{" or word == "}" or (last == "-" and words[i - 2] in ("=", "(", ",", "{")))
        loose = word == "(" and last in ("requires", "&&", "||", ",", "=") or word == "[" and last in (",", "=") or \
            word == "&&" and last in (")", ">") and words[i + 1:i + 2] not in ([")"], ["..."])
        text += word if tight and not loose else " " + word
    return text.strip()


def without_place(words, rest):
    """A template's parameters without those that users never give: TAGMA_FRESH_TYPE, and what is worked out and not in the `rest`."""
    kept, part, depth = [], [], 0
    for word in words + [","]:
        if word == "," and depth == 0:
            worked_out = "=" in part and "detail" in part and part[part.index("=") - 1] not in rest
            if not any(w.startswith("TAGMA_FRESH") for w in part) and not worked_out:
                kept.append(part)
            part = []
            continue
        depth += (word in ("<", "(", "{")) - (word in (">", ")", "}"))
        part.append(word)
    return [word for i, part in enumerate(kept) for word in ([","] if i else []) + part]


def shown(words):
    """The signature that is shown of a declaration's words."""
    result, i = [], 0
    while i < len(words):
        if words[i] == "template" and i + 1 < len(words) and words[i + 1] == "<":
            close = behind_angles(words, i + 1)
            inner = without_place(words[i + 2:close - 1], words[close:])
            if inner:
                result += ["template", "<"] + inner + [">", "\n"]
            i = close
        elif words[i] == "[" and i + 1 < len(words) and words[i + 1] == "[":
            i = matching(words, i)
        elif QUIET.match(words[i]):
            i += 1
        elif words[i] == "requires" and (not result or result[-1] == "\n") and words[:1] == ["template"]:
            close = Reader.behind_requires(words, i)
            if "detail" not in words[i:close]:
                result += words[i:close] + ["\n"]
            i = close
        else:
            result.append(words[i])
            i += 1
    lines, line = [], []
    for word in result + ["\n"]:
        if word == "\n":
            lines.append(spell(line))
            line = []
        else:
            line.append(word)
    return "\n".join(l for l in lines if l)


class Reader:
    def __init__(self, header, text):
        self.header, self.tokens, self.names = header, tokens(text), []

    def read(self):
        self.scope(0, "", None, "public")
        return self.names

    def scope(self, i, space, owner, access):
        """Reads declarations from token `i` on to the bracket that closes their scope; the position behind it."""
        doc, groups, last = [], [], None
        while i < len(self.tokens):
            token, line = self.tokens[i]
            if token == "\n":
                i += 1
                if i < len(self.tokens) and self.tokens[i][0] == "\n":
                    doc = []
                continue
            if token.startswith("///"):
                said = token[3:].removeprefix(" ").rstrip()
                if token.startswith("///<"):
                    if last is not None:
                        last.doc = (last.doc + " " + token[4:].strip()).strip()
                elif said.strip() == "@{":
                    groups.append("\n".join(doc).strip())
                    doc = []
                elif said.strip() == "@}":
                    groups = groups[:-1]
                    doc = []
                else:
                    if doc and self.gap(i):
                        doc = []
                    doc.append(said)
                i += 1
                continue
            if token == "}":
                return i + 1
            if token == ";":
                i += 1
                continue
            if re.fullmatch(r"TAGMA_\w+_(BEGIN|END)", token):
                i, doc = i + 1, []
                continue
            if token in ("public", "private", "protected") and self.word(i + 1) == ":":
                access, doc = token, []
                i = self.after(i + 1) + 1
                continue
            i, last = self.declaration(i, space, owner, access, "\n".join(doc).strip() if not self.gap(i) else "", groups)
            doc = []
        return i

    def gap(self, i):
        """True if an empty line stands before the docstring or declaration at `i`: what comes before is about something else."""
        before = i - 1
        while before >= 0 and self.tokens[before][0] == "\n":
            before -= 1
        return before >= 0 and self.tokens[before][0].startswith("///") and self.tokens[i][1] - self.tokens[before][1] > 1

    def after(self, i):
        while i < len(self.tokens) and (self.tokens[i][0] == "\n" or self.tokens[i][0].startswith("///")):
            i += 1
        return i

    def word(self, i):
        i = self.after(i)
        return self.tokens[i][0] if i < len(self.tokens) else ""

    def block(self, i):
        """The position behind the bracket that `i` opens."""
        depth = 0
        while i < len(self.tokens):
            token = self.tokens[i][0]
            depth += (token in OPEN) - (token in CLOSE)
            i += 1
            if depth == 0:
                return i
        return i

    def declaration(self, i, space, owner, access, doc, groups):
        start, line, words = i, self.tokens[i][1], []
        initialised = False
        while i < len(self.tokens):
            token = self.tokens[i][0]
            if token == "\n" or token.startswith("///"):
                i += 1
                continue
            if token == ";":
                return self.after_line(i + 1, self.finish(words, space, owner, access, doc, groups, line))
            if token == "}":
                return i, None
            if token == "{" and words[:1] in (["namespace"], ["inline"]) and "namespace" in words[:2]:
                inner = spell([w for w in words if w not in ("namespace", "inline")])
                return self.scope(i + 1, "::".join(filter(None, [space, inner])), owner, "public"), None
            if token == "{" and words[:1] == ["extern"] and len(words) == 2:
                return self.scope(i + 1, space, owner, "public"), None
            if token == "{":
                key = self.class_key(words)
                if key and not initialised:
                    made = self.finish(words, space, owner, access, doc, groups, line, has_body=True)
                    if key == "enum":
                        i = self.enumerators(i, made)
                    else:
                        name = made or Name("class", space, "", "", "", "", self.header, line, "private")
                        i = self.scope(i + 1, space + "::" + name.name, name, "private" if key == "class" else "public")
                    while i < len(self.tokens) and self.tokens[i][0] != ";":
                        i += 1
                    return self.after_line(i + 1, made)
                end = self.block(i)
                head = self.word(end)
                if initialised or self.is_value(words):
                    words += ["{", "...", "}"] if end - i > 12 else [t for t, _ in self.tokens[i:end] if t != "\n"]
                    i = end
                    if head == ";":
                        continue
                    continue
                return self.after_line(end, self.finish(words, space, owner, access, doc, groups, line, has_body=True))
            if token in OPEN:
                end = self.block(i)
                words += [t for t, _ in self.tokens[i:end] if t != "\n" and not t.startswith("///")]
                i = end
                if re.fullmatch(r"TAGMA_[A-Z_]+", words[0]) and self.tokens[i][0] == "\n" and self.only_macro(words):
                    return i, None
                continue
            if token == "=" and "operator" not in words[-1:] and not self.in_angles(words):
                initialised = True
            words.append(token)
            i += 1
        return i, None

    @staticmethod
    def only_macro(words):
        return len(words) > 1 and words[1] == "(" and matching(words, 1) == len(words)

    @staticmethod
    def in_angles(words):
        """True inside the parameters of a template, whose defaults are no initialiser."""
        i = depth = 0
        while i < len(words):
            if words[i] in OPEN:
                i = matching(words, i)
                continue
            depth += (words[i] == "<" and (depth > 0 or words[i - 1] == "template")) - (words[i] == ">" and depth > 0)
            i += 1
        return depth > 0

    @staticmethod
    def bare(words):
        """Words without template heads, requires clauses of these, attributes and macros."""
        i, result = 0, []
        while i < len(words):
            if words[i] == "template" and i + 1 < len(words) and words[i + 1] == "<":
                i = behind_angles(words, i + 1)
                if i < len(words) and words[i] == "requires":
                    i = Reader.behind_requires(words, i)
            elif words[i] == "[" and i + 1 < len(words) and words[i + 1] == "[":
                i = matching(words, i)
            elif words[i] == "alignas" or words[i] == "explicit" and i + 1 < len(words) and words[i + 1] == "(":
                i = matching(words, i + 1)
            elif QUIET.match(words[i]):
                i += 1
            else:
                result.append(words[i])
                i += 1
        return result

    @staticmethod
    def behind_requires(words, i):
        """The position behind a requires clause: operands joined by && and ||."""
        i += 1
        while i < len(words):
            if words[i] == "!":
                i += 1
                continue
            if words[i] == "requires":
                i += 1
                if i < len(words) and words[i] == "(":
                    i = matching(words, i)
                if i < len(words) and words[i] == "{":
                    i = matching(words, i)
            elif words[i] == "(":
                i = matching(words, i)
            else:
                while i < len(words):
                    i += 1
                    if i < len(words) and words[i] == "<":
                        i = behind_angles(words, i)
                    if not (i < len(words) and words[i] == "::"):
                        break
                    i += 1
            if not (i < len(words) and words[i] in ("&&", "||")):
                return i
            i += 1
        return i

    def class_key(self, words):
        bare = self.bare(words)
        return bare[0] if bare and bare[0] in ("class", "struct", "union", "enum") and "(" not in bare[:2] and \
            not self.is_function(bare) else ""

    @staticmethod
    def is_function(bare):
        depth = 0
        for i, word in enumerate(bare):
            if word == "operator":
                return True
            depth += (word == "<") - (word == ">")
            if word == "=" and depth <= 0:
                return False
            if word == "(" and depth <= 0 and i > 0:
                return True
        return False

    def is_value(self, words):
        """True where braces behind these words initialise a variable or belong to a requires clause."""
        if words and words[-1] == ")" and "requires" in words[-8:] or words[-1:] == ["requires"]:
            return True
        bare = self.bare(words)
        if "requires" in words and not self.is_function(bare):
            return True
        return not self.is_function(bare) and "operator" not in bare

    def enumerators(self, i, made):
        end = self.block(i)
        doc, i = [], i + 1
        while i < end - 1:
            token, line = self.tokens[i]
            if token.startswith("///<"):
                if made is not None and made.members:
                    made.members[-1].doc = (made.members[-1].doc + "\n" + token[4:].strip()).strip()
            elif token.startswith("///"):
                doc.append(token[3:].strip())
            elif re.match(r"[A-Za-z_]", token):
                words = []
                while i < end - 1 and self.tokens[i][0] != "," and not self.tokens[i][0].startswith("///"):
                    words.append(self.tokens[i][0])
                    i += 1
                if made is not None:
                    made.members.append(Name("enumerator", made.name, words[0], spell([w for w in words if w != "\n"
                                             and not w.startswith("///")]), "\n".join(doc), "", self.header, line))
                doc = []
                if i < end - 1 and self.tokens[i][0] != ",":  # behind the last one stands only its comment
                    continue
            i += 1
        return end

    def after_line(self, i, made):
        """A docstring `///<` behind the declaration is about it."""
        if i < len(self.tokens) and self.tokens[i][0].startswith("///<") and made is not None:
            made.doc = (made.doc + "\n" + self.tokens[i][0][4:].strip()).strip()
            i += 1
            while i + 1 < len(self.tokens) and self.tokens[i][0] == "\n" and self.tokens[i + 1][0].startswith("///<"):
                made.doc += "\n" + self.tokens[i + 1][0][4:].strip()
                i += 2
        return i, made

    def finish(self, words, space, owner, access, doc, groups, line, has_body=False):
        if not words:
            return None
        found = self.identify(words, owner, has_body, bool(doc))
        if found is None:
            return None
        kind, name, signature = found
        group = "\n\n".join(filter(None, groups))
        made = Name(kind, space, name, signature, doc, group, self.header, line, access)
        before = owner.members if owner is not None else self.names
        if not made.text and before and before[-1].name == name and before[-1].scope == space:
            made.doc = before[-1].doc  # overloads stand behind one comment
            made.group = before[-1].group
        if owner is not None:
            owner.members.append(made)
        elif "detail" not in space.split("::"):
            self.names.append(made)
        return made

    def identify(self, words, owner, has_body, has_doc=False):
        """(kind, name, signature) of a declaration; None for what declares no name of its own. A template that is declared with a
        comment is for others to specialise."""
        bare = self.bare(words)
        if not bare or words[0] in ("static_assert", "friend", "asm") or bare[0] in ("static_assert", "friend", "extern"):
            return None
        head = bare[0]
        if head in ("class", "struct", "union", "enum"):
            rest = [w for w in bare[1:] if w not in ("class", "struct")]
            if not self.is_function(bare) and has_body:
                name = next((w for w in rest if re.match(r"[A-Za-z_]", w)), "")
                before_bases = rest[:rest.index(":")] if ":" in rest else rest
                if "<" in before_bases or "::" in before_bases:  # a specialisation, or the definition of a member
                    return None
                return ("enum" if head == "enum" else "class", name, shown(words)) if name else None
            if not self.is_function(bare) and (len(rest) <= 1 or head == "enum" or bare[-1] == ">"):
                if has_doc and words[0] == "template" and len(rest) == 1 and head != "enum":
                    return "class", rest[0], shown(words)
                return None  # declared, and defined elsewhere
        if head == "using":
            if "=" not in bare or bare[1:2] == ["namespace"]:
                return None
            return "alias", bare[1], shown(words)
        if head == "typedef":
            return "alias", bare[-1], shown(words)
        if head == "concept":
            return "concept", bare[1], shown(words)
        if head in ("namespace",):
            return None
        return self.function_or_variable(words, bare, owner)

    def function_or_variable(self, words, bare, owner):
        depth, i = 0, 0
        while i < len(bare):
            word = bare[i]
            if word == "operator":
                name = "operator"
                i += 1
                if bare[i] == "(":
                    name, i = "operator()", i + 2
                while i < len(bare) and bare[i] != "(":
                    name += (" " if re.match(r"\w", bare[i]) and name[-1:].isalnum() else "") + bare[i]
                    i += 1
                return "function", name, self.function_signature(words)
            if word == "<":
                i = behind_angles(bare, i)
                continue
            if word in ("decltype", "noexcept", "requires") and i + 1 < len(bare) and bare[i + 1] == "(":
                i = matching(bare, i + 1)
                continue
            if word == "=" or word == "{":
                name = bare[i - 1]
                if name == "]":
                    name = next((w for w in reversed(bare[:i]) if re.match(r"[A-Za-z_]", w)), "")
                if name == ">":
                    return None  # a specialisation
                if not re.match(r"[A-Za-z_]\w*$", name) or i < 2:
                    return None
                return "variable", name, self.variable_signature(words, name)
            if word == "(" and i > 0 and re.match(r"[A-Za-z_]", bare[i - 1]):
                name, before = bare[i - 1], i - 2
                if before >= 0 and bare[before] == "~":
                    name, before = "~" + name, before - 1
                if before >= 0 and bare[before] == "::" or (owner is None and i == 1):
                    return None  # the definition of a member, or a guide for the arguments of a class
                return "function", name, self.function_signature(words)
            if word == "(":
                return None
            i += 1
        name = next((w for w in reversed(bare) if re.match(r"[A-Za-z_]\w*$", w)), "")
        if len(bare) < 2 or not name or (owner is None and bare[-1] == ">"):
            return None
        return "variable", name, shown(words)

    @staticmethod
    def function_signature(words):
        """Without the initialisers of a constructor, and what a body would be."""
        depth = 0
        for i, word in enumerate(words):
            depth += (word in OPEN) - (word in CLOSE)
            if word == ":" and depth == 0 and i and words[i - 1] == ")":
                return shown(words[:i])
            if word == "->" and depth == 0 and "decltype" in words[i:i + 3]:
                return shown(words[:i])
        return shown(words)

    @staticmethod
    def variable_signature(words, name):
        """A lambda is shown as the function that it is, any other value with its initialiser."""
        at = next((i for i, w in enumerate(words) if w == name and words[i + 1:i + 2] in (["="], ["{"], ["["])), None)
        if at is None:
            return shown(words)
        rest = words[at + 2:]
        if words[at + 1] == "=" and rest[:1] == ["["]:
            i = matching(rest, 0)
            head = []
            if i < len(rest) and rest[i] == "<":
                close = behind_angles(rest, i)
                inner = without_place(rest[i + 1:close - 1], rest[close:])
                head = ["template", "<"] + inner + [">"] if inner else []
                i = close
            if i < len(rest) and rest[i] == "requires":
                i = Reader.behind_requires(rest, i)
            if i < len(rest) and rest[i] == "(":
                return shown(head + ["auto", name] + rest[i:matching(rest, i)])
        return shown(words)


def headers(root):
    base = pathlib.Path(root) / "include"
    return sorted(p.relative_to(base).as_posix() for p in base.rglob("*.hpp"))


def read(root):
    """All names of public namespaces, in the order of headers, and of lines in each."""
    found = []
    for header in headers(root):
        text = (pathlib.Path(root) / "include" / header).read_text(encoding="utf-8")
        if OPENS.search(text) is None:
            continue
        found += [n for n in Reader(header, text).read() if n.scope in PUBLIC and n.name]
    said = {(n.scope, n.name, n.signature.count(",")) for n in found if n.text}
    # A function that is declared with a comment may be defined without one.
    return [n for n in found if n.text or n.kind != "function" or (n.scope, n.name, n.signature.count(",")) not in said]
