# Sourced by ./dev: rehearsals of whole situations. They take minutes, so they run by name only.

verb_drill() {
    case ${1:-} in
    bare-root) shift; drill_bare_root "$@" ;;
    fresh-clone) shift; drill_fresh_clone "$@" ;;
    sim) shift; drill_sim "$@" ;;
    mutations) shift; drill_mutations "$@" ;;
    kill) shift; drill_kill "$@" ;;
    seeds) drill_seeds ;;
    crash) shift; drill_crash "$@" ;;
    soak) shift; drill_soak "$@" ;;
    attacks) shift; drill_attacks "$@" ;;
    fuzz) shift; drill_fuzz "$@" ;;
    versions) shift; drill_versions "$@" ;;
    store-versions) shift; drill_store_versions "$@" ;;
    elastic) shift; drill_elastic "$@" ;;
    elasticjob) shift; drill_elasticjob "$@" ;;
    cel) shift; drill_cel "$@" ;;
    package) shift; drill_package "$@" ;;
    package-arm64) drill_package_of arm64 ;;
    foreign) shift; drill_foreign "$@" ;;
    peers-faults) shift; drill_peers_faults "$@" ;;
    failures) shift; with_frameworks failure_drill.py "$@" ;;
    corpus) shift; with_frameworks corpus_drill.py "$@" ;;
    '')
        say "bare-root [VERB...]    ./dev run and ./dev test in a bare Debian 12 made with debootstrap"
        say "fresh-clone [VERB...]  the same in a fresh clone on this machine, with a bare environment"
        say "VERB is run, test, or both (the default)."
        say "sim [SCENARIO...] [--seeds N] [--seed N [--trace]]"
        say "                       many seeds (1000; of \`elastic-jobs\` and its chaos 15000, of \`elastic\` 50000) of simulated worlds,"
        say "                       or one as it happened"
        say "seeds                  all seeds of the long random tests of which ./dev test plays a part, under sanitizers"
        say "kill [--count N] [--seed N]"
        say "                       kill -9 of muster and its processes at random moments (300): nothing may be left"
        say "crash [--count N] [--seed N]"
        say "                       kill -9 of muster up under load (500): what it acknowledged is kept"
        say "soak [--minutes N] [--seed N]"
        say "                       random calls of kubectl, the Python client and plain HTTP (60 minutes): nothing may grow"
        say "attacks [--minutes N] [--seed N] [--only WORDS]"
        say "                       the attacks of ./dev test security at random (10 minutes), beside a client that behaves"
        say "fuzz [--minutes N] [--only WORDS]"
        say "                       all fuzzers (10 minutes together), whole requests first and for half of the time: nothing may crash"
        say "versions [MINOR...] [-- PYTEST OPTION...]"
        say "                       the operator's tests on an older and a newer Kubernetes than that of ./dev test"
        say "store-versions [MINOR...] [--keep] [-- PYTEST OPTION...]"
        say "                       the store of muster-run with real clients of an old torch and of the newest (gigabytes each)"
        say "elastic [ROUNDS] [--seed N] [--only WORDS] [--write]"
        say "                       kill workers, agents, masters and nodes of a training job at random moments (200 of each)"
        say "elasticjob [ROUNDS] [--operator within|apart] [--seed N] [--only WORDS] [--away SECONDS]"
        say "                       kill master, agents, workers, operator and API of ElasticJobs at random moments, also in each"
        say "                       order (200 of each kind)"
        say "cel [--count N] [--seed N]"
        say "                       expressions at random (100,000) evaluated by us and by cel-go, as kube-apiserver has it"
        say "package                install the Debian package in a bare Debian 12, run a job, purge it: nothing may be left"
        say "package-arm64          build for arm64, and run the programs of that archive in an emulator"
        say "foreign [--only WORDS]"
        say "                       test suites and controllers of others on muster up, the suites on kube-apiserver too (docs/foreign-controllers.md)"
        say "peers-faults [--kills N] [--only WORDS] [--write]"
        say "                       the faults of torchrun and DLRover, shown on them and absent from muster-run: docs/elastic.md"
        say "failures [--only WORDS] [--write]"
        say "                       kill each replica type of each framework's example: docs/failures.md"
        say "corpus [--only WORDS]"
        say "                       run the published manifests of MUSTER_CORPUS, with nothing changed but their commands"
        say "mutations [--only WORDS] [--record]"
        say "                       small deliberate mistakes, each to be caught by a test; --only WORDS or TESTS (master_test)"
        ;;
    *) die "no drill named '$1'; ./dev drill lists them" ;;
    esac
}

