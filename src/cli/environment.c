/* environment.c - the environment variables that weir reads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/environment.h"

#include <stddef.h>

const struct wr_variable wr_environment[] = {
    {.name = "WEIR_INDEX_DIR",
     .help = "The folder that keeps the indexes of data sets. The empty string "
             "turns them off: every data set is then indexed each time it is "
             "opened. Programs that use libweir read it too, unless they set "
             "weir_dataset_config.index_dir."},
    {.name = "XDG_CACHE_HOME",
     .help =
         "If WEIR_INDEX_DIR is not set and this is an absolute path, indexes "
         "that took long to build are kept in weir/index below it."},
    {.name = "HOME",
     .help = "If neither is set, they are kept in .cache/weir/index below this "
             "folder."},
    {.name = "WEIR_MODULES",
     .help = "The folder that weir train loads weir-onednn.so from, instead of "
             "the places beside weir and where it was installed."},
    {.name = "WEIR_HDF5_HELPER",
     .help = "The program that parses HDF5 files, instead of weir-hdf5 beside "
             "weir or where it was installed. Programs that use libweir read "
             "it too."},
    {.name = "WEIR_HDF5_PATIENCE",
     .help = "Seconds that this program may take without progress before the "
             "file counts as damaged (default: 60)."},
    {.name = "OMP_WAIT_POLICY",
     .indirect = true,
     .help = "How the threads of weir train's oneDNN engine wait. If it is not "
             "set, passive: they leave the cores to the input pipeline."},
    {.name = "NO_COLOR",
     .help = "If set and not empty, results have no colours unless --color "
             "always is given."},
    {.name = "LC_ALL",
     .indirect = true,
     .help = "With LC_CTYPE and LANG: the character set of the terminal. "
             "Charts use block characters only where it is UTF-8. Numbers are "
             "written the same way everywhere."},
    {.name = "LC_CTYPE", .indirect = true, .help = "See LC_ALL."},
    {.name = "LANG", .indirect = true, .help = "See LC_ALL."},
    {.name = "TZ",
     .indirect = true,
     .help = "The time zone of the times that weir ckpt ls prints. Records and "
             "JSON have UTC."},
    {.name = "PATH",
     .indirect = true,
     .help = "Where weir mount and weir doctor look for fusermount3."},
    {.name = NULL}};
