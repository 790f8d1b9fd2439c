/* module.c - where modules and other files of weir itself are.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs that use libweir lie anywhere, and so does a copy of weir: what is
 * beside them may be anybody's. A file is looked for relative to the object that
 * this code is in, and taken only if nobody can change it who could not change
 * that object as well. */
#include "base/module.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/error.h"
#include "base/own.h"
#include "weir/weir.h"

/* Its address is in the command, or in libweir.so. */
static const char here;

/* The object that this code is in. */
struct self {
    char path[PATH_MAX], folder[PATH_MAX]; /* real paths */
    struct stat file, dir;
    bool is_library; /* else the program */
};

/* The name that the loader has for it; empty for the program, whose own word
 * for itself (argv[0]) proves nothing. A relative one is of a folder that the
 * process may have left since. */
static bool find_path(struct self *s)
{
    const char *name = "/proc/self/exe";
    struct link_map *map = NULL;
    Dl_info info;

    if (!dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    s->is_library = map->l_name && *map->l_name;
    if (s->is_library)
        name = map->l_name;
    if (*name == '/' && realpath(name, s->path))
        return true;
    /* Without /proc: the path that the kernel was given to run the program. */
    name = s->is_library ? NULL : (const char *)getauxval(AT_EXECFN);
    return name && realpath(name, s->path);
}

static bool find_self(struct self *s)
{
    if (!find_path(s))
        return false;
    strcpy(s->folder, s->path);
    *strrchr(s->folder, '/') = '\0';
    return lstat(s->path, &s->file) == 0 &&
           stat(*s->folder ? s->folder : "/", &s->dir) == 0;
}

/* --- whose is it --- */

/* Whoever can write to `one` can write to `other`. */
static bool is_no_wider(const struct stat *one, const struct stat *other)
{
    if (one->st_mode & S_IWOTH && !(other->st_mode & S_IWOTH))
        return false;
    return !(one->st_mode & S_IWGRP) ||
           (other->st_mode & S_IWGRP && other->st_gid == one->st_gid);
}

/* Only those can change it who run as us already, through the object that this
 * code is in: an installation of another user's, a build tree of a group's. */
static bool is_kin(const struct self *s, const struct stat *sb)
{
    if (sb->st_uid != geteuid() && sb->st_uid != 0 &&
        sb->st_uid != s->file.st_uid && sb->st_uid != s->dir.st_uid)
        return false;
    /* In a sticky folder, not all who can write to it can replace the object. */
    return is_no_wider(sb, &s->file) ||
           (!(s->dir.st_mode & S_ISVTX) && is_no_wider(sb, &s->dir));
}

/* The file and all folders above it, as far as those that hold the object as
 * well; no links. Whoever can change one of these changes the object, too. */
static bool is_kin_path(const struct self *s, const char *path)
{
    char at[PATH_MAX];
    struct stat sb;
    char *slash;

    if (!realpath(path, at) || strcmp(at, path) != 0 || lstat(at, &sb) < 0 ||
        !S_ISREG(sb.st_mode))
        return false;
    while (is_kin(s, &sb)) {
        slash = strrchr(at, '/');
        *slash = '\0';
        if (!strncmp(s->path, at, (size_t)(slash - at)) &&
            s->path[slash - at] == '/')
            return true;
        if (lstat(at, &sb) < 0)
            return false;
    }
    return false;
}

/* WEIR_ENOENT: it is not there. */
static int judge_file(const struct self *s, const char *path, weir_err *err)
{
    int fd = -1, r;

    if (access(path, R_OK) < 0)
        return WEIR_ENOENT;
    r = wr_own_open(path, O_RDONLY, WR_OWN_WAY, &fd, err);
    if (r == 0)
        close(fd);
    return r < 0 && s && is_kin_path(s, path) ? 0 : r;
}

/* --- where is it --- */

/* FOLDER/PLACE/NAME without the ".." in `place`, each of which takes a name off
 * the folder: that has no links. False: too long. */
static bool join_path(const char *folder, const char *place, const char *name,
                      char buf[PATH_MAX])
{
    char at[PATH_MAX];

    if (*place == '/')
        folder = "";
    if (strlen(folder) >= sizeof(at))
        return false;
    strcpy(at, folder);
    for (;; place += strcspn(place, "/")) {
        place += strspn(place, "/");
        if (!strncmp(place, "./", 2) || !strcmp(place, "."))
            continue;
        if (strncmp(place, "../", 3) != 0 && strcmp(place, "..") != 0)
            break;
        if (strrchr(at, '/'))
            *strrchr(at, '/') = '\0';
    }
    return snprintf(buf, PATH_MAX, "%s/%s%s%s", at, place, *place ? "/" : "",
                    name) < PATH_MAX;
}

/* A place to look at; what is not ours there is only told if there is nothing
 * that is. */
struct file_search {
    const struct self *self; /* borrowed; NULL: unknown */
    const char *name;
    int r; /* of what was found first that is not ours */
    weir_err why;
};

static bool look_at(struct file_search *s, const char *folder,
                    const char *place, char buf[PATH_MAX])
{
    weir_err e;
    int r;

    if (!join_path(folder, place, s->name, buf))
        return false;
    r = judge_file(s->self, buf, &e);
    if (r < 0 && r != WEIR_ENOENT && !s->r) {
        s->r = r;
        s->why = e;
    }
    return r == 0;
}

/* Relative to the object: in a build tree, whose top folder holds the command,
 * and src/ libweir; or alone with it in a folder. */
static bool is_in_tree(struct file_search *s, const char *tree,
                       char buf[PATH_MAX])
{
    char from[PATH_MAX];

    snprintf(from, sizeof(from), "../%s", tree);
    return look_at(s, s->self->folder, "", buf) ||
           look_at(s, s->self->folder, s->self->is_library ? from : tree, buf);
}

/* The same in an installation, wherever it was moved to. */
static bool is_installed(struct file_search *s, const char *place,
                         char buf[PATH_MAX])
{
    char from[PATH_MAX];

    if (*place == '/')
        return false;
    snprintf(from, sizeof(from), "%s/%s",
             s->self->is_library ? WR_UP_FROM_LIB : WR_UP_FROM_BIN, place);
    return look_at(s, s->self->folder, from, buf);
}

int wr_weir_file(const char *tree, const char *place, const char *name,
                 char buf[PATH_MAX], weir_err *err)
{
    struct file_search s = {.name = name};
    struct self self;

    if (find_self(&self)) {
        s.self = &self;
        if (is_in_tree(&s, tree, buf) || is_installed(&s, place, buf))
            return 0;
    }
    if (look_at(&s, WR_PREFIX, place, buf))
        return 0;
    if (s.r)
        return wr_fail(err, s.r, "%s", s.why.msg);
    return wr_fail(err, WEIR_ENOENT, "'%s': missing", buf);
}

static bool is_file(const char *folder, const char *name, char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%s/%s", folder, name);

    return n > 0 && (size_t)n < cap && access(buf, R_OK) == 0;
}

static bool is_named(const char *list, const char *name, char *buf, size_t cap)
{
    char folder[PATH_MAX];

    while (*list) {
        size_t len = strcspn(list, ":");

        if (len > 0 && len < sizeof(folder)) {
            snprintf(folder, sizeof(folder), "%.*s", (int)len, list);
            if (is_file(folder, name, buf, cap))
                return true;
        }
        list += len + (list[len] == ':');
    }
    return false;
}

/* NULL: the usual folders. */
static const char *named_folders(void)
{
    const char *named = secure_getenv("WEIR_MODULES");

    return named && *named ? named : NULL;
}

int wr_module_find(const char *name, const char *tree, char buf[PATH_MAX],
                   weir_err *err)
{
    const char *named = named_folders();
    char file[64];

    snprintf(file, sizeof(file), "weir-%s.so", name);
    if (!named)
        return wr_weir_file(tree, WR_LIBDIR "/weir", file, buf, err);
    if (is_named(named, file, buf, PATH_MAX))
        return 0;
    return wr_fail(err, WEIR_ENOENT, "no %s in WEIR_MODULES, '%s'", file,
                   named);
}

static int fail_find(const struct wr_module *m, const weir_err *why,
                     weir_err *err)
{
    if (why->code != WEIR_ENOENT || named_folders())
        return wr_fail(err, why->code, "%s: %s", m->who, why->msg);
    if (m->unbuilt)
        return wr_fail(err, WEIR_ENOTSUP, "%s: this weir was built without %s",
                       m->who, m->unbuilt);
    return wr_fail(err, WEIR_ENOENT,
                   "%s: no weir-%s.so beside weir nor in '" WR_MODULE_DIR
                   "' (WEIR_MODULES names other folders)",
                   m->who, m->name);
}

static int fail_load(const struct wr_module *m, const char *path, weir_err *err)
{
    const char *why = dlerror();
    bool lacks = why && strstr(why, m->library) && strstr(why, "No such file");

    return wr_fail(err, WEIR_ENOENT, "'%s': cannot load: %s%s%s%s", path,
                   why ? why : "no reason given",
                   lacks ? " (Debian: install " : "", lacks ? m->package : "",
                   lacks ? ")" : "");
}

int wr_module_load(const struct wr_module *m, const void **ret, weir_err *err)
{
    const struct wr_module_made *made;
    char path[PATH_MAX];
    weir_err why;
    void *handle;
    int r = wr_module_find(m->name, m->tree, path, &why);

    if (r < 0)
        return fail_find(m, &why, err);
    if (m->prepare)
        m->prepare();
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        return fail_load(m, path, err);
    made = dlsym(handle, m->symbol);
    if (!made)
        return wr_fail(err, WEIR_EFORMAT, "'%s': it has no %s", path,
                       m->symbol);
    if (made->version != WEIR_VERSION || made->bytes != m->bytes)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s': belongs to another version of weir; install or "
                       "build both together",
                       path);
    *ret = made;
    return 0;
}
