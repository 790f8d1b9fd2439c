# --verify finds a flipped byte, a missing file and one too many.
cat >w.yaml <<'YAML'
dataset:
  format: tfrecord
  num_files_train: 4
  num_samples_per_file: 5
  record_length_bytes: 3000
YAML
weir gen w.yaml d -q >/dev/null
weir inspect d --verify >said
grep -q "4 files, .* all as it was made" said
printf x | dd of=d/train/img_2_of_4.tfrecord bs=1 seek=1234 conv=notrunc 2>/dev/null
rm d/train/img_1_of_4.tfrecord
cp d/train/img_0_of_4.tfrecord d/train/img_7_of_4.tfrecord
code=0
weir inspect d --verify >said || code=$?
test "$code" -eq 3
grep -qx "train/img_2_of_4.tfrecord: byte 1234 is wrong" said
grep -qx "train/img_1_of_4.tfrecord: is missing" said
grep -qx "train/img_7_of_4.tfrecord: does not belong to the data set" said
grep -q "1 damaged, 1 missing, 1 too many" said
weir inspect d --verify --json >said || :
grep -q '"damaged": 1' said
# The description in the folder makes it again.
weir gen d/.weir-gen.yaml e -q >/dev/null
cmp d/train/img_0_of_4.tfrecord e/train/img_0_of_4.tfrecord
# A folder that does not say how it was made is decoded instead.
weir inspect d/train --verify >said || :
grep -q "samples" said
