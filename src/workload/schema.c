/* schema.c - every key of a description, once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row here is a key: its checks, default, override, place in a printed
 * description and line in docs/formats/workload.md follow. Defaults are DLIO's. */
#include "workload/schema.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/named.h"
#include "workload/choices.h"

#define AT(member) offsetof(struct wr_wl_draft, member)
#define MANY       1e15 /* of anything: products of two stay finite doubles */
#define LONG_S     1e9  /* seconds */

#define FLAG(path, member, preset, help)                                       \
    {                                                                          \
        path, WR_WL_KEY_BOOL, AT(w.member), 0, 0, NULL, preset, help           \
    }
#define COUNT(path, member, min, max, preset, help)                            \
    {                                                                          \
        path, WR_WL_KEY_U64, AT(w.member), min, max, NULL, preset, help        \
    }
#define SIGNED(path, member, min, max, preset, help)                           \
    {                                                                          \
        path, WR_WL_KEY_I64, AT(w.member), min, max, NULL, preset, help        \
    }
#define NUMBER(path, member, min, max, preset, help)                           \
    {                                                                          \
        path, WR_WL_KEY_NUMBER, AT(w.member), min, max, NULL, preset, help     \
    }
#define BYTES(path, member, min, preset, help)                                 \
    {                                                                          \
        path, WR_WL_KEY_BYTES, AT(w.member), min, MANY, NULL, preset, help     \
    }
#define SIZE(path, member, preset, help)                                       \
    {                                                                          \
        path, WR_WL_KEY_SIZE, AT(w.member), 0, MANY, NULL, preset, help        \
    }
#define TEXT(path, member, preset, help)                                       \
    {                                                                          \
        path, WR_WL_KEY_TEXT, AT(w.member), 0, 0, NULL, preset, help           \
    }
#define WORD(path, member, choices, preset, help)                              \
    {                                                                          \
        path, WR_WL_KEY_WORD, AT(w.member), 0, 0, choices, preset, help        \
    }
#define CHOICE(path, member, choices, preset, help)                            \
    {                                                                          \
        path, WR_WL_KEY_CHOICE, AT(w.member), 0, 0, choices, preset, help      \
    }
#define DIMS(path, member, help)                                               \
    {                                                                          \
        path, WR_WL_KEY_DIMS, AT(w.member), 1, MANY, NULL, NULL, help          \
    }
#define LIST(path, member, help)                                               \
    {                                                                          \
        path, WR_WL_KEY_LIST, AT(w.member), 0, MANY, NULL, NULL, help          \
    }
#define TIME(path, member, help)                                               \
    {                                                                          \
        path, WR_WL_KEY_TIME, AT(w.member), 0, LONG_S, NULL, NULL, help        \
    }
#define STDEV(path, k, help)                                                   \
    {                                                                          \
        path, WR_WL_KEY_STDEV, AT(stdev[k]), 0, LONG_S, NULL, NULL, help       \
    }
#define FIGURE(path, member, help)                                             \
    {                                                                          \
        path, WR_WL_KEY_FIGURE, AT(w.weir.figures.member), 0, MANY, NULL,      \
            NULL, help                                                         \
    }
#define DEAD(path, why)                                                        \
    {                                                                          \
        path, WR_WL_KEY_DEAD, 0, 0, 0, NULL, NULL, why                         \
    }

