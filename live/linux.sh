#!/usr/bin/env bash
# Linux on ext4 on a hybrid SSD whose power fails every few seconds; then the machine and the server are killed, and
# everything that was synced must be there. What Linux asked for is replayed in the end.
set -euo pipefail
source "$(dirname "$0")/common.sh"
need qemu-system-x86_64 qemu-system-x86 qemu-system-common seabios
need busybox busybox-static
need cpio cpio
need mkfs.ext4 e2fsprogs
need nbdcopy libnbd-bin
PATH=$PATH:/usr/sbin:/sbin

# How often power fails, and how many synced files it takes until the machine is killed.
CUT_EVERY=${CUT_EVERY:-3s}
FILES=${FILES:-150}
BOOT_MOST=600

# The distribution's kernel, unpacked and not installed.
kernel() {
    local package
    # What apt knows may be older than the mirror, or nothing at all.
    kernel_of_apt || { apt-get update -qq && kernel_of_apt; } || { sleep 10 && apt-get update -qq && kernel_of_apt; } ||
        { cat "$WORK/apt.log" >&2; fail "linux-image-cloud-amd64 cannot be had: is this Debian on x86-64? See above"; }
    (cd "$WORK" && dpkg -x ./*.deb kernel && rm ./*.deb) || fail "$package cannot be unpacked"
}

kernel_of_apt() {
    package=$(apt-cache depends linux-image-cloud-amd64 2>"$WORK/apt.log" | awk '/Depends:/ { print $2; exit }')
    [ -n "$package" ] && (cd "$WORK" && apt-get download -qq "$package" >"$WORK/apt.log" 2>&1)
}

# A system in memory: busybox, mkfs.ext4 with its libraries, the modules of the disk, and the script that runs.
initramfs() {
    local root=$WORK/root module file
    mkdir -p "$root"/{bin,proc,sys,dev,mnt,modules,etc}
    cp "$(command -v busybox)" "$root/bin/busybox"
    cp "$ROOT/live/init" "$root/init"
    chmod +x "$root/init"
    for file in "$(command -v mkfs.ext4)" $(ldd "$(command -v mkfs.ext4)" | grep -o '/[^ ]*'); do
        mkdir -p "$root$(dirname "$file")"
        cp -L "$file" "$root$file"
    done
    for module in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk; do
        file=$(find "$WORK/kernel" -name "$module.ko*" | head -n 1)
        # Some are built into the kernel.
        [ -z "$file" ] || cp "$file" "$root/modules/"
    done
    (cd "$root" && find . | cpio -o -H newc 2>/dev/null) >"$WORK/initrd"
}

# Boots with that task; the console goes to a file.
boot() {
    : >"$WORK/console.$1"
    qemu-system-x86_64 -M q35 -accel tcg -cpu max -m 512 -nodefaults -no-reboot -display none -serial stdio \
        -kernel "$(echo "$WORK"/kernel/boot/vmlinuz-*)" -initrd "$WORK/initrd" \
        -append "console=ttyS0 quiet panic=-1 task=$1" \
        -drive "file.driver=nbd,file.server.type=unix,file.server.path=$SOCKET,file.reconnect-delay=60,format=raw,if=virtio,discard=unmap" \
        </dev/null >"$WORK/console.$1" 2>&1 &
    MACHINE=$!
    CHILDREN+=("$MACHINE")
}

# Waits until the console shows that, or the machine ends.
await() {
    local start=$SECONDS
    until tr -d '\r' <"$WORK/console.$1" 2>/dev/null | grep -q "^$2"; do
        kill -0 "$MACHINE" 2>/dev/null || { cat "$WORK/console.$1"; fail "the machine ended before '$2': see above"; }
        [ $((SECONDS - start)) -lt "$BOOT_MOST" ] || { tail "$WORK/console.$1"; fail "no '$2' in $BOOT_MOST s"; }
        sleep 0.2
    done
}

say "kernel and initramfs"
kernel
initramfs

say "Linux makes ext4 and works on it, while power fails every $CUT_EVERY"
serve --capacity 256MiB --image "$WORK/ssd.img" --record "$WORK/load.csv.zst" --cut-every "$CUT_EVERY"
boot fill
await fill "SYNCED $FILES "
say "Linux is killed amid its work; the server is stopped"
{ kill -KILL "$MACHINE" && wait "$MACHINE"; } 2>/dev/null || true
stop
cuts=$(cuts_told)
[ "${cuts:-0}" != 0 ] || fail "power never failed"
say "$cuts power cuts; Linux comes back, works on, and now the server is killed, too"
serve --image "$WORK/ssd.img"
boot again
await again "SYNCED $((FILES / 3)) "
kill_server
{ kill -KILL "$MACHINE" && wait "$MACHINE"; } 2>/dev/null || true

say "a third time: everything that was synced must be there"
serve --image "$WORK/ssd.img"
boot check
await check "CHECKED"
wait "$MACHINE" || true
cat "$WORK/console.fill" "$WORK/console.again" | tr -d '\r' | sed -n 's/^SYNCED [0-9]* //p' | sort >"$WORK/ledger"
tr -d '\r' <"$WORK/console.check" | sed -n 's/^FILE //p' | sort >"$WORK/found"
lost=$(comm -23 "$WORK/ledger" "$WORK/found" | wc -l)
say "$(wc -l <"$WORK/ledger") files were synced, $lost of them are lost or changed"
[ -s "$WORK/ledger" ] && [ "$lost" = 0 ] || { comm -23 "$WORK/ledger" "$WORK/found"; fail "data are lost: see above"; }
nbdcopy "$URI" "$WORK/copy"
e2fsck -fn "$WORK/copy" >"$WORK/e2fsck.log" 2>&1 || { cat "$WORK/e2fsck.log"; fail "the file system is broken: see above"; }
say "$(tail -n 1 "$WORK/e2fsck.log")"
stop

say "what Linux asked for, on a disk with and without SLC"
"$TANDEM" compare "$WORK/load.csv.zst" --capacity 256MiB | tee "$WORK/compare.log" | sed -n '1,8p;/^hybrid against/,$p'
grep -q '^  RS ' "$WORK/compare.log" || fail "the load gives no comparison"
