/* The reader as a Python module: stable ABI of 3.11. The core knows nothing of Python; what it asks of the program
 * around goes through the functions here, which take the GIL for as long as they run. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "core/reader.h"
#include "core/tags.h"
#include "core/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct tables tables;
static struct group_table groups;
static PyObject *make_page_of; /* what describes 256 characters */

/* ---- What the core asks for ---- */

struct python_host {
    struct host host;
    PyObject *program; /* attachments.Program: its methods answer */
    PyThreadState *thread;
};

static struct python_host *enter(struct host *host) {
    struct python_host *python = (struct python_host *)host;
    PyEval_RestoreThread(python->thread);
    return python;
}

static void leave(struct python_host *python) { python->thread = PyEval_SaveThread(); }

static PyObject *bytes_of(span text) {
    return PyBytes_FromStringAndSize((const char *)text.at, (Py_ssize_t)size_of(text));
}

static PyObject *text_of(span text) {
    return PyUnicode_DecodeUTF8((const char *)text.at, (Py_ssize_t)size_of(text), "replace");
}

/* What the program answered is copied into the arena. Memory that is not there must not end the message here, where the
 * GIL is held and an object is owned: then the copying fails instead. */
typedef bool (*copier)(PyObject *answer, struct arena *arena, void *into);

static bool copy_answer(PyObject *answer, copier copy, struct arena *arena, void *into) {
    jmp_buf outer;
    volatile bool fits = false;
    if (!answer)
        return false;
    memcpy(&outer, &arena->failed, sizeof outer);
    if (!setjmp(arena->failed))
        fits = copy(answer, arena, into);
    else
        PyErr_NoMemory();
    memcpy(&arena->failed, &outer, sizeof outer);
    Py_DECREF(answer);
    return fits;
}

static bool copy_bytes(PyObject *answer, struct arena *arena, void *into) {
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(answer, &bytes, &size) < 0)
        return false;
    *(span *)into = arena_copy(arena, span_of(bytes, (size_t)size));
    return true;
}

static bool copy_words(PyObject *answer, struct arena *arena, void *into) {
    span_list *words = into;
    for (Py_ssize_t i = 0; i < PyList_Size(answer); i++) {
        span word;
        if (!copy_bytes(PyList_GetItem(answer, i), arena, &word))
            return false;
        *LIST_ADD(arena, words) = word;
    }
    return !PyErr_Occurred();
}

/* (role, shown as, octets, charset, (content type, charset, encoding, disposition, filename, size)) of each. */
static bool copy_opened(PyObject *answer, struct arena *arena, void *into) {
    opened_list *found = into;
    for (Py_ssize_t i = 0; i < PyList_Size(answer); i++) {
        int role, as;
        const char *octets, *texts[6];
        Py_ssize_t sizes[6], n_octets, size;
        if (!PyArg_ParseTuple(PyList_GetItem(answer, i), "iiy#y#(y#y#y#y#y#n)", &role, &as, &octets, &n_octets, &texts[0],
                              &sizes[0], &texts[1], &sizes[1], &texts[2], &sizes[2], &texts[3], &sizes[3], &texts[4],
                              &sizes[4], &texts[5], &sizes[5], &size))
            return false;
        struct opened *opened = LIST_ADD(arena, found);
        span copies[6];
        for (int k = 0; k < 6; k++)
            copies[k] = arena_copy(arena, span_of(texts[k], (size_t)sizes[k]));
        *opened = (struct opened){
            .role = (enum opened_role)role, .as = (enum shown_as)as, .charset = copies[0],
            .octets = arena_copy(arena, span_of(octets, (size_t)n_octets)),
            .part = {copies[1], copies[2], copies[3], copies[4], copies[5], (size_t)size},
        };
    }
    return !PyErr_Occurred();
}

static const struct page *make_page(struct host *host, uint32_t number) {
    struct python_host *python = enter(host);
    const struct page *page = atomic_load_explicit(&tables.pages[number], memory_order_acquire);
    PyObject *described = page ? NULL : PyObject_CallFunction(make_page_of, "I", number);
    char *bytes;
    Py_ssize_t size;
    if (described && PyBytes_AsStringAndSize(described, &bytes, &size) == 0 && (size_t)size >= sizeof(struct page)) {
        struct page *made = malloc((size_t)size);
        if (made) {
            memcpy(made, bytes, (size_t)size);
            atomic_store_explicit(&tables.pages[number], made, memory_order_release);
        } else
            PyErr_NoMemory();
        page = made;
    }
    Py_XDECREF(described);
    leave(python);
    return page;
}