static const struct wr_wl_key keys[] = {
    CHOICE("framework", framework, wr_wl_frameworks, "tensorflow",
           "the framework: names of checkpoint files follow from it"),

    TEXT("model.name", model.name, "default", "a label"),
    TEXT("model.type", model.type, NULL,
         "transformer: its state follows from the sizes below; others are "
         "labels"),
    SIZE("model.model_size_bytes", model.size_bytes, "10240",
         "bytes of state in a checkpoint; unused for a transformer"),
    WORD("model.model_datatype", model.datatype, wr_wl_state_types, "fp16",
         "type of the parameters"),
    WORD("model.optimizer_datatype", model.optimizer_datatype,
         wr_wl_state_types, "fp32", "type of the optimizer's state"),
    SIGNED("model.num_layers", model.num_layers, -1, 1e5, "-1",
           "number of layers; if positive, checkpoints contain them"),
    LIST("model.optimization_groups", model.optimization_groups,
         "elements of the optimizer's tensors, in bytes each"),
    LIST("model.layer_parameters", model.layer_parameters,
         "elements of each tensor of a layer"),
    COUNT("model.parallelism.tensor", model.tensor, 1, 1e5, "1",
          "tensor parallelism: ranks that share each layer"),
    COUNT("model.parallelism.pipeline", model.pipeline, 1, 1e5, "1",
          "pipeline parallelism: stages the layers are split into"),
    SIGNED("model.parallelism.data", model.data, -1, 1e8, "-1",
           "data parallelism; -1: ranks / (tensor x pipeline)"),
    COUNT("model.parallelism.zero_stage", model.zero_stage, 0, 3, "0",
          "ZeRO stage: what data-parallel ranks split of the state"),
    COUNT("model.transformer.vocab_size", model.vocab, 1, 1e12, "32000",
          "size of the vocabulary"),
    COUNT("model.transformer.hidden_size", model.hidden, 1, 1e9, "2048",
          "width of a layer"),
    COUNT("model.transformer.ffn_hidden_size", model.ffn_hidden, 1, 1e9, "8192",
          "width of the feed-forward part"),
    COUNT("model.transformer.num_attention_heads", model.heads, 1, 1e6, "32",
          "attention heads"),
    COUNT("model.transformer.num_kv_heads", model.kv_heads, 1, 1e6, "8",
          "heads of keys and values"),
    DEAD("model.model_size", "DLIO does not read it; use model_size_bytes"),

    FLAG("workflow.generate_data", workflow.generate_data, "false",
         "generate the data set"),
    FLAG("workflow.train", workflow.train, "true", "run the epochs"),
    FLAG("workflow.evaluation", workflow.evaluation, "false",
         "evaluate after epochs"),
    FLAG("workflow.checkpoint", workflow.checkpoint, "false",
         "save checkpoints"),
    FLAG("workflow.profiling", workflow.profiling, "false",
         "run DLIO's profiler; weir always measures"),
    DEAD("workflow.do_eval", "DLIO does not read it any more; use evaluation"),
    DEAD("workflow.debug", "DLIO does not read it"),
    DEAD("workflow.query", "only DLIO's query command reads it"),

    CHOICE("dataset.format", dataset.format, wr_wl_formats, "tfrecord",
           "format of the files"),
    TEXT("dataset.data_folder", dataset.data_folder, "./data/",
         "folder of the files"),
    TEXT("dataset.file_prefix", dataset.file_prefix, "img",
         "names of files begin with it"),
    COUNT("dataset.num_files_train", dataset.files_train, 0, MANY, "8",
          "files for training"),
    COUNT("dataset.num_files_eval", dataset.files_eval, 0, MANY, "0",
          "files for evaluation"),
    COUNT("dataset.num_samples_per_file", dataset.samples_per_file, 1, MANY,
          "1", "samples in each file"),
    COUNT("dataset.num_subfolders_train", dataset.subfolders_train, 0, 1e9, "0",
          "folders the training files are spread over"),
    COUNT("dataset.num_subfolders_eval", dataset.subfolders_eval, 0, 1e9, "0",
          "the same for evaluation"),
    BYTES("dataset.record_length_bytes", dataset.record_bytes, 1, "65536",
          "bytes of a sample: a square of side floor(sqrt(bytes))"),
    BYTES("dataset.record_length_bytes_stdev", dataset.record_stdev, 0, "0",
          "their standard deviation from file to file"),
    BYTES("dataset.record_length_bytes_resize", dataset.record_resize, 0, "0",
          "bytes of a sample as training gets it; 0: as it is stored"),
    DIMS("dataset.record_dims", dataset.record_dims,
         "sides of a sample, in place of record_length_bytes"),
    WORD("dataset.record_element_type", dataset.element_type,
         wr_wl_element_types, "uint8", "type of the elements, as NumPy has it"),
    WORD("dataset.compression", dataset.compression, wr_wl_compressions, "none",
         "compression of the files"),
    COUNT("dataset.compression_level", dataset.compression_level, 0, 9, "4",
          "level of gzip"),
    FLAG("dataset.keep_files", dataset.keep_files, "true",
         "keep the files after the run"),
    COUNT("dataset.hdf5.num_dset_per_record", dataset.datasets, 1, 1e6, "1",
          "HDF5 data sets that a sample is cut into"),
    DIMS("dataset.hdf5.chunk_dims", dataset.chunk_dims,
         "sides of an HDF5 chunk; none: the data set lies in one piece"),
    DEAD("dataset.hdf5.max_shape", "weir writes data sets of a fixed size"),
    DEAD("dataset.record_length",
         "DLIO does not read it; use record_length_bytes"),
    DEAD("dataset.record_length_stdev",
         "DLIO does not read it; use record_length_bytes_stdev"),
    DEAD("dataset.record_length_resize",
         "DLIO does not read it; use record_length_bytes_resize"),
    DEAD("dataset.eval_num_samples_per_file",
         "DLIO does not read it any more; use num_samples_per_file"),
    DEAD("dataset.record_element_bytes",
         "the size follows from record_element_type, in DLIO too"),
    DEAD("dataset.generation_buffer_size", "weir generates without it"),
    DEAD("dataset.enable_chunking",
         "DLIO does not use it; use hdf5.chunk_dims"),
    DEAD("dataset.chunk_size", "DLIO does not use it; use hdf5.chunk_dims"),
    DEAD("dataset.parquet", "weir describes Parquet, but does not write it"),
    DEAD("dataset.data_gen_method", "weir has one generator"),
    DEAD("dataset.skip_listing", "weir never lists files that it can name"),
    DEAD("dataset.listing_validation_interval",
         "weir never lists files that it can name"),

    WORD("reader.data_loader", reader.data_loader, wr_wl_loaders, "tensorflow",
         "whose loader DLIO uses; weir has its own"),
    COUNT("reader.batch_size", reader.batch, 1, 1e12, "1",
          "samples per step and accelerator"),
    COUNT("reader.batch_size_eval", reader.batch_eval, 1, 1e12, "1",
          "the same for evaluation"),
    COUNT("reader.read_threads", reader.threads, 0, 4096, "1",
          "reading threads per accelerator"),
    COUNT("reader.computation_threads", reader.computation_threads, 0, 4096,
          "1", "decoding threads per accelerator"),
    COUNT("reader.prefetch_size", reader.prefetch, 0, 1e6, "2",
          "batches to prefetch"),
    CHOICE("reader.file_shuffle", reader.file_shuffle, wr_wl_shuffles, "off",
           "order of the files"),
    CHOICE("reader.sample_shuffle", reader.sample_shuffle, wr_wl_shuffles,
           "off", "order of the samples"),
    COUNT("reader.shuffle_size", reader.shuffle_size, 0, MANY, "1024",
          "samples in the shuffle buffer"),
    CHOICE("reader.read_type", reader.read_type, wr_wl_read_types, "on_demand",
           "memory: read everything once, before the first step"),
    CHOICE("reader.file_access", reader.access, wr_wl_accesses, "auto",
           "which rank reads which bytes"),
    SIZE("reader.transfer_size", reader.transfer_size, "0",
         "bytes of a request; 0: weir chooses"),
    TIME("reader.preprocess_time", reader.preprocess,
         "seconds of preprocessing per sample"),
    STDEV("reader.preprocess_time_stdev", 1, "its standard deviation"),
    FLAG("reader.odirect", reader.odirect, "false", "bypass the page cache"),
    DIMS("reader.transformed_record_dims", reader.transformed_dims,
         "sides of a sample as training gets it"),
    WORD("reader.transformed_record_element_type", reader.transformed_type,
         wr_wl_element_types, "uint8", "and its type"),
    DEAD("reader.data_loader_classname", "weir has no loaders in Python"),
    DEAD("reader.reader_classname", "weir has no readers in Python"),
    DEAD("reader.data_loader_sampler", "weir has one sampler"),
    DEAD("reader.multiprocessing_context", "weir reads in threads"),
    DEAD("reader.pin_memory", "there is no accelerator to copy to"),
    DEAD("reader.dont_use_mmap", "weir does not map files"),
    DEAD("reader.write_threads", "weir chooses them"),

    COUNT("train.epochs", train.epochs, 1, 1e9, "1", "epochs"),
    TIME("train.computation_time", train.computation,
         "seconds an accelerator computes per step"),
    STDEV("train.computation_time_stdev", 0, "its standard deviation"),
    SIGNED("train.total_training_steps", train.steps, -1, MANY, "-1",
           "limit of steps per epoch; -1: none"),
    COUNT("train.seed", train.seed, 0, 0, "123", "seed of all random choices"),
    FLAG("train.seed_change_epoch", train.seed_change_epoch, "true",
         "every epoch has its own order; no: the order of the first"),
    DEAD("train.total_eval_steps", "DLIO does not read it any more"),

    TIME("evaluation.eval_time", eval.time,
         "seconds an accelerator computes per step"),
    STDEV("evaluation.eval_time_stdev", 2, "its standard deviation"),
    COUNT("evaluation.eval_after_epoch", eval.after_epoch, 0, 1e9, "1",
          "evaluate first after this epoch"),
    COUNT("evaluation.epochs_between_evals", eval.epochs_between, 0, 1e9, "1",
          "and then every so many epochs; 0: only once"),

    DEAD("evaluation.steps_between_evals", "DLIO does not read it any more"),

    TEXT("checkpoint.checkpoint_folder", checkpoint.folder, "./checkpoints/",
         "folder of the checkpoints"),
    COUNT("checkpoint.checkpoint_after_epoch", checkpoint.after_epoch, 0, 1e9,
          "1", "save the first one after this epoch"),
    COUNT("checkpoint.epochs_between_checkpoints", checkpoint.epochs_between, 0,
          1e9, "1", "and then every so many epochs; 0: only once"),
    SIGNED("checkpoint.steps_between_checkpoints", checkpoint.steps_between, -1,
           MANY, "-1", "save every so many steps; -1: by epochs"),
    {"checkpoint.mode", WR_WL_KEY_EITHER, AT(w.checkpoint.subset), 0, 0,
     wr_wl_modes, "default",
     "subset: the run is the first ranks of a larger job"},
    FLAG("checkpoint.fsync", checkpoint.fsync, "false",
         "a checkpoint counts as saved once it is on the storage"),
    NUMBER("checkpoint.time_between_checkpoints", checkpoint.time_between, -1,
           LONG_S, "0", "seconds of pause before each if nothing is trained"),
    SIGNED("checkpoint.num_checkpoints_write", checkpoint.writes, -1, 1e9, "-1",
           "checkpoints to save if nothing is trained"),
    SIGNED("checkpoint.num_checkpoints_read", checkpoint.reads, -1, 1e9, "-1",
           "checkpoints to read back if nothing is trained"),
    FLAG("checkpoint.recovery_rank_shift", checkpoint.rank_shift, "false",
         "a rank reads what a rank of another node saved"),
    FLAG("checkpoint.rank_sync", checkpoint.rank_sync, "false",
         "include a barrier of all ranks in the measured time"),
    FLAG("checkpoint.randomize_tensor", checkpoint.randomize, "true",
         "save noise, not ones"),
    DEAD("checkpoint.type", "DLIO does not use it; zero_stage decides"),
    DEAD("checkpoint.checkpoint_mechanism_classname",
         "weir has no plugins in Python"),
    DEAD("checkpoint.num_checkpoints",
         "DLIO does not read it any more; use num_checkpoints_write"),
    DEAD("checkpoint.recovery_after_steps", "DLIO does not read it any more"),
    DEAD("checkpoint.ksm", "weir does not merge pages"),

    TEXT("output.folder", output.folder, NULL, "folder of DLIO's results"),
    TEXT("output.log_file", output.log_file, "dlio.log", "and of its log"),
    COUNT("output.metric.exclude_start_steps", output.exclude_start, 0, MANY,
          "1", "steps that DLIO's AU leaves out at the start of an epoch"),
    COUNT("output.metric.exclude_end_steps", output.exclude_end, 0, MANY, "0",
          "and at its end"),

    DEAD("profiling.profiler", "weir measures by itself"),
    DEAD("profiling.iostat_devices", "weir measures by itself"),

    NUMBER("metric.au", metric.au, 0, 1, "0.9",
           "accelerator utilization that passes, 0 to 1"),

    TEXT("storage.storage_type", storage.type, "local_fs",
         "kind of storage that DLIO uses; weir takes a URL"),
    TEXT("storage.storage_root", storage.root, "./", "folders lie below it"),
    DEAD("storage.storage_options", "weir takes a URL of the storage instead"),
    DEAD("storage.endpoint_uris", "weir takes a URL of the storage instead"),
    DEAD("storage.use_mpi_endpoint_distribution",
         "weir takes a URL of the storage instead"),
    DEAD("storage.load_balance_strategy",
         "weir takes a URL of the storage instead"),
    DEAD("storage.storage_library", "weir takes a URL of the storage instead"),
    DEAD("storage.post_generation_settle_seconds",
         "weir syncs what it generates"),

    DEAD("logging", "DLIO does not read it"),

    TEXT("weir.title", weir.title, NULL, "one line on the workload"),
    TEXT("weir.source", weir.source, NULL,
         "where the numbers come from, and what is assumed"),
    CHOICE("weir.consume", weir.consume, wr_wl_consumes, "drop",
           "what is done with the bytes"),
    CHOICE("weir.content", weir.content, wr_wl_contents, "noise",
           "what is generated"),
    NUMBER("weir.compressible", weir.compressible, 0, 1, "0",
           "part of the data that can be compressed away, 0 to 1"),
    COUNT("weir.readers", weir.readers, 1, 1e6, "1",
          "ranks that read, of a collective access"),
    COUNT("weir.nodes", weir.nodes, 0, 1e6, "0",
          "nodes that the workload was run on; 0: not said"),
    DIMS("weir.label_dims", weir.label_dims,
         "sides of the label of a sample; none: a number"),
    COUNT("weir.final_files", weir.final_files, 0, 1e6, "0",
          "files that every rank writes at the end"),
    SIZE("weir.final_bytes", weir.final_bytes, "0", "bytes of each of them"),
    LIST("weir.checkpoint_files", weir.checkpoint_files,
         "bytes of files that a checkpoint has besides the state"),
    FIGURE("weir.figures.io_percent", io_percent,
           "measured by the source: part of the time spent in I/O"),
    FIGURE("weir.figures.request_bytes", request_bytes,
           "measured: bytes of the usual request"),
    FIGURE("weir.figures.sequential_percent", sequential_percent,
           "measured: requests behind the one before"),
    FIGURE("weir.figures.consecutive_percent", consecutive_percent,
           "measured: requests that begin where the one before ended"),
    FIGURE("weir.figures.bytes_per_s", bytes_per_s,
           "measured: speed of a request"),
    FIGURE("weir.figures.step_s", step_s,
           "measured: seconds of a step, with its I/O"),
    FIGURE("weir.figures.ranks", ranks, "ranks it was measured with"),
};

