#!/bin/sh
# Runs one compilation: compile.sh SOURCE_DIR CCACHE COMPILER ARGUMENTS...
#
# Objects go through ccache and are shared between checkouts. A precompiled header can't be: it holds
# absolute paths, so it would differ in every checkout and every object built on it would miss. It is
# compiled directly, and its `.sum` (over the contents of all headers in it, and the flags) stands for
# it in ccache's hashes.
set -e
source_dir=$1 ccache=$2
shift 2

case " $* " in
*" -emit-pch "*)
    "$@"
    depfile= output= previous=
    for word in "$@"; do
        case $previous in
        -MF) depfile=$word ;;
        -o) output=$word ;;
        esac
        previous=$word
    done
    # The generated cmake_pch.hxx only names the real header.
    {
        echo "$@" | sed "s|$PWD||g; s|$source_dir||g"
        "$1" --version
        sed -e '1d' -e 's/\\$//' "$depfile" | tr -s ' ' '\n' | grep -v -e '^$' -e 'cmake_pch\.hxx' | xargs cat
    } | sha256sum >"$output.sum"
    ;;
*)
    # CMake names the precompiled header behind -Xclang, where ccache does not look for paths. The
    # compiler speaks English whatever LANG says, which a bare environment does not have. What a
    # file depends on is taken from the compiler (CCACHE_DEPEND), so that the preprocessor never runs
    # for ccache alone: it took a tenth of a build without a cache.
    for word in "$@"; do
        case $word in "$PWD"/*) word=${word#"$PWD"/} ;; esac
        shift
        set -- "$@" "$word"
    done
    CCACHE_DEPEND=1 CCACHE_BASEDIR=$source_dir CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1 \
    CCACHE_SLOPPINESS=pch_defines,time_macros,locale,include_file_mtime,include_file_ctime \
        exec "$ccache" "$@"
    ;;
esac
