#!/bin/sh
# Runs one target for so many seconds, and appends what came of it to fuzz/log.md; `fuzz/all.sh` calls it.
# Git ignores inputs that reach new code (fuzz/corpus/), those that fail (fuzz/artifacts/) and the output (fuzz/logs/).
set -eu
seconds=$1 target=$2
cd "$(dirname "$0")/.."
corpus=fuzz/corpus/$target log=fuzz/logs/$target
mkdir -p "$corpus" fuzz/logs
case $target in
    picture) fixtures=tests/fixtures/preprocess ;;
    checkpoint | safetensors) fixtures=tests/fixtures/import ;;
    *) fixtures= ;;
esac
set --
for seeds in "tests/corpus/$target" "tests/found/$target" $fixtures; do
    if [ -d "$seeds" ]; then set -- "$@" "$seeds"; fi
done

n_inputs() { find "$corpus" -type f | wc -l; }
last() { sed -n "s/$1/\1/p" "$log" | tail -n 1; }

n_before=$(n_inputs)
# Puts into `core` the seconds that cores have worked for what this script has called. In a subshell it would be none.
count_core_seconds() {
    times >"$log.times"
    core=$(awk -F '[ms ]+' 'NR == 2 { printf "%d", 60 * ($1 + $3) + $2 + $4 }' "$log.times")
}

CARGO_FUZZ=${CARGO_FUZZ:-cargo +nightly fuzz}
nice -n 19 $CARGO_FUZZ build "$target" >"$log" 2>&1 || { cat "$log"; exit 1; }
# Readers of folders read their files in memory where that can be had.
if [ -d /dev/shm ]; then export TMPDIR=/dev/shm; fi
count_core_seconds
built=$core
start=$(date +%s)
status=0
nice -n 19 $CARGO_FUZZ run "$target" "$corpus" "$@" -- \
    -max_total_time="$seconds" -max_len=64000 -timeout=60 -malloc_limit_mb=400 >"$log" 2>&1 || status=$?

# `Done 123 runs in 60 second(s)`; a run that fails has only its last `#123 NEW cov: ...`.
runs=$(last '^Done \([0-9]*\) runs in [0-9]* second(s).*')
took=$(last '^Done [0-9]* runs in \([0-9]*\) second(s).*')
[ -n "$runs" ] || runs=$(last '^#\([0-9][0-9]*\)[^0-9].*')
[ -n "$took" ] || took=$(($(date +%s) - start))
count_core_seconds
core=$((core - built))
outcome='nothing found'
if [ "$status" -ne 0 ]; then
    outcome=$(last '.*Test unit written to .*\/\([^\/]*\)$')
    outcome=${outcome:-"ended with status $status"}
fi
printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$(date -u +%Y-%m-%d)" "$target" "$took" "$core" "${runs:-0}" \
    "$(($(n_inputs) - n_before))" "$outcome" >>fuzz/log.md
if [ "$status" -ne 0 ]; then
    tail -n 40 "$log"
    echo "$target: $outcome; all of its output is in $log"
    exit 1
fi
