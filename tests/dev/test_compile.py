"""cmake/compile.sh: what one checkout compiled, another one takes from ccache, and nothing else."""

import os
import pathlib
import shutil
import subprocess

import pytest

COMPILE = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "compile.sh"
CCACHE = shutil.which("ccache")
CLANG = shutil.which("clang++-19")

pytestmark = pytest.mark.skipif(not (CCACHE and CLANG), reason="ccache or clang++-19 is not installed")


def checkout(place, header="inline int one() { return 1; }\n"):
    """A tree with a precompiled header and a source, laid out as CMake does."""
    for folder in ("src", "cmake", "build/release"):
        (place / folder).mkdir(parents=True)
    (place / "cmake/pch.h").write_text(f"#pragma once\n{header}")
    (place / "src/a.cc").write_text("int two() { return one() + 1; }\n")
    (place / "build/release/cmake_pch.hxx").write_text("#include <pch.h>\n")
    return place


def build(place, cache, **environment):
    """Compiles header and source; returns how many of the compilations that ccache saw were hits, and misses."""
    build_dir = place / "build/release"
    env = {"HOME": str(cache), "PATH": os.environ["PATH"], "CCACHE_DIR": str(cache), **environment}
    run = [COMPILE, place, CCACHE, CLANG, "-O1", f"-ffile-prefix-map={place}=.", f"-I{place}/src", f"-I{place}/cmake"]
    header, pch = build_dir / "cmake_pch.hxx", build_dir / "cmake_pch.hxx.pch"
    subprocess.run([CCACHE, "--zero-stats"], env=env, check=True, capture_output=True)
    subprocess.run([*run, "-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-x", "c++-header",
                    "-MD", "-MF", "pch.d", "-o", pch, "-c", header], cwd=build_dir, env=env, check=True)
    subprocess.run([*run, "-Xclang", "-fno-pch-timestamp", "-Xclang", "-include-pch", "-Xclang", pch,
                    "-Xclang", "-include", "-Xclang", header,
                    "-MD", "-MF", "a.o.d", "-o", "a.o", "-c", place / "src/a.cc"],
                   cwd=build_dir, env=env, check=True)
    printed = subprocess.run([CCACHE, "--print-stats"], env=env, check=True, capture_output=True, text=True).stdout
    stats = dict(line.split("\t") for line in printed.splitlines())
    return int(stats["direct_cache_hit"]) + int(stats["preprocessed_cache_hit"]), int(stats["cache_miss"])


def test_another_folder_is_served(tmp_path):
    assert build(checkout(tmp_path / "one"), tmp_path / "cache") == (0, 1)
    assert build(checkout(tmp_path / "an/other/place"), tmp_path / "cache") == (1, 0)


def test_another_language_of_the_caller_is_served(tmp_path):
    assert build(checkout(tmp_path / "one"), tmp_path / "cache", LANG="C.UTF-8") == (0, 1)
    assert build(checkout(tmp_path / "two"), tmp_path / "cache") == (1, 0)
    assert build(checkout(tmp_path / "three"), tmp_path / "cache", LC_ALL="C") == (1, 0)


def test_another_precompiled_header_is_not(tmp_path):
    build(checkout(tmp_path / "one"), tmp_path / "cache")
    changed = checkout(tmp_path / "two", header="inline int one() { return 11; }\n")
    assert build(changed, tmp_path / "cache") == (0, 1)
