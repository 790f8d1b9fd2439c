#!/usr/bin/env python3
# shown.py - hostile names in all that weir reads, and what it prints of them.
# SPDX-License-Identifier: Apache-2.0
#
# A case runs commands on a pseudo terminal, with colors. Nothing that they
# print may act on it but their own colors: no control character, no invalid
# byte, no mark that turns the direction of text, and no line that a name began.
# No root is needed: the names are a stranger's, the files are not.
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import termios
import threading
import zipfile

WEIR = os.environ["WEIR"]
# A spreadsheet's formula; a window's title, a bell, a hidden text; lines, DEL,
# a byte that is not UTF-8, C1, a direction.
HOSTILE = b"=1+cmd|\x1b]0;T\x07\x1b[8m\r\nFORGED\x7f\xff\xc2\x9b31m\xe2\x80\xaex"
UTF8 = HOSTILE.replace(b"\xff", b"")
TEXT = UTF8.decode()
PICTURE = b"P6 2 2 255\n" + bytes(12)
OWN = re.compile("\x1b\\[(?:0|1|2|3[0-7])m")
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f"
                  "\u2028-\u202e\u2066-\u2069]")


def check(data, what, colors=False):
    """Nothing in the bytes acts on a terminal."""
    text = data.decode("utf-8", errors="surrogateescape")
    if colors:
        text = OWN.sub("", text)
    bad = ACTS.search(text) or re.search("[\udc80-\udcff]|^FORGED", text, re.M)
    assert not bad, (what, bad, text[max(0, bad.start() - 200):bad.end() + 50])


def on_terminal(command, **more):
    """(exit code, what came out on a terminal, stderr)"""
    main, sub = os.openpty()
    mode = termios.tcgetattr(sub)
    mode[1] &= ~termios.OPOST  # else it adds a CR to each line
    termios.tcsetattr(sub, termios.TCSANOW, mode)
    parts = []

    def drain():
        try:
            while part := os.read(main, 65536):
                parts.append(part)
        except OSError:
            pass  # EIO: the other end is closed

    reader = threading.Thread(target=drain)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sub,
                          stderr=subprocess.PIPE, **more) as p:
        os.close(sub)
        reader.start()
        said = p.stderr.read()
    reader.join()
    os.close(main)
    return p.returncode, b"".join(parts), said


