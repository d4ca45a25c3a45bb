#!/bin/sh
# Runs every target for so many seconds at the lowest priority, one after the other or JOBS at a time:
# `JOBS=2 fuzz/all.sh 3600`, for two of them `fuzz/all.sh 3600 picture npy`. CARGO_FUZZ is the command that runs
# cargo-fuzz. What came of each run is a line of fuzz/log.md, which belongs in the repository.
set -eu
usage='usage: [JOBS=N] [CARGO_FUZZ=COMMAND] fuzz/all.sh SECONDS [TARGET...]'
seconds=${1:?"$usage"}
shift
cd "$(dirname "$0")/.."
export CARGO_FUZZ="${CARGO_FUZZ:-cargo +nightly fuzz}"
# The versions that the tests run, and not the newest.
[ -f fuzz/Cargo.lock ] || cp Cargo.lock fuzz/Cargo.lock
if [ $# -eq 0 ]; then
    targets=$($CARGO_FUZZ list)
    set -- $targets
fi
printf '%s\n' "$@" | xargs -n 1 -P "${JOBS:-1}" sh fuzz/one.sh "$seconds"
