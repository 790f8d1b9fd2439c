# A list of pictures, masks and numbers: its fields.
weir gen caltech101 in -n 4 -c 2 -q >/dev/null
(
    echo image,mask,label,weight
    for f in in/*/*.jpg; do
        echo "$f,$f,$(basename "$(dirname "$f")"),0.5"
    done
) >l.csv
weir inspect l.csv | sed -n '/fields/,/label:/p'
