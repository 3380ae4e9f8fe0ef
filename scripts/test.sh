# Sourced by ./dev: the suites, and the one line at the end that sums them all.
#
# Each suite leaves lines `SUITE PASSED FAILED SKIPPED [EARLIER]` in $results, and in $failures what failed and
# why. EARLIER of those that passed did so in an earlier run: a whole run spares what has not changed (scripts/unchanged.py). A build that fails counts as a failure, and the other suites still run.

suites=(lint tools python unit tsan simulate e2e security elastic conformance cluster foreign)

verb_test() {
    local begin word status=0 times='' changed='' all='' words=()
    begin=$(now_ms)
    for word in "$@"; do
        case $word in
        --clients-until=*)
            [[ ${word#*=} =~ ^[1-9][0-9]*$ ]] || die "--clients-until wants a number of minutes, as --clients-until=70"
            clients_until=$((begin + ${word#*=} * 60000))
            ;;
        --whole-worlds=*)
            # One seed alone is told as it happens, and not counted.
            [[ ${word#*=} =~ ^([2-9]|[1-9][0-9]+)$ ]] || die "--whole-worlds wants a number of seeds, 2 or more, as --whole-worlds=1500"
            whole_world_seeds=${word#*=}
            ;;
        --times) times=yes ;;
        --changed) changed=yes ;;
        --all) all=yes ;;
        -*) die "./dev test has no option $word" ;;
        *) words+=("$word") ;;
        esac
    done
    ((${#words[@]} == 0)) || [[ -z $changed ]] || die "--changed chooses suites by itself"

    forget_results
    prepare_test
    if [[ -n $changed ]]; then
        test_changed
        [[ -e $results ]] || return 0
    elif ((${#words[@]})); then
        test_chosen "${words[@]}"
    else
        [[ -n $all ]] || spares_unchanged=yes
        test_all
    fi
    # What failed comes last: of a long output, often only the end is kept.
    if [[ -n $times ]]; then
        say
        "$(our_python)" "$root/scripts/times.py" "$logs" "$root/build" "$begin" || status=1
    fi
    summary "$begin" || status=1
    return "$status"
}

# test_chosen WORD...: suites, folders, parts of names.
test_chosen() {
    local suite word filters=() wanted=()
    for word in "$@"; do
        if [[ " ${suites[*]} " == *" $word "* ]]; then wanted+=("$word"); else filters+=("$word"); fi
    done
    ((${#wanted[@]})) || wanted=(unit)
    for suite in "${wanted[@]}"; do run_suite "$suite" ${filters[@]+"${filters[@]}"}; done
}

# run_suite SUITE [NAME...]
run_suite() {
    local suite=$1
    shift
    case $suite in
    tools | python | e2e | security | elastic | conformance | cluster | foreign) "suite_$suite" ${1+-k "$(either "$@")"} ;;
    *) "suite_$suite" "$@" ;;
    esac
}

# What a change can affect, as scripts/affected.py says.
test_changed() {
    local lines=() line words left=''
    mapfile -t lines < <(changed_files | "$(our_python)" "$root/scripts/affected.py" "$root")
    if [[ -z ${lines[*]-} ]]; then
        say "Nothing differs from the main branch."
        return
    fi
    for line in ${lines[@]+"${lines[@]}"}; do
        read -ra words <<<"$line"
        if [[ ${words[0]} == left ]]; then left=${line#left }; else run_suite "${words[@]}"; fi
    done
    if [[ -n $left ]]; then
        say
        say "Not run, though the change is in what they test: $left"
    fi
}

# What differs from where this branch left the main one, and what is not yet committed; on the main branch itself, what
# its last commit changed.
changed_files() {
    local git=(git -C "$root") base
    base=$("${git[@]}" merge-base HEAD origin/HEAD 2>/dev/null || "${git[@]}" merge-base HEAD main 2>/dev/null || echo HEAD)
    if [[ -z $("${git[@]}" status --porcelain) && $("${git[@]}" rev-parse "$base") == $("${git[@]}" rev-parse HEAD) ]]; then
        base=$("${git[@]}" rev-parse -q --verify HEAD~1 || echo HEAD)
    fi
    {
        "${git[@]}" diff --name-only "$base"
        "${git[@]}" ls-files --others --exclude-standard
    } | sort -u
}

# The build whose tests run under the address and undefined behaviour sanitizers. A whole run compiles it in groups.
sanitized=asan

# Everything. Suites of the release build mostly wait for processes; compilers and what is not disturbed by others have the
# cores meanwhile, at a low priority. What others disturb comes last.
test_all() (
    trap stop_beside EXIT
    sanitized=asan-unity
    build_ahead release headers benches muster muster_run muster_in_pods muster_store_server
    beside build_and_test_quietly
    beside test_as_clients
    local suite
    for suite in lint tools python e2e security; do run_suite "$suite"; done
    join_beside
    run_ctest unit-serial "$sanitized" '' -L '^serial$'
    if suite_build elastic release muster muster_run; then elastic_released; fi
)

build_and_test_quietly() (
    beside=()
    trap stop_beside EXIT
    build_ahead "$sanitized" tests muster_run
    build_ahead tsan tsan_tests
    if suite_build elastic-asan "$sanitized" muster_run; then beside elastic_under_sanitizers; fi
    suite_build unit "$sanitized" tests || true
    run_ctest unit "$sanitized" '' -LE '^serial$'
    suite_tsan
    suite_simulate
    join_beside
)

# These wait for servers for the most part.
test_as_clients() {
    time_is_over_at=$clients_until
    suite_conformance
    suite_cluster
    suite_foreign
}

# When a whole run ends what it does with published clients and servers, in milliseconds since 1970; empty: it does all.
# To build them takes long where nothing is cached, and a run that has to end until then is to have told the rest.
clients_until=
time_is_over_at=
over="its time is over (--clients-until)"
time_is_over() { [[ -n $time_is_over_at ]] && (($(now_ms) >= time_is_over_at)); }

# in_time COMMAND...: interrupts it when the time is over, and returns 124 then.
in_time() {
    [[ -n $time_is_over_at ]] || { "$@"; return; }
    local left=$((time_is_over_at - $(now_ms)))
    timeout --signal=INT --kill-after=60 $((left > 1000 ? left / 1000 : 1)) "$@"
}

# build_ahead PRESET TARGET...: what suites will ask for, at once. What fails, they will tell.
build_ahead() {
    configure "$1" || return 0
    CCACHE_DIR=$(ccache_directory) step "build $1" ninja -C "$root/build/$1" -j "$(cores)" -k 0 "${@:2}" || true
}

# beside FUNCTION [ARGUMENT...]: it continues at a low priority, in a process group of its own, and what it says is shown when
# it has ended. A subshell that has some begins with `beside=()`: others are not its own.
beside=()
beside() {
    local log=$logs/beside-${1//_/-}.log
    set -m
    { renice -n 10 -p "$BASHPID" >/dev/null; "$@"; } >"$log" 2>&1 </dev/null &
    beside+=("$! $log")
    set +m
}

# Waits for all of them.
join_beside() {
    local one pid log
    for one in ${beside[@]+"${beside[@]}"}; do
        read -r pid log <<<"$one"
        step "wait for the rest" tail --pid="$pid" -s 0.1 -f "$log" || true
        wait "$pid" || true
        grep -v ' still at work after ' "$log" || true
    done
    beside=()
}

# A shell that is told to end while it starts a command waits for that command. So all of a group are told until none is
# left, for ten seconds.
stop_beside() {
    local one tries
    for one in ${beside[@]+"${beside[@]}"}; do
        for ((tries = 0; tries < 100; tries++)); do
            kill -- "-${one%% *}" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL -- "-${one%% *}" 2>/dev/null || true
    done
}

# either A B: "A or B", as pytest -k wants it.
either() {
    local text
    text=$(printf ' or %s' "$@")
    echo "${text# or }"
}

verb_e2e() {
    local begin
    begin=$(now_ms)
    forget_results
    prepare_test
    suite_e2e "$@"
    summary "$begin"
}

forget_results() {
    results=$logs/results failures=$logs/failures
    mkdir -p "$logs"
    rm -f "$results"
    : >"$failures"
    : >"$logs/steps"
}

# record SUITE PASSED FAILED SKIPPED [EARLIER]
record() { echo "$1 $2 $3 $4${5:+ $5}" >>"$results"; }

# skip SUITE WHY
skip() {
    say "$1: skipped, $2"
    record "$1" 0 0 1
}

summary() {
    local name passed failed skipped earlier all_passed=0 all_failed=0 all_skipped=0 all_earlier=0
    say
    if [[ -s $failures ]]; then
        say "What failed:"
        cat "$failures"
        say
    fi
    while read -r name passed failed skipped earlier; do
        printf '%-12s %5d passed, %d failed' "$name" "$passed" "$failed"
        if ((skipped)); then printf ', %d skipped' "$skipped"; fi
        printf '\n'
        all_passed=$((all_passed + passed))
        all_failed=$((all_failed + failed))
        all_skipped=$((all_skipped + skipped))
        all_earlier=$((all_earlier + ${earlier:-0}))
    done <"$results"
    if ((all_earlier)); then
        say "$all_earlier of them passed in an earlier run, and nothing that they depend on has changed: ./dev test --all runs all"
    fi
    say "in $(seconds_since "$1")"
    # Also here, with the first lines of why: where only the end of the output is kept, this much of it is.
    awk 'function tell() { if (said != "") print substr("failed: " said, 1, 400) }
         /^ / { sub(/^ +/, ""); if ($0 != "" && lines++ < 3) said = said (lines == 1 ? ": " : " / ") $0; next }
         { tell(); said = $0; lines = 0 }
         END { tell() }' "$failures"
    if ((all_skipped)); then
        say "$all_passed passed, $all_failed failed, $all_skipped skipped"
    else
        say "$all_passed passed, $all_failed failed"
    fi
    ((all_failed == 0 && all_passed > 0))
}

# suite_build SUITE PRESET TARGET...: builds for a suite. A failure is counted, and what could be built
# is still tested.
suite_build() {
    local suite=$1 preset=$2
    shift 2
    if configure "$preset" &&
        CCACHE_DIR=$(ccache_directory) step "build $preset" \
            ninja -C "$root/build/$preset" -j "$(cores)" -k 0 "$@"; then
        return 0
    fi
    record "$suite-build" 0 1 0
    return 1
}

# ---- lint: what can be checked without running anything ----

suite_lint() {
    (($# == 0)) || return 0
    local check status passed=0 failed=0 skipped=0
    need_lint_tools
    for check in "${lint_checks[@]}"; do
        status=0
        lint "$check" || status=$?
        case $status in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *) failed=$((failed + 1)) ;;
        esac
    done
    if suite_build lint release headers benches; then passed=$((passed + 1)); fi
    record lint "$passed" "$failed" "$skipped"
}

# ---- unit: every C++ test program, under the address and undefined behaviour sanitizers ----

sanitizer_environment() {
    MUSTER_SEED_SLICE=${MUSTER_SEED_SLICE:-$(sim_slice)}
    export MUSTER_SEED_SLICE
    # Of who allocated and freed it knows eight callers: to unwind all thirty takes a tenth of all time.
    export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:malloc_context_size=8
    export UBSAN_OPTIONS=print_stacktrace=1
    export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
    local symbolizer
    symbolizer=$(command -v llvm-symbolizer-19 || true)
    if [[ -n $symbolizer ]]; then
        export ASAN_SYMBOLIZER_PATH=$symbolizer UBSAN_SYMBOLIZER_PATH=$symbolizer TSAN_SYMBOLIZER_PATH=$symbolizer
    fi
}

is_folder() { [[ $1 =~ ^[a-z_]+$ && -e $root/src/$1/CMakeLists.txt ]]; }

suite_unit() { unit_tests unit "$@"; }

# Those of the folders that use what changed.
suite_dependents() { unit_tests dependents "$@"; }

# unit_tests SUITE [FOLDER | NAME...]
unit_tests() {
    local suite=$1 word targets=() labels=() pattern= preset=asan
    shift
    (($#)) || preset=asan-unity
    for word in "$@"; do
        if is_folder "$word"; then
            targets+=("${word}_tests")
            labels+=("$word")
        else
            pattern=$pattern${pattern:+:}$([[ $word == *[*.]* ]] && echo "$word" || echo "*$word*")
        fi
    done
    suite_build "$suite" "$preset" "${targets[@]:-tests}" || true
    run_ctest "$suite" "$preset" "$pattern" ${labels[@]+-L "$(any_of "${labels[@]}")" -LE '^long$'}
    for word in ${labels[@]+"${labels[@]}"}; do
        if grep -qw LONG "$root/src/$word/CMakeLists.txt"; then say "Left to ./dev test unit: the long tests of $word"; fi
    done
}

# any_of A B: a regular expression of these words.
any_of() { (IFS='|'; echo "^($*)\$"); }

# ---- tsan: the programs that have threads ----

# suite_tsan [FOLDER...]
suite_tsan() {
    local word targets=("${@/%/_tsan_tests}")
    for word in "$@"; do is_folder "$word" || return 0; done
    suite_build tsan tsan "${targets[@]:-tsan_tests}" || true
    run_ctest tsan tsan '' -L '^tsan$' ${1+-L "$(any_of "$@")"}
}

# run_ctest SUITE PRESET GTEST_FILTER CTEST_OPTION...
run_ctest() {
    local suite=$1 preset=$2 filter=$3 output=$logs/$1
    shift 3
    [[ -e $root/build/$preset/CTestTestfile.cmake ]] || return 0
    rm -rf "$output"
    mkdir -p "$output"
    (
        sanitizer_environment
        local left=1 same=
        if [[ -n $spares_unchanged ]]; then
            { read -r left && read -r same; } < <(unchanged programs "$root/build/$preset" "$output" "$@") || left=1
        fi
        if ((left == 0)); then
            echo '<testsuite/>' >"$output/ctest.junit"
            exit
        fi
        export MUSTER_TEST_INPUTS=$output/inputs
        export GTEST_OUTPUT=xml:$output/ GTEST_COLOR=no PATH
        PATH=$(job_path 2>/dev/null)
        # shellcheck disable=SC2030
        if [[ -n $filter ]]; then export GTEST_FILTER=$filter; fi
        step "run $suite" ctest --test-dir "$root/build/$preset" -j "$(cores)" --no-tests=error \
            --output-on-failure --no-label-summary --timeout 900 --output-junit "$output/ctest.junit" ${same:+-E "$same"} "$@" || true
        if [[ -n $spares_unchanged ]]; then unchanged keep-programs "$root/build/$preset" "$output"; fi
    ) || true
    count "$suite" ctest "$output"
}

# depends_on PROGRAM...: sets `inputs` of a suite that runs these programs of the build: they, what is in the source tree
# beside their sources, and what else the machine has to run.
depends_on() {
    local path
    inputs=(src/jobs/golden src/runtime/internal/limits "programs: $(ls "$cache/peers" "$cache/bin" /usr/local/bin /usr/local/sbin 2>/dev/null || true)")
    for path in "$root"/*; do
        path=${path#"$root"/}
        [[ $path == @(src|bench|build) ]] || inputs+=("$path")
    done
    inputs+=("${@/#/build/}")
}

# unchanged VERB ARGUMENT...: scripts/unchanged.py
spares_unchanged=
unchanged() { "$(our_python)" "$root/scripts/unchanged.py" "$1" "$cache/passed" "$root" "${@:2}"; }

# count SUITE FORMAT PATH: adds up what a runner's report says.
count() {
    local report
    if report=$("$(our_python)" "$root/scripts/count_tests.py" "$2" "$3"); then
        # shellcheck disable=SC2046
        record "$1" $(head -n 1 <<<"$report")
        tail -n +2 <<<"$report" >>"$failures"
    else
        record "$1" 0 1 0
    fi
}

# ---- tools: the tests of our own scripts ----

suite_tools() {
    run_pytest tools tests/dev "$@"
}

# ---- python: the package that training scripts import ----

suite_python() {
    local inputs=(python examples)
    # shellcheck disable=SC2046
    run_pytest python python/muster/tests $(side_by_side "$(cores)" "$@") "$@"
}

# ---- e2e: the release build with real processes ----

suite_e2e() {
    suite_build e2e release muster muster_in_pods muster_store_server || return 0
    if ! has_job_modules /usr/bin/python3 && ! has_job_modules python3; then
        skip e2e "no python3 with ${job_modules[*]}"
        return
    fi
    local inputs reason
    need_packages cluster
    need_etcd
    build_programs e2e sample-apiserver || say "sample-apiserver: its tests are skipped, $reason"
    depends_on release/src/cli/muster release/src/pod_tools/muster-in-pods release/bench/muster_store_server
    # shellcheck disable=SC2046
    run_pytest e2e tests/e2e $(side_by_side "$(cores)" "$@") "$@"
}

# ---- security: attacks on the release binary ----

suite_security() {
    suite_build security release muster || return 0
    local inputs
    depends_on release/src/cli/muster
    rm -f "$logs/run-security.log"
    run_pytest security tests/security "$@"
    grep -h '^the longest hold of the loop: ' "$logs/run-security.log" 2>/dev/null || true
}

# ---- elastic: muster-run with real PyTorch ----

# What only agents do runs under sanitizers; pods, TLS and drills have the static program that users have.
elastic_sanitized=(test_one_node.py test_nodes.py)

suite_elastic() (
    beside=()
    trap stop_beside EXIT
    suite_build elastic release muster muster_run || return 0
    suite_build elastic "$sanitized" muster_run || return 0
    # Each of them mostly waits, for workers that start and end.
    beside elastic_under_sanitizers "$@"
    elastic_released "$@"
    join_beside
)

elastic_released() {
    can_train elastic || return 0
    local inputs
    depends_on release/src/cli/muster release/src/muster_run/muster-run
    # One more than there are cores: a job whose worker is killed waits for most of its time.
    # shellcheck disable=SC2046
    run_pytest elastic tests/elastic "${elastic_sanitized[@]/#/--ignore=tests/elastic/}" $(side_by_side $(($(cores) + 1)) "$@") "$@"
}

elastic_under_sanitizers() (
    can_train elastic-asan || return 0
    sanitizer_environment
    export MUSTER_BIN=$root/build/$sanitized/src/cli/muster
    local inputs
    depends_on "$sanitized"/src/cli/muster "$sanitized"/src/muster_run/muster-run
    run_pytest elastic-asan "${elastic_sanitized[@]/#/tests/elastic/}" "$@"
)

# can_train SUITE: whether there is a python3 with torch; without one the suite is skipped.
can_train() {
    if has_job_modules /usr/bin/python3 || has_job_modules python3; then return 0; fi
    skip "$1" "no python3 with ${job_modules[*]}"
    return 1
}

# side_by_side PROCESSES PYTEST_OPTION...: options that run the files of a suite in so many processes. For suites that
# mostly wait for processes, each test with its own; with a choice of tests one process does.
side_by_side() {
    local processes=$1
    shift
    if (($# == 0)) && "$(our_python)" -c 'import xdist' 2>/dev/null; then echo "-n $processes --dist loadfile"; fi
}

# A name may be one of another suite: pytest ends with 5 where nothing was chosen.
any_or_none() {
    local status=0
    "$@" || status=$?
    ((status == 5)) || return "$status"
}

# run_pytest SUITE PYTEST_OPTION...: under the command in `under`, where a caller has one. A caller whose suite depends on
# nothing but `inputs` spares a whole run what passed with them, unless it is wanted `afresh`.
run_pytest() {
    local suite=$1 report=$logs/$1.junit status=0
    shift
    if ! "$(our_python)" -c 'import pytest' 2>/dev/null; then
        skip "$suite" "no pytest"
        return
    fi
    rm -f "$report"
    if time_is_over; then
        skip "$suite" "$over"
        return
    fi
    local spares=
    if [[ -n $spares_unchanged && -n ${inputs[*]-} ]]; then spares=yes; fi
    if [[ -n $spares ]] && unchanged suite "$report" "${inputs[@]}" && [[ -z ${afresh-} ]]; then
        count "$suite" earlier "$report"
        return
    fi
    (
        # What runs leave is not for the home of whoever tests.
        export PATH PYTHONDONTWRITEBYTECODE=1 MUSTER_RUNS_DIR=$root/build/runs
        PATH=$(job_path 2>/dev/null)
        cd "$root"
        # Verbose: while someone waits for it, the end of its log names the test that runs, or that ended last.
        step "run $suite" any_or_none in_time ${under[@]+"${under[@]}"} "$(our_python)" -m pytest -v -p no:cacheprovider -o junit_family=xunit2 --junitxml "$report" "$@"
    ) || status=$?
    if [[ -n $spares ]]; then unchanged keep-suite "$report" "${inputs[@]}"; fi
    if ((status == 124 || status == 137)); then
        skip "$suite" "what was left of it when its time was over (--clients-until)"
        [[ -e $report ]] || return 0
    fi
    count "$suite" pytest "$report"
}
