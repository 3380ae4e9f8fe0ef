# Sourced by ./dev: everything that must be on the machine, and how it gets there. A fresh Debian 12
# is enough to begin with. When all is there, this costs one dpkg-query.
# shellcheck disable=SC2034  # need_packages finds the sets by their names

# Sets of packages. What is in `run` only serves the example's job, so a caller whose own python3
# finds these modules does without.
packages_build=(
    clang-19 lld-19 cmake ninja-build ccache ca-certificates
    libfmt-dev libspdlog-dev libcli11-dev libyaml-cpp-dev libssl-dev libc-ares-dev libsqlite3-dev zlib1g-dev libre2-dev prometheus-cpp-dev libxxhash-dev
    libprotobuf-dev protobuf-compiler
    libgtest-dev libgmock-dev
)
packages_sanitize=(llvm-19 libclang-rt-19-dev)
packages_run=(python3 python3-torch)
packages_test=(
    clang-format-19 shellcheck mypy git procps iproute2 passt python3-pytest python3-pytest-xdist python3-venv python3-yaml openmpi-bin python3-mpi4py python3-sklearn zsh fish
)
packages_lint=(clang-tidy-19 git)
packages_drill=(debootstrap git)
packages_cross_drill=(qemu-user-static)
packages_cluster=(python3 python3-yaml openssl)

# Debian's python3-sklearn depends on the headers of Boost 1.74, with which the newer -dev packages
# conflict. So those are unpacked into the cache and never installed.
boost_version=1.81

job_modules=(torch)

prepare_build() {
    need_packages build
    need_boost
}

prepare_run() {
    if has_job_modules python3; then need_packages build; else need_packages build run; fi
    need_boost
}

prepare_test() {
    need_packages build sanitize run test
    need_boost
}

# ---- the system ----

is_debian() {
    [[ -r /etc/os-release ]] && (
        # shellcheck source=/dev/null
        . /etc/os-release
        [[ ${ID:-} == debian && ${VERSION_ID:-999} -ge 12 ]]
    )
}

# shellcheck source=/dev/null
debian_release() { (. /etc/os-release && echo "${VERSION_ID:-999}"); }

# Compilers, sanitizers and Muster itself read /proc. A bare chroot may lack it; root can cure that for
# as long as this command runs.
need_proc() {
    [[ -e /proc/self/stat ]] && return
    ((EUID == 0)) || die "/proc is not mounted; run: mount -t proc proc /proc"
    mount -t proc proc /proc || die "/proc is not mounted and can't be; Muster needs it"
    trap 'umount -l /proc' EXIT
    proc_is_ours=1
}

# Replaces this process where nothing has to be cleaned up behind the command.
run_to_the_end() {
    if [[ -z ${proc_is_ours:-} ]]; then exec "$@"; fi
    # The command answers to Ctrl-C in its own way, and we wait for it.
    trap : INT
    local status=0
    "$@" || status=$?
    return "$status"
}

as_root() {
    if ((EUID == 0)); then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "this needs root and there is no sudo. Run as root: $*"
    fi
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o APT::Sandbox::User=root "$@"
}

# ---- packages ----

# need_packages SET...: installs what is missing of these sets.
need_packages() {
    local set wanted=() missing
    for set in "$@"; do
        local -n members=packages_$set
        wanted+=("${members[@]}")
    done
    if ! is_debian; then
        report_missing_tools "$@"
        return
    fi
    missing=$(missing_packages "${wanted[@]}")
    [[ -n $missing ]] || return 0
    # shellcheck disable=SC2086
    set -- $missing
    say "Installing $# Debian packages: $*"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || die "this needs root and there is no sudo. Run as root: apt-get install $*"
        sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo true; } || die "sudo refused. Run as root: apt-get install $*"
    fi
    # A broken third-party source must not stop us: what counts is whether the packages are found.
    step "package lists" apt_get update || true
    # By itself, so that what the network took can be told from the rest.
    step "package downloads" apt_get install --download-only --no-install-recommends "$@" ||
        die "the packages could not be had; the whole log is in build/logs/package-downloads.log"
    step "packages" apt_get install --no-install-recommends "$@" ||
        die "the packages could not be installed; the whole log is in build/logs/packages.log"
}

missing_packages() {
    {
        printf '%s wanted\n' "$@"
        dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true
    } | awk '$2 == "wanted" { wanted[$1] } $2 == "installed" { delete wanted[$1] }
             END { for (name in wanted) print name }' | sort
}

need_boost() {
    is_debian || return 0
    (($(debian_release) < 13)) || boost_version=1.83
    boost_root=$cache/boost-$boost_version
    boost_is_there "$boost_root" && return 0
    mkdir -p "$cache"
    (
        flock 9
        boost_is_there "$boost_root" || step "Boost $boost_version" unpack_boost
    ) 9>"$cache/.boost.lock" || die "Boost $boost_version could not be fetched; the log is in build/logs/Boost-$boost_version.log"
}

boost_is_there() {
    local number=${boost_version/./_}
    grep -qs "BOOST_LIB_VERSION \"$number\"" "$1/usr/include/boost/version.hpp" &&
        compgen -G "$1/usr/lib/*/libboost_json.a" >/dev/null &&
        compgen -G "$1/usr/lib/*/libboost_container.a" >/dev/null
}

