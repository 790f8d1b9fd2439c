/* test_onednn.c - the oneDNN engine gives what the reference gives.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/engine.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"

#define CLASSES 11u
#define SIDE    115u /* not a multiple of any block */

/* A step's arrays. */
struct run {
    struct wr_net net;
    uint32_t batch;
    float *params, *input, *dlogits; /* owned, the same for all engines */
    float *logits, *grads;           /* owned */
};

/* The module, or the reason why this build has none. */
static const struct wr_engine_ops *onednn(void)
{
    const struct wr_engine_ops *ops = NULL;
    weir_err err = {0};

    if (wr_engine_find("onednn", &ops, &err) < 0) {
#ifdef WR_HAVE_ONEDNN
        fail_msg("%s", err.msg);
#endif
        print_message("skipped: %s\n", err.msg);
        skip();
    }
    return ops;
}

static float *some(size_t count, uint64_t seed, float scale)
{
    float *p = wr_big_alloc(count * sizeof(float));
    struct wr_rng rng = {.seed = seed};

    assert_non_null(p);
    for (size_t i = 0; i < count; i++)
        p[i] = (float)(wr_rng_unit(&rng) * 2 - 1) * scale;
    return p;
}

static size_t input_count(const struct run *r)
{
    return r->batch * wr_layer_in_count(&r->net.layers[0]);
}

static size_t logit_count(const struct run *r)
{
    return (size_t)r->batch * r->net.spec.classes;
}

static void set_up(struct run *r, double width, uint32_t batch)
{
    struct wr_net_spec spec = {width, CLASSES, SIDE, SIDE + 8, 3};

    assert_int_equal(wr_net_init(&r->net, &spec, NULL), 0);
    r->batch = batch;
    r->params = some(r->net.param_count, 1, .1f); /* with biases */
    for (size_t i = 0; i < r->net.layer_count; i++) {
        const struct wr_layer *l = &r->net.layers[i];
        struct wr_rng rng = {.seed = i};
        double fan = l->bias_count
                         ? (double)l->weight_count / (double)l->bias_count
                         : 1;

        for (size_t k = 0; k < l->weight_count; k++)
            r->params[l->weight + k] = (float)((wr_rng_unit(&rng) * 2 - 1) *
                                               sqrt(6 / fan));
    }
    r->input = some(input_count(r), 2, 1);
    r->dlogits = some(logit_count(r), 3, 1);
    r->logits = some(logit_count(r), 4, 0);
    r->grads = some(r->net.param_count, 5, 0);
}

static void tear_down(struct run *r)
{
    wr_big_free(r->params, r->net.param_count * sizeof(float));
    wr_big_free(r->input, input_count(r) * sizeof(float));
    wr_big_free(r->dlogits, logit_count(r) * sizeof(float));
    wr_big_free(r->logits, logit_count(r) * sizeof(float));
    wr_big_free(r->grads, r->net.param_count * sizeof(float));
}

/* Two steps on the same data: the second starts with what the first left. */
static void compute(struct run *r, const struct wr_engine_ops *ops,
                    unsigned threads)
{
    struct wr_engine_spec spec = {&r->net, r->batch, threads};
    void *engine = NULL;
    weir_err err = {0};

    if (ops->open(&spec, &engine, &err) < 0)
        fail_msg("%s", err.msg);
    for (int i = 0; i < 2; i++) {
        memset(r->grads, 0xff, r->net.param_count * sizeof(float)); /* NaN */
        if (ops->forward(engine, r->params, r->input, r->logits, &err) < 0 ||
            ops->backward(engine, r->params, r->dlogits, r->grads, &err) < 0)
            fail_msg("%s", err.msg);
    }
    ops->close(engine);
}

static void near(const char *what, const float *a, const float *b, size_t n)
{
    double diff = 0, size = 0;

    for (size_t i = 0; i < n; i++) {
        diff += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        size += (double)b[i] * b[i];
    }
    if (!(size > 0) || !(sqrt(diff / size) <= 1e-5))
        fail_msg("%s: relative L2 distance %g", what, sqrt(diff / size));
}

static void compare(const struct run *a, const struct run *b)
{
    near("logits", a->logits, b->logits, logit_count(a));
    for (size_t i = 0; i < a->net.layer_count; i++) {
        const struct wr_layer *l = &a->net.layers[i];

        if (!l->weight_count)
            continue;
        near(l->name, a->grads + l->weight, b->grads + l->weight,
             l->weight_count);
        near(l->name, a->grads + l->bias, b->grads + l->bias, l->bias_count);
    }
}