static bool find_codec(struct host *host, span name, struct codec *codec) {
    struct python_host *python = enter(host);
    int kind = 0, is_default = 0;
    Py_ssize_t size = 0;
    const char *points = NULL;
    PyObject *found = PyObject_CallMethod(python->program, "find_codec", "y#", (const char *)name.at, (Py_ssize_t)size_of(name));
    bool fits = found && PyArg_ParseTuple(found, "ipz#", &kind, &is_default, &points, &size);
    if (fits) {
        codec->kind = (enum codec_kind)kind;
        codec->is_default = is_default;
        if (codec->kind == CODEC_SINGLE_BYTES) {
            /* The program keeps these tables for as long as it lives. */
            fits = points && size == 256 * sizeof(uint16_t);
            codec->points = (const uint16_t *)(const void *)points;
            if (!fits)
                PyErr_SetString(PyExc_ValueError, "a table of single bytes has 256 numbers");
        }
    }
    Py_XDECREF(found);
    leave(python);
    return fits;
}

static bool ask(struct host *host, enum ask what, span text, span other, struct arena *arena, span *answer) {
    static const char *const METHODS[] = {"decode", "compose", "stem", "signed", "uudecode"};
    struct python_host *python = enter(host);
    PyObject *found = what == ASK_DECODE
        ? PyObject_CallMethod(python->program, METHODS[what], "y#y#", (const char *)text.at, (Py_ssize_t)size_of(text),
                              (const char *)other.at, (Py_ssize_t)size_of(other))
        : PyObject_CallMethod(python->program, METHODS[what], "y#", (const char *)text.at, (Py_ssize_t)size_of(text));
    bool fits = copy_answer(found, copy_bytes, arena, answer);
    leave(python);
    return fits;
}

static bool open_attachment(struct host *host, enum shown_as as, span octets, size_t most_parts, struct arena *arena,
                            opened_list *opened) {
    struct python_host *python = enter(host);
    PyObject *found = PyObject_CallMethod(python->program, "open", "iy#n", (int)as, (const char *)octets.at,
                                          (Py_ssize_t)size_of(octets), (Py_ssize_t)most_parts);
    bool fits = copy_answer(found, copy_opened, arena, opened);
    leave(python);
    return fits;
}

static bool split(struct host *host, span text, struct arena *arena, span_list *words) {
    struct python_host *python = enter(host);
    PyObject *found = PyObject_CallMethod(python->program, "split", "y#", (const char *)text.at, (Py_ssize_t)size_of(text));
    bool fits = copy_answer(found, copy_words, arena, words);
    leave(python);
    return fits;
}

/* ---- Vocabulary ---- */

typedef struct {
    PyObject_HEAD
    struct vocabulary tokens;
    bool is_busy; /* a call without the GIL uses it */
} Vocabulary;

static PyTypeObject *vocabulary_type;

static PyObject *vocabulary_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    const char *key;
    Py_ssize_t size;
    static char *names[] = {"key", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y#", names, &key, &size))
        return NULL;
    if (size != 16) {
        PyErr_SetString(PyExc_ValueError, "a key has 16 bytes");
        return NULL;
    }
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Vocabulary *self = (Vocabulary *)alloc(type, 0);
    uint64_t words[2];
    memcpy(words, key, sizeof words);
    if (self && !vocabulary_begin(&self->tokens, words)) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void vocabulary_dealloc(Vocabulary *self) {
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    vocabulary_free(&self->tokens);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static bool is_free(bool is_busy) {
    if (is_busy)
        PyErr_SetString(PyExc_RuntimeError, "another thread uses it: each thread needs one of its own");
    return !is_busy;
}

static Py_ssize_t vocabulary_length(Vocabulary *self) { return (Py_ssize_t)self->tokens.n_tokens; }

/* ids(tokens: list of bytes) -> bytes of uint32; tokens that have no id get the next ones. */
static PyObject *vocabulary_ids(Vocabulary *self, PyObject *tokens) {
    Py_ssize_t n = PyList_Size(tokens);
    if (n < 0 || !is_free(self->is_busy))
        return NULL;
    PyObject *answer = PyBytes_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof(uint32_t));
    if (!answer)
        return NULL;
    uint8_t *out = (uint8_t *)PyBytes_AsString(answer);
    for (Py_ssize_t i = 0; i < n; i++) {
        char *bytes;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(PyList_GetItem(tokens, i), &bytes, &size) < 0)
            goto failed;
        uint32_t id = vocabulary_id(&self->tokens, span_of(bytes, (size_t)size));
        if (id == NO_TOKEN) {
            PyErr_NoMemory();
            goto failed;
        }
        memcpy(out + (size_t)i * sizeof id, &id, sizeof id);
    }
    return answer;
failed:
    Py_DECREF(answer);
    return NULL;
}

