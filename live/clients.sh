#!/usr/bin/env bash
# NBD clients as they are sold: each reads what it wrote, or the script fails.
set -euo pipefail
source "$(dirname "$0")/common.sh"
need nbdinfo libnbd-bin
need nbdkit nbdkit
need qemu-io qemu-utils
need fio fio
need mkfs.ext4 e2fsprogs
need fusermount3 fuse3
PATH=$PATH:/usr/sbin:/sbin

say "nbdinfo"
serve --capacity 256MiB --json "$WORK/result.json"
nbdinfo "$URI" | grep -q 'export-size: 268435456' || fail "nbdinfo does not see 256 MiB"
nbdinfo --list "$URI" | grep -q 'export=""' || fail "nbdinfo lists no export"
nbdinfo --can trim "$URI" && nbdinfo --can fua "$URI" && nbdinfo --can multi-conn "$URI" ||
    fail "nbdinfo misses trim, FUA or several connections"

say "nbdcopy, both ways and by several connections"
head -c 268435456 /dev/urandom >"$WORK/there"
nbdcopy --connections=4 "$WORK/there" "$URI"
nbdcopy "$URI" "$WORK/back"
cmp "$WORK/there" "$WORK/back" || fail "what nbdcopy read is not what it wrote"
rm "$WORK/back"

say "nbdcopy of a length that is no multiple of a block"
head -c 20000000 /dev/urandom >"$WORK/odd"
nbdcopy "$WORK/odd" "$URI"
nbdcopy "$URI" "$WORK/back"
cmp --bytes=20000000 "$WORK/odd" "$WORK/back" || fail "what nbdcopy read is not the 20,000,000 bytes that it wrote"
rm "$WORK/back" "$WORK/odd"

say "qemu-io"
qemu-io -f raw -c 'write -P 0xab 512 1536' -c 'read -P 0xab 512 1536' -c 'discard 0 1M' -c 'read -P 0 0 1M' \
    -c 'write -z 1000k 24k' -c 'read -P 0 1000k 24k' -c 'write -f -P 3 4M 3M' -c 'flush' -c 'read -P 3 4M 3M' \
    "$URI" >"$WORK/qemu-io.log" || { cat "$WORK/qemu-io.log"; fail "qemu-io failed: see above"; }
if grep -i 'failed\|error' "$WORK/qemu-io.log"; then fail "qemu-io found other bytes than it wrote"; fi

say "fio, which verifies crc32c"
verify() {
    fio --name=verify --ioengine=nbd --uri="$1" --rw=randrw --bssplit=512/10:4k/50:16k/20:64k/15:512k/5 \
        --blockalign=512 --size=256M --io_size=64M --iodepth=16 --verify=crc32c --verify_fatal=1 --do_verify=1 \
        --randseed=7 >"$WORK/fio.log" 2>&1 || { cat "$WORK/fio.log"; fail "fio failed: see above"; }
}
verify "$URI"
stop
grep -q '"writes"' "$WORK/result.json" || fail "there is no result"

say "the same while power fails; nbdkit stands between, which asks again where fio would give up"
serve --capacity 256MiB --cut-every 2000,7
nbdkit -f -U "$WORK/retry" --filter=retry nbd uri="$URI" retries=100 retry-delay=1 retry-exponential=no &
CHILDREN+=($!)
await_file "$WORK/retry"
verify "nbd+unix:///?socket=$WORK/retry"
stop
cuts=$(cuts_told)
say "$cuts power cuts, and every byte is as fio wrote it"
[ "${cuts:-0}" != 0 ] || fail "power never failed"

say "mkfs.ext4 and e2fsck, on the export and on a copy of it"
serve --capacity 256MiB --image "$WORK/disk.img"
if can_mount && command -v nbdfuse >/dev/null; then
    mkdir "$WORK/fuse"
    nbdfuse "$WORK/fuse/disk" "$URI" & CHILDREN+=($!)
    await_file "$WORK/fuse/disk"
    mkfs.ext4 -q -F "$WORK/fuse/disk"
    e2fsck -fn "$WORK/fuse/disk" >"$WORK/e2fsck.log" 2>&1 || { cat "$WORK/e2fsck.log"; fail "e2fsck: see above"; }
    fusermount3 -u "$WORK/fuse" || umount "$WORK/fuse"
else
    echo "nothing can be mounted here: mkfs.ext4 makes a file, and nbdcopy takes it there"
    truncate -s 256M "$WORK/made"
    mkfs.ext4 -q -F "$WORK/made"
    nbdcopy "$WORK/made" "$URI"
fi
say "a server that is killed"
kill_server
serve --image "$WORK/disk.img"
nbdcopy "$URI" "$WORK/copy"
e2fsck -fn "$WORK/copy" >"$WORK/e2fsck.log" 2>&1 || { cat "$WORK/e2fsck.log"; fail "e2fsck: see above"; }
rm "$WORK/copy"
stop

say "random reads of 4 KiB at depth 16, beside nbdkit's memory"
serve --capacity 256MiB
nbdkit -f -U "$WORK/kit" memory 256M & CHILDREN+=($!)
nbdcopy "$WORK/there" "$URI"
await_file "$WORK/kit"
nbdcopy "$WORK/there" "nbd+unix:///?socket=$WORK/kit"
reads_per_second() {
    fio --name=reads --ioengine=nbd --uri="$1" --rw=randread --bs=4k --iodepth=16 --size=256M --runtime=3 \
        --time_based --output-format=terse --terse-version=3 | awk -F';' '/^3;/ { print $8 }'
}
memory() { awk '/VmRSS/ { print $2 }' "/proc/$SERVER/status"; }
reads_per_second "$URI" >/dev/null
before=$(memory)
# The two take turns, so that what else the machine does falls on both.
ours=0 theirs=0
for _ in 1 2 3; do
    ours=$((ours + $(reads_per_second "$URI")))
    theirs=$((theirs + $(reads_per_second "nbd+unix:///?socket=$WORK/kit")))
done
grown=$(($(memory) - before))
say "$((ours / 3)) reads a second; nbdkit memory serves $((theirs / 3)): $((100 * ours / theirs)) %; memory grew by $grown KiB"
[ $((100 * ours)) -ge $((60 * theirs)) ] || fail "reads are slower than 60 % of nbdkit's"
[ "$grown" -le 8192 ] || fail "the server's memory grows while it is read"

say "memory while all of it is written again and again"
writes() {
    fio --name=writes --ioengine=nbd --uri="$URI" --rw=randwrite --bs=4k --iodepth=16 --size=256M --io_size="$1" \
        --norandommap >"$WORK/writes.log" 2>&1 || { cat "$WORK/writes.log"; fail "fio failed: see above"; }
}
# By then every block of the device has been used.
writes 512M
before=$(memory)
writes 512M
grown=$(($(memory) - before))
say "after 512 MiB of random writes memory had grown by $grown KiB more"
[ "$grown" -le 16384 ] || fail "the server's memory grows while it is written"
stop
