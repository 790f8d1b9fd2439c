# Each command has its page in the build, and the pages are roff without
# warnings.
list=$(dirname "$0")/../../../docs/meson.build
weir __man >weir.1
weir __options | cut -d' ' -f1 | sort -u >commands
while read -r cmd; do
    weir __man "$cmd" >"weir-$cmd.1"
    grep -q "'$cmd'" "$list" || { echo "$cmd: not in $list" >&2; exit 1; }
done <commands
command -v groff >/dev/null || { echo "no groff" >&2; exit 77; }
groff -man -ww -z weir*.1 2>warnings
if [ -s warnings ]; then cat warnings >&2; exit 1; fi
