# Byte-identical batches for any number of threads, any depth, any engine.
weir gen caltech101 set --samples 90 --classes 5 --quiet >/dev/null
for how in "-t 1" "-t 2" "-t 4" "-t 8" "-t 3 -d 1" "-t 2 -d 7 --io blocking" \
    "-t 2 --direct" "-t 2 -p 0" "-t 2 -p 5"; do
    # shellcheck disable=SC2086
    weir bench set $how --digest --no-limits -r 2 -b 16 | grep ^digest >>all
done
[ "$(sort -u all | wc -l)" = 1 ]
[ "$(wc -l <all)" = 9 ]
