/* test_refused.c - malformed descriptions, and what is said of each.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "given.h"

struct refusal {
    const char *text, *override, *message;
};

static const struct refusal refusals[] = {
    /* keys */
    {"dataset:\n  num_file_train: 3\n", NULL,
     "'my.yaml':2:3: dataset.num_file_train: unknown key; did you mean "
     "num_files_train?"},
    {"datset:\n  format: npz\n", NULL,
     "'my.yaml':1:1: datset: unknown key; did you mean dataset?"},
    {"epochs: 3\n", NULL,
     "'my.yaml':1:1: epochs: unknown key; did you mean train.epochs?"},
    {"train:\n  zzzzzzzzzz: 3\n", NULL,
     "'my.yaml':2:3: train.zzzzzzzzzz: unknown key"},
    {"model:\n  parallelism:\n    tensors: 2\n", NULL,
     "'my.yaml':3:5: model.parallelism.tensors: unknown key; did you mean "
     "tensor?"},
    {"train: {epochs: 1}\ntrain: {seed: 2}\n", NULL,
     "'my.yaml':2:1: train: duplicate key (first in line 1)"},
    {"train:\n  epochs: 1\n  epochs: 2\n", NULL,
     "'my.yaml':3:3: epochs: duplicate key (first in line 2)"},
    {"reader: {batch_size: 1}\ndata_reader: {batch_size: 2}\n", NULL,
     "'my.yaml':2:15: reader.batch_size: duplicate key (first in line 1)"},
    {"train: 3\n", NULL, "'my.yaml':1:8: train: is a section, not a value"},
    {"\"tr\\u202eain\": 1\n", NULL,
     "'my.yaml':1:1: tr\\xe2\\x80\\xaeain: unknown key; did you mean train?"},
    {"? [1, 2]\n: 3\n", NULL, "'my.yaml':1:3: a key must be a plain value"},
    /* the whole */
    {"", NULL, "'my.yaml': is empty: not a description"},
    {"# nothing\n", NULL, "'my.yaml': is empty: not a description"},
    {"~\n", NULL, "'my.yaml': is empty: not a description"},
    {"[1, 2]\n", NULL,
     "'my.yaml':1:1: not a description: it has no sections such as dataset: "
     "and reader:"},
    {"hello\n", NULL,
     "'my.yaml':1:1: not a description: it has no sections such as dataset: "
     "and reader:"},
    {"train: {}\n---\ntrain: {}\n", NULL,
     "'my.yaml':2:1: more than one YAML document"},
    {"train: {epochs: [1\n", NULL,
     "'my.yaml':2:1: not YAML: flow sequence without a closing bracket"},
    {"train: @x\n", NULL,
     "'my.yaml':1:8: not YAML: plain scalar cannot start with '@'"},
    {"\xff\xfe\x80", NULL, "'my.yaml': is not UTF-8: not YAML"},
    {"train: {epochs: !!int 3}\n", NULL,
     "'my.yaml':1:23: tags are not supported"},
    {"train: {epochs: *e}\n", NULL,
     "'my.yaml':1:17: alias of an unknown anchor"},
    {"train: &t {epochs: *t}\n", NULL,
     "'my.yaml':1:20: alias inside its own anchor"},
    {"model: {name: \"a\\0b\"}\n", NULL,
     "'my.yaml':1:15: text contains a zero byte"},
    /* numbers */
    {"train:\n  epochs: x\n", NULL,
     "'my.yaml':2:11: train.epochs: 'x' is not a number"},
    {"train:\n  epochs: 1.5\n", NULL,
     "'my.yaml':2:11: train.epochs: '1.5' is not a whole number"},
    {"train:\n  epochs: 0\n", NULL,
     "'my.yaml':2:11: train.epochs: 0 is not between 1 and 1000000000"},
    {"train:\n  epochs: -3\n", NULL,
     "'my.yaml':2:11: train.epochs: -3 is not between 1 and 1000000000"},
    {"train: {epochs: 1e300}\n", NULL,
     "'my.yaml':1:17: train.epochs: 1e300 is not between 1 and 1000000000"},
    {"train: {epochs: .nan}\n", NULL,
     "'my.yaml':1:17: train.epochs: '.nan' is not a number"},
    {"train: {computation_time: .inf}\n", NULL,
     "'my.yaml':1:27: train.computation_time: '.inf' is not a number"},
    {"train: {computation_time: inf}\n", NULL,
     "'my.yaml':1:27: train.computation_time: 'inf' is not a number"},
    {"train: {epochs: 0x10}\n", NULL,
     "'my.yaml':1:17: train.epochs: '0x10' is not a number"},
    {"train: {seed: 18446744073709551616}\n", NULL,
     "'my.yaml':1:15: train.seed: 18446744073709551616 is too large"},
    {"train: {seed: -1}\n", NULL,
     "'my.yaml':1:15: train.seed: -1 is less than 0"},
    {"metric: {au: 90}\n", NULL,
     "'my.yaml':1:14: metric.au: 90 is not between 0 and 1"},
    {"dataset: {record_length_bytes: 0}\n", NULL,
     "'my.yaml':1:32: dataset.record_length_bytes: 0 is not between 1 and "
     "1e+15"},
    {"reader: {transfer_size: 1.5}\n", NULL,
     "'my.yaml':1:25: reader.transfer_size: '1.5' is not a whole number"},
    {"reader: {batch_size: }\ntrain: {epochs: []}\n", NULL,
     "'my.yaml':2:17: train.epochs: is a list, not one value"},
    {"train: {epochs: {a: 1}}\n", NULL,
     "'my.yaml':1:17: train.epochs: is a mapping, not one value"},
    /* words */
    {"framework: torch\n", NULL,
     "'my.yaml':1:12: framework: 'torch' is not one of tensorflow or pytorch "
     "(did you mean pytorch?)"},
    {"workflow: {train: maybe}\n", NULL,
     "'my.yaml':1:19: workflow.train: 'maybe' is not true or false"},
    {"dataset: {record_element_type: float12}\n", NULL,
     "'my.yaml':1:32: dataset.record_element_type: 'float12' is not one of "
     "uint8, int8, uint16, int16, uint32, int32, uint64, int64, float16, "
     "float32, float64, bool, half, single, double, float, int, u1, i1, u2, "
     "i2, u4, i4, u8, i8, f2, f4 or f8 (did you mean float16?)"},
    /* lists */
    {"dataset: {record_dims: [4, -3]}\n", NULL,
     "'my.yaml':1:28: dataset.record_dims: -3 is not between 1 and 1e+15"},
    {"dataset: {record_dims: [4, [5]]}\n", NULL,
     "'my.yaml':1:28: dataset.record_dims: is not a whole number"},
    {"dataset: {record_dims: {a: 1}}\n", NULL,
     "'my.yaml':1:24: dataset.record_dims: is a mapping, not a list"},
    {"dataset: {record_dims: [1,1,1,1,1,1,1,1,1]}\n", NULL,
     "'my.yaml':1:41: dataset.record_dims: has more than 8 items"},
    /* times */
    {"train: {computation_time: [1]}\n", NULL,
     "'my.yaml':1:27: train.computation_time: is a list, not a number or a "
     "distribution"},
    {"train: {computation_time: {type: unifrm, min: 0}}\n", NULL,
     "'my.yaml':1:34: train.computation_time: type: 'unifrm' is not one of "
     "normal, uniform, gamma, exponential or poisson (did you mean uniform?)"},
    {"train: {computation_time: {type: uniform, min: 0}}\n", NULL,
     "'my.yaml':1:27: train.computation_time: max is missing"},
    {"train: {computation_time: {type: uniform, min: 2, max: 1}}\n", NULL,
     "'my.yaml':1:56: train.computation_time: max is less than min"},
    {"train: {computation_time: {mean: 1, stdv: 2}}\n", NULL,
     "'my.yaml':1:43: train.computation_time: stdv is unknown; normal has mean "
     "and stdev"},
    {"train: {computation_time: {mean: -1}}\n", NULL,
     "'my.yaml':1:34: train.computation_time: mean: -1 is not between 0 and "
     "1000000000"},
    {"train: {computation_time_stdev: 0.1}\n", NULL,
     "'my.yaml': train.computation_time: has a standard deviation but no "
     "mean"},
    {"train:\n  computation_time: {type: poisson, lam: 1}\n"
     "  computation_time_stdev: 0.1\n",
     NULL,
     "'my.yaml':2:3: train.computation_time: a poisson distribution has no "
     "standard deviation"},
    /* one against another */
    {"dataset: {record_dims: [4, 4], record_length_bytes_stdev: 3}\n", NULL,
     "'my.yaml':1:11: dataset.record_dims: cannot be combined with "
     "record_length_bytes_stdev"},
    {"dataset: {format: png, record_dims: [4, 4, 3]}\n", NULL,
     "'my.yaml':1:24: dataset.record_dims: pictures have two sides, not 3"},
    {"dataset: {record_dims: [5, 4], hdf5: {num_dset_per_record: 2}}\n", NULL,
     "'my.yaml':1:11: dataset.record_dims: the first side is no multiple of "
     "hdf5.num_dset_per_record (2)"},
    {"model: {num_layers: 3, parallelism: {pipeline: 4}}\n", NULL,
     "'my.yaml':1:38: model.parallelism.pipeline: 4 stages for 3 layers"},
    {"model: {parallelism: {pipeline: 4, zero_stage: 3}}\n", NULL,
     "'my.yaml':1:23: model.parallelism.pipeline: stage 3 of ZeRO works with "
     "one stage of layers only"},
    {"model: {parallelism: {zero_stage: 4}}\n", NULL,
     "'my.yaml':1:35: model.parallelism.zero_stage: 4 is not between 0 and 3"},
    {"checkpoint: {mode: subset}\n", NULL,
     "'my.yaml': model.parallelism.data: is required in mode subset"},
    {"checkpoint: {num_checkpoints_write: 2, num_checkpoints_read: 3}\n", NULL,
     "'my.yaml':1:40: checkpoint.num_checkpoints_read: more than "
     "num_checkpoints_write (2)"},
    {"dataset: {num_files_train: 0}\n", NULL,
     "'my.yaml':1:11: dataset.num_files_train: no files to train with"},
    {"dataset: {file_prefix: ../x}\n", NULL,
     "'my.yaml':1:11: dataset.file_prefix: must be 1 to 128 characters without "
     "a "
     "slash"},
    {"dataset: {num_files_train: 1e15, num_samples_per_file: 1e15}\n", NULL,
     "'my.yaml':1:34: dataset.num_samples_per_file: too many samples in all "
     "files"},
    /* overrides */
    {"train: {}\n", "train.epochs=q",
     "override 'train.epochs=q': train.epochs: 'q' is not a number"},
    {"train: {}\n", "++workload.train.epoch=4",
     "override '++workload.train.epoch=4': train.epoch: unknown key; did you "
     "mean epochs?"},
    {"train: {}\n", "trin.epochs=4",
     "override 'trin.epochs=4': trin.epochs: unknown key; did you mean train?"},
    {"train: {}\n", "train.epochs",
     "override 'train.epochs': is not section.key=value"},
    {"train: {}\n", "=3", "override '=3': is not section.key=value"},
    {"train: {}\n", "dataset.record_dims=[1,2",
     "override 'dataset.record_dims=[1,2':2:1: not YAML: flow sequence without "
     "a closing bracket"},
    {"train: {}\n", "train=3",
     "override 'train=3': train: is a section, not a value"},
    {"model: {num_layers: 9, parallelism: {pipeline: 4}}\n",
     "model.parallelism.pipeline=10",
     "override 'model.parallelism.pipeline=10': model.parallelism.pipeline: 10 "
     "stages for 9 layers"},
};

