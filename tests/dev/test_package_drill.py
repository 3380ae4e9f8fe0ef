"""scripts/package_drill.py: what a package leaves is seen, and what apt keeps is not."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import package_drill


class Package(package_drill.Root):
    """A root in which nothing runs: installing and purging are given."""

    def __init__(self, place, leaves=(), takes=(), changes=()):
        super().__init__(place)
        self.leaves, self.takes, self.changes = leaves, takes, changes
        for name in ("etc/passwd", "etc/resolv.conf", "etc/shared", "var/lib/dpkg/status", "root/.profile"):
            (self.place / name).parent.mkdir(parents=True, exist_ok=True)
            (self.place / name).write_text(name)

    def run(self, script):
        if "purge" not in script:
            return ""
        (self.place / "root" / "muster.deb").unlink()
        for name in self.leaves:
            (self.place / name).parent.mkdir(parents=True, exist_ok=True)
            (self.place / name).write_text("")
        for name in self.takes:
            (self.place / name).unlink()
        for name in self.changes:
            (self.place / name).write_text("changed")
        return ""


@pytest.mark.parametrize("what,sound", [
    ({}, True),
    ({"leaves": ["var/lib/dpkg/info/muster.list", "var/log/apt/term.log", "root/.muster/store.db", "etc/shadow-"]}, True),
    ({"leaves": ["usr/bin/muster"]}, False),
    ({"leaves": ["root/.musters"]}, False),
    ({"leaves": ["etc/systemd/system/muster.service"]}, False),
    ({"takes": ["etc/shared"]}, False),
    ({"changes": ["etc/passwd"]}, False),
])
def test_what_is_left_is_seen(tmp_path, what, sound):
    package = tmp_path / "muster.deb"
    package.write_text("")
    assert package_drill.rehearse(Package(tmp_path / "root", **what), package) is sound
