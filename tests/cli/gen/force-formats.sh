# --force replaces what the same command made, in every format.
for to in wt npy npz npz-deflated hdf5 csv jsonl indexed_binary; do
    for run in 1 2; do
        weir gen tensors "$to" --to "$to" --shape 4x4 -n 8 --force \
            > out 2> said && continue
        grep -q 'HDF5 is read by a helper\|built without HDF5' said && break
        echo "$to, run $run: $(cat said)" && exit 9
    done
done
