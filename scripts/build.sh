# Sourced by ./dev: configuring and building presets.

cores() { nproc 2>/dev/null || echo 2; }

# Compiled objects are kept for all checkouts of this user.
ccache_directory() { echo "${CCACHE_DIR:-$cache/ccache}"; }

configure() {
    local preset=$1 directory=$root/build/$1
    if [[ -e $directory/build.ninja && $directory/build.ninja -nt $root/CMakePresets.json ]]; then return 0; fi
    case $preset in asan* | tsan | fuzz) need_packages sanitize ;; esac
    step "configure $preset" cmake -S "$root" --preset "$preset" -B "$directory" \
        ${boost_root:+-DMUSTER_BOOST_ROOT="$boost_root"}
}

# build_target PRESET TARGET...
build_target() {
    local preset=$1
    shift
    configure "$preset" || exit 1
    CCACHE_DIR=$(ccache_directory) step "build $preset" ninja -C "$root/build/$preset" -j "$(cores)" "$@" || exit 1
}
