# A data set that does not fit is refused before anything is written.
weir gen unet3d_h100 d dataset.num_files_train=1000000000
