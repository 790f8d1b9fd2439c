# tfdata.py - TensorFlow's tf.data over picture files or TFRecord shards.
# SPDX-License-Identifier: Apache-2.0
#
# Settings: calls: parallel calls of the map, or auto (AUTOTUNE); fancy: 1 for
# smooth chroma, 0 for plain; dct: fast or accurate; normalize: sample (in the
# map) or batch; pool: threads of a pool of its own, 0 for TensorFlow's;
# ahead: finished batches, or auto; cycle: shards read at once, or auto.
import glob
import os

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '2')

import numpy as np
import tensorflow as tf

import peer

ENCODED, LABEL = 'image/encoded', 'image/class/label'
SHUFFLED = 1024 # records, of a shard
SHARD_SAMPLES = 1024


def number(value):
    return tf.data.AUTOTUNE if value == 'auto' else value


def files_of(data):
    """Paths and labels of the pictures in class folders."""
    classes = sorted(e.name for e in os.scandir(data) if e.is_dir())
    found = [(path, label) for label, name in enumerate(classes)
             for path in sorted(glob.glob(os.path.join(data, name, '*')))]
    return [p for p, _ in found], [n for _, n in found]


class Loader:
    def __init__(self, args):
        self.args = args
        self.settings = {'calls': 'auto', 'fancy': 1, 'dct': 'fast',
                         'normalize': 'sample', 'pool': 0, 'ahead': 'auto',
                         'cycle': 'auto', **args.settings}
        self.mean = 255 * tf.constant(peer.MEAN)
        self.deviation = 255 * tf.constant(peer.DEVIATION)
        self.shards = sorted(glob.glob(os.path.join(args.data, '*tfrecord*')))
        if not self.shards:
            self.paths, self.labels = files_of(args.data)

    def decode(self, encoded):
        picture = tf.io.decode_jpeg(
            encoded, channels=3, fancy_upscaling=bool(self.settings['fancy']),
            dct_method='INTEGER_' + self.settings['dct'].upper())
        picture = tf.image.resize(picture, (self.args.height, self.args.width))
        if self.settings['normalize'] == 'sample':
            picture = self.normalized(picture)
        return picture

    def normalized(self, picture):
        return (picture - self.mean) / self.deviation

    def from_file(self, path, label):
        return self.decode(tf.io.read_file(path)), label

    def from_record(self, record):
        found = tf.io.parse_single_example(record, {
            ENCODED: tf.io.FixedLenFeature([], tf.string),
            LABEL: tf.io.FixedLenFeature([], tf.int64)})
        return self.decode(found[ENCODED]), found[LABEL]

    def of_files(self, epochs):
        data = tf.data.Dataset.from_tensor_slices((self.paths, self.labels))
        data = data.shuffle(len(self.paths), seed=self.args.seed)
        return data.repeat(epochs), self.from_file

    def of_shards(self, epochs):
        cycle = self.settings['cycle']
        data = tf.data.Dataset.from_tensor_slices(self.shards)
        data = data.shuffle(len(self.shards), seed=self.args.seed)
        data = data.interleave(
            tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE,
            cycle_length=None if cycle == 'auto' else cycle,
            deterministic=False)
        data = data.shuffle(SHUFFLED, seed=self.args.seed)
        return data.repeat(epochs), self.from_record

    def dataset(self, epochs):
        s = self.settings
        data, step = (self.of_shards if self.shards else self.of_files)(epochs)
        data = data.map(step, num_parallel_calls=number(s['calls']),
                        deterministic=False)
        data = data.batch(self.args.batch)
        if s['normalize'] == 'batch':
            data = data.map(lambda p, n: (self.normalized(p), n),
                            num_parallel_calls=number(s['calls']))
        options = tf.data.Options()
        options.deterministic = False
        if s['pool']:
            options.threading.private_threadpool_size = s['pool']
        return data.prefetch(number(s['ahead'])).with_options(options)

    def batches(self, epochs):
        for pictures, _ in self.dataset(epochs):
            yield np.asarray(memoryview(pictures)) # not copied


def example(path, label):
    with open(path, 'rb') as f:
        encoded = f.read()
    features = {
        ENCODED: tf.train.Feature(
            bytes_list=tf.train.BytesList(value=[encoded])),
        LABEL: tf.train.Feature(
            int64_list=tf.train.Int64List(value=[label]))}
    return tf.train.Example(features=tf.train.Features(feature=features))


def make(args):
    """Shards of the files, as they are."""
    os.makedirs(args.data + '.tmp', exist_ok=True)
    paths, labels = files_of(args.make)
    order = np.random.default_rng(args.seed).permutation(len(paths))
    shards = -(-len(order) // SHARD_SAMPLES)
    for n in range(shards):
        name = f'{args.data}.tmp/data-{n:05}-of-{shards:05}.tfrecord'
        with tf.io.TFRecordWriter(name) as out:
            for i in order[n::shards]:
                out.write(example(paths[i], labels[i]).SerializeToString())
    os.rename(args.data + '.tmp', args.data)


if __name__ == '__main__':
    tf.config.set_visible_devices([], 'GPU')
    peer.main(f'TensorFlow {tf.__version__}', Loader, make)
