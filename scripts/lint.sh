# Sourced by ./dev: checks that need no run.

verb_lint() {
    local all=no fix=no word
    for word in "$@"; do
        case $word in
        --all) all=yes ;;
        --fix) fix=yes ;;
        *) die "lint knows --all and --fix, not $word" ;;
        esac
    done
    need_packages build run test lint
    need_boost
    if [[ $fix == yes ]]; then cpp_files | xargs -0 clang-format-19 -i; fi
    local status=0
    step "lint format" lint_format || status=1
    step "lint seams" lint_seams || status=1
    step "lint includes" lint_includes || status=1
    # The precompiled header must be there, as clang-tidy compiles with the same flags.
    build_target release headers muster_pch
    if [[ $all == yes ]]; then
        step "lint clang-tidy" lint_tidy "$root/src" "$root/bench" || status=1
    else
        step "lint clang-tidy" lint_changed || status=1
    fi
    return "$status"
}

cpp_files() { find "$root/src" "$root/cmake" "$root/bench" \( -name '*.cc' -o -name '*.h' \) -print0; }

lint_format() { cpp_files | xargs -0 clang-format-19 --dry-run -Werror; }

lint_seams() { "$(our_python)" "$root/scripts/lint_seams.py" "$root"; }

lint_includes() { "$(our_python)" "$root/scripts/lint_includes.py" "$root"; }

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
