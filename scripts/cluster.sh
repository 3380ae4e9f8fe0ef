# Sourced by ./dev: a real control plane to compare with. What it is made of and how: tests/cluster.

verb_cluster() {
    if [[ ${1:-} != down ]]; then
        need_packages cluster
        need_etcd
    fi
    run_to_the_end "$(our_python)" "$root/tests/cluster/cluster.py" "$@"
}

# Debian's package would start a server by itself, so it is unpacked and not installed.
need_etcd() {
    if ! is_debian || [[ -n ${KUBEBUILDER_ASSETS:-} ]] || command -v etcd >/dev/null || etcd_is_there "$cache/etcd"; then return 0; fi
    mkdir -p "$cache"
    step etcd unpack_packages "$cache/etcd" etcd_is_there etcd-server || true
}

etcd_is_there() { [[ -x $1/usr/bin/etcd ]]; }

# ---- conformance: the suite asked of `muster up`; cluster: asked of the real server, whose answers are the truth ----

conformance_clients=(kubectl kubectl-next helm controllers informers-0.29 informers-0.32 informers-0.36 python-clients)
conformance_servers=(etcd kube-apiserver kube-controller-manager kube-scheduler)

# build_programs SUITE PROGRAM...: builds them once. Where that can't be, returns 1 and `reason` says why; a
# build that should work and does not is a failure of the suite.
build_programs() {
    local suite=$1 status=0 programs=("$(our_python)" "$root/tests/cluster/cluster.py")
    shift
    if time_is_over && ! "${programs[@]}" built "$@"; then
        reason=$over
        return 1
    fi
    reason=$("${programs[@]}" fetch "$@" 2>&1) || { reason=${reason#cluster: }; return 1; }
    "${programs[@]}" built "$@" || step "build $suite" in_time "${programs[@]}" build "$@" || status=$?
    ((status)) || return 0
    if time_is_over; then
        reason=$over
        return 1
    fi
    reason="what it needs was not built"
    ((status == skipped_status)) || record "$suite-build" 0 1 0
    return 1
}
skipped_status=77

# Clients that can't be built skip their tests; what needs none of them runs.
suite_conformance() {
    suite_build conformance release muster || return 0
    local reason client
    need_packages cluster
    for client in "${conformance_clients[@]}"; do
        build_programs conformance "$client" || say "$client: its tests are skipped, $reason"
    done
    local inputs
    depends_on release/src/cli/muster
    # shellcheck disable=SC2046
    run_pytest conformance tests/conformance $(side_by_side "$(cores)" "$@") "$@"
}

suite_cluster() (
    beside=()
    trap stop_beside EXIT
    local reason client built=()
    need_packages cluster
    need_etcd
    if ! build_programs cluster "${conformance_servers[@]}"; then
        skip cluster "$reason"
        return
    fi
    for client in "${conformance_clients[@]}"; do
        if build_programs cluster "$client"; then built+=("$client"); else say "$client: its tests are skipped, $reason"; fi
    done
    # Servers of their own for each: the operator's tests stop theirs in the middle.
    if suite_build operator release muster; then beside operator_tests "$@"; fi
    beside expressions_beside_cel_go "$@"
    local under=("$(our_python)" "$root/tests/cluster/cluster.py" run --)
    real_server_answers "$@"
    install_answers "$@"
    join_beside
)

real_server_answers() {
    local inputs=(tests/conformance tests/cluster deploy examples "${conformance_servers[@]}" ${built[@]+"${built[@]}"})
    run_pytest cluster tests/conformance --ignore tests/conformance/test_install.py "$@"
}

# The one that needs what was built here.
install_answers() {
    local inputs
    depends_on release/src/cli/muster
    run_pytest cluster-install tests/conformance/test_install.py "$@"
}

expressions_beside_cel_go() {
    local reason
    build_programs cel cel-go || say "cel: its tests are skipped, $reason"
    suite_build cel release cel_lines || return 0
    local inputs
    depends_on release/src/cel/cel_lines
    run_pytest cel tests/cluster "$@"
}

# What the operator may do and never did is known when the other tests have ended.
operator_tests() {
    local rights=tests/operator/test_rights.py
    rm -f "$logs/used-rights"
    (
        export MUSTER_USED_RIGHTS=$logs/used-rights
        touch "$MUSTER_USED_RIGHTS"
        local inputs afresh=
        depends_on release/src/cli/muster
        # Which rights are used shows only while the others run.
        if [[ -n $spares_unchanged ]]; then unchanged suite "$logs/operator-rights.junit" "${inputs[@]}" || afresh=yes; fi
        # shellcheck disable=SC2046
        run_pytest operator tests/operator --ignore "$rights" $(side_by_side "$(cores)" "$@") "$@"
        afresh='' run_pytest operator-rights "$rights" "$@"
    )
}

# ---- foreign: the suites of other operators, asked of `muster up` ----

suite_foreign() {
    suite_build foreign release muster || return 0
    local reason program muster=build/release/src/cli/muster
    need_packages cluster
    local programs=(training-operator-{pytorch,xgboost,paddlepaddle,jax,mpi}-suite mpi-operator{,-0.8}-suite envtest-suite{,-0.18})
    for program in "${programs[@]}"; do
        build_programs foreign "$program" || say "$program is skipped, $reason"
    done
    local inputs=(tests/foreign tests/cluster "$muster" "${programs[@]}")
    run_pytest foreign tests/foreign "$@"
}
