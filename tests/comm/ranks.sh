#!/bin/sh
# ranks.sh - ranks as users start them.
# SPDX-License-Identifier: Apache-2.0
#
# usage: ranks.sh own|openmpi|mpich|torch|slurm|hosts|modules COMM-RANKS
set -eu

kind=$1
ranks=$2
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
cleanup() { :; }
trap 'cleanup; rm -rf "$dir"' EXIT
cd "$dir"

# shellcheck disable=SC1091
. "$here/openmpi.inc"
# MPI leaves memory at its end, from libraries that it has unloaded by then, so
# that no suppression knows them. Leaks of weir show with the other kinds.
case $kind in
own | torch) ;;
*) export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" ;;
esac
# UCX, below MPICH, patches mmap, as the thread sanitizer has already.
export UCX_MEM_EVENTS=no
export TSAN_OPTIONS="suppressions=$here/tsan.supp ${TSAN_OPTIONS:-}"

skip() {
    echo "skipped: $1"
    exit 77
}

need() {
    for name in "$@"; do
        command -v "$name" >/dev/null || skip "no $name"
    done
}

fail() {
    echo "FAILED: $1"
    cat out
    exit 1
}

# has TEXT...: each is in the output.
has() {
    for text in "$@"; do
        grep -qF -- "$text" out || fail "no '$text'"
    done
}

# collect COMMAND...: its status; what the ranks said is in the file "out".
export OUT="$dir/said"
collect() {
    rm -f said.*
    status=0
    "$@" >out 2>&1 || status=$?
    cat said.* >>out 2>/dev/null || :
    return $status
}

# comes TEXT: a rank says so within 10 s; launchers may leave before ranks do.
comes() {
    for _ in $(seq 100); do
        if cat said.* 2>/dev/null | grep -qF -- "$1"; then return; fi
        sleep 0.1
    done
    cat said.* >>out 2>/dev/null || :
    fail "no '$1'"
}

# good COMMAND...: succeeds.
good() {
    collect "$@" || fail "status $?: $*"
}

# bad COMMAND...: fails.
bad() {
    if collect "$@"; then fail "succeeded: $*"; fi
}

# some COMMAND...: the launcher's status says nothing.
some() {
    collect "$@" || :
}

