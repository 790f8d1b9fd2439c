# The man page names every variable that the sources ask for.
src=$(dirname "$0")/../../../src
grep -rhoE 'getenv\("[A-Z_]+"' "$src" | cut -d'"' -f2 | sort -u >asked
[ "$(wc -l <asked)" -ge 4 ]
weir __man | sed -n '/^\.SH ENVIRONMENT/,/^\.SH "/p' >section
while read -r name; do
    grep -q "^\.B \"$name\"" section || { echo "no $name" >&2; exit 1; }
done <asked