static void test_refusals(void **state)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        assert_string_equal(refused(refusals[i].text, refusals[i].override),
                            refusals[i].message);
}

/* A limit stands before each thing that could grow. */
static void test_limits(void **state)
{
    static char text[3 << 20];
    size_t used;

    memset(text, '#', sizeof(text));
    text[(1 << 20) + 1] = '\0';
    assert_string_equal(refused(text, NULL),
                        "'my.yaml': larger than 1 MiB: not a description");
    strcpy(text, "logging: ");
    memset(text + 9, '[', 40);
    strcpy(text + 49, "\n");
    assert_string_equal(refused(text, NULL),
                        "'my.yaml':1:41: nested more than 32 levels deep");
    used = (size_t)sprintf(text, "logging:\n");
    for (int i = 0; i < 1001; i++)
        used += (size_t)sprintf(text + used, "  k%d: 1\n", i);
    assert_string_equal(refused(text, NULL),
                        "'my.yaml':1002:3: more than 1000 keys in one section");
    used = (size_t)sprintf(text, "logging: [");
    for (int i = 0; i < 20000; i++)
        used += (size_t)sprintf(text + used, "1,");
    strcpy(text + used, "]\n");
    assert_non_null(strstr(refused(text, NULL), "more than 20000 values"));
    used = (size_t)sprintf(text, "model: {name: ");
    memset(text + used, 'a', 5000);
    strcpy(text + used + 5000, "}\n");
    assert_string_equal(refused(text, NULL), "'my.yaml':1:15: model.name: text "
                                             "of more than 4000 bytes");
}

static void test_zero_bytes(void **state)
{
    struct wr_workload *w = NULL;
    weir_err err = {0};

    assert_int_equal(wr_workload_parse("b", "train:\0 {}", 10, NULL, 0, NULL,
                                       NULL, &w, &err),
                     WEIR_EFORMAT);
    assert_string_equal(err.msg, "'b': has zero bytes: not YAML");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_zero_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
