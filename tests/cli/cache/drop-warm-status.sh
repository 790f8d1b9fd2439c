# The states follow each other, and each is verified by the kernel.
mkdir -p set/a set/b
head -c 100000 /dev/zero >set/a/1
head -c 50000 /dev/zero >set/b/2
weir cache status . --json >fresh
grep -q '"bytes": 150000' fresh
weir cache drop set --json >dropped
[ "$(grep -c '"resident_bytes": 0,' dropped)" -ge 1 ] ||
    { echo "this file system keeps its pages" >&2; exit 77; }
grep -q '"action": "drop"' dropped
grep -q '"done_by": "posix_fadvise"' dropped
# Another process may make the kernel drop pages in between: try again.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    weir cache warm set --json >warmed
    weir cache status set >state
    ! grep -q '100.0 %' state || break
done
grep -q '"resident_bytes": 150000,' warmed
cat state
