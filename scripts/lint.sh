# Sourced by ./dev: checks that need no run.

lint_checks=(format seams includes functions docs shell python types)

verb_lint() {
    local all=no fix=no word check
    for word in "$@"; do
        case $word in
        --all) all=yes ;;
        --fix) fix=yes ;;
        *) die "lint knows --all and --fix, not $word" ;;
        esac
    done
    need_packages build run test lint
    need_boost
    need_lint_tools
    if [[ $fix == yes ]]; then
        cpp_files | xargs -0 clang-format-19 -i
        [[ -n $(lint_lacks python) ]] || lint_python --fix || true
    fi
    local status=0
    for check in "${lint_checks[@]}"; do lint "$check" || (($? == 77)) || status=1; done
    # The precompiled header must be there, as clang-tidy compiles with the same flags.
    build_target release headers muster_pch
    if [[ $all == yes ]]; then
        step "lint clang-tidy" lint_tidy "$root/src" "$root/bench" || status=1
    else
        step "lint clang-tidy" lint_changed || status=1
    fi
    return "$status"
}

# lint CHECK: 77 where it can't run here.
lint() {
    local lacking
    lacking=$(lint_lacks "$1")
    if [[ -n $lacking ]]; then
        say "lint $1: skipped, $lacking"
        return 77
    fi
    step "lint $1" "lint_$1"
}

# Why a check can't run here; nothing: it can.
lint_lacks() {
    case $1 in
    functions | python) [[ -d $(lint_tools) ]] || echo "the packages of scripts/lint_requirements.txt can't be installed" ;;
    shell) command -v shellcheck >/dev/null || echo "there is no shellcheck" ;;
    types) command -v mypy >/dev/null || echo "there is no mypy" ;;
    esac
}

# ---- what Debian has not ----

# Other requirements, another folder: checkouts don't disturb each other.
lint_tools() { echo "$cache/lint-$(sha256sum "$root/scripts/lint_requirements.txt" | cut -c1-10)"; }

need_lint_tools() {
    local tools
    tools=$(lint_tools)
    [[ ! -d $tools ]] || return 0
    mkdir -p "$cache"
    (
        flock 9
        [[ -d $tools ]] || step "lint tools" make_lint_tools "$tools"
    ) 9>"$cache/.lint.lock" || say "The lints that need these are skipped."
}

make_lint_tools() {
    local scratch
    scratch=$(mktemp -d "$cache/lint.XXXXXX")
    # What is in it is found from where its interpreter lies, so it may be moved: others see all of it or nothing.
    if "$(our_python)" -m venv "$scratch/made" &&
        "$scratch/made/bin/python" -m pip install -q --disable-pip-version-check --retries 1 -r "$root/scripts/lint_requirements.txt" &&
        mv "$scratch/made" "$1"; then
        rm -rf "$scratch"
    else
        rm -rf "$scratch"
        return 1
    fi
}

# ---- the checks ----

cpp_files() { find "$root/src" "$root/cmake" "$root/bench" \( -name '*.cc' -o -name '*.h' \) -print0; }

lint_format() { cpp_files | xargs -0 clang-format-19 --dry-run -Werror; }

lint_seams() { "$(our_python)" "$root/scripts/lint_seams.py" "$root"; }

lint_includes() { "$(our_python)" "$root/scripts/lint_includes.py" "$root"; }

lint_functions() { "$(lint_tools)/bin/python" "$root/scripts/lint_functions.py" "$root"; }

lint_docs() { "$(our_python)" "$root/scripts/lint_docs.py" "$root"; }

python_folders=(python tests scripts bench examples)

lint_python() { (cd "$root" && "$(lint_tools)/bin/ruff" check --no-cache --quiet --output-format=concise "$@" "${python_folders[@]}"); }

lint_types() { (cd "$root/python/muster" && mypy --cache-dir=/dev/null); }

# The parts of ./dev are checked as the one program that they are, so that a name that no part sets is found.
lint_shell() (
    cd "$root"
    alone=(.ci/run cmake/compile.sh) parts=(dev)
    for file in scripts/*.sh; do
        if [[ $(head -c 2 "$file") == '#!' ]]; then alone+=("$file"); else parts+=("$file"); fi
    done
    { echo '#!/usr/bin/env bash'; printf 'source %s\n' "${parts[@]}"; } | shellcheck --format=gcc --external-sources --check-sourced - &&
        shellcheck --format=gcc "${alone[@]}"
)

# Sources that differ from where this branch left the main one, and those not yet committed.
changed_sources() {
    local base
    base=$(git -C "$root" merge-base HEAD origin/HEAD 2>/dev/null || git -C "$root" rev-parse HEAD)
    {
        git -C "$root" diff --name-only "$base"
        git -C "$root" ls-files --others --exclude-standard
    } | sort -u | grep -E '^(src|bench)/.*\.cc$' || true
}

lint_changed() {
    local files=()
    mapfile -t files <<<"$(changed_sources | sed "s|^|$root/|")"
    if [[ -z ${files[0]} ]]; then
        echo "no source differs from the main branch"
        return 0
    fi
    lint_tidy "${files[@]}"
}

# lint_tidy PATH...
lint_tidy() {
    find "$@" -name '*.cc' -print0 |
        xargs -0 -P "$(cores)" -n 4 clang-tidy-19 --quiet -p "$root/build/release"
}
