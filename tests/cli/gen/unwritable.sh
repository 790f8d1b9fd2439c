# A parent that cannot be written to is named.
if [ "$(id -u)" -eq 0 ]; then
    # Root may write anywhere but into a file system of the kernel's.
    test -d /proc/self || { echo "no /proc" >&2; exit 77; }
    weir gen caltech101 /proc/self/d -n 2
else
    mkdir d
    chmod a-w d
    weir gen caltech101 d/d -n 2
fi
