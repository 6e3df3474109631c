#!/usr/bin/env bash
# The lines of docs/SERVE.md that put ext4 on an SSD, as they stand there, with a minute of some seconds.
set -euo pipefail
source "$(dirname "$0")/common.sh"
need nbdfuse libnbd-bin
need nbdkit nbdkit
need mkfs.ext4 e2fsprogs
need fusermount3 fuse3
PATH=$(dirname "$TANDEM"):$PATH:/usr/sbin:/sbin
if ! can_mount; then
    say "no /dev/fuse, no loop devices, or no right to mount: the lines of docs/SERVE.md are left out; linux.sh does it in a guest"
    exit 0
fi

mkdir "$WORK/mnt"
sed -n '/^<!-- live -->$/,/^```$/p' docs/SERVE.md | sed '1,2d;$d' |
    sed "s|/tmp/|$WORK/|g; s|/mnt|$WORK/mnt|g; s|load\.csv|$WORK/load.csv|g; s|every 60s|every 3s|; s|sudo ||g" >"$WORK/lines"
[ "$(wc -l <"$WORK/lines")" = 5 ] || fail "docs/SERVE.md no longer has five lines behind <!-- live -->"

# What each line starts must be there before the next, which a person's typing takes care of.
line() { sed -n "$1p" "$WORK/lines"; }
set -m
eval "$(line 1)" >"$WORK/server.log" 2>&1
SERVER=$!
await_file "$WORK/ssd"
eval "$(line 2)" >"$WORK/fuse.log" 2>&1
CHILDREN+=($!)
await_file "$WORK/disk/ssd"
eval "$(line 3)"
for round in $(seq 10); do
    cp -r crates/ftl-core/src "$WORK/mnt/$round"
    sync
    sleep 1
done
for round in $(seq 10); do diff -r crates/ftl-core/src "$WORK/mnt/$round" || fail "copy $round is not what was copied"; done
eval "$(line 4)"
SERVER=
cuts=$(cuts_told)
say "$cuts power cuts, and every copy is whole"
[ "${cuts:-0}" != 0 ] || fail "power never failed"
eval "$(line 5)" | tee "$WORK/compare.log" | tail -n 8
grep -q '^  RS ' "$WORK/compare.log" || fail "the load gives no comparison"