/* Ids that the caller gave; false where one is none. */
static bool read_ids(Vocabulary *self, PyObject *object, Py_buffer *ids) {
    if (!is_free(self->is_busy) || PyObject_GetBuffer(object, ids, PyBUF_SIMPLE) < 0)
        return false;
    if (ids->len % (Py_ssize_t)sizeof(uint32_t) == 0) {
        const uint8_t *at = ids->buf;
        Py_ssize_t i = 0;
        for (uint32_t id; i < ids->len; i += (Py_ssize_t)sizeof id) {
            memcpy(&id, at + i, sizeof id);
            if (id >= self->tokens.n_tokens)
                break;
        }
        if (i == ids->len)
            return true;
    }
    PyBuffer_Release(ids);
    PyErr_SetString(PyExc_IndexError, "no token has this id");
    return false;
}

static uint32_t id_at(const Py_buffer *ids, size_t i) {
    uint32_t id;
    memcpy(&id, (const uint8_t *)ids->buf + i * sizeof id, sizeof id);
    return id;
}

/* texts(ids) -> list of str */
static PyObject *vocabulary_texts(Vocabulary *self, PyObject *object) {
    Py_buffer ids;
    if (!read_ids(self, object, &ids))
        return NULL;
    size_t n = (size_t)ids.len / sizeof(uint32_t);
    PyObject *answer = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; answer && i < n; i++) {
        PyObject *text = text_of(vocabulary_text(&self->tokens, id_at(&ids, i)));
        if (!text || PyList_SetItem(answer, (Py_ssize_t)i, text) < 0)
            Py_CLEAR(answer);
    }
    PyBuffer_Release(&ids);
    return answer;
}

/* hashes(ids) -> bytes of uint64: those that model files keep */
static PyObject *vocabulary_hashes(Vocabulary *self, PyObject *object) {
    Py_buffer ids;
    if (!read_ids(self, object, &ids))
        return NULL;
    size_t n = (size_t)ids.len / sizeof(uint32_t);
    PyObject *answer = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(uint64_t)));
    uint8_t *out = answer ? (uint8_t *)PyBytes_AsString(answer) : NULL;
    for (size_t i = 0; out && i < n; i++) {
        uint64_t hash = file_hash(vocabulary_text(&self->tokens, id_at(&ids, i)), (const uint64_t[2]){0, 0});
        memcpy(out + i * sizeof hash, &hash, sizeof hash);
    }
    PyBuffer_Release(&ids);
    return answer;
}

/* groups(ids) -> bytes: the number of each token's group */
static PyObject *vocabulary_groups(Vocabulary *self, PyObject *object) {
    Py_buffer ids;
    if (!read_ids(self, object, &ids))
        return NULL;
    size_t n = (size_t)ids.len / sizeof(uint32_t);
    PyObject *answer = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);
    uint8_t *out = answer ? (uint8_t *)PyBytes_AsString(answer) : NULL;
    for (size_t i = 0; out && i < n; i++)
        out[i] = group_of(&groups, vocabulary_text(&self->tokens, id_at(&ids, i)));
    PyBuffer_Release(&ids);
    return answer;
}

