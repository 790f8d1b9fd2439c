#!/bin/sh
# peers.sh - installs the peers that come from PyPI, each for itself.
# SPDX-License-Identifier: Apache-2.0
#
# usage: peers.sh FOLDER NAME...      names: tensorflow pytorch dali ffcv
#                                           dlio
#
# A peer gets the virtual environment FOLDER/venv-NAME, made once, and pip runs
# in there alone. It installs the versions of peers/NAME.txt, which must have the
# hashes that stand there; peers/lock.py writes these files. One that
# does not install is named with the reason, and left out: the exit status is
# 0 then too. What pip said is in FOLDER/install-NAME.log.
#
# WEIR_PEERS_CUDA=1 installs PyTorch with all its CUDA packages (3 GB more),
# as pip does; otherwise see no_cuda below, and docs/peers.md.
set -eu

say() { echo "peers: $*" >&2; }

# The first interpreter that can make environments, and has the module asked
# for.
interpreter() {
    for python in python3 /usr/bin/python3; do
        if "$python" -c "import ensurepip, venv, $1" >/dev/null 2>&1; then
            echo "$python"
            return
        fi
    done
    echo "there is no python3 with venv and $1" >&2
    return 1
}

# The environment, and pip inside it: make_venv MODULE [OPTION...].
make_venv() {
    python=$(interpreter "$1")
    shift
    "$python" -m venv "$@" "$venv"
}

# What the list on stdin says, and nothing else; what has to be built is built by
# the versions of build.txt.
pip() {
    cat >"$venv/wanted.txt"
    PIP_CONSTRAINT="$pins/build.txt" "$venv/bin/python" -m pip \
        --disable-pip-version-check --retries 2 --timeout 30 install --no-input \
        --no-deps --require-hashes -r "$venv/wanted.txt"
}

install_tensorflow() {
    make_venv sys
    pip <"$pins/tensorflow.txt"
}

install_dali() {
    make_venv sys
    pip <"$pins/dali.txt"
}

# The wheels of PyTorch for Linux are linked with CUDA, whose packages are
# three times as big as PyTorch, and of which nothing is used here.
install_pytorch() {
    make_venv sys
    if [ "${WEIR_PEERS_CUDA:-}" = 1 ]; then
        pip <"$pins/pytorch.txt"
        return
    fi
    grep -vE '^(nvidia|cuda|triton)' "$pins/pytorch.txt" | pip
    no_cuda "$venv"/lib/python3*/site-packages/torch/lib "$libraries"
}

# FFCV is built here, with Debian's OpenCV and TurboJPEG, and uses Debian's
# PyTorch, which was built with NumPy 1.
install_ffcv() {
    make_venv torch --system-site-packages
    pip <"$pins/ffcv.txt"
}

# What DLIO names as its requirements, without CUDA's packages; it imports all of
# them, whatever it is to run. mpi4py uses the MPI that is installed.
install_dlio() {
    make_venv sys
    pip <"$pins/dlio.txt"
    no_cuda "$venv"/lib/python3*/site-packages/torch/lib "$libraries"
}

# no_cuda LIBRARIES FOLDER: stands in for the libraries of CUDA that PyTorch's
# own ones are linked with. Every function in there says that there is no
# device, which is true for a run on the CPU.
no_cuda() {
    mkdir "$2"
    nm -D --defined-only "$1"/*.so* 2>/dev/null |
        awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u >"$2/have"
    nm -D --undefined-only "$1"/*.so* 2>/dev/null |
        awk '$2 ~ /^(cu|nv|nccl|__cuda|__nv)/ { sub(/@.*/, "", $2); print $2 }' |
        sort -u >"$2/want"
    {
        echo 'int none(void) { return 100; /* cudaErrorNoDevice */ }'
        comm -23 "$2/want" "$2/have" | awk '
            /String$|ErrorName$/ {
                printf "char *%s(void) { return \"no device\"; }\n", $1
                next
            }
            { printf "int %s(void) __attribute__((alias(\"none\")));\n", $1 }'
    } >"$2/none.c"
    cc -w -O1 -shared -fPIC -Wl,-soname,libnone.so -o "$2/libnone.so" \
        "$2/none.c"
    readelf -d "$1"/*.so* 2>/dev/null |
        awk '/NEEDED/ { gsub(/[][]/, ""); print $NF }' |
        grep -E '^lib(cu|nv|nccl)' | sort -u |
        while read -r name; do
            cc -w -shared -nostdlib -o "$2/$name" "-Wl,-soname,$name" \
                "-Wl,-rpath,\$ORIGIN" -Wl,--no-as-needed -L"$2" -lnone
        done
}

install() {
    venv=$folder/venv-$1
    libraries=$folder/lib-$1
    log=$folder/install-$1.log
    [ ! -e "$venv/complete" ] || return 0
    rm -rf "$venv" "$libraries"
    say "installing $1 (once)"
    # A subshell of its own: 'set -e' is off in a condition.
    status=0
    set +e
    (set -e; "install_$1") >"$log" 2>&1 </dev/null
    status=$?
    set -e
    if [ $status -eq 0 ]; then
        : >"$venv/complete"
        say "$1: $(du -sh "$venv" | cut -f 1)"
    else
        rm -rf "$venv" "$libraries"
        reason=$(grep -E '^(ERROR|error)|: error:|there is no' "$log" | tail -n 1)
        say "$1 does not install, it is left out: ${reason:-see $log}"
    fi
}

pins=$(cd "$(dirname "$0")/peers" && pwd)
[ $# -ge 1 ] || { say "usage: peers.sh FOLDER NAME..."; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
for name; do
    case $name in
    tensorflow | pytorch | dali | ffcv | dlio) install "$name" ;;
    *) say "no such peer: $name"; exit 2 ;;
    esac
done
