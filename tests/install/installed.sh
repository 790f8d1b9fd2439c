#!/bin/sh
# installed.sh - what is installed is complete; shells find the completion, and
# programs link with the shared library and with the static one.
# SPDX-License-Identifier: Apache-2.0
#
# usage: installed.sh BUILD PREFIX EXAMPLES CC SANITIZER
set -eu

build=$1
prefix=$2
examples=$3
cc=$4
sanitizer=$5
command -v pkg-config >/dev/null || { echo "no pkg-config" >&2; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT

DESTDIR=$dir meson install -C "$build" --no-rebuild --quiet
root=$dir$prefix

there() {
    [ -s "$root/$1" ] || { echo "not installed: $1" >&2; exit 1; }
}
there bin/weir
there share/man/man1/weir.1
there share/man/man1/weir-doctor.1
[ ! -e "$build/weir-hdf5" ] || there share/man/man1/weir-hdf5.1
there share/doc/weir/NOTICE
there share/man/man3/weir.3
there share/man/man3/weir_pipeline.3
there share/man/man3/weir_pipeline_next.3
there share/bash-completion/completions/weir
there share/fish/vendor_completions.d/weir.fish

# The module lies where the command that was installed with it looks.
if [ -e "$build/src/train/weir-onednn.so" ]; then
    find "$root" -path '*/weir/weir-onednn.so' | grep -q .
    WEIR_MODULES='' "$root/bin/weir" doctor "$dir" | grep -q '^ok *oneDNN'
fi

for module in "$build"/src/comm/weir-mpi-*.so; do
    [ -e "$module" ] || continue
    find "$root" -path "*/weir/${module##*/}" | grep -q .
    WEIR_MODULES='' "$root/bin/weir" doctor "$dir" | grep -q '^ok *MPI *works: '
done

zsh_dir=$(dirname "$(find "$root/share/zsh" -name _weir)")
if command -v zsh >/dev/null; then
    (cd "$dir" && zsh -fc "fpath=($zsh_dir \$fpath)
        autoload -Uz compinit && compinit -u -D && print \$_comps[weir]") |
        grep -qx _weir
fi
if command -v fish >/dev/null; then
    HOME=$dir PATH=$root/bin:$PATH XDG_DATA_DIRS=$root/share:/usr/share \
        fish -c 'complete -C "weir cac"' |
        grep -q '^cache'
fi

pc=$(find "$root" -name weir.pc)
sed -i "s|^prefix=|prefix=$dir|" "$pc" # as if it were installed there
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir weir)

# link OUTPUT OPTION...: the smallest example, against what pkg-config says
link() {
    out=$1
    shift
    # shellcheck disable=SC2046,SC2086 # lists of words
    $cc -o "$out" "$examples/feed.c" ${sanitizer:+"-fsanitize=$sanitizer"} \
        $(pkg-config --cflags "$@" weir) $(pkg-config --libs "$@" weir)
}
run() {
    "$examples/run.sh" "$1" \
        'epoch 0 batch 3: 6 samples, 72 bytes, first sample [0-9]*' 8
}
# The libraries that a program asks for at its start.
needs() {
    objdump -p "$1" | sed -n 's/^ *NEEDED *//p'
}

link "$dir/shared"
needs "$dir/shared" | grep -q '^libweir\.so'
LD_LIBRARY_PATH=$libdir run "$dir/shared"

rm "$libdir"/libweir.so*
link "$dir/static" --static
if needs "$dir/static" | grep libweir; then exit 1; fi
run "$dir/static"