/* tokens() -> (text of all, bytes of uint64: where each ends in it) */
static PyObject *vocabulary_tokens(Vocabulary *self, PyObject *unused) {
    (void)unused;
    if (!is_free(self->is_busy))
        return NULL;
    size_t n = self->tokens.n_tokens;
    _Static_assert(sizeof(size_t) == sizeof(uint64_t), "ends of tokens are numbers of 64 bits");
    PyObject *text = bytes_of(span_of(self->tokens.text, n ? self->tokens.ends[n - 1] : 0));
    PyObject *ends = bytes_of(span_of(self->tokens.ends, n * sizeof(size_t)));
    return Py_BuildValue("NN", text, ends);
}

/* add(other) -> bytes of uint32: the id here of each of the other's tokens */
static PyObject *vocabulary_add(Vocabulary *self, PyObject *object) {
    if (!PyObject_TypeCheck(object, vocabulary_type)) {
        PyErr_SetString(PyExc_TypeError, "a Vocabulary is needed");
        return NULL;
    }
    Vocabulary *other = (Vocabulary *)object;
    if (!is_free(self->is_busy || other->is_busy))
        return NULL;
    size_t n = other->tokens.n_tokens;
    PyObject *answer = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(uint32_t)));
    uint8_t *out = answer ? (uint8_t *)PyBytes_AsString(answer) : NULL;
    for (size_t i = 0; out && i < n; i++) {
        uint32_t id = self == other ? (uint32_t)i
                                    : vocabulary_id(&self->tokens, vocabulary_text(&other->tokens, (uint32_t)i));
        if (id == NO_TOKEN) {
            Py_DECREF(answer);
            return PyErr_NoMemory();
        }
        memcpy(out + i * sizeof id, &id, sizeof id);
    }
    return answer;
}

static PyMethodDef vocabulary_methods[] = {
    {"ids", (PyCFunction)vocabulary_ids, METH_O, "The id of each token, a list of bytes, as uint32."},
    {"texts", (PyCFunction)vocabulary_texts, METH_O, "The tokens with these ids."},
    {"hashes", (PyCFunction)vocabulary_hashes, METH_O, "The hashes of the tokens with these ids, as uint64."},
    {"groups", (PyCFunction)vocabulary_groups, METH_O, "The groups of the tokens with these ids, as uint8."},
    {"tokens", (PyCFunction)vocabulary_tokens, METH_NOARGS, "The text of all tokens, and where each ends, as uint64."},
    {"add", (PyCFunction)vocabulary_add, METH_O, "Adds another vocabulary's tokens; their ids here, as uint32."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot vocabulary_slots[] = {
    {Py_tp_doc, "Tokens and their ids, both ways; key: 16 secret bytes."},
    {Py_tp_new, vocabulary_new},
    {Py_tp_dealloc, vocabulary_dealloc},
    {Py_tp_methods, vocabulary_methods},
    {Py_sq_length, vocabulary_length},
    {0, NULL},
};

static PyType_Spec vocabulary_spec = {
    "spamnb.reader._core.Vocabulary", sizeof(Vocabulary), 0, Py_TPFLAGS_DEFAULT, vocabulary_slots,
};

/* ---- Reader ---- */

typedef struct {
    PyObject_HEAD
    struct reader reader;
    struct python_host python;
    struct rule_table rules;
    PyObject *program, *rule_list; /* the rules' texts stand in the list */
    bool is_busy;
} Reader;

/* The rules of header fields: a list of (name, is_beginning, is_volatile, how, extra, prefix), names and prefixes bytes. */
static bool read_rules(Reader *self, PyObject *list) {
    Py_ssize_t n = PyList_Size(list);
    if (n < 0 || !(self->rules.rules = calloc((size_t)n + 1, sizeof *self->rules.rules)))
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        struct header_rule *rule = &self->rules.rules[i];
        const char *name, *prefix;
        Py_ssize_t n_name, n_prefix;
        int is_beginning, is_volatile, how, extra;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "y#ppiiy#", &name, &n_name, &is_beginning, &is_volatile, &how,
                              &extra, &prefix, &n_prefix))
            return false;
        *rule = (struct header_rule){
            .name = span_of(name, (size_t)n_name), .is_beginning = is_beginning, .is_volatile = is_volatile,
            .how = (uint8_t)how, .extra = (uint8_t)extra, .prefix = span_of(prefix, (size_t)n_prefix)};
    }
    self->rules.n_rules = (size_t)n;
    self->rules.other = (struct header_rule){.how = HOW_NAMES};
    return true;
}

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"rules", "program", "ngrams", "body_only", "stems", "splits", NULL};
    PyObject *rules, *program;
    unsigned ngrams;
    int body_only, stems, splits;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOIppp", names, &rules, &program, &ngrams, &body_only, &stems, &splits))
        return NULL;
    if (!PyList_Check(rules) || !make_page_of) {
        PyErr_SetString(PyExc_TypeError, "rules are a list, and the tables must be there before a reader");
        return NULL;
    }
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Reader *self = (Reader *)alloc(type, 0);
    if (!self)
        return NULL;
    Py_INCREF(program);
    self->program = program;
    self->rule_list = PyList_GetSlice(rules, 0, PyList_Size(rules)); /* nobody else changes it */
    self->python = (struct python_host){{make_page, find_codec, ask, open_attachment, split}, program, NULL};
    self->reader.tables = &tables;
    self->reader.rules = &self->rules;
    self->reader.host = &self->python.host;
    self->reader.options = (struct options){ngrams, body_only, stems, splits};
    if (!self->rule_list || !read_rules(self, self->rule_list)) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void reader_dealloc(Reader *self) {
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    arena_free(&self->reader.arena);
    free(self->rules.rules);
    Py_XDECREF(self->program);
    Py_XDECREF(self->rule_list);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* The exception for a message that could not be read. */
static void raise_failure(enum failure failure) {
    if (PyErr_Occurred())
        return;
    if (failure == FAILED_MEMORY)
        PyErr_NoMemory();
    else
        PyErr_SetString(PyExc_RuntimeError, "the reader of messages failed");
}

/* One message of a call: bytes that Python holds, or the name of a file. */
struct source {
    Py_buffer buffer; /* of the bytes, or of the name */
    bool is_path;
    int error;
};

/* The bytes of a file; NULL with errno where it cannot be read. */
static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    size_t room = 1 << 16, used = 0;
    uint8_t *bytes = file ? malloc(room) : NULL;
    while (bytes && !ferror(file)) {
        used += fread(bytes + used, 1, room - used, file);
        if (used < room)
            break;
        uint8_t *grown = room < SIZE_MAX / 4 ? realloc(bytes, 2 * room) : NULL;
        if (!grown) {
            errno = ENOMEM;
            break;
        }
        bytes = grown;
        room *= 2;
    }
    bool fits = bytes && !ferror(file) && used < room;
    int error = errno ? errno : EIO;
    if (file)
        fclose(file);
    if (!fits) {
        free(bytes);
        errno = error;
        return NULL;
    }
    *size = used;
    return bytes;
}

