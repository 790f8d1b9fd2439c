# Endings of members are fields; what is wrong is said with its member.
weir gen caltech101 in -n 4 -c 1 -q >/dev/null
weir gen tensors arrays -n 4 --shape 2x3 --dtype f32 --samples-per-file 1 \
    --format npy -q >/dev/null
rm arrays/*.labels.npy
mkdir parts
set -- arrays/*.npy
k=0
for picture in in/*/*.jpg; do
    cp "$picture" "parts/$k.jpg"
    cp "$picture" "parts/$k.mask.jpg"
    cp "$1" "parts/$k.npy"
    echo "a caption" >"parts/$k.txt"
    shift
    k=$((k + 1))
done
head -c 130 parts/2.npy >parts/cut
mv parts/cut parts/2.npy
(cd parts && tar -cf ../a.tar --sort=name --format=ustar -- *)
weir inspect a.tar --no-index-cache |
    sed -n "/fields/,/txt:/p; s/offset [0-9]*/offset N/; /'a.tar':/p"
