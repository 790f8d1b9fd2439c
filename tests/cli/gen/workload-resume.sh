# A run that was killed is continued, and gives the bytes of one that was not.
cat >w.yaml <<'YAML'
dataset:
  format: npz
  num_files_train: 40
  num_files_eval: 3
  num_subfolders_train: 4
  record_length_bytes: 4000000
  record_length_bytes_stdev: 400000
YAML
weir gen w.yaml whole --seed 7 -q >/dev/null
weir gen w.yaml d --seed 7 --threads 1 -q >/dev/null 2>&1 &
pid=$!
while [ "$(find .d.part -name '*.npz' 2>/dev/null | wc -l)" -lt 3 ]; do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.01
done
kill -KILL "$pid" 2>/dev/null || :
{ wait "$pid" || :; } 2>/dev/null
if [ ! -d d ]; then
    # Another seed or description is another data set.
    weir gen w.yaml d --seed 8 2>said && exit 9
    grep -q "another data set" said
    weir gen w.yaml d --seed 7 dataset.num_files_train=41 2>said && exit 9
    grep -q -- "--force" said
    weir gen w.yaml d --seed 7 --threads 3 >said
    grep -q "there already" said
fi
diff -r whole d
test "$(find d -name '*.npz' | wc -l)" -eq 43
test ! -e .d.part
weir inspect d --verify | grep -q "all as it was made"
