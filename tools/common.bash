# Shared by the scripts of this folder; sourced, not run. Bash 5, `set -euo pipefail` by the caller.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
# shellcheck disable=SC2034 # used by those who source this file
readonly venv="$root/.venv"

say() { printf '%s\n' "$*"; }
notice() { printf 'notice: %s\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Seconds since some moment with three digits, for differences.
now() { printf '%s\n' "${EPOCHREALTIME/,/.}"; }

# seconds_since START: what has passed, with one digit.
seconds_since() { awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.1f", to - from }'; }

# usage FILE: prints the comment block at the head of a script, which is its help text.
usage() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$1"; }

# json_text NAME: the first text value of that name in the JSON on standard input, without unescaping; empty if none.
json_text() {
    { grep -oE "\"$1\" *: *\"[^\"]*\"" || true; } | head -n 1 | sed -E 's/^"[^"]*" *: *"(.*)"$/\1/; s#\\/#/#g'
}

# is_alive PID: whether that process still runs (a zombie does not).
is_alive() {
    local state
    state=$(awk '/^State:/ { print $2 }' "/proc/$1/status" 2>/dev/null) || return 1
    [[ -n $state && $state != Z ]]
}

# stop_process PID [NAME]: asks a process of ours to end and waits; after ten seconds it is killed, which is an error.
stop_process() {
    local pid=$1 name=${2:-process}
    [[ -n $pid ]] || return 0
    kill -TERM "$pid" 2>/dev/null || true
    for _ in {1..200}; do
        is_alive "$pid" || break
        sleep 0.05
    done
    if is_alive "$pid"; then
        notice "$name (pid $pid) did not end within 10 s of SIGTERM and was killed"
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        return 1
    fi
    wait "$pid" 2>/dev/null || true
}

# start_server BINARY FOLDER [ARGUMENT…]: a server on free ports with its data, log and ready file in FOLDER.
# Sets server_pid and ready (the ready line). Fails with the server's own words when it does not come up.
readonly free_ports=(--apns-port 0 --broadcast-ports "0,0" --courier-port 0 --http-port 0 --https-port 0)
server_pid=
ready=
start_server() {
    local binary=$1 folder=$2
    shift 2
    mkdir -p "$folder"
    rm -f "$folder/ready.json"
    "$binary" serve "${free_ports[@]}" --ready-file "$folder/ready.json" "$@" \
        >"$folder/server.out" 2>"$folder/server.log" </dev/null &
    server_pid=$!
    for _ in {1..1000}; do
        if [[ -s $folder/ready.json ]] && ready=$(<"$folder/ready.json") && [[ $ready == *'}' ]]; then
            return 0
        fi
        is_alive "$server_pid" || break
        sleep 0.01
    done
    printf 'error: the server did not become ready; its last words:\n' >&2
    tail -n 20 "$folder/server.log" "$folder/server.out" >&2 || true
    stop_process "$server_pid" server || true
    server_pid=
    return 1
}

# Flags of every build, so that one script does not undo the work of another.
# shellcheck disable=SC2034 # used by those who source this file
readonly build_flags=(-Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error)

# build_release: builds the program with optimisation; sets `program` to it.
program=
build_release() {
    swift build -c release --package-path "$root" --product localpush "${build_flags[@]}" || return
    # shellcheck disable=SC2034 # for the caller
    program=$root/.build/release/localpush
}
