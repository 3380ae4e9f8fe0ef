"""What the lints see of a C++ file."""

import re

# Files that only tests are built from.
TEST_FILE = re.compile(r"(_test\.(cc|h)|_fixture\.(cc|h)|_fuzz\.cc)$|/(fake|test)_[^/]*\.(cc|h)$|/fuzz/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)
TOKEN = re.compile(
    r'R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9a-zA-Z])'(?:[^'\\\n]|\\.)+'"
    r"|//[^\n]*|/\*.*?\*/",
    re.S,
)


def blank(text, keep_strings=False):
    """The text with comments (and strings) as spaces; line numbers stay."""

    def erase(match):
        token = match.group(0)
        if keep_strings and not token.startswith("/"):
            return token
        return re.sub(r"[^\n]", " ", token)

    return TOKEN.sub(erase, text)


def line_of(text, match):
    return text.count("\n", 0, match.start()) + 1


def argument(text, call, name):
    """The words after NAME in the call of a function in the text of a CMakeLists.txt; none: an empty list."""
    found = re.search(rf"\b{call}\(([^)]*)\)", re.sub(r"#[^\n]*", "", text))
    words = re.search(rf"\b{name}\b((?:\s+[a-z_0-9/]+)*)", found.group(1)) if found else None
    return words.group(1).split() if words else []