/* Widths whose channels fill blocks of 8 and 16, fill some, and fill none. */
static void agrees_with_the_reference(void **state)
{
    static const struct {
        double width;
        uint32_t batch;
        unsigned threads;
    } cases[] = {{.25, 5, 2}, {.125, 1, 1}, {.07, 3, 3}};
    const struct wr_engine_ops *ops = onednn(), *reference;

    (void)state;
    assert_int_equal(wr_engine_find("reference", &reference, NULL), 0);
    for (size_t i = 0; i < WR_ARRAY_LEN(cases); i++) {
        struct run a, b;

        set_up(&a, cases[i].width, cases[i].batch);
        set_up(&b, cases[i].width, cases[i].batch);
        compute(&a, ops, cases[i].threads);
        compute(&b, reference, 2);
        compare(&a, &b);
        tear_down(&a);
        tear_down(&b);
    }
}

static void repeats_with_equal_threads(void **state)
{
    const struct wr_engine_ops *ops = onednn();
    struct run a, b;

    (void)state;
    set_up(&a, .125, 4);
    set_up(&b, .125, 4);
    compute(&a, ops, 2);
    compute(&b, ops, 2);
    assert_memory_equal(a.logits, b.logits, logit_count(&a) * sizeof(float));
    assert_memory_equal(a.grads, b.grads, a.net.param_count * sizeof(float));
    tear_down(&a);
    tear_down(&b);
}

static void refuses_what_makes_no_sense(void **state)
{
    const struct wr_engine_ops *ops = onednn();
    struct wr_engine_spec spec = {.threads = 1};
    void *engine = NULL;
    struct run r;
    weir_err err;

    (void)state;
    set_up(&r, .05, 1);
    spec.net = &r.net;
    assert_int_equal(ops->open(&spec, &engine, &err), WEIR_EINVAL);
    assert_null(engine);
    spec.batch = 1;
    assert_int_equal(ops->open(&spec, &engine, &err), 0);
    assert_int_equal(ops->backward(engine, r.params, r.dlogits, r.grads, &err),
                     WEIR_ESTATE);
    ops->close(engine);
    ops->close(NULL);
    tear_down(&r);
}

/* A step in a process with `more` bytes to spare: 0, or the error's code. */
static int step_within(struct run *r, const struct wr_engine_ops *ops,
                       size_t more)
{
    struct wr_engine_spec spec = {&r->net, r->batch, 2};
    unsigned long pages = 0;
    struct rlimit limit;
    FILE *f = fopen("/proc/self/statm", "r");
    void *engine = NULL;
    weir_err err = {0};

    if (!f || fscanf(f, "%lu", &pages) != 1)
        return 1;
    limit.rlim_cur = limit.rlim_max = pages * 4096 + more;
    if (setrlimit(RLIMIT_AS, &limit) < 0)
        return 1;
    if (ops->open(&spec, &engine, &err) == 0 &&
        ops->forward(engine, r->params, r->input, r->logits, &err) == 0)
        ops->backward(engine, r->params, r->dlogits, r->grads, &err);
    if (err.code && !strstr(err.msg, "RLIMIT_AS"))
        return 1;
    return -err.code;
}

/* oneDNN and OpenMP end the process where they lack memory: nothing may come
 * to that. In processes of their own, which OpenMP allows before its threads
 * are started. */
static void lack_of_memory_is_an_error(void **state)
{
    const struct wr_engine_ops *ops = onednn();
    int failed = 0;
    struct run r;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* it needs the address space */
#endif
    set_up(&r, .125, 16);
    for (size_t mb = 1; mb < 640; mb += 24) {
        pid_t child = fork();
        int status;

        if (child == 0)
            _exit(step_within(&r, ops, mb << 20));
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status))
            fail_msg("%zu MB: ended by signal %d", mb, WTERMSIG(status));
        if (WEXITSTATUS(status) != 0)
            assert_int_equal(WEXITSTATUS(status), -WEIR_ENOMEM);
        failed += WEXITSTATUS(status) != 0;
    }
    assert_in_range(failed, 1, 25);
    tear_down(&r);
}

/* A folder without the module, and a module that is none. */
static void load_failures_have_names(void **state)
{
    char folder[] = "/tmp/weir-test-XXXXXX", path[64];
    char *before = getenv("WEIR_MODULES");
    const struct wr_engine_ops *ops = NULL;
    weir_err err;
    FILE *f;

    (void)state;
    before = before ? strdup(before) : NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/weir-onednn.so", folder);
    setenv("WEIR_MODULES", folder, 1);
    assert_int_equal(wr_engine_find("onednn", &ops, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, folder));
    f = fopen(path, "w");
    assert_non_null(f);
    fputs("no shared object\n", f);
    fclose(f);
    assert_int_equal(wr_engine_find("onednn", &ops, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, path));
    assert_null(ops);
    remove(path);
    remove(folder);
    if (before)
        setenv("WEIR_MODULES", before, 1);
    else
        unsetenv("WEIR_MODULES");
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_failures_have_names),
        cmocka_unit_test(lack_of_memory_is_an_error), /* before any threads */
        cmocka_unit_test(agrees_with_the_reference),
        cmocka_unit_test(repeats_with_equal_threads),
        cmocka_unit_test(refuses_what_makes_no_sense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
