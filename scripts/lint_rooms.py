"""The size and the order of folders; lint_seams.py prints what this finds.

A newcomer must find a thing by the folders' names. So a folder is small, its rooms use each other in one direction, and a class
is in one file: one that needs several has several reasons to change. What may be otherwise stands below with its reason, and an
entry that is not needed any more is a finding too.
"""

import collections
import re

from cpp_text import INCLUDE, TEST_FILE, argument, blank, line_of

MAX_FILES = 30

# folder -> why it has more files
LARGE_FOLDERS = {}

# class -> why its member functions are in several files
SCATTERED_CLASSES = {
    "Schema": "plain data; schema_openapi.cc reads and writes its OpenAPI form, and needs no more of it than its fields",
}

# (folder of src/, its rooms in a circle) -> why they are in one
CIRCLES = {
    ("cli", "internal/command_line internal/verbs"):
        "the verb `completion` completes all verbs, itself among them, and `operator` reads its flags from a file, too",
}

# A member function as clang-format leaves its definition: its name is the first that is followed by a parenthesis, and the line
# begins at the left.
MEMBER = re.compile(
    r"^(?![\s#}])[^;={}()]*?(?<![\w:])((?:[A-Za-z]\w*(?:<[^;{}()]*>)?::)*[A-Z]\w*)(?:<[^;{}()]*>)?::(?:~?\w+|operator[^\s\w(]+)\(", re.M)


def is_code(path):
    """Not of a test or a benchmark."""
    return path.suffix in (".cc", ".h") and not TEST_FILE.search(path.as_posix()) and not path.name.endswith("_bench.cc")


