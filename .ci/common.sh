# What the scripts for C share: they stand in firmware/, build into one folder, and install what they need.
cd "$(dirname "${BASH_SOURCE[0]}")/../firmware"
ROOT=$(cd .. && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
OUT=$CARGO_TARGET_DIR/c
HEADER=../crates/ftl-c/include
WARNINGS=(-std=c11 -Wall -Wextra -Werror)
SANITIZED=(-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all)
mkdir -p "$OUT"

fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

need() {
    local program=$1
    shift
    command -v "$program" >/dev/null || { apt-get update -qq && apt-get install -qq -y --no-install-recommends "$@"; } >/dev/null ||
        fail "$program cannot be installed: install $* by hand"
}

# The page of docs/ with that table, a file, between the marks of that name, in $OUT/page.
with_table() {
    awk -v mark="$2" -v table="$3" '$0 == "<!-- /" mark " -->" {off = 0} !off {print}
        $0 == "<!-- " mark " -->" {while ((getline line <table) > 0) print line; off = 1}' "../docs/$1.md" >"$OUT/page"
}

. "$ROOT/.ci/pieces.sh"

# The pieces of a page of docs/ in that language.
piece() { pieces "../docs/$1.md" "$2"; }

# What a stranger does, by the words of that page alone, in the folder $WORK beside a checkout: its commands must lead to
# what it says that they lead to, which is then in $wanted.
by_the_words_of() {
    local page=$1
    ln -sfn "$ROOT" "$WORK/tandem"
    { echo 'set -e'; piece "$page" sh | sed "s|tandem/firmware/target|$CARGO_TARGET_DIR|; s|tandem/\(firmware\|crates\)|$ROOT/\1|g"; } >"$WORK/commands"
    (cd "$WORK" && bash commands) >"$OUT/said" 2>&1 || { cat "$OUT/said"; fail "the commands of docs/$page.md failed: see above"; }
    wanted=$(sed -n 's/^It says `\(.*\)`\.$/\1/p' "../docs/$page.md")
    grep -qx "$wanted" "$OUT/said" || { cat "$OUT/said"; fail "docs/$page.md promises that the program says: $wanted"; }
}
