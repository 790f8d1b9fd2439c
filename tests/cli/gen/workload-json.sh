# The summary as JSON.
weir gen default d dataset.num_files_train=2 dataset.num_files_eval=1 --json