/* What is known of each message of a call. */
struct answers {
    uint32_t *lengths, *cuts;
    uint8_t *digests;
};

/* Reads the messages; without the GIL. */
static enum failure read_sources(struct reader *reader, struct source *sources, size_t n, bool identify,
                                 struct answers *answers) {
    for (size_t i = 0; i < n; i++) {
        struct source *source = &sources[i];
        span raw = span_of(source->buffer.buf, (size_t)source->buffer.len);
        uint8_t *file = NULL;
        if (source->is_path) {
            size_t size = 0;
            errno = 0;
            file = read_file(source->buffer.buf, &size);
            source->error = file ? 0 : errno;
            raw = span_of(file, size);
        }
        if (!source->error) {
            enum failure failure = read_message(reader, raw, identify, true);
            if (failure) {
                free(file);
                return failure;
            }
            memcpy(answers->digests + i * DIGEST, reader->message.digest, DIGEST);
            answers->cuts[i] = reader->message.cuts;
        }
        free(file);
        size_t size;
        if (!row_end(reader->vocabulary, &size))
            return FAILED_MEMORY;
        answers->lengths[i] = (uint32_t)size;
    }
    return FAILED_NOT;
}

/* Fills in what a call reads: bytes as they are, str and other names as paths. */
static bool open_source(struct source *source, PyObject *object) {
    if (PyBytes_Check(object))
        return PyObject_GetBuffer(object, &source->buffer, PyBUF_SIMPLE) == 0;
    PyObject *path = NULL;
    if (!PyUnicode_FSConverter(object, &path)) /* which refuses names with NUL */
        return false;
    source->is_path = true;
    bool fits = PyObject_GetBuffer(path, &source->buffer, PyBUF_SIMPLE) == 0;
    Py_DECREF(path);
    return fits;
}

