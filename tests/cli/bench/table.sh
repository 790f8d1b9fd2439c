weir gen caltech101 set --samples 40 --classes 4 --quiet >/dev/null
weir bench set -r 3 -b 8 -t 1,2 --page-cache cold,warm
