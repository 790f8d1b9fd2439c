#!/bin/sh
# selftest.sh - each lint passes a good tree and fails a bad one.
# SPDX-License-Identifier: Apache-2.0
set -eu

here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
count=0
bad=0

lint() {
    case $1 in
    *.py) /usr/bin/python3 -B "$here/$1" "$dir/tree" "$dir/tree/build" ;;
    *) "$here/$1" "$dir/tree" ;;
    esac
}

# A small good tree: one room with its header, one public header.
fresh() {
    rm -rf "$dir/tree"
    mkdir -p "$dir/tree/src/base" "$dir/tree/include/weir" \
        "$dir/tree/scripts/lint" "$dir/tree/build"
    cd "$dir/tree"
    cp "$here/../../.clang-format" .
    grep '^#' "$here/globals.txt" >scripts/lint/globals.txt
    cat >include/weir/one.h <<'END'
/* one.h - a public header.
 * SPDX-License-Identifier: Apache-2.0 */
#define WEIR_API __attribute__((visibility("default")))

/* Does one thing. */
WEIR_API int weir_one(int a);
END
    cat >src/base/one.h <<'END'
/* one.h - a header.
 * SPDX-License-Identifier: Apache-2.0 */
int wr_one(int a);
END
    cat >src/base/one.c <<'END'
/* one.c - a source.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/one.h"

#include "weir/one.h"

static const char *const names[] = {"a", "b"};

int wr_one(int a)
{
    return names[a & 1][0];
}

int weir_one(int a)
{
    return wr_one(a);
}
END
}

compile() {
    gcc -fPIC -fvisibility=hidden -Iinclude -Isrc -c src/base/one.c -o build/one.o
    gcc -shared build/one.o -o build/libweir.so
    echo '[{"directory": "'"$dir"'/tree/build", "file": "../src/base/one.c",
          "output": "one.o"}]' >build/compile_commands.json
}

# expect LINT STATUS TEXT: the lint ends so and says so.
expect() {
    status=0
    lint "$1" >"$dir/out" 2>&1 || status=$?
    [ $status -ne 77 ] || return 0 # its tool is missing: the lint says so
    count=$((count + 1))
    if [ $status -ne "$2" ] || ! grep -q -- "$3" "$dir/out"; then
        bad=$((bad + 1))
        echo "selftest: $1: exit $status instead of $2, or no \"$3\":"
        cat "$dir/out"
    fi
}

# Functions of a given number of body lines, appended to the source.
long_function() {
    printf '\nint wr_long(int a)\n{\n'
    i=0
    while [ $i -lt "$1" ]; do
        echo "    a++;"
        i=$((i + 1))
    done
    printf '}\n'
}

fresh
compile
cat >good.sh <<'END'
#!/bin/sh
# good.sh - a script.
# SPDX-License-Identifier: Apache-2.0
echo "$1"
END
for each in layers.py tags.py lengths.py heads.py text.py units.py \
    locales.py prints.py doors.py globals.py symbols.py howto.py manual.py findings.py repeats.py headers.sh format.sh shell.sh; do
    expect $each 0 .
done
expect lengths.py 0 '2 functions of median 4, p90 4, longest 4'

fresh
echo '#include "storage/storage.h"' >>src/base/one.c
expect layers.py 1 'one.c:18: room "base" may not use "storage"'
fresh
mkdir src/storage
echo '#include "weir/pipeline.h"' >src/storage/two.c
expect layers.py 1 'room "storage" may not use "weir/pipeline.h"'
fresh
echo '#include "../base/one.h"' >>src/base/one.c
expect layers.py 1 'through ".."'
fresh
mkdir src/attic
echo '#include "base/one.h"' >src/attic/two.c
expect layers.py 1 '"attic" is not in layers.txt'

fresh
echo 'struct wr_two { int a; };' | tee -a src/base/one.h >>src/base/one.c
expect tags.py 1 'one.h:4: "struct wr_two" is also defined in src/base/one.c'
fresh
echo 'struct wr_two *wr_two(void);' | tee -a src/base/one.h >>src/base/one.c
expect tags.py 0 '0 tags'

fresh
long_function 97 >>src/base/one.c
expect lengths.py 0 'longest 100'
fresh
long_function 98 >>src/base/one.c
expect lengths.py 1 'one.c:19: wr_long() has 101 lines'
fresh
long_function 98 | sed 's/^int /__attribute__((format(printf, 1, 2)))\n&/' \
    >>src/base/one.c
expect lengths.py 1 'one.c:19: wr_long() has 102 lines'
fresh
{
    printf '\nint wr_table(int a)\n{\n    static const int t[] = {\n'
    yes '        1,' | head -n 150
    printf '    };\n    return t[a];\n}\n'
} >>src/base/one.c
expect lengths.py 0 'longest 6'
fresh
yes '' | head -n 700 >>src/base/one.c
expect lengths.py 1 'lines, over 700'
fresh
yes '' | head -n 300 >>src/base/one.h
expect lengths.py 1 'lines, over 300'
fresh
printf '/* %0100d */\n' 0 >>src/base/one.h
expect lengths.py 1 '106 columns, over 100'

# counts OPTIONS... says TEXT: so does scripts/lines.py of the small tree.
counts() {
    says=$1
    shift
    count=$((count + 1))
    /usr/bin/python3 -B "$here/../lines.py" "$@" "$dir/tree" >"$dir/out" 2>&1 || true
    if ! tr -s ' \n' ' ' <"$dir/out" | grep -q -- "$says"; then
        bad=$((bad + 1))
        echo "selftest: lines.py: no \"$says\":"
        cat "$dir/out"
    fi
}

# Its one exported function is called twice outside of comments and texts.
fresh
mkdir src/storage
printf '/* wr_one(1)\n * more */\n\nint wr_two(void) // {\n{\n    char *a = "/* wr_one";\n    return wr_one(2);\n}\n' \
    >src/storage/two.c
counts 'lines of code 17 lines in all 28 .c files 2 .h files 1'
counts 'functions 3 function length, median 4 function length, p90 5'
counts 'exported functions 1 of them with one call site 0'
counts '"code_lines": 17, "lines": 28' --json
git -c init.defaultBranch=main init -q .
git add .
git -c user.name=a -c user.email=a@b commit -q -m one
sed -i '/return wr_one(a)/d' src/base/one.c
counts 'HEAD now change lines of code 17 16 -1' --base HEAD
counts 'exported functions 1 1 +0 of them with one call site 0 1 +1' --base HEAD
counts '"base": { "code_lines": 17' --json --base HEAD
counts 'lines.py: .*none' --base none

fresh
sed -i 1d src/base/one.h
expect heads.py 1 'one.h:1: does not begin with "one.h - ..."'
fresh
sed -i 2d src/base/one.h
expect heads.py 1 'no SPDX'
fresh
sed -i '/base\/one.h/d' src/base/one.c
expect heads.py 1 'the first include is not "base/one.h"'

fresh
printf '/*\t*/\n' >>src/base/one.h
expect text.py 1 'one.h:4: a tab'
fresh
printf '/* */ \n' >>src/base/one.h
expect text.py 1 'trailing space'
fresh
printf '/* see /%s/me/notes */\n' home >>src/base/one.h
expect text.py 1 'a path of one machine'
fresh
mkdir -p tests/unit
printf 'static int %s(void *arg)\n' stop >tests/unit/test_one.c
expect text.py 1 'test_one.c:1: a name of a cmocka macro'

for line in '.help = "as in ram:4G"' '/* 1.5M, or less */' 'fits into 64K.'; do
    fresh
    echo "$line" >>src/base/one.c
    expect units.py 1 'one.c:18: [0-9.]*[KMG]: write [0-9.]*[KMG]iB or'
done
fresh
echo 'u[] = {"B", "KB", "MB"};' >>src/base/one.c
expect units.py 1 'one.c:18: base/units.h prints sizes'
fresh
echo '/* 4KiB, 500GB/s; fio --bs 4K; 0x4G, 3D, WR_4K */' >>src/base/one.c
expect units.py 0 '3 files'

# The same six lines for other variables.
twice() {
    for name in one two; do
        printf 'int wr_%s_sum(const int *%s, int n)\n{\n' $name $name
        printf '    int all = wr_first(%s, n);\n\n' $name
        printf '    for (int k = 0; k < n; k++) {\n'
        printf '        if (%s[k] < 0)\n            return -1;\n' $name
        printf '        all += wr_part(%s[k], n);\n' $name
        printf '    }\n    return wr_last(%s, all);\n}\n\n' $name
    done
}
fresh
twice >>src/base/one.c
expect repeats.py 1 'one.c:20: again in src/base/one.c:32'
fresh
twice | sed 's/wr_part(two/wr_piece(two/' >>src/base/one.c
expect repeats.py 0 '2 files'

fresh
echo 'fd = open(path, 0); /* unlink(path) */' >>src/base/one.c
expect doors.py 1 'src/base/one.c: open by a name'
for line in 'wr_one(strtod(a, 0));' 'if (!strcasecmp(a, b))' \
    'c = tolower(c);' 'setlocale(LC_ALL, "");' 'snprintf(a, n, "%d %.3g", 1, x);' \
    'vsnprintf(a, n, fmt, ap);' \
    'qsort(a, 1, 1, strcoll);' 'doc = json_loads(a, 0, &why);'; do
    fresh
    echo "$line" >>src/base/one.c
    expect locales.py 1 'one.c:18: [a-z_]* follows the locale'
done
fresh
echo 'wr_snprintf(a, n, "%g", x); snprintf(a, n, "%d %% free", 1); /* tolower() */ ' \
    >>src/base/one.c
mkdir src/cli
echo 'setlocale(LC_CTYPE, ""); printf("%.1f s", x);' >src/cli/two.c
expect locales.py 0 '3 files'

for line in 'fprintf(cli->out, "%s", name);' 'fputs(name, job->cli->err);' \
    'FILE *out = cli->out;' 'printf("%s", name);' 'fputc(c, stdout);'; do
    fresh
    mkdir src/cli
    echo "$line" >src/cli/two.c
    expect prints.py 1 'two.c:1: .*: print by wr_cli_put'
done
fresh
echo 'json_dumpf(v, out, 0);' >>src/base/one.c
expect prints.py 1 'one.c:18: json_dumpf: print by wr_record_dump'
fresh
mkdir src/cli
echo 'wr_cli_put(cli, "%s", name); fflush(cli->out); fprintf(to, "%s", text);' \
    >src/cli/two.c
echo 'fprintf(cli->out, "%s", clean);' >src/cli/progress.c
expect prints.py 0 '4 files'

for line in 'int seen;' 'static int seen = 1;' 'static _Thread_local int seen;' \
    'static const char *seen = "x";'; do
    fresh
    printf '%s\nvoid *wr_two(void);\nvoid *wr_two(void)\n{\n    return &seen;\n}\n' \
        "$line" >>src/base/one.c
    compile
    expect globals.py 1 'one.c: mutable global "seen"'
done
fresh
printf 'int wr_two(void)\n{\n    static int calls;\n    return ++calls;\n}\n' \
    >>src/base/one.c
compile
expect globals.py 1 'mutable global "calls"'
echo 'src/base/one.c calls  because the test says so' >>scripts/lint/globals.txt
expect globals.py 0 '1 allowed'
fresh
compile
echo 'src/base/one.c gone  it was there once' >>scripts/lint/globals.txt
expect globals.py 1 'src/base/one.c has no "gone"'

fresh
echo '__attribute__((visibility("default"))) int stray(void) { return 1; }' \
    >>src/base/one.c
compile
expect symbols.py 1 'shows "stray"'
fresh
echo 'WEIR_API int weir_missing(void);' >>include/weir/one.h
compile
expect symbols.py 1 '"weir_missing" is not in libweir.so'

fresh
mkdir -p docs/howto
cat >docs/howto/one.md <<'END'
```c
/* two.c - an example.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/one.h"
const struct none wr_none = {.name = "none"};
```
END
expect howto.py 1 'one.md:2: two.c: '

fresh
printf '\nWEIR_API int weir_two(void);\n' >>include/weir/one.h
expect manual.py 1 'one.h:[0-9]*: weir_two has no comment'
fresh
echo 'char *a = secure_getenv("WEIR_TWO");' >>src/base/one.c
expect manual.py 1 'one.c:18: WEIR_TWO is not in src/cli/manual.c'
mkdir src/cli
echo '    {.name = "WEIR_TWO", .help = "x"},' >src/cli/manual.c
expect manual.py 0 '1 variables'
sed -i '/WEIR_TWO/d' src/base/one.c
expect manual.py 1 'nothing in src/ reads WEIR_TWO'
fresh
mkdir -p src/format docs/formats
echo 'FORMAT(two)' >src/format/formats.def
echo '[two](docs/formats/two.md)' >README.md
printf 'The \140three\140 format\n' >docs/formats/two.md
expect manual.py 1 'says that it is of the format two'
printf 'The \140two\140 format\n' >docs/formats/two.md
expect manual.py 0 '1 formats'
fresh
echo 'char *a = getenv(name);' >>src/base/one.c
expect manual.py 1 'one.c:18: getenv without a name'

fresh
mkdir -p src/trace docs/howto bench/lib tests/unit/trace
echo 'FINDING("D01", one, "a title", "D02")' >src/trace/findings.def
cat >docs/howto/trace.md <<'END'
| `D01` | a title | `D02` |
END
echo "    'D01': Case('D01', 'near')," >bench/lib/faults.py
echo '    f = result_find(&r, "D01");' >tests/unit/trace/test_one.c
expect findings.py 0 '1 findings'
sed -i 's/a title/A title/' docs/howto/trace.md
expect findings.py 1 'trace.md:1: D01 is "a title | .D02." in src/trace/findings.def'
sed -i 's/D01/D03/' docs/howto/trace.md
expect findings.py 1 'findings.def:1: D01 is not in docs/howto/trace.md'
expect findings.py 1 'trace.md:1: D03 is not in src/trace/findings.def'
: >bench/lib/faults.py
: >tests/unit/trace/test_one.c
expect findings.py 1 'no unit test looks for D01'
expect findings.py 1 'no program of bench/lib/faults.py has D01'
echo "WITHOUT = ('D01',)" >bench/lib/faults.py
expect findings.py 1 '^3 problems'
sed -i 's/, "D02")/,/' src/trace/findings.def
expect findings.py 1 'findings.def:1: a row is one line'

fresh
echo 'size_t wr_two(void);' >>src/base/one.h
expect headers.sh 1 'base/one.h:1: does not compile alone as C$'
fresh
echo 'int weir_new(int *new);' >>include/weir/one.h
expect headers.sh 1 'weir/one.h:1: does not compile alone as C++'

fresh
echo 'int   wr_two( int a );' >>src/base/one.h
expect format.sh 1 'one.h:4: not as clang-format has it'

fresh
cat >bad.sh <<'END'
#!/bin/sh
rm -rf $1/x
END
expect shell.sh 1 'SC2086'

if [ $bad -gt 0 ]; then
    echo "$bad of $count expectations failed"
    exit 1
fi
echo "$count expectations"