const struct wr_wl_key *wr_wl_key_at(size_t k)
{
    return k < WR_ARRAY_LEN(keys) ? &keys[k] : NULL;
}

const struct wr_wl_key *wr_wl_key_find(const char *path, size_t len)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(keys); i++)
        if (!strncmp(keys[i].path, path, len) && !keys[i].path[len])
            return &keys[i];
    return NULL;
}

bool wr_wl_key_is_section(const char *path, size_t len)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(keys); i++)
        if (!strncmp(keys[i].path, path, len) && keys[i].path[len] == '.')
            return true;
    return false;
}

/* Tries the part of each path behind `head` bytes that are those of `path`. */
static void try_names(struct wr_suggest *near, const char *path, size_t head,
                      char best[64])
{
    for (size_t i = 0; i < WR_ARRAY_LEN(keys); i++) {
        char one[64];

        if (strncmp(keys[i].path, path, head) != 0)
            continue;
        snprintf(one, sizeof(one), "%.*s",
                 (int)strcspn(keys[i].path + head, "."), keys[i].path + head);
        near->best = NULL;
        wr_suggest_try(near, one);
        if (near->best)
            snprintf(best, 64, "%s", one);
    }
}

/* A key that is right but stands in the wrong section. */
static const struct wr_wl_key *elsewhere(const char *name)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(keys); i++) {
        const char *dot = strrchr(keys[i].path, '.');

        if (dot && !strcmp(dot + 1, name))
            return &keys[i];
    }
    return NULL;
}

/* `path` up to its first section that does not exist, or all of it. */
static void cut_path(const char *path, char buf[128])
{
    const char *dot = path;

    snprintf(buf, 128, "%s", path);
    while ((dot = strchr(dot, '.'))) {
        if (!wr_wl_key_is_section(path, (size_t)(dot - path))) {
            snprintf(buf, 128, "%.*s", (int)(dot - path), path);
            return;
        }
        dot++;
    }
}

const char *wr_wl_key_nearest(const char *given, char *buf, size_t cap)
{
    char path[128];
    const char *dot, *name;
    const struct wr_wl_key *other;
    char best[64] = "";
    struct wr_suggest near;

    cut_path(given, path);
    dot = strrchr(path, '.');
    name = dot ? dot + 1 : path;
    other = elsewhere(name);
    wr_suggest_init(&near, name);
    if (other)
        snprintf(best, sizeof(best), "%s", other->path);
    else
        try_names(&near, path, (size_t)(name - path), best);
    if (!best[0])
        return NULL;
    snprintf(buf, cap, "%s", best);
    return buf;
}
