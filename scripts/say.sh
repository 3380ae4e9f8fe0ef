# Sourced by ./dev: how it speaks, and how it runs a long step.

say() { printf '%s\n' "$*"; }

die() {
    printf 'dev: %s\n' "$*" >&2
    exit 1
}

now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

seconds_since() {
    local ms=$(($(now_ms) - $1))
    printf '%d.%d s' $((ms / 1000)) $((ms % 1000 / 100))
}

# step NAME COMMAND...: runs a command quietly into build/logs/NAME.log, and says how long it took. How long, and for how
# long cores were busy with it, also stands in build/logs/steps. Shows the end of the log when the command fails; returns
# its status.
step() {
    local name=$1 log=$logs/${1// /-}.log begin status=0 watcher TIMEFORMAT=$1$'\t%3R\t%3U\t%3S'
    shift
    mkdir -p "$logs"
    begin=$(now_ms)
    : >"$log"
    watch_log "$name" "$log" &
    watcher=$!
    { time "$@" >"$log" 2>&1 </dev/null || status=$?; } 2>>"$logs/steps"
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    [[ -t 1 ]] && printf '\r\033[K'
    if ((status == 0)); then
        printf '%-28s %s\n' "$name" "$(seconds_since "$begin")"
    else
        printf '%-28s FAILED after %s (exit status %d); from %s:\n' \
            "$name" "$(seconds_since "$begin")" "$status" "${log#"$root"/}"
        worst_of "$log" | sed 's/^/    /'
    fi
    return "$status"
}

# What a person wants to see of a failed step's log: the compiler's errors or the failed assertions
# where there are some, and its end.
worst_of() {
    local telling=' error: |^FAILED: |: Failure$|ERROR: (Address|Leak|Undefined|Thread)Sanitizer|runtime error: |^E   '
    grep -E -A 6 -m 25 -e "$telling" "$1" | grep -v -E '^/usr/bin/cmake -E|compile\.sh' | cut -c1-400 | head -n 120 && echo ...
    tail -n 25 "$1" | grep -v -E '^ *(Looked in|/?[^ ]*/build/.*_test$)' | cut -c1-400
}

# A sign of life: the log's last line on a terminal, a line each minute elsewhere.
watch_log() {
    local begin=$SECONDS line ended
    trap 'exit 0' TERM
    # Ctrl-C ends the caller but not what runs in its background.
    while sleep 1 >/dev/null 2>&1 & wait $! && kill -0 $$ 2>/dev/null; do
        if [[ -t 1 ]]; then
            line=$(tail -n 1 "$2" 2>/dev/null | tr -d '\r' | cut -c1-70)
            printf '\r\033[K%-28s %ds  %s' "$1" $((SECONDS - begin)) "$line"
        elif (((SECONDS - begin) % 60 == 59)); then
            line=$(tail -n 1 "$2" 2>/dev/null | cut -c1-90)
            # Of tests, how many of all have ended stands at the end of each line that is full.
            ended=$(tail -n 2 "$2" 2>/dev/null | grep -o '\[ *[0-9]*%\]' | tail -n 1) || ended=
            printf '%-28s still at work after %ds: %s\n' "$1" $((SECONDS - begin)) "${ended:+$ended }$line"
        fi
    done
}
