# Sourced by ./dev: simulated worlds, many seeds of each. A world is one process and one thread, so
# scenarios run side by side.

# A run of the suite takes a slice of the seeds that ./dev drill sim plays, another one with another commit: 20 of each
# scenario, 300 of those in which all parts are together, where the rarest faults are, and 1,000 of `elastic`, which is
# agents and masters alone and quick. With 1,000 agents one takes seconds: a few, for what only size shows.
sim_slices=50
sim_drill_seeds=1000 whole_world_drill_seeds=15000 elastic_drill_seeds=50000
whole_worlds=(elastic-jobs elastic-jobs-chaos)
elastic_large_seeds=3 elastic_large_nodes=1000

# Which slice it is for this commit: the same one each time.
sim_slice() { echo $((16#$(git -C "$root" rev-parse -q --verify --short=7 HEAD 2>/dev/null | cut -c1-7 || echo 0) % sim_slices)); }

# All but `elastic`, which has seeds of its own.
sim_scenarios() {
    local file
    for file in "$root"/src/sim/scenarios/*.yaml; do basename "$file" .yaml; done | grep -vx elastic
}

# How many seeds of each world with all parts this run plays in place of its slice of the drill's (--whole-worlds).
whole_world_seeds=

# How many of a scenario's seeds a run of the suite plays.
seeds_of() {
    if [[ -n $whole_world_seeds && " ${whole_worlds[*]} " == *" $1 "* ]]; then
        echo "$whole_world_seeds"
    else
        echo $(($(drill_seeds_of "$1") / sim_slices))
    fi
}

# How many of a scenario's seeds ./dev drill sim plays.
drill_seeds_of() { [[ " ${whole_worlds[*]} " == *" $1 "* ]] && echo "$whole_world_drill_seeds" || echo "$sim_drill_seeds"; }

# play_scenario BINARY FOLDER SEEDS FIRST NAME: leaves FOLDER/NAME.out, whose last line reads
# "N passed, N failed". A run that dies or hangs takes the seeds behind it along: its seed is looked
# for, and the rest counts as failed.
play_scenario() {
    local binary=$1 out=$2/$5.out seeds=$3 first=$4 name=$5 seed status=0
    # A seed of `election` takes a second; a hang is told all the same.
    timeout $((600 + seeds * 2)) "$binary" simulate "$name" --seed "$first" --seeds "$seeds" >"$out" 2>&1 || status=$?
    ((status != 0 && status != 3)) || return 0
    echo "$name: exit status $status" >>"$out"
    for ((seed = first; seed < first + seeds; seed++)); do
        status=0
        timeout 30 "$binary" simulate "$name" --seed "$seed" >"$out.seed" 2>&1 || status=$?
        ((status != 0 && status != 3)) || continue
        echo "seed $seed: exit status $status" >>"$out"
        tail -n 3 "$out.seed" >>"$out"
        echo "replay: muster simulate $name --seed $seed --trace" >>"$out"
        break
    done
    rm -f "$out.seed"
    echo "$((seed - first)) passed, $((first + seeds - seed)) failed" >>"$out"
}

# play_scenarios FOLDER "SEEDS FIRST NAME"...: all of them, those with the most seeds first, and what failed with the
# command that replays it.
play_scenarios() {
    local folder=$1
    shift
    rm -rf "$folder"
    mkdir -p "$folder"
    export -f play_scenario
    printf '%s\n' "$@" | sort -s -k1,1nr | xargs -P "$(cores)" -L1 bash -c 'play_scenario "$@"' play \
        "$root/build/release/src/cli/muster" "$folder"
    set -- "${@##* }"
    local name good=0
    for name in "$@"; do
        printf '%-16s %s\n' "$name" "$(tail -n 1 "$folder/$name.out")"
        grep -q ', 0 failed$' <(tail -n 1 "$folder/$name.out") || good=1
    done
    for name in "$@"; do
        grep -q ', 0 failed$' <(tail -n 1 "$folder/$name.out") && continue
        echo "---- $name"
        head -n -1 "$folder/$name.out" | sed 's|^replay: muster simulate |replay: ./dev drill sim |' | head -n 12
    done
    return "$good"
}

# play_elastic FILE SEEDS FIRST [NODES]: the last line of FILE reads "N passed, N failed", and the lines before say how
# many faults of each kind there were.
play_elastic() {
    local out=$1 seeds=$2 first=$3 nodes=${4:-} status=0
    mkdir -p "$(dirname "$out")"
    timeout 3600 "$root/build/release/src/cli/muster" simulate elastic --seed "$first" --seeds "$seeds" ${nodes:+--nodes "$nodes"} >"$out" 2>&1 || status=$?
    ((status == 0 || status == 3)) || echo "0 passed, $seeds failed: elastic, from seed $first on, ended with $status" >>"$out"
    if ((status == 0)); then
        printf '%-16s %s\n' "elastic${nodes:+ $nodes}" "$(tail -n 1 "$out"): $(tail -n 2 "$out" | head -n 1)"
    else
        grep -v '^ ' "$out" | sed 's|^replay: muster simulate |replay: ./dev drill sim |' | tail -n 12
        return 1
    fi
}

suite_simulate() {
    (($# == 0)) || return 0
    suite_build simulate release muster || return 0
    local names runs=() folder=$logs/sim passed failed line slice seeds elastic_seeds
    mapfile -t names < <(sim_scenarios)
    slice=$(sim_slice) elastic_seeds=$((elastic_drill_seeds / sim_slices))
    for line in "${names[@]}"; do
        seeds=$(seeds_of "$line")
        runs+=("$seeds $((1 + slice * seeds)) $line")
    done
    step "run simulate" play_scenarios "$folder" "${runs[@]}" || true
    passed=0 failed=0
    for line in "${names[@]}"; do
        if [[ $(tail -n 1 "$folder/$line.out" 2>/dev/null) =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
            passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
        else
            failed=$((failed + 1))
        fi
    done
    local large=$folder/elastic-large.out
    step "run simulate elastic" play_elastic "$folder/elastic.out" "$elastic_seeds" $((slice * elastic_seeds)) || true
    step "run simulate elastic $elastic_large_nodes" play_elastic "$large" "$elastic_large_seeds" 0 "$elastic_large_nodes" || true
    for line in "$folder/elastic.out" "$large"; do
        if [[ $(tail -n 1 "$line" 2>/dev/null) =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
            passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
        else
            failed=$((failed + 1))
        fi
    done
    record simulate "$passed" "$failed" 0
}

# drill_sim [SCENARIO...] [--seeds N] [--seed N] [--nodes N] [--trace]: any number of seeds, or one of them as it
# happened. --nodes is of `elastic`.
drill_sim() {
    local names=() runs=() name seeds= first=1 nodes= trace= elastic= good=0
    while (($#)); do
        case $1 in
        --seeds | --seed | --nodes)
            [[ ${2:-} =~ ^[0-9]+$ ]] || die "$1 wants a number"
            case $1 in --seeds) seeds=$2 ;; --seed) first=$2 ;; *) nodes=$2 ;; esac
            shift
            ;;
        --trace) trace=1 ;;
        -*) die "./dev drill sim has no option $1" ;;
        elastic) elastic=1 ;;
        *) names+=("$1") ;;
        esac
        shift
    done
    prepare_build
    build_target release muster
    if [[ -n $trace ]]; then
        [[ -z $elastic ]] || names+=(elastic)
        ((${#names[@]} == 1)) || die "--trace wants one scenario and --seed N"
        "$root/build/release/src/cli/muster" simulate "${names[0]}" --seed "$first" ${nodes:+--nodes "$nodes"} --trace
        return
    fi
    if ((${#names[@]} == 0)) && [[ -z $elastic ]]; then
        mapfile -t names < <(sim_scenarios)
        elastic=1
    fi
    for name in "${names[@]}"; do runs+=("${seeds:-$(drill_seeds_of "$name")} $first $name"); done
    if ((${#runs[@]})); then
        play_scenarios "$logs/drill-sim" "${runs[@]}" || good=1
    fi
    if [[ -n $elastic ]]; then
        play_elastic "$logs/drill-sim-elastic.out" "${seeds:-$elastic_drill_seeds}" "$first" "$nodes" || good=1
    fi
    return "$good"
}