class Rooms:
    def __init__(self, root):
        self.root, self.found, self.used = root, [], set()

    def name(self, path):
        return path.relative_to(self.root).as_posix()

    def find(self, permissions, key, place, message):
        if key in permissions:
            self.used.add(key)
        else:
            self.found.append(f"{place}: {message}")

    def sizes(self):
        for folder in sorted(path for path in (self.root / "src").rglob("*") if path.is_dir()):
            count = sum(is_code(path) for path in folder.iterdir())
            if count > MAX_FILES:
                name = self.name(folder)
                self.find(LARGE_FOLDERS, name, f"{name}:1", f"rooms: {count} files besides tests; more than {MAX_FILES} are several rooms")

    def classes(self, folder):
        """A class that a file defines for itself may have the name of another file's."""
        places = collections.defaultdict(list)
        for path in sorted(folder.rglob("*.cc")):
            if not is_code(path):
                continue
            code, seen = blank(path.read_text(errors="replace")), set()
            for match in MEMBER.finditer(code):
                owner = re.sub(r"^(?:[a-z_]\w*::)+", "", match.group(1))
                if owner not in seen and not re.search(rf"\b(?:class|struct)\s+{re.escape(owner)}\b[^;{{]*\{{", code):
                    places[owner].append((self.name(path), line_of(code, match)))
                seen.add(owner)
        for owner, files in sorted(places.items()):
            if len(files) > 1:
                path, line = files[1]
                self.find(SCATTERED_CLASSES, owner, f"{path}:{line}",
                          f"rooms: member functions of {owner} are in {', '.join(file for file, _ in files)}; split the class, not the file")

    def circles(self, folder):
        rooms = argument((folder / "CMakeLists.txt").read_text(), "muster_library", "ROOMS")
        uses = collections.defaultdict(dict)
        for path in sorted(folder.rglob("*")):
            if not is_code(path) or path.name.endswith("main.cc"):
                continue  # a program is above all rooms
            one = room_of(path.relative_to(folder).as_posix(), rooms)
            for quote, target in INCLUDE.findall(blank(path.read_text(errors="replace"), keep_strings=True)):
                if quote == '"' and target.startswith(f"{folder.name}/"):
                    other = room_of(target.partition("/")[2], rooms)
                    if other != one:
                        uses[one].setdefault(other, f"{self.name(path)} includes {target}")
        for members, graph in self.reported(uses, set(rooms)):
            way = min((way_around(graph, room) for room in members), key=len)
            said = "; ".join(graph[one][other] for one, other in zip(way, way[1:]))
            self.find(CIRCLES, (folder.name, " ".join(members)), f"src/{folder.name}/CMakeLists.txt:1",
                      f"rooms: {', '.join(members)} use each other or what uses them: {said}")

    def reported(self, uses, rooms):
        """The rooms in a circle, and the graph that has it. What a folder offers at its top uses private rooms, which use its types: that
        alone is no circle of them."""
        below = {one: {other: why for other, why in others.items() if other != "top"} for one, others in uses.items() if one != "top"}
        for circle in circles_in(uses):
            if circle & rooms:
                yield sorted(circle & rooms), uses
        for circle in circles_in(below):
            if not circle & rooms:
                yield sorted(circle), below

    def compiled(self, folder):
        """A library has the sources at its top, in its rooms and two levels deep in internal/; those of other programs are named."""
        text = (folder / "CMakeLists.txt").read_text()
        rooms = argument(text, "muster_library", "ROOMS")
        for place in sorted({path.parent for path in folder.rglob("*.cc")} - {folder}):
            inside = place.relative_to(folder).as_posix()
            in_library = inside in rooms or re.fullmatch("internal(/[^/]+)?", inside)
            if not in_library and f"{inside}/" not in text and not self.named_elsewhere(place):
                self.found.append(f"{self.name(place)}:1: rooms: nothing compiles these sources; name the folder in ROOMS of "
                                  f"{self.name(folder)}/CMakeLists.txt")

    def named_elsewhere(self, place):
        return any(f"{self.name(place)}/" in path.read_text() for path in self.root.glob("src/*/CMakeLists.txt"))

    def test_namespaces(self, folder):
        """Test files are compiled together (cmake/MusterLibrary.cmake), and each calls its own things as it likes."""
        stems = {}
        for path in sorted(folder.rglob("*_test.cc")):
            code = blank(path.read_text(errors="replace"))
            unnamed = re.search(r"^namespace ([\w:]+) \{\s*namespace \{", code, re.M)
            if unnamed and not unnamed.group(1).endswith(f"::{path.stem}"):
                self.found.append(f"{self.name(path)}:{line_of(code, unnamed)}: rooms: its namespace is {unnamed.group(1)}::{path.stem}, so "
                                  "that it may be compiled together with other tests")
            if path.stem in stems:
                self.found.append(f"{self.name(path)}:1: rooms: {stems[path.stem]} has the same name, and so would their namespaces")
            stems[path.stem] = self.name(path)

    def stale(self):
        for folder in LARGE_FOLDERS:
            self.not_needed(folder, f"{folder}:1")
        for owner in SCATTERED_CLASSES:
            self.not_needed(owner, "src:1")
        for folder, rooms in CIRCLES:
            self.not_needed((folder, rooms), f"src/{folder}:1")

    def not_needed(self, key, place):
        if key not in self.used:
            self.found.append(f"{place}: rooms: does not need its permission in scripts/lint_rooms.py any more: {key}")

    def findings(self):
        self.sizes()
        for folder in sorted(path.parent for path in self.root.glob("src/*/CMakeLists.txt")):
            self.classes(folder)
            self.circles(folder)
            self.compiled(folder)
            self.test_namespaces(folder)
        self.stale()
        return self.found


def room_of(path, rooms):
    """Of a file of a folder. internal/X is the private part of the room X if there is one, and else a room that no other folder sees."""
    parts = path.split("/")[:-1]
    inside = parts[:1] == ["internal"]
    parts = parts[inside:]
    for count in range(len(parts), 0, -1):
        if "/".join(parts[:count]) in rooms:
            return "/".join(parts[:count])
    return f"internal/{parts[0]}" if inside and parts else "top"


def circles_in(uses):
    """The sets of rooms each of which reaches all others of its set."""

    def reached(one):
        seen, todo = set(), [one]
        while todo:
            for other in uses.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    reach = {one: reached(one) for one in list(uses)}
    circles = {frozenset(other for other in reach if other in reach[one] and one in reach[other]) for one in reach if one in reach[one]}
    return sorted(circles, key=sorted)


def way_around(uses, room):
    """The shortest from a room to itself."""
    ways, seen = [[room]], set()
    for way in ways:
        for other in sorted(uses.get(way[-1], ())):
            if other == room:
                return [*way, room]
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    raise ValueError(f"no way leads back to {room}")


def findings(root):
    return Rooms(root).findings()
