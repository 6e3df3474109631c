# Every piece of a page in that language, one after the other; or the first alone: pieces FILE LANGUAGE [first].
pieces() {
    awk -v start="^\`\`\`$2\$" -v alone="${3:-}" '/^```/ && on {if (alone != "") exit; on = 0; print ""} on {print}
        $0 ~ start {on = 1}' "$1"
}
