# A file instead of a folder.
echo x >file
weir probe file --quick