static PyObject *answer_of(Reader *self, Vocabulary *vocabulary, struct source *sources, size_t n, struct answers *answers) {
    struct vocabulary *tokens = &vocabulary->tokens;
    (void)self;
    PyObject *errors = PyList_New(0);
    for (size_t i = 0; errors && i < n; i++)
        if (sources[i].error) {
            PyObject *error = Py_BuildValue("ni", (Py_ssize_t)i, sources[i].error);
            if (!error || PyList_Append(errors, error) < 0)
                Py_CLEAR(errors);
            Py_XDECREF(error);
        }
    return !errors ? NULL : Py_BuildValue(
        "y#y#y#y#N", (const char *)answers->lengths, (Py_ssize_t)(n * sizeof(uint32_t)), (const char *)tokens->cells,
        (Py_ssize_t)(tokens->n_cells * sizeof(struct cell)), (const char *)answers->digests, (Py_ssize_t)(n * DIGEST),
        (const char *)answers->cuts, (Py_ssize_t)(n * sizeof(uint32_t)), errors);
}

/* read(messages, vocabulary, identify) -> (lengths, cells, digests, cuts, errors) */
static PyObject *reader_read(Reader *self, PyObject *args) {
    PyObject *messages, *object, *answer = NULL;
    int identify;
    if (!PyArg_ParseTuple(args, "OOp", &messages, &object, &identify))
        return NULL;
    if (!PyObject_TypeCheck(object, vocabulary_type) || !PyList_Check(messages)) {
        PyErr_SetString(PyExc_TypeError, "a list of messages and a Vocabulary are needed");
        return NULL;
    }
    Vocabulary *vocabulary = (Vocabulary *)object;
    if (!is_free(self->is_busy || vocabulary->is_busy))
        return NULL;
    size_t n = (size_t)PyList_Size(messages), n_open = 0;
    struct source *sources = calloc(n + 1, sizeof *sources);
    struct answers answers = {calloc(n + 1, sizeof(uint32_t)), calloc(n + 1, sizeof(uint32_t)), calloc(n + 1, DIGEST)};
    if (!sources || !answers.lengths || !answers.cuts || !answers.digests)
        PyErr_NoMemory();
    else {
        self->is_busy = vocabulary->is_busy = true;
        while (n_open < n && open_source(&sources[n_open], PyList_GetItem(messages, (Py_ssize_t)n_open)))
            n_open++;
        if (n_open == n) {
            self->reader.vocabulary = &vocabulary->tokens;
            leave(&self->python);
            enum failure failure = read_sources(&self->reader, sources, n, identify, &answers);
            enter(&self->python.host);
            if (failure)
                raise_failure(failure);
            else
                answer = answer_of(self, vocabulary, sources, n, &answers);
        }
        vocabulary->tokens.row_begin = 0;
        row_give_up(&vocabulary->tokens);
        self->is_busy = vocabulary->is_busy = false;
        for (size_t i = 0; i < n_open; i++)
            PyBuffer_Release(&sources[i].buffer);
    }
    free(sources);
    free(answers.lengths);
    free(answers.cuts);
    free(answers.digests);
    return answer;
}

/* ---- What people ask for ---- */

static PyObject *texts_of(const span_list *const lists[], size_t n_lists) {
    PyObject *answer = PyList_New(0);
    for (size_t l = 0; l < n_lists; l++)
        for (size_t i = 0; answer && i < lists[l]->count; i++) {
            PyObject *text = text_of(lists[l]->items[i]);
            if (!text || PyList_Append(answer, text) < 0)
                Py_CLEAR(answer);
            Py_XDECREF(text);
        }
    return answer;
}

static PyObject *urls_of(const struct url_list *urls) {
    PyObject *answer = PyList_New(0);
    for (size_t i = 0; answer && i < url_count(urls); i++) {
        PyObject *text = text_of(url_at(urls, i));
        if (!text || PyList_Append(answer, text) < 0)
            Py_CLEAR(answer);
        Py_XDECREF(text);
    }
    return answer;
}

