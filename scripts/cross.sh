# Sourced by ./dev: builds for an architecture that this machine does not have. Debian's packages of it are unpacked in
# the cache, where CMake looks for libraries (cmake/cross.cmake); nothing of it is installed.

# Debian's names of architectures, and the compiler's.
processor_of() { case $1 in arm64) echo aarch64 ;; amd64) echo x86_64 ;; *) return 1 ;; esac; }

# The libraries of the programs, what they include and link, and those of the C and C++ languages.
packages_cross() {
    local one
    for one in "${packages_build[@]}"; do case $one in *-dev) echo "$one" ;; esac; done
    for one in '' -json -container -system; do echo "libboost${one}$boost_version-dev"; done
    echo libc6-dev libstdc++-12-dev
}

# need_sysroot ARCH: sets `sysroot`.
need_sysroot() {
    local arch=$1
    is_debian || die "a build for $arch needs Debian's packages of it, and this is no Debian"
    need_boost
    sysroot=$cache/sysroot-$arch-boost-$boost_version
    sysroot_is_there "$sysroot" && return 0
    mkdir -p "$cache"
    (
        flock 9
        sysroot_is_there "$sysroot" || step "sysroot $arch" unpack_sysroot "$arch" "$sysroot"
    ) 9>"$cache/.sysroot.lock" || die "the packages for $arch could not be had; the log is in build/logs/sysroot-$arch.log"
}

sysroot_is_there() { [[ -e $1/complete ]]; }

# apt with lists and a state of its own, in which no package is installed: so all that is needed is fetched.
unpack_sysroot() {
    local arch=$1 target=$2 scratch part
    scratch=$(mktemp -d "$cache/unpack.XXXXXX")
    mkdir -p "$scratch"/{lists/partial,archives/partial,root}
    touch "$scratch/status"
    local apt=(apt-get -q -y -o APT::Architecture="$arch" -o APT::Architectures::="$arch" -o APT::Sandbox::User=root -o Acquire::Retries=3
        -o Dir::State="$scratch" -o Dir::State::status="$scratch/status" -o Dir::Cache="$scratch" -o Debug::NoLocking=1)
    (
        "${apt[@]}" update || exit 1
        # shellcheck disable=SC2046
        "${apt[@]}" install --download-only --no-install-recommends $(packages_cross) || exit 1
        for part in "$scratch"/archives/*.deb; do dpkg -x "$part" "$scratch/root" || exit 1; done
        absolute_links_below "$scratch/root"
        touch "$scratch/root/complete"
    ) || { rm -rf "$scratch"; return 1; }
    rm -rf "$target"
    mv "$scratch/root" "$target"
    rm -rf "$scratch"
}

# Links to absolute names lead to this machine's files; below a root they are meant to stay in it.
absolute_links_below() {
    local link to
    find "$1" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
        to=$(readlink "$link")
        ln -sfnr "$1$to" "$link"
    done
}

# build_for ARCH TARGET...: into build/release-ARCH; sets `sysroot`.
build_for() {
    local arch=$1 directory=$root/build/release-$1
    shift
    processor_of "$arch" >/dev/null || die "there is no build for '$arch': amd64 and arm64 are known"
    prepare_build
    need_sysroot "$arch"
    [[ -e $directory/build.ninja && $directory/build.ninja -nt $root/CMakePresets.json ]] ||
        step "configure release-$arch" cmake -S "$root" --preset release -B "$directory" --toolchain "$root/cmake/cross.cmake" \
            -DMUSTER_SYSROOT="$sysroot" -DMUSTER_PROCESSOR="$(processor_of "$arch")" -DMUSTER_BOOST_ROOT="$sysroot" || exit 1
    CCACHE_DIR=$(ccache_directory) step "build release-$arch" ninja -C "$directory" -j "$(cores)" "$@" || exit 1
}