class Place:
    def __init__(self, top):
        self.top = os.fsencode(top)
        self.data = self.path(HOSTILE)
        self.env = {**os.environ, "HOME": top, "XDG_CACHE_HOME": top + "/cache",
                    "LC_ALL": "C.UTF-8", "TERM": "xterm"}
        self.env.pop("NO_COLOR", None)

    def path(self, *names):
        return os.path.join(self.top, *names)

    def weir(self, *args, codes=(0,)):
        """Runs it on a terminal with colors; what it printed is checked."""
        args = [a if isinstance(a, bytes) else str(a).encode() for a in args]
        shown = b" ".join(args)[:60]
        code, out, said = on_terminal(
            [WEIR, *args], cwd=self.top, env=self.env)
        if b"darshan" in args:
            out = out.replace(b"\t", b" ")  # its columns
        check(out, (shown, "stdout"), colors=True)
        check(said, (shown, "stderr"), colors=False)
        assert code in codes, (shown, code, said, out[-300:])
        assert out or said or b"--output" in args, shown
        return out + said

    def raw(self, *args):
        """Runs it for what it makes."""
        return subprocess.run([WEIR, *args], cwd=self.top, env=self.env,
                              check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout

    def folder(self):
        """Pictures with hostile names, in hostile classes."""
        self.raw("gen", "caltech101", b"made", "-n", "24", "-c", "2", "-q")
        for folder, names, files in os.walk(self.path(b"made"), topdown=False):
            for k, name in enumerate(sorted(files)):
                ending = os.path.splitext(name)[1]
                os.rename(os.path.join(folder, name), os.path.join(
                    folder, HOSTILE + b"%d" % k + ending))
            for k, name in enumerate(sorted(names)):
                os.rename(os.path.join(folder, name),
                          os.path.join(folder, HOSTILE + b"-%d" % k))
        os.rename(self.path(b"made"), self.data)
        (first, *_) = sorted(os.listdir(self.data))
        first = os.path.join(self.data, first)
        for name in (b"bad.jpg", b"odd.txt"):
            with open(os.path.join(first, HOSTILE + name), "wb") as file:
                file.write(b"\xff\xd8 cut off")
        return self.data


def data_set(p):
    """Files, classes and the folder itself."""
    data, w = p.folder(), p.weir
    w("inspect", data)
    w("inspect", data, "--verify", codes=(0, 3))
    w("inspect", data, "--json")
    w("cache", "status", data)
    w("cache", "status", data, "--json")
    w("cache", "warm", data, data + b"none", codes=(0, 1))
    w("bench", data, "--repeat", "2", "-b", "4", "--size", "32x32")
    w("bench", data, "--repeat", "2", "-b", "4", "--size", "32x32", "--json")
    w("train", data, "-i", "2", "-b", "4", "--ckpt",
      p.path(b"ck" + HOSTILE), "--accelerator", "ms=1")
    for to in ("tfrecord", "tar", "jpeg", "tensor"):
        w("convert", data, p.path(HOSTILE + to.encode()), "--to", to)
    w("convert", data, p.path(HOSTILE + b"json"), "--to", "tar", "--json")
    w("inspect", p.path(HOSTILE + b"tar"))
    w("inspect", p.path(HOSTILE + b"tfrecord"))
    w("convert", data, p.path(HOSTILE + b"tar"), "--to", "tar", codes=(1, 2))
    os.mkdir(p.path(b"fast" + HOSTILE))
    w("stage", data, p.path(b"fast" + HOSTILE) + b":20M", codes=(0, 1, 2))
    w("stage", data, p.path(b"none" + HOSTILE) + b":20M", codes=(1, 2))
    w("gen", "caltech101", p.path(b"g" + HOSTILE), "-n", "4", "-c", "1")
    w("gen", "caltech101", data, "-n", "4", codes=(1,))
    w("probe", data, "--dry-run")
    w("probe", data, "--only", "mix", "--seconds", "0.1", "--passes", "2",
      "--file-size", "2MiB", "--like", data)
    w("doctor", data, codes=(0, 1, 3))
    w("doctor", data, "--json", codes=(0, 1, 3))
    w("study", p.path(b"s" + HOSTILE), "--quick", "--dry-run")


def members(p):
    """Columns, members and keys of one file each, each with a bad value."""
    rows = "".join(f"{k},{k * 2}\n" for k in range(20))
    files = {
        "a.csv": f'"{TEXT}",label\n{rows}'.encode(),
        "b.csv": f'"{TEXT}",label\n{rows}"{TEXT}",1\n'.encode(),
        "list.csv": f'path,label\n"{TEXT}.jpg","{TEXT}"\n'.encode(),
        "c.jsonl": "".join(json.dumps({TEXT: k, "label": k % 2}) + "\n"
                           for k in range(20)).encode(),
        "d.jsonl": (json.dumps({TEXT: [1, 2], "label": 0}) + "\n" +
                    json.dumps({TEXT: TEXT, "label": TEXT}) + "\n").encode(),
    }
    for name, content in files.items():
        with open(p.path(name.encode()), "wb") as file:
            file.write(content)
    head = b"\x93NUMPY\x01\x00v\x00" + (
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }".ljust(117)
        + "\n").encode()
    with zipfile.ZipFile(os.fsdecode(p.path(b"e.npz")), "w") as archive:
        archive.writestr(TEXT + ".npy", head + bytes(32))
    with zipfile.ZipFile(os.fsdecode(p.path(b"bad.npz")), "w") as archive:
        archive.writestr(TEXT + ".npy", head + bytes(31))
    with tarfile.open(os.fsdecode(p.path(b"f.tar")), "w") as archive:
        for k in range(4):
            for ending, data in ((TEXT, bytes(99)), ("ppm", PICTURE),
                                 ("cls", b"%d" % (k % 2))):
                info = tarfile.TarInfo(TEXT + f"{k}.{ending}")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    for name in [*files, "e.npz", "bad.npz", "f.tar"]:
        path = p.path(name.encode())
        p.weir("inspect", path, codes=(0, 1))
        p.weir("inspect", path, "--verify", codes=(0, 1, 3))
        p.weir("inspect", path, "--json", codes=(0, 1))
        p.weir("bench", path, "--repeat", "2", "-b", "2", "--stages", "read",
               codes=(0, 1))
        p.weir("convert", path, p.path(b"to-" + name.encode()), "--to", "csv",
               codes=(0, 1, 2))
        p.weir("inspect", path, "--schema", HOSTILE + b"=tensor", codes=(1, 2))


