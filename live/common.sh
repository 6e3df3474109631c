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
    mountpoint -q "$WORK/fuse" && { fusermount3 -u "$WORK/fuse" || umount "$WORK/fuse"; }
    rm -rf "$WORK"
}
trap clean_up EXIT

# Installs Debian packages whose commands are not there: need COMMAND PACKAGE…
need() {
    local command=$1
    shift
    command -v "$command" >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v "$command" >/dev/null ||
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null; } ||
        fail "$command is not here, and apt cannot install it: install $*"
}

# Starts a server with those flags, and waits until it listens.
serve() {
    rm -f "$SOCKET"
    "$TANDEM" serve --socket "$SOCKET" "$@" >>"$WORK/server.log" 2>&1 &
    SERVER=$!
    local waited
    for waited in $(seq 600); do
        [ -S "$SOCKET" ] && return
        kill -0 "$SERVER" 2>/dev/null || { cat "$WORK/server.log"; fail "the server ended: see above"; }
        sleep 0.1
    done
    fail "the server does not listen after a minute ($waited tries)"
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
