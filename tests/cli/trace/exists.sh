# A trace is never written over.
echo mine >t.wtrace
weir trace -o t.wtrace -- true || code=$?
grep -q mine t.wtrace
exit "${code:-0}"