def tensors(p):
    """Tensors and metadata of a .safetensors file, and a store of its steps."""
    head = json.dumps({"__metadata__": {TEXT: TEXT}, TEXT: {
        "dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    path = p.path(HOSTILE + b".safetensors")
    with open(path, "wb") as file:
        file.write(len(head).to_bytes(8, "little") + head + bytes(8))
    store, slow = p.path(b"ck" + HOSTILE), p.path(b"slow" + HOSTILE)
    w = p.weir
    w("ckpt", "show", path)
    w("ckpt", "show", path, "--json")
    w("ckpt", "verify", path, codes=(1,))
    w("ckpt", "save", store, "--from", path, "--step", "1")
    w("ckpt", "save", store, "--from", path, "--step", "1", codes=(1,))
    w("ckpt", "save", path, "--from", path, "--step", "1", codes=(1,))
    for action in ("ls", "show", "verify", "prune", "id", "adopt", "discard"):
        w("ckpt", action, store, codes=(0, 1, 2))
        w("ckpt", action, store, "--json", codes=(0, 1, 2))
    w("ckpt", "restore", store, "--into", p.path(b"out" + HOSTILE),
      codes=(0, 1, 2))
    w("ckpt", "drain", store, slow, codes=(0, 1, 2))
    w("ckpt", "adopt", store, slow, codes=(0, 1, 2))
    w("ckpt", "verify", store, slow, codes=(0, 1, 2))
    for folder, _, names in os.walk(store):
        for name in names:  # damage
            with open(os.path.join(folder, name), "ab") as file:
                file.write(HOSTILE)
    w("ckpt", "verify", store, codes=(1, 2, 3))
    w("ckpt", "ls", p.path(b"none" + HOSTILE), codes=(1,))
    with open(path, "wb") as file:
        head = head.replace(b"F32", b"F3\\u001b2")
        file.write(len(head).to_bytes(8, "little") + head + bytes(8))
    w("ckpt", "show", path, codes=(1,))


def descriptions(p):
    """The texts of a workload and of a cluster."""
    name = p.path(b"w" + HOSTILE + b".yaml")
    quoted = json.dumps(TEXT)  # YAML reads the same escapes
    with open(name, "w", encoding="utf-8") as file:
        file.write("model: {name: unet3d}\ndataset: {format: npz, "
                   "num_files_train: 2, record_length_bytes: 1000, "
                   f"data_folder: {quoted}}}\n"
                   "reader: {batch_size: 1}\ntrain: {epochs: 1, "
                   "computation_time: 0.001}\n"
                   f"weir: {{title: {quoted}, source: {quoted}}}\n")
    w = p.weir
    w("run", name, "--explain")
    w("gen", name, p.path(b"g" + HOSTILE))
    w("run", name, p.path(b"g" + HOSTILE))
    w("run", name, p.path(b"g" + HOSTILE), "--json")
    w("inspect", p.path(b"g" + HOSTILE), "--verify", codes=(0, 3))
    w("plan", name, "--storage", "ssd", codes=(0, 1, 2))
    w("run", name, HOSTILE + b"=1", codes=(1, 2))
    for wrong in (f"{quoted}: 1\n", f"model: {quoted}\n",
                  f"dataset: {{format: {quoted}}}\n", f"[{quoted}\n"):
        with open(name, "w", encoding="utf-8") as file:
            file.write(wrong)
        w("run", name, "--explain", codes=(1, 2))
        w("plan", name, codes=(1, 2))
    w("run", "--list")


def records(p):
    """What stands in records and traces, as text, page, CSV and JSON."""
    data = p.folder()
    record, trace = p.path(b"r" + HOSTILE), p.path(b"t" + HOSTILE)
    p.raw("bench", data, "--repeat", "2", "-b", "4", "--size", "32x32",
          "--record", record, "-q")
    with open(record, encoding="utf-8") as file:
        loaded = json.load(file)
    for texts in (loaded, loaded.get("host", {}), loaded.get("dataset", {})):
        for key, value in texts.items():
            if isinstance(value, str) and key not in ("schema", "command",
                                                      "time"):
                texts[key] = TEXT
    with open(record, "w", encoding="utf-8") as file:
        json.dump(loaded, file)
    script = "for f in \"$0\"/*/*; do cat \"$f\"; done >/dev/null"
    p.weir("trace", "-o", trace, "--", "sh", "-c", script, data)
    for given in (record, trace):
        p.weir("report", given)
        for form in ("csv", "json", "chrome", "darshan"):
            p.weir("report", given, "--as", form, codes=(0, 1, 2))
        p.weir("report", given, "--output", p.path(b"o" + HOSTILE),
               codes=(0, 1, 2))
        page_of(p, given)
        cells_of(p, given)
    p.weir("report", record, record, codes=(0, 1, 2))
    p.weir("trace", "--to-workload", trace, codes=(0, 1))
    p.weir("trace", "--to-workload", record, codes=(1,))
    p.weir("trace", "merge", trace + b"2", trace, record, codes=(1, 2))
    p.weir("trace", "-o", trace, "--", "true", codes=(1,))
    p.weir("trace", "--", HOSTILE, codes=(127,))
    p.weir("probe", "--replay", trace, data, codes=(0, 1))
    p.weir("report", data, codes=(1, 2))


def page_of(p, given):
    page = p.path(b"page.html")
    done = subprocess.run([WEIR, "report", given, "--html", page],
                          capture_output=True, env=p.env, check=False)
    if b"built without" in done.stderr:
        return
    assert done.returncode == 0, done.stderr
    with open(page, "rb") as file:
        text = file.read()
    check(text, "page")
    assert b"]0;T" in text


def cells_of(p, given):
    """No cell of the CSV is a formula."""
    text = p.raw("report", given, "--as", "csv").decode()
    check(text.encode(), "csv")
    seen = False
    for row in csv.reader(text.splitlines()):
        for cell in row:
            seen |= cell.startswith("'=")
            assert not re.match(r"[=@\t\r]|[+-](?![\d.]*(e[+-]\d+)?$)", cell), row
    assert seen or given.startswith(p.path(b"t")), "no hostile cell"


def arguments(p):
    """What the command line itself holds."""
    w = p.weir
    for args in ((HOSTILE,), ("bench", b"--" + HOSTILE), ("help", HOSTILE),
                 ("cache", HOSTILE), ("completion", HOSTILE),
                 ("bench", HOSTILE), ("inspect", HOSTILE),
                 ("report", HOSTILE), ("plan", HOSTILE), ("run", HOSTILE),
                 ("mount", HOSTILE, HOSTILE), ("probe", HOSTILE),
                 ("inspect", b"emu:" + HOSTILE + b":/tmp"),
                 ("convert", HOSTILE, HOSTILE, "--to", "csv"),
                 ("bench", "x", "--threads", HOSTILE),
                 ("bench", "x", "--accelerator", HOSTILE),
                 ("bench", "x", "--cache", HOSTILE),
                 ("ckpt", HOSTILE), ("ckpt", "ls", HOSTILE)):
        w(*args, codes=(0, 1, 2))


def main():
    case = {"data": data_set, "members": members, "tensors": tensors,
            "descriptions": descriptions, "records": records,
            "arguments": arguments}[sys.argv[1].split("-")[-1]]
    top = tempfile.mkdtemp(prefix="weir-shown-")
    try:
        case(Place(top))
    finally:
        shutil.rmtree(os.fsencode(top))


main()
