# A reader that has had enough is no reason for a message; the exit code tells.
mkfifo pipe
: <pipe &
exec 4>pipe
wait
weir completion zsh >&4
