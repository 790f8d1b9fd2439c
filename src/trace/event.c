/* event.c - names and classes of what a traced program did.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/event.h"

static const struct {
    const char *name;
    enum wr_trace_class class;
} ops[WR_TRACE_OPS] = {
#define WR_TRACE_OP_ROW(id, name, class)                                       \
    [WR_TRACE_##id] = {name, WR_TRACE_CLASS_##class},
    WR_TRACE_OP_MAP(WR_TRACE_OP_ROW)
#undef WR_TRACE_OP_ROW
};

static const char *const classes[WR_TRACE_CLASSES] = {
    [WR_TRACE_CLASS_READ] = "read",       [WR_TRACE_CLASS_WRITE] = "write",
    [WR_TRACE_CLASS_META] = "metadata",   [WR_TRACE_CLASS_SYNC] = "sync",
    [WR_TRACE_CLASS_PROCESS] = "process", [WR_TRACE_CLASS_MARK] = "mark"};

const char *wr_trace_op_name(unsigned op)
{
    return op < WR_TRACE_OPS ? ops[op].name : "?";
}

enum wr_trace_class wr_trace_op_class(unsigned op)
{
    return op < WR_TRACE_OPS ? ops[op].class : WR_TRACE_CLASS_META;
}

const char *wr_trace_class_name(unsigned class)
{
    return class < WR_TRACE_CLASSES ? classes[class] : "?";
}