unpack_boost() {
    local names=() part
    for part in '' -json -container -system; do names+=("libboost${part}$boost_version-dev"); done
    unpack_packages "$boost_root" boost_is_there "${names[@]}"
}

# unpack_packages TARGET IS_THERE PACKAGE...: the files of Debian packages below TARGET, and installed
# nowhere. IS_THERE TARGET says whether they hold what is wanted of them.
unpack_packages() {
    local target=$1 is_there=$2 scratch part
    shift 2
    scratch=$(mktemp -d "$cache/unpack.XXXXXX")
    (
        cd "$scratch"
        local download=(apt-get -q download -o Acquire::Retries=3 -o APT::Sandbox::User=root)
        "${download[@]}" "$@" || { apt_get update && "${download[@]}" "$@"; } || exit 1
        mkdir unpacked
        for part in ./*.deb; do dpkg -x "$part" unpacked || exit 1; done
        printf '%s\n' ./*.deb >unpacked/packages
    ) || { rm -rf "$scratch"; return 1; }
    "$is_there" "$scratch/unpacked" || { echo "these packages do not hold what is wanted: $*"; rm -rf "$scratch"; return 1; }
    # Others see the old tree or the whole new one.
    rm -rf "$target"
    mv "$scratch/unpacked" "$target"
    rm -rf "$scratch"
}

# ---- python ----

# Ours, for scripts and tests: Debian's, whatever the caller has in front.
our_python() { if [[ -x /usr/bin/python3 ]]; then echo /usr/bin/python3; else command -v python3; fi; }

has_job_modules() {
    command -v "$1" >/dev/null && "$1" - "${job_modules[@]}" 2>/dev/null <<'END'
import importlib.util, sys
sys.exit(not all(importlib.util.find_spec(name) for name in sys.argv[1:]))
END
}

# The PATH for jobs: the caller's, unless its python3 lacks what the examples import.
job_path() {
    if has_job_modules python3 || ! has_job_modules /usr/bin/python3; then
        printf '%s' "$PATH"
        return
    fi
    mkdir -p "$cache/bin"
    ln -sfn /usr/bin/python3 "$cache/bin/python3"
    say "Your python3 ($(command -v python3 || echo none)) has no ${job_modules[*]}; the job gets Debian's /usr/bin/python3." >&2
    printf '%s' "$cache/bin:$PATH"
}

# ---- systems other than Debian ----

# report_missing_tools SET...: checks each tool and library by itself, and names what is missing with
# the version wanted.
report_missing_tools() {
    boost_root=/
    local missing=() set
    for set in "$@"; do
        case $set in
        build)
            want_program clang++-19 "clang 19 (as clang++-19)"
            want_program ld.lld "lld 19" ld.lld-19
            want_program cmake "CMake 3.25 or newer"
            want_program ninja "Ninja 1.11"
            want_header boost/asio/any_completion_handler.hpp "Boost 1.81 or newer with Boost.JSON (headers and static libraries)"
            want_header fmt/format.h "fmt 9 or newer"
            want_header spdlog/spdlog.h "spdlog 1.10 or newer, built against the same fmt"
            want_header CLI/CLI.hpp "CLI11 2.1 or newer"
            want_header yaml-cpp/yaml.h "yaml-cpp 0.7 or newer, with the static library"
            want_header openssl/ssl.h "OpenSSL 3 headers and static libraries"
            want_header ares.h "c-ares 1.18 or newer, with the static library"
            want_header sqlite3.h "SQLite 3.40 or newer, with the static library"
            want_header zlib.h "zlib 1.2.13 or newer, with the static library"
            want_program protoc "protobuf's compiler 3.21 or newer (protoc)"
            want_header google/protobuf/message_lite.h "protobuf 3.21 or newer, with its static lite library"
            want_header prometheus/registry.h "prometheus-cpp 1.0 or newer"
            want_header gmock/gmock.h "GoogleTest and GoogleMock 1.12 or newer"
            ;;
        run)
            has_job_modules python3 || missing+=("python3 with ${job_modules[*]}")
            ;;
        test)
            want_program clang-format-19 "clang-format 19"
            want_program git "git"
            "$(our_python)" -c 'import pytest, yaml' 2>/dev/null || missing+=("python3 with pytest and PyYAML")
            ;;
        lint) want_program clang-tidy-19 "clang-tidy 19" ;;
        drill) want_program debootstrap "debootstrap" ;;
        cluster)
            want_program openssl "openssl"
            "$(our_python)" -c 'import yaml' 2>/dev/null || missing+=("python3 with PyYAML")
            ;;
        esac
    done
    ((${#missing[@]})) || return 0
    {
        echo "dev: this is not Debian 12 or newer, so nothing is installed by itself. Missing here:"
        printf '  - %s\n' "${missing[@]}"
        echo "Install these in the way of this system, then run the same command again."
    } >&2
    exit 1
}

want_program() {
    local name
    for name in "$1" "${@:3}"; do command -v "$name" >/dev/null && return; done
    missing+=("$2")
}

want_header() {
    local directory
    for directory in /usr/include /usr/local/include; do [[ -e $directory/$1 ]] && return; done
    missing+=("$2")
}
