# Two ranks become one trace; what is no trace, or twice the same, is refused.
# SPDX-License-Identifier: Apache-2.0
for rank in 0 1; do
    RANK=$rank WORLD_SIZE=2 weir trace -q -o "job.%r.wtrace" -- true 2>log || {
        cat log >&2
        exit 1
    }
done
ls
weir trace merge -q all.wtrace job.0.wtrace job.1.wtrace
weir report all.wtrace | grep -o "2 ranks"
weir report all.wtrace | grep "Made of"
! weir trace merge all.wtrace job.0.wtrace
! weir trace merge two.wtrace job.0.wtrace job.0.wtrace
! weir trace merge two.wtrace job.0.wtrace log
! weir trace merge two.wtrace
! weir trace --align start -- true
ls
