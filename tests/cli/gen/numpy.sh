# NumPy reads the .npy files, and finds the same samples in the .wt files.
python=/usr/bin/python3
"$python" -c 'import numpy' 2> /dev/null ||
    { echo "no NumPy for $python" >&2; exit 77; }
for type in u8 f16 f32; do
    weir gen tensors "npy-$type" -n 10 -c 4 --shape 6x8x3 --dtype "$type" \
        --to npy --samples-per-file 4 > /dev/null
    weir gen tensors "wt-$type" -n 10 -c 4 --shape 6x8x3 --dtype "$type" \
        --samples-per-file 4 > /dev/null
done
"$python" - << 'PY'
import struct
import numpy as np

kinds = {'u8': np.uint8, 'f16': np.float16, 'f32': np.float32}
codes = {0: np.float32, 1: np.float16, 2: np.uint8}


def read_wt(path):
    raw = open(path, 'rb').read()
    magic, version, dtype, ndim, flags, count = struct.unpack_from('<8sIIIIQ', raw)
    assert magic == b'WEIRTNS1' and version == 1 and flags == 1
    dims = struct.unpack_from('<%dQ' % ndim, raw, 64)
    labels = np.frombuffer(raw, '<u4', count, 128)
    data = (128 + 4 * count + 4095) // 4096 * 4096
    samples = np.frombuffer(raw, codes[dtype], offset=data)
    return samples.reshape((count,) + dims), labels


for name, kind in kinds.items():
    for part, count in enumerate((4, 4, 2)):
        a = np.load('npy-%s/part-%05d.npy' % (name, part))
        labels = np.load('npy-%s/part-%05d.labels.npy' % (name, part))
        assert a.dtype == kind and a.shape == (count, 6, 8, 3), a.shape
        assert labels.dtype == np.uint32
        assert list(labels) == [(4 * part + k) % 4 for k in range(count)]
        b, other = read_wt('wt-%s/part-%05d.wt' % (name, part))
        assert np.array_equal(a, b) and np.array_equal(labels, other)
        if name != 'u8':
            u8 = np.load('npy-u8/part-%05d.npy' % part)
            want = (u8.astype(np.float32) / np.float32(255)).astype(kind)
            assert np.array_equal(a, want)
PY
