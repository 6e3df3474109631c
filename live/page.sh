#!/usr/bin/env bash
# The lines of docs/SERVE.md that put ext4 on an SSD, each block pasted at once, with a minute of some seconds.
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
lines() {
    sed -n "/^<!-- live: $1 -->\$/,/^\`\`\`\$/p" docs/SERVE.md | sed '1,2d;$d' |
        sed "s|/tmp/|$WORK/|g; s|/mnt|$WORK/mnt|g; s|load\.csv|$WORK/load.csv|g; s|every 60s|every 3s|"
}
[ "$(lines begin | wc -l) $(lines end | wc -l)" = "5 2" ] || fail "docs/SERVE.md has other lines than those that are tested"

set -m
exec 3>"$WORK/server.log"
eval "$(lines begin)" >&3 2>&1
mapfile -t started < <(jobs -p)
CHILDREN+=("${started[@]}")
mountpoint -q "$WORK/mnt" || { cat "$WORK/server.log"; fail "the lines have not mounted the disk: see above"; }
for round in $(seq 10); do
    cp -r crates/ftl-core/src "$WORK/mnt/$round"
    sync
    sleep 1
done
for round in $(seq 10); do diff -r crates/ftl-core/src "$WORK/mnt/$round" || fail "copy $round is not what was copied"; done
eval "$(lines end)" >"$WORK/compare.log" 2>&1
cat "$WORK/compare.log" >>"$WORK/server.log"
cuts=$(cuts_told)
say "$cuts power cuts, and every copy is whole"
[ "${cuts:-0}" != 0 ] || fail "power never failed"
tail -n 8 "$WORK/compare.log"
grep -q '^  RS ' "$WORK/compare.log" || fail "the load gives no comparison"
