# A folder for indexes that cannot be made is a limit, which --strict does not
# let pass.
touch file
WEIR_INDEX_DIR=$PWD/file/index
export WEIR_INDEX_DIR
weir doctor . | grep -A9 '  index folder '
weir doctor --strict . >/dev/null
