# Random crops and flips: the same pixels for any number of threads, others
# with another seed, and others than those of whole pictures.
weir gen caltech101 set --samples 60 --classes 5 --quiet >/dev/null
digest() {
    weir bench set --digest --no-limits -r 2 -b 16 --size 64 "$@" |
        grep ^digest
}
for how in "-t 1" "-t 2" "-t 5 -d 1" "-t 8 -p 0" "-t 3 -p 5"; do
    # shellcheck disable=SC2086
    digest --crop random --flip $how >>same
done
[ "$(sort -u same | wc -l)" = 1 ]
[ "$(wc -l <same)" = 5 ]
{
    head -n 1 same
    digest
    digest --flip
    digest --crop random
    digest --crop random --flip --seed 1 --order sequential
    digest --crop random --flip --seed 2 --order sequential
    digest --crop random --crop-area 0.2,0.4
    digest --crop random --crop-ratio 1,1
    digest --crop center
    digest --crop center --crop-center 1
    digest --crop random --decode fast
} >other
[ "$(sort -u other | wc -l)" = 11 ]