static bool append_name(PyObject *list, const char *beginning, const char *name) {
    PyObject *text = PyUnicode_FromFormat("%s%s", beginning, name);
    bool fits = text && PyList_Append(list, text) == 0;
    Py_XDECREF(text);
    return fits;
}

static PyObject *names_of(uint32_t bits, const char *const names[], size_t n, const uint64_t *tags) {
    PyObject *answer = PyList_New(0);
    for (size_t i = 0; answer && i < n; i++)
        if (bits >> i & 1 && !append_name(answer, "", names[i]))
            Py_CLEAR(answer);
    for (unsigned tag = 0; tags && answer && tag < TAG_COUNT; tag++)
        if (tags[tag / 64] >> tag % 64 & 1 && !append_name(answer, "tag:", tag ? TAGS[tag].name.text : "unknown"))
            Py_CLEAR(answer);
    return answer;
}

static PyObject *fields_of(const struct message *message) {
    PyObject *answer = PyList_New(0);
    for (size_t i = 0; answer && i < message->section.fields.count; i++) {
        PyObject *field = Py_BuildValue("NN", text_of(message->section.fields.items[i].name), text_of(message->values.items[i]));
        if (!field || PyList_Append(answer, field) < 0)
            Py_CLEAR(answer);
        Py_XDECREF(field);
    }
    return answer;
}

static PyObject *parts_of(const struct message *message) {
    PyObject *answer = PyList_New(0);
    for (size_t i = 0; answer && i < message->parts.count; i++) {
        const struct part *part = &message->parts.items[i];
        PyObject *described = Py_BuildValue("NNNNNn", text_of(part->content_type), text_of(part->charset),
                                            text_of(part->encoding), text_of(part->disposition), text_of(part->filename),
                                            (Py_ssize_t)part->size);
        if (!described || PyList_Append(answer, described) < 0)
            Py_CLEAR(answer);
        Py_XDECREF(described);
    }
    return answer;
}

/* parse(raw) -> (fields, texts, links, images, forms, hidden, facts, parts, cuts, digest) */
static PyObject *reader_parse(Reader *self, PyObject *raw) {
    Py_buffer buffer;
    if (!PyBytes_Check(raw)) {
        PyErr_SetString(PyExc_TypeError, "a message is bytes");
        return NULL;
    }
    if (!is_free(self->is_busy) || PyObject_GetBuffer(raw, &buffer, PyBUF_SIMPLE) < 0)
        return NULL;
    self->is_busy = true;
    leave(&self->python);
    enum failure failure = read_message(&self->reader, span_of(buffer.buf, (size_t)buffer.len), true, false);
    enter(&self->python.host);
    PyObject *answer = NULL;
    if (failure)
        raise_failure(failure);
    else {
        const struct message *m = &self->reader.message;
        const span_list *lists[] = {&m->texts, &m->attached, &m->extracted}, *hidden[] = {&m->hidden};
        answer = Py_BuildValue("NNNNNNNNNy#", fields_of(m), texts_of(lists, COUNT_OF(lists)), urls_of(&m->links),
                               urls_of(&m->images), urls_of(&m->forms), texts_of(hidden, 1),
                               names_of(m->facts, FACT_NAMES, N_FACTS, m->tags), parts_of(m),
                               names_of(m->cuts, CUT_NAMES, N_CUTS, NULL), (const char *)m->digest, (Py_ssize_t)DIGEST);
    }
    self->is_busy = false;
    PyBuffer_Release(&buffer);
    return answer;
}