# The file of comm-ranks read.
make_file() {
    /usr/bin/python3 -c 'import sys
n = 5002000
p = bytes(k * 31 % 251 for k in range(251))
sys.stdout.buffer.write((p * (n // 251 + 1))[:n])' >file
}

# Any free port below those that systems hand out.
free_port() {
    /usr/bin/python3 -c 'import random, socket
while True:
    port = random.randrange(20000, 30000)
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
    print(port)
    break'
}

# The table of one MPI: launch N PROGRAM..., and stay N PROGRAM..., whose
# launcher leaves the other ranks alone when one has died.
mpi_table() {
    for n in 2 4; do
        good launch $n "$ranks" calls
        has "ok: $n ranks by $1, one host, shared memory"
    done
    make_file
    good launch 2 "$ranks" read file
    has "ok: read by 2 ranks"
    good launch 2 "$ranks" ckpt "$dir/store"
    has "ok: saved by 2 ranks"
    for victim in 0 2; do
        some stay 4 "$ranks" die $victim
        for k in 0 1 2 3; do
            [ $k = $victim ] || comes "rank $k: rank $victim is gone, after less"
        done
        some stay 4 "$ranks" die-sharing $victim
        for k in 1 3; do
            comes "rank $k: rank $victim is gone, after less"
        done
    done
    # without a flag for it too the job ends, and says so
    bad launch 4 "$ranks" die 1
    some stay 2 "$ranks" exit 1
    comes "rank 0: rank 1 is gone"
}

case $kind in
own)
    for n in 2 4; do
        good env RANKS=$n URL="local:$dir/s" "$ranks" calls
        has "ok: $n ranks by fork, one host, shared memory"
        good env RANKS=$n URL="tcp:127.0.0.1:$(free_port)" "$ranks" calls
        has "ok: $n ranks by fork"
    done
    bad env RANKS=3 URL="local:$dir/s" "$ranks" die 1
    has "rank 0: rank 1 is gone, after less" "rank 2: rank 1 is gone, after less"
    bad env RANKS=3 URL="tcp:127.0.0.1:$(free_port)" "$ranks" die 0
    has "rank 1: rank 0 is gone, after less" "rank 2: rank 0 is gone, after less"
    good env RANKS=2 URL="local:$dir/s" "$ranks" time 100
    has "barrier: " " us (2 ranks"
    ;;
openmpi)
    need mpirun.openmpi
    launch() { n=$1; shift; timeout 100 mpirun.openmpi -n "$n" "$@"; }
    stay() { n=$1; shift; timeout 100 mpirun.openmpi --enable-recovery -n "$n" "$@"; }
    mpi_table "Open MPI"
    good env WEIR_MPI=none mpirun.openmpi -n 2 "$ranks" calls
    bad env WEIR_MPI=mpich timeout 100 mpirun.openmpi -n 2 "$ranks" open
    has "MPICH says rank 0 of 1, but this is rank"
    ;;
mpich)
    need mpiexec.mpich
    launch() { n=$1; shift; timeout 100 mpiexec.mpich -n "$n" "$@"; }
    # This launcher kills all ranks at once when one dies; here it sees no death.
    stay() {
        n=$1
        shift
        # shellcheck disable=SC2016
        timeout 100 mpiexec.mpich -n "$n" sh -c '"$0" "$@"; sleep 2' "$@"
    }
    mpi_table MPICH
    bad env WEIR_MPI=none mpiexec.mpich -n 2 "$ranks" open
    has "do not meet without MPI"
    # Each takes itself for alone; their folder would be the same.
    # shellcheck disable=SC2016
    bad env WEIR_MPI=openmpi timeout 100 mpiexec.mpich -n 2 sh -c \
        'OMPI_MCA_orte_tmpdir_base=$(mktemp -d -p "$PWD") exec "$0" open' "$ranks"
    has "Open MPI says rank 0 of 1, but this is rank"
    ;;
torch)
    port=$(free_port)
    torch() {
        for k in 0 1 2; do
            RANK=$k LOCAL_RANK=$k "$ranks" "$@" &
            eval "pid$k=$!"
        done
        ended=0
        # shellcheck disable=SC2154
        for pid in "$pid0" "$pid1" "$pid2"; do
            wait "$pid" || ended=1
        done
        return $ended
    }
    export WORLD_SIZE=3 LOCAL_WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT="$port"
    export TORCHELASTIC_RUN_ID=test WEIR_SECRET=0123456789
    good torch calls
    has "ok: 3 ranks by torchrun"
    good torch ckpt "$dir/store"
    has "ok: saved by 3 ranks"
    bad torch die 2
    has "rank 0: rank 2 is gone" "rank 1: rank 2 is gone"
    ;;
modules)
    need mpirun.openmpi mpiexec.mpich
    mkdir none
    for launcher in mpirun.openmpi mpiexec.mpich; do
        mpi=mpich
        [ $launcher = mpiexec.mpich ] || mpi=openmpi
        bad env WEIR_MODULES=none timeout 100 $launcher -n 2 "$ranks" open
        has "no weir-mpi-$mpi.so in WEIR_MODULES, 'none'"
        echo garbage >none/weir-mpi-$mpi.so
        bad env WEIR_MODULES=none timeout 100 $launcher -n 2 "$ranks" open
        has "'none/weir-mpi-$mpi.so': cannot load"
    done
    ;;
slurm | hosts)
    # shellcheck disable=SC1090
    . "$here/$kind.inc"
    ;;
*)
    echo "usage: ranks.sh KIND COMM-RANKS" >&2
    exit 2
    ;;
esac
echo "ok: $kind"
