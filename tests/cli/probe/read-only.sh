# A folder that may not be written to.
mkdir place
if [ "$(id -u)" = 0 ]; then # root may write anywhere: as nobody then
    chmod 755 . place && chmod 755 ..
    runuser -u nobody -- test -x "$WEIR" || {
        echo "another user cannot reach the program" >&2
        exit 77
    }
    run="runuser -u nobody --"
else
    chmod 555 place
    run=
fi
code=0
$run "$WEIR" probe "$PWD/place" --quick >out 2>err || code=$?
[ "$code" = 1 ]
grep -q "place.*Permission denied" err
[ -z "$(ls -A place)" ]