static PyMethodDef reader_methods[] = {
    {"read", (PyCFunction)reader_read, METH_VARARGS, "Reads messages (bytes, or paths) into rows of a vocabulary's ids."},
    {"parse", (PyCFunction)reader_parse, METH_O, "What stands in one message."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot reader_slots[] = {
    {Py_tp_doc, "Reads messages; for one thread at a time."},
    {Py_tp_new, reader_new},
    {Py_tp_dealloc, reader_dealloc},
    {Py_tp_methods, reader_methods},
    {0, NULL},
};

static PyType_Spec reader_spec = {"spamnb.reader._core.Reader", sizeof(Reader), 0, Py_TPFLAGS_DEFAULT, reader_slots};

/* ---- Tables ---- */

static bool copy_numbers(uint16_t numbers[256], const char *bytes, Py_ssize_t size) {
    if (size == 256 * sizeof *numbers)
        memcpy(numbers, bytes, (size_t)size);
    return size == 256 * sizeof *numbers;
}

/* set_tables(references, windows_1252, latin_1, make_page, kinds, groups, secret): once, when the package is imported.
 * references: list of (name, text); kinds: list of (prefix, group); groups: those of text, pairs and headers. */
static PyObject *set_tables(PyObject *module, PyObject *args) {
    PyObject *references, *page, *kinds;
    const char *cp1252, *latin_1, *secret;
    Py_ssize_t n_cp1252, n_latin_1, n_secret;
    int of_text, of_pairs, of_headers;
    (void)module;
    if (!PyArg_ParseTuple(args, "Oy#y#OO(iii)y#", &references, &cp1252, &n_cp1252, &latin_1, &n_latin_1, &page, &kinds,
                          &of_text, &of_pairs, &of_headers, &secret, &n_secret))
        return NULL;
    if (make_page_of) /* readers may be at work: the tables stay */
        Py_RETURN_NONE;
    Py_ssize_t n = PyList_Size(references), n_kinds = PyList_Size(kinds);
    if (n < 0 || n_kinds < 0 || !copy_numbers(tables.windows_1252, cp1252, n_cp1252) ||
        !copy_numbers(tables.latin_1, latin_1, n_latin_1) || n_secret != sizeof tables.secret) {
        PyErr_SetString(PyExc_ValueError, "tables of another form are needed");
        return NULL;
    }
    memcpy(tables.secret, secret, sizeof tables.secret);
    groups = (struct group_table){calloc((size_t)n_kinds + 1, sizeof *groups.kinds), (size_t)n_kinds, (uint8_t)of_text,
                                  (uint8_t)of_pairs, (uint8_t)of_headers};
    if (!groups.kinds || !references_begin(&tables.references, (size_t)n))
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n + n_kinds; i++) {
        const char *name, *text = NULL;
        Py_ssize_t n_name, n_text = 0;
        int group = 0;
        PyObject *item = i < n ? PyList_GetItem(references, i) : PyList_GetItem(kinds, i - n);
        if (!(i < n ? PyArg_ParseTuple(item, "y#y#", &name, &n_name, &text, &n_text)
                    : PyArg_ParseTuple(item, "y#i", &name, &n_name, &group)))
            return NULL;
        if (i < n)
            references_add(&tables.references,
                           (struct reference){span_of(name, (size_t)n_name), span_of(text, (size_t)n_text)});
        else
            groups.kinds[i - n] = (struct token_kind){span_of(name, (size_t)n_name), (uint8_t)group};
    }
    /* The texts stand in these lists, which are kept for as long as the process lives. */
    Py_INCREF(references);
    Py_INCREF(kinds);
    Py_INCREF(page);
    make_page_of = page;
    words_begin();
    tags_begin();
    Py_RETURN_NONE;
}

/* token_kinds() -> the prefixes that the core writes */
static PyObject *token_kinds(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *answer = PyList_New(0);
    for (size_t i = 0; answer && i < N_TOKEN_KINDS; i++)
        if (!append_name(answer, "", TOKEN_KINDS[i]))
            Py_CLEAR(answer);
    return answer;
}

static PyMethodDef module_methods[] = {
    {"set_tables", set_tables, METH_VARARGS, "Hands the core what it needs to know."},
    {"token_kinds", token_kinds, METH_NOARGS, "The prefixes of the tokens that the core writes."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_core", "The reader of messages.", -1, module_methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&module_definition);
    PyObject *vocabulary = PyType_FromSpec(&vocabulary_spec), *reader = PyType_FromSpec(&reader_spec);
    if (!module || !vocabulary || !reader || PyModule_AddObjectRef(module, "Vocabulary", vocabulary) < 0 ||
        PyModule_AddObjectRef(module, "Reader", reader) < 0) {
        Py_XDECREF(module);
        module = NULL;
    } else {
        Py_INCREF(vocabulary);
        vocabulary_type = (PyTypeObject *)vocabulary;
    }
    Py_XDECREF(vocabulary);
    Py_XDECREF(reader);
    return module;
}
