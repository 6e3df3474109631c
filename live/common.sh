# What the scripts of this folder share. Each is run by `./ci`, in a folder of its own that it leaves nothing behind in.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
TANDEM=${TANDEM:-$ROOT/${CARGO_TARGET_DIR:-target}/release/tandem}
[ -x "$TANDEM" ] || TANDEM=${CARGO_TARGET_DIR:-$ROOT/target}/release/tandem
WORK=$(mktemp -d)
SOCKET=$WORK/ssd
URI="nbd+unix:///?socket=$SOCKET"
SERVER=
CHILDREN=()

say() { printf -- '-- %s\n' "$*"; }
fail() { printf 'live: %s\n' "$*" >&2; exit 1; }

# Ends what was started, by its process id, and removes the folder.
clean_up() {
    local child
    for child in "${CHILDREN[@]}" $SERVER; do
        # A child that has ended, or was disowned, cannot be waited for.
        { kill -KILL "$child" && wait "$child"; } 2>/dev/null || true
    done
    umount "$WORK/mnt" 2>/dev/null || true
    mountpoint -q "$WORK/disk" && { fusermount3 -u "$WORK/disk" || umount "$WORK/disk"; }
    mountpoint -q "$WORK/fuse" && { fusermount3 -u "$WORK/fuse" || umount "$WORK/fuse"; }
    rm -rf "$WORK"
}
trap clean_up EXIT

# What apt says is shown when it fails, and only then. A mirror that does not answer is asked again.
install_packages() {
    local log=$WORK/apt.log try
    for try in 1 2 3; do
        { apt-get update -qq &&
            DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"; } >"$log" 2>&1 && return
        sleep $((5 * try))
    done
    cat "$log" >&2
    return 1
}

# Installs Debian packages whose commands are not there: need COMMAND PACKAGE…
need() {
    local command=$1
    shift
    command -v "$command" >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v "$command" >/dev/null ||
        install_packages "$@" || fail "$command is not here, and apt cannot install it: install $*"
}

# Waits until that is there, as long as a slow machine may take: await_file PATH
await_file() {
    local waited
    for waited in $(seq 1200); do
        [ -e "$1" ] && return
        sleep 0.1
    done
    fail "$1 does not come in two minutes ($waited tries)"
}

# The power cuts that the last server counted.
cuts_told() { sed -n 's/.* requests, \([0-9,]*\) power cuts/\1/p' "$WORK/server.log" | tail -n 1; }

# Whether this machine lets us mount files: a container may have the devices and not the right.
can_mount() {
    [ "$(id -u)" = 0 ] && [ -e /dev/fuse ] && [ -e /dev/loop-control ] || return 1
    truncate -s 1M "$WORK/try"
    mkdir -p "$WORK/try.mnt"
    mkfs.ext4 -q -F "$WORK/try" 2>/dev/null && mount -o loop "$WORK/try" "$WORK/try.mnt" 2>/dev/null || return 1
    umount "$WORK/try.mnt"
}

# Starts a server with those flags, and waits until it listens.
serve() {
    rm -f "$SOCKET"
    "$TANDEM" serve --socket "$SOCKET" "$@" >>"$WORK/server.log" 2>&1 &
    SERVER=$!
    local waited
    for waited in $(seq 1800); do
        [ -S "$SOCKET" ] && return
        kill -0 "$SERVER" 2>/dev/null || { cat "$WORK/server.log"; fail "the server ended: see above"; }
        sleep 0.1
    done
    fail "the server does not listen after three minutes ($waited tries)"
}

# Stops it, as a user would, and has it end well.
stop() {
    kill -INT "$SERVER"
    wait "$SERVER" || { cat "$WORK/server.log"; fail "the server ended with an error: see above"; }
    SERVER=
}

# Ends it as nobody could be prepared for.
kill_server() {
    { kill -KILL "$SERVER" && wait "$SERVER"; } 2>/dev/null || true
    SERVER=
}
