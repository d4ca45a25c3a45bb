#!/bin/sh
# Runs every target for so many seconds, one after the other, at the lowest priority: `fuzz/all.sh 3600`.
# Inputs that reach new code are kept in fuzz/corpus/, those that fail in fuzz/artifacts/; git ignores both.
set -eu
seconds=${1:?'usage: fuzz/all.sh SECONDS [TARGET...]'}
shift
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(cargo +nightly fuzz list)
failed=
for target; do
    mkdir -p "fuzz/corpus/$target"
    nice -n 19 cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "tests/corpus/$target" -- \
        -max_total_time="$seconds" -max_len=64000 -timeout=60 -malloc_limit_mb=400 || failed="$failed $target"
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