bare_environment=(env -i HOME="$HOME" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=xterm)

# The commands of the README, each timed. Its results stand in $logs/drill-NAME.times for ./dev bench.
# rehearse NAME COMMAND_PREFIX...: the prefix ends in a shell that stands in the clone.
rehearse() {
    local name=$1 verb begin status failed=0
    shift
    mkdir -p "$logs"
    for verb in "${drill_verbs[@]}"; do
        local words=(test)
        [[ $verb == run ]] && words=(run examples/pytorch-digits.yaml)
        say "---- $name: ./dev ${words[*]}"
        begin=$(now_ms)
        status=0
        "$@" "./dev ${words[*]}" </dev/null || status=$?
        say "---- $name: ./dev ${words[*]}: exit status $status after $(seconds_since "$begin")"
        echo "$verb $status $(($(now_ms) - begin))" >>"$logs/drill-$name.times"
        ((status == 0)) || failed=1
    done
    return "$failed"
}

choose_verbs() {
    drill_verbs=("$@")
    ((${#drill_verbs[@]})) || drill_verbs=(run test)
    for verb in "${drill_verbs[@]}"; do
        [[ $verb == run || $verb == test ]] || die "a drill rehearses run or test, not $verb"
    done
}

drill_kill() {
    prepare_build
    build_target release muster
    python3 "$root/scripts/kill_drill.py" "$root/build/release/src/cli/muster" "$@"
}

drill_crash() {
    prepare_build
    build_target release muster
    python3 "$root/scripts/crash_drill.py" "$root/build/release/src/cli/muster" "$@"
}

drill_attacks() {
    prepare_build
    build_target release muster
    python3 "$root/scripts/attack_drill.py" "$root/build/release/src/cli/muster" "$@"
}

drill_fuzz() {
    prepare_build
    configure fuzz
    local names
    mapfile -t names < <(fuzzers)
    build_target fuzz "${names[@]/%/_fuzz}"
    python3 "$root/scripts/fuzz_drill.py" "$root" "$@"
}

drill_elastic() {
    prepare_test
    build_target release muster_run
    local path
    path=$(job_path)
    PATH=$path "$(our_python)" "$root/scripts/elastic_drill.py" "$root/build/release/src/muster_run/muster-run" "$@"
}

drill_elasticjob() {
    prepare_test
    build_target release muster
    local path
    path=$(job_path)
    PATH=$path "$(our_python)" "$root/scripts/elasticjob_drill.py" "$root/build/release/src/cli/muster" "$@"
}

drill_cel() {
    prepare_test
    need_packages cluster
    build_target release cel_lines
    "$(our_python)" "$root/tests/cluster/cel_comparison.py" "$root/build/release/src/cel/cel_lines" "$@"
}

drill_package() {
    need_packages drill
    verb_package
    "$(our_python)" "$root/scripts/package_drill.py" "$root"/build/package/muster_*.deb "$@"
}

drill_package_of() {
    local sysroot version
    need_packages cross_drill
    verb_package --arch "$1"
    "$(our_python)" "$root/scripts/cross_drill.py" --arch "$1" --sysroot "$sysroot" --version "$version" "$root/build/package-$1"/*.tar.gz
}

drill_foreign() {
    prepare_test
    build_target release muster
    need_packages cluster
    need_etcd
    "$(our_python)" "$root/scripts/foreign_drill.py" "$root/build/release/src/cli/muster" "$@"
}

drill_seeds() {
    prepare_test
    forget_results
    local folders
    mapfile -t folders < <(cd "$root/src" && grep -rl --include='*_test.cc' 'seeds_of_this_run(' . | cut -d/ -f2 | sort -u)
    suite_build seeds asan-unity tests || return 1
    export MUSTER_SEED_SLICE=all
    run_ctest seeds asan-unity '' -L "$(any_of "${folders[@]}")"
    cat "$results" "$failures"
    grep -q '^seeds [0-9]* 0 ' "$results"
}

drill_peers_faults() {
    prepare_test
    build_target release muster_run
    "$(our_python)" "$root/scripts/peers_drill.py" "$root/build/release/src/muster_run/muster-run" "$@"
}

# with_frameworks SCRIPT [OPTION...]: those that can be had here take part.
with_frameworks() {
    prepare_test
    build_target release muster
    local path script=$1
    shift
    path=$(job_path)
    PATH=$path "$(our_python)" "$root/scripts/$script" "$root/build/release/src/cli/muster" "$@"
}

drill_versions() {
    prepare_test
    build_target release muster muster_in_pods
    need_packages cluster
    need_etcd
    "$(our_python)" "$root/scripts/versions_drill.py" "$root/build/release/src/cli/muster" "$@"
}

drill_store_versions() {
    prepare_test
    build_target release muster muster_store_server
    "$(our_python)" "$root/scripts/store_drill.py" "$root/build/release/src/cli/muster" "$@"
}

# The clients that can be built here take part.
drill_soak() {
    prepare_build
    build_target release muster
    need_packages cluster
    local cluster=("$(our_python)" "$root/tests/cluster/cluster.py") program
    for program in kubectl python-clients; do
        "${cluster[@]}" built "$program" || "${cluster[@]}" build "$program" || say "$program is not here and takes no part"
    done
    "$(our_python)" "$root/scripts/soak_drill.py" "$root/build/release/src/cli/muster" "$@"
}

drill_fresh_clone() {
    choose_verbs "$@"
    local place status=0
    place=$(mktemp -d "${TMPDIR:-/tmp}/muster-clone.XXXXXX")
    git clone -q "$root" "$place/muster"
    rm -f "$logs/drill-fresh-clone.times"
    rehearse fresh-clone "${bare_environment[@]}" bash -c "cd '$place/muster' && eval \"\$0\"" || status=1
    rm -rf "$place"
    return "$status"
}

drill_bare_root() {
    ((EUID == 0)) || die "a bare root needs root: debootstrap, mount and chroot"
    choose_verbs "$@"
    need_packages drill
    local begin status=0 place
    mkdir -p "$cache"
    # Left-overs of a drill that was killed. What is still mounted in one must never be removed through.
    for place in "$cache"/bare-root.*; do [[ ! -e $place ]] || remove_root "$place"; done
    place=$(mktemp -d "$cache/bare-root.XXXXXX")
    chmod 755 "$place"
    step "debootstrap" debootstrap --variant=minbase bookworm "$place" || die "debootstrap failed"
    cp -L /etc/resolv.conf "$place/etc/resolv.conf"
    # As Debian's installer writes it: looking up a name of the machine without an address takes seconds.
    printf '127.0.0.1\tlocalhost\n127.0.1.1\t%s\n' "$(hostname)" >"$place/etc/hosts"
    git clone -q "$root" "$place/root/muster"
    rm -f "$logs"/drill-bare-root.{times,steps}
    # The mounts live and die with this namespace. /proc first, so that the root can be told apart.
    # shellcheck disable=SC2016
    rehearse bare-root "${bare_environment[@]}" HOME=/root unshare --mount --fork bash -c '
        set -e
        mount --bind "$1" "$1"
        mount -t proc proc "$1/proc"
        mount -t sysfs sysfs "$1/sys" || mount --rbind /sys "$1/sys"
        mount --rbind /dev "$1/dev"
        exec chroot "$1" bash -c "cd /root/muster && exec $2"' bare-root "$place" || status=1
    # What took how long there, for ./dev bench.
    cp "$place/root/muster/build/logs/steps" "$logs/drill-bare-root.steps" || status=1
    remove_root "$place"
    return "$status"
}

remove_root() {
    if grep -qs " $1/" /proc/self/mounts; then
        say "left $1 in place: something is still mounted there" >&2
    else
        rm -rf --one-file-system "$1"
    fi
}

drill_mutations() {
    prepare_build
    nice python3 "$root/scripts/mutate.py" "$root" "$@"
}
