/* The reader as a Python module: stable ABI of 3.11. The core knows nothing of Python; what it asks of the program
 * around goes through the functions here, which take the GIL for as long as they run. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "core/fit.h"
#include "core/reader.h"
#include "core/style.h"

#include <stdlib.h>

static struct tables tables;
static struct group_table groups;
static PyObject *make_page_of; /* what describes 256 characters */

/* ---- Objects of Python ---- */

#define AT_AND_SIZE(text) (text).at ? (const char *)(text).at : "", (Py_ssize_t)size_of(text) /* NULL would be None */

static PyObject *text_of(span text) { return PyUnicode_DecodeUTF8(AT_AND_SIZE(text), "replace"); }

/* Room for n items in a bytes object; at points to it, or is NULL where there is no memory. */
static PyObject *new_bytes(size_t n, size_t size, void *at) {
    PyObject *object = n <= PY_SSIZE_T_MAX / size ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * size)) : PyErr_NoMemory();
    *(void **)at = object ? PyBytes_AsString(object) : NULL;
    return object;
}

/* Adds an item, which is given away. Where that fails the list is given up, and NULL. */
static void append(PyObject **list, PyObject *item) {
    if (!item || PyList_Append(*list, item) < 0)
        Py_CLEAR(*list);
    Py_XDECREF(item);
}

static PyObject *new_object(PyTypeObject *type) { return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0); }

static void free_object(void *self) {
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static bool is_free(bool is_busy) {
    if (is_busy)
        PyErr_SetString(PyExc_RuntimeError, "another thread uses it: each thread needs one of its own");
    return !is_busy;
}

/* ---- Arrays of Python ---- */

enum { MAX_ARRAYS = 8 };

struct arrays {
    Py_buffer buffers[MAX_ARRAYS];
    size_t n;
};

static void close_arrays(struct arrays *arrays) {
    while (arrays->n)
        PyBuffer_Release(&arrays->buffers[--arrays->n]);
}

static PyObject *other_shapes(void) {
    PyErr_SetString(PyExc_ValueError, "arrays have other numbers or shapes, or do not fit together");
    return NULL;
}

/* Opens arrays by a form of two characters for each: what its numbers are (d: double, i: 4 bytes, q: 8 bytes, Q: 8 bytes
 * that are changed), and how many dimensions it has. ValueError, and none is open, where one is another. */
static bool open_arrays(struct arrays *arrays, PyObject *const objects[], const char *form) {
    for (arrays->n = 0; *form; form += 2) {
        Py_buffer *buffer = &arrays->buffers[arrays->n];
        int flags = PyBUF_ND | PyBUF_FORMAT | (*form == 'Q' ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(objects[arrays->n], buffer, flags) < 0) {
            close_arrays(arrays);
            return false;
        }
        arrays->n++;
        const char *format = buffer->format ? buffer->format : "";
        bool is_of_kind = strlen(format) == 1 && strchr(*form == 'd' ? "d" : "iIlLqQ", *format);
        if (!is_of_kind || buffer->itemsize != (*form == 'i' ? 4 : 8) || buffer->ndim != form[1] - '0') {
            close_arrays(arrays);
            other_shapes();
            return false;
        }
    }
    return true;
}

static size_t length_of(const Py_buffer *buffer) { return (size_t)buffer->shape[0]; }

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

/* What the program answered is copied into the arena. Memory that is not there must not end the message here, where the
 * GIL is held and an object is owned: then the copying fails instead. */
typedef bool (*copier)(PyObject *answer, struct arena *arena, void *into);

static bool copy_answer(struct python_host *python, PyObject *answer, copier copy, struct arena *arena, void *into) {
    jmp_buf outer;
    volatile bool fits = false;
    memcpy(&outer, &arena->failed, sizeof outer);
    if (!setjmp(arena->failed))
        fits = answer && copy(answer, arena, into);
    else
        PyErr_NoMemory();
    memcpy(&arena->failed, &outer, sizeof outer);
    Py_XDECREF(answer);
    leave(python);
    return fits;
}

/* Bytes; of None a span of NULL. */
static bool copy_bytes(PyObject *answer, struct arena *arena, void *into) {
    char *bytes = NULL;
    Py_ssize_t size = 0;
    if (answer != Py_None && PyBytes_AsStringAndSize(answer, &bytes, &size) < 0)
        return false;
    *(span *)into = bytes ? arena_copy(arena, span_of(bytes, (size_t)size)) : (span){0};
    return true;
}

/* (rest of the text, entity, whether it is whole) */
static bool copy_opened(PyObject *answer, struct arena *arena, void *into) {
    const char *rest, *entity;
    Py_ssize_t n_rest, n_entity;
    int is_whole;
    if (!PyArg_ParseTuple(answer, "y#y#p", &rest, &n_rest, &entity, &n_entity, &is_whole))
        return false;
    *(struct opened *)into = (struct opened){arena_copy(arena, span_of(rest, (size_t)n_rest)),
                                             arena_copy(arena, span_of(entity, (size_t)n_entity)), is_whole};
    return true;
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
            page = memcpy(made, bytes, (size_t)size);
            atomic_store_explicit(&tables.pages[number], page, memory_order_release);
        } else
            PyErr_NoMemory();
    }
    Py_XDECREF(described);
    leave(python);
    return page;
}

static bool ask(struct host *host, enum ask what, span text, span other, struct arena *arena, span *answer) {
    static const char *const METHODS[] = {"decode", "compose", "stem", "split", "uudecode", "letters"};
    struct python_host *python = enter(host);
    PyObject *found = PyObject_CallMethod(python->program, METHODS[what], what == ASK_DECODE ? "y#y#" : "y#",
                                          AT_AND_SIZE(text), AT_AND_SIZE(other));
    return copy_answer(python, found, copy_bytes, arena, answer);
}

static bool open_attachment(struct host *host, enum shown_as as, span octets, struct arena *arena, struct opened *opened) {
    struct python_host *python = enter(host);
    PyObject *found = PyObject_CallMethod(python->program, "open", "iy#", (int)as, AT_AND_SIZE(octets));
    return copy_answer(python, found, copy_opened, arena, opened);
}

/* ---- Vocabulary ---- */

typedef struct {
    PyObject_HEAD
    struct vocabulary tokens;
    bool is_busy; /* a call without the GIL uses it */
} Vocabulary;

static PyTypeObject *vocabulary_type;

static PyObject *vocabulary_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    Vocabulary *self = (Vocabulary *)new_object(type);
    if (self && !vocabulary_begin(&self->tokens, tables.secret)) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void vocabulary_dealloc(Vocabulary *self) {
    vocabulary_free(&self->tokens);
    free_object(self);
}

static Py_ssize_t vocabulary_length(Vocabulary *self) { return (Py_ssize_t)self->tokens.n_tokens; }

/* ids(text, lengths) -> bytes of uint32: the id of each token, which stand in the text one after the other; those that
 * have none get the next ones */
static PyObject *vocabulary_ids(Vocabulary *self, PyObject *args) {
    Py_buffer text;
    PyObject *object, *answer = NULL;
    struct arrays arrays;
    uint32_t *ids;
    if (!is_free(self->is_busy) || !PyArg_ParseTuple(args, "y*O", &text, &object))
        return NULL;
    if (!open_arrays(&arrays, &object, "i1")) {
        PyBuffer_Release(&text);
        return NULL;
    }
    const uint32_t *lengths = arrays.buffers[0].buf;
    size_t n = length_of(&arrays.buffers[0]);
    span rest = span_of(text.buf, (size_t)text.len);
    answer = new_bytes(n, sizeof *ids, &ids);
    for (size_t i = 0; answer && i < n; i++) {
        if (lengths[i] > size_of(rest)) {
            Py_CLEAR(answer);
            other_shapes();
        } else if ((ids[i] = vocabulary_id(&self->tokens, first_bytes(rest, lengths[i]))) == NO_TOKEN) {
            Py_CLEAR(answer);
            PyErr_NoMemory();
        }
        rest = skip_bytes(rest, lengths[i]);
    }
    close_arrays(&arrays);
    PyBuffer_Release(&text);
    return answer;
}

/* Opens ids of tokens, which the vocabulary has. */
static bool open_ids(Vocabulary *self, struct arrays *arrays, PyObject *object) {
    if (!is_free(self->is_busy) || !open_arrays(arrays, &object, "i1"))
        return false;
    const uint32_t *ids = arrays->buffers[0].buf;
    for (size_t i = 0; i < length_of(&arrays->buffers[0]); i++)
        if (ids[i] >= self->tokens.n_tokens) {
            close_arrays(arrays);
            other_shapes();
            return false;
        }
    return true;
}

static PyObject *pair_of(PyObject *first, PyObject *second) {
    PyObject *pair = first && second ? Py_BuildValue("OO", first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return pair;
}

/* take(ids) -> (text, lengths): the tokens with these ids, one after the other, and bytes of uint32 */
static PyObject *vocabulary_take(Vocabulary *self, PyObject *object) {
    struct arrays arrays;
    uint8_t *at;
    uint32_t *length;
    if (!open_ids(self, &arrays, object))
        return NULL;
    const uint32_t *ids = arrays.buffers[0].buf;
    size_t n = length_of(&arrays.buffers[0]), size = 0;
    for (size_t i = 0; i < n; i++)
        size += size_of(vocabulary_text(&self->tokens, ids[i]));
    PyObject *text = new_bytes(size, 1, &at), *lengths = new_bytes(n, sizeof *length, &length);
    for (size_t i = 0; text && lengths && i < n; i++) {
        span token = vocabulary_text(&self->tokens, ids[i]);
        length[i] = (uint32_t)size_of(token);
        memcpy(at, token.at, size_of(token));
        at += size_of(token);
    }
    close_arrays(&arrays);
    return pair_of(text, lengths);
}

/* describe(ids) -> (hashes, groups): of the tokens with these ids, as int64 and int8 */
static PyObject *vocabulary_describe(Vocabulary *self, PyObject *object) {
    struct arrays arrays;
    uint64_t *hash;
    uint8_t *group;
    if (!open_ids(self, &arrays, object))
        return NULL;
    const uint32_t *ids = arrays.buffers[0].buf;
    size_t n = length_of(&arrays.buffers[0]);
    PyObject *hashes = new_bytes(n, sizeof *hash, &hash), *of_tokens = new_bytes(n, sizeof *group, &group);
    for (size_t i = 0; hashes && of_tokens && i < n; i++) {
        hash[i] = vocabulary_file_hash(&self->tokens, ids[i]);
        group[i] = group_of(&groups, vocabulary_text(&self->tokens, ids[i]));
    }
    close_arrays(&arrays);
    return pair_of(hashes, of_tokens);
}

static PyMethodDef vocabulary_methods[] = {
    {"ids", (PyCFunction)vocabulary_ids, METH_VARARGS, "The id of each token in one text, as uint32."},
    {"take", (PyCFunction)vocabulary_take, METH_O, "The text and the lengths of the tokens with these ids."},
    {"describe", (PyCFunction)vocabulary_describe, METH_O, "The hashes and groups of the tokens with these ids."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot vocabulary_slots[] = {
    {Py_tp_doc, "Tokens and their ids, both ways."},
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
    PyObject *program, *rule_tuple; /* the rules' texts stand in the tuple */
    bool is_busy;
} Reader;

/* The rules of header fields: a tuple of (name, is_beginning, is_volatile, how, extra, prefix), names and prefixes bytes. */
static bool read_rules(Reader *self, PyObject *rules) {
    size_t n = (size_t)PyTuple_Size(rules);
    if (!(self->rules.rules = calloc(n + 1, sizeof *self->rules.rules)))
        return PyErr_NoMemory() != NULL;
    for (size_t i = 0; i < n; i++) {
        const char *name, *prefix;
        Py_ssize_t n_name, n_prefix;
        int is_beginning, is_volatile, how, extra;
        if (!PyArg_ParseTuple(PyTuple_GetItem(rules, (Py_ssize_t)i), "y#ppiiy#", &name, &n_name, &is_beginning, &is_volatile,
                              &how, &extra, &prefix, &n_prefix))
            return false;
        self->rules.rules[i] = (struct header_rule){
            .name = span_of(name, (size_t)n_name), .is_beginning = is_beginning, .is_volatile = is_volatile,
            .how = (uint8_t)how, .extra = (uint8_t)extra, .prefix = span_of(prefix, (size_t)n_prefix)};
    }
    self->rules.n_rules = n;
    rules_sort(&self->rules);
    self->rules.other = (struct header_rule){.how = HOW_NAMES};
    return !PyErr_Occurred();
}

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *rules, *program;
    unsigned ngrams;
    int body_only, stems, splits;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!OIppp", &PyTuple_Type, &rules, &program, &ngrams, &body_only, &stems, &splits))
        return NULL;
    if (!make_page_of) {
        PyErr_SetString(PyExc_TypeError, "the tables must be there before a reader");
        return NULL;
    }
    Reader *self = (Reader *)new_object(type);
    if (!self)
        return NULL;
    Py_INCREF(program);
    Py_INCREF(rules);
    self->program = program;
    self->rule_tuple = rules;
    self->python = (struct python_host){{make_page, ask, open_attachment}, program, NULL};
    self->reader.tables = &tables;
    self->reader.rules = &self->rules;
    self->reader.host = &self->python.host;
    self->reader.options = (struct options){ngrams, body_only, stems, splits};
    if (!read_rules(self, rules))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void reader_dealloc(Reader *self) {
    arena_free(&self->reader.arena);
    free(self->rules.rules);
    Py_XDECREF(self->program);
    Py_XDECREF(self->rule_tuple);
    free_object(self);
}

/* Whether all went well; else there is an exception. */
static bool is_read(enum failure failure) {
    if (failure == FAILED_MEMORY && !PyErr_Occurred())
        PyErr_NoMemory();
    else if (failure && !PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "the reader of messages failed");
    return !failure;
}

/* What is known of each message of a call. */
struct answers {
    uint32_t *lengths, *cuts;
    uint8_t *digests, *dates;
};

/* Reads the messages; without the GIL. */
static enum failure read_messages(struct reader *reader, const span *raws, size_t n, unsigned wants,
                                  const struct answers *answers) {
    for (size_t i = 0; i < n; i++) {
        const struct message *message = &reader->message;
        enum failure failure = read_message(reader, raws[i], wants);
        if (failure)
            return failure;
        memcpy(answers->digests + i * DIGEST, message->digest, DIGEST);
        memcpy(answers->dates + i * DATE, message->date, DATE);
        answers->cuts[i] = message->cuts;
        if (!row_end(reader->vocabulary, &answers->lengths[i]))
            return FAILED_MEMORY;
    }
    return FAILED_NOT;
}

/* read(messages, vocabulary, identify) -> (lengths, cells, digests, dates, cuts) */
static PyObject *reader_read(Reader *self, PyObject *args) {
    PyObject *messages, *object, *answer = NULL;
    int identify;
    if (!PyArg_ParseTuple(args, "O!O!p", &PyTuple_Type, &messages, vocabulary_type, &object, &identify))
        return NULL;
    Vocabulary *vocabulary = (Vocabulary *)object;
    struct vocabulary *tokens = &vocabulary->tokens;
    if (!is_free(self->is_busy || vocabulary->is_busy))
        return NULL;
    size_t n = (size_t)PyTuple_Size(messages);
    struct answers answers;
    PyObject *lengths = new_bytes(n, sizeof *answers.lengths, &answers.lengths);
    PyObject *cuts = new_bytes(n, sizeof *answers.cuts, &answers.cuts);
    PyObject *digests = new_bytes(n, DIGEST, &answers.digests), *dates = new_bytes(n, DATE, &answers.dates);
    span *raws = calloc(n + 1, sizeof *raws);
    if (!raws)
        PyErr_NoMemory();
    for (size_t i = 0; raws && i < n; i++) {
        char *bytes = NULL;
        Py_ssize_t size = 0;
        PyBytes_AsStringAndSize(PyTuple_GetItem(messages, (Py_ssize_t)i), &bytes, &size);
        raws[i] = span_of(bytes, (size_t)size);
    }
    if (!PyErr_Occurred()) {
        self->is_busy = vocabulary->is_busy = true;
        self->reader.vocabulary = tokens;
        leave(&self->python);
        enum failure failure = read_messages(&self->reader, raws, n, WANT_ROW | (identify ? WANT_IDENTIFIED : 0), &answers);
        enter(&self->python.host);
        if (is_read(failure))
            answer = Py_BuildValue("Oy#OOO", lengths, (const char *)tokens->cells,
                                   (Py_ssize_t)(tokens->n_cells * sizeof(struct cell)), digests, dates, cuts);
        tokens->row_begin = 0;
        row_give_up(tokens);
        self->is_busy = vocabulary->is_busy = false;
    }
    free(raws);
    Py_XDECREF(lengths);
    Py_XDECREF(cuts);
    Py_XDECREF(digests);
    Py_XDECREF(dates);
    return answer;
}

/* ---- What people ask for ---- */

/* A list of n items, of which describe makes the i-th. */
static PyObject *list_of(size_t n, PyObject *(*describe)(const void *items, size_t i), const void *items) {
    PyObject *answer = PyList_New(0);
    for (size_t i = 0; answer && i < n; i++)
        append(&answer, describe(items, i));
    return answer;
}

static PyObject *text_at(const void *texts, size_t i) { return text_of(((const span_list *)texts)->items[i]); }

static PyObject *texts_of(const span_list *texts) { return list_of(texts->count, text_at, texts); }

static PyObject *field_at(const void *object, size_t i) {
    const struct message *message = object;
    return Py_BuildValue("NN", text_of(message->section.fields.items[i].name), text_of(message->values.items[i]));
}

static PyObject *part_at(const void *message, size_t i) {
    const struct part *part = &((const struct message *)message)->parts.items[i];
    return Py_BuildValue("NNNNNn", text_of(part->content_type), text_of(part->charset), text_of(part->encoding),
                         text_of(part->disposition), text_of(part->filename), (Py_ssize_t)part->size);
}

static PyObject *describe(const struct message *m) {
    return Py_BuildValue("{sNsNsNsNsNsNsksy#sy#ss}", "headers", list_of(m->values.count, field_at, m), "texts",
                         texts_of(&m->all_texts), "links", texts_of(&m->links), "hidden", texts_of(&m->hidden), "html",
                         texts_of(&m->named_facts), "parts", list_of(m->parts.count, part_at, m), "cuts",
                         (unsigned long)m->cuts, "digest", (const char *)m->digest, (Py_ssize_t)DIGEST, "identity",
                         (const char *)m->identity, (Py_ssize_t)DIGEST, "date", (const char *)m->date);
}

/* parse(raw, wants) -> what stands in a message, by name
 * wants: bits of core/reader.h; what is not wanted is empty. */
static PyObject *reader_parse(Reader *self, PyObject *args) {
    Py_buffer buffer;
    unsigned wants;
    if (!is_free(self->is_busy) || !PyArg_ParseTuple(args, "y*I", &buffer, &wants))
        return NULL;
    self->is_busy = true;
    leave(&self->python);
    wants &= ~(unsigned)NEEDS_VOCABULARY;
    enum failure failure = read_message(&self->reader, span_of(buffer.buf, (size_t)buffer.len), wants);
    enter(&self->python.host);
    PyObject *answer = is_read(failure) ? describe(&self->reader.message) : NULL;
    self->is_busy = false;
    PyBuffer_Release(&buffer);
    return answer;
}

static PyMethodDef reader_methods[] = {
    {"read", (PyCFunction)reader_read, METH_VARARGS, "Reads messages into rows of a vocabulary's ids."},
    {"parse", (PyCFunction)reader_parse, METH_VARARGS, "What stands in one message."},
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

/* ---- Tables and tokens ---- */

static span utf8_of(PyObject *text) {
    Py_ssize_t size;
    const char *at = PyUnicode_AsUTF8AndSize(text, &size);
    return at ? span_of(at, (size_t)size) : LITERAL("");
}

/* set_tables(references, make_page, kinds, groups, secret): once, when the package is imported.
 * references: {name: text}; kinds: {prefix: group}; groups: those of text, pairs and headers. */
static PyObject *set_tables(PyObject *module, PyObject *args) {
    PyObject *references, *page, *kinds, *name, *value;
    const char *secret;
    Py_ssize_t n_secret, at = 0;
    int of_text, of_pairs, of_headers;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OO!(iii)y#", &PyDict_Type, &references, &page, &PyDict_Type, &kinds, &of_text,
                          &of_pairs, &of_headers, &secret, &n_secret))
        return NULL;
    if (make_page_of) /* readers may be at work: the tables stay */
        Py_RETURN_NONE;
    if (n_secret != sizeof tables.secret)
        return other_shapes();
    memcpy(tables.secret, secret, sizeof tables.secret);
    groups = (struct group_table){calloc((size_t)PyDict_Size(kinds) + 1, sizeof *groups.kinds), 0, (uint8_t)of_text,
                                  (uint8_t)of_pairs, (uint8_t)of_headers};
    if (!groups.kinds || !references_begin(&tables.references, (size_t)PyDict_Size(references)))
        return PyErr_NoMemory();
    while (PyDict_Next(references, &at, &name, &value))
        references_add(&tables.references, (struct reference){utf8_of(name), utf8_of(value)});
    for (at = 0; PyDict_Next(kinds, &at, &name, &value);)
        groups.kinds[groups.n_kinds++] = (struct token_kind){utf8_of(name), (uint8_t)PyLong_AsLong(value)};
    if (PyErr_Occurred())
        return NULL;
    /* The texts stand in these, which are kept for as long as the process lives. */
    Py_INCREF(references);
    Py_INCREF(kinds);
    Py_INCREF(page);
    make_page_of = page;
    words_begin();
    tags_begin();
    Py_RETURN_NONE;
}

/* ---- The cells of store/rows.py: numbers of 7 bits a byte, the lowest first ---- */

enum { MAX_NUMBER_BYTES = 5 };

/* pack_numbers(numbers) -> (packed, ends): where each of them ends, as int64 */
static PyObject *pack_numbers(PyObject *module, PyObject *object) {
    struct arrays arrays;
    uint8_t *at, *first;
    int64_t *end;
    (void)module;
    if (!open_arrays(&arrays, &object, "q1"))
        return NULL;
    const uint64_t *numbers = arrays.buffers[0].buf;
    size_t n = length_of(&arrays.buffers[0]), size = 0;
    for (size_t i = 0; i < n; i++)
        for (uint64_t rest = numbers[i] >> 7, is_last = 0; !is_last; rest >>= 7, size++)
            is_last = !rest;
    PyObject *packed = new_bytes(size, 1, &first), *ends = new_bytes(n, sizeof *end, &end);
    at = first;
    for (size_t i = 0; packed && ends && i < n; i++) {
        uint64_t rest = numbers[i];
        for (; rest > 127; rest >>= 7)
            *at++ = (uint8_t)(rest | 128);
        *at++ = (uint8_t)rest;
        end[i] = at - first;
    }
    close_arrays(&arrays);
    return pair_of(packed, ends);
}

/* unpack_numbers(packed) -> (numbers, ends), or None where they are no such numbers */
static PyObject *unpack_numbers(PyObject *module, PyObject *object) {
    Py_buffer packed;
    int64_t *number, *end;
    (void)module;
    if (PyObject_GetBuffer(object, &packed, PyBUF_SIMPLE) < 0)
        return NULL;
    const uint8_t *bytes = packed.buf;
    size_t size = (size_t)packed.len, n = 0, begin = 0, k = 0;
    bool fits = !size || bytes[size - 1] < 128;
    for (size_t i = 0; i < size; i++)
        n += bytes[i] < 128;
    PyObject *numbers = new_bytes(n, sizeof *number, &number), *ends = new_bytes(n, sizeof *end, &end);
    for (size_t i = 0; numbers && ends && fits && i < size; i++)
        if (bytes[i] < 128) {
            fits = i - begin < MAX_NUMBER_BYTES;
            number[k] = 0;
            for (size_t j = i + 1; fits && j-- > begin;)
                number[k] = number[k] << 7 | (bytes[j] & 127);
            end[k++] = (int64_t)(begin = i + 1);
        }
    PyBuffer_Release(&packed);
    PyObject *answer = pair_of(numbers, ends);
    if (!answer || fits)
        return answer;
    Py_DECREF(answer);
    Py_RETURN_NONE;
}

/* ---- The loops of formulas/correction.py ---- */

static struct units units_of(const Py_buffer *buffer) {
    return (struct units){buffer->buf, (size_t)buffer->shape[0], (size_t)buffer->shape[1]};
}

static struct rows rows_of(const Py_buffer *indptr, const Py_buffer *columns) {
    return (struct rows){indptr->buf, columns->buf, length_of(indptr) ? length_of(indptr) - 1 : 0, length_of(columns)};
}

static struct visits visits_of(const Py_buffer *messages) { return (struct visits){messages->buf, length_of(messages)}; }

/* ascend(indptr, columns, values, offsets, labels, order, brought, weights,
 *        penalty, noise, unit, tolerance, least, passes) -> passes */
static PyObject *fit_ascend(PyObject *module, PyObject *args) {
    PyObject *objects[MAX_ARRAYS];
    struct arrays arrays;
    struct fit fit;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOOOOdddddl", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4],
                          &objects[5], &objects[6], &objects[7], &fit.penalty, &fit.noise, &fit.unit, &fit.tolerance,
                          &fit.least, &fit.passes) ||
        !open_arrays(&arrays, objects, "q1i1d1d2q1q1Q2Q2"))
        return NULL;
    const Py_buffer *values = &arrays.buffers[2], *offsets = &arrays.buffers[3], *labels = &arrays.buffers[4];
    fit.rows = rows_of(&arrays.buffers[0], &arrays.buffers[1]);
    fit.values = values->buf;
    fit.offsets = offsets->buf;
    fit.labels = labels->buf;
    fit.order = visits_of(&arrays.buffers[5]);
    fit.brought = units_of(&arrays.buffers[6]);
    fit.weights = units_of(&arrays.buffers[7]);
    size_t n = fit.rows.n, classes = fit.weights.columns + 1;
    bool fits = length_of(values) == n && length_of(labels) == n && length_of(offsets) == n &&
                (size_t)offsets->shape[1] == classes && fit.brought.rows == n && fit.brought.columns == classes - 1;
    long done = -1;
    Py_BEGIN_ALLOW_THREADS
    for (size_t i = 0; fits && i < n; i++)
        fits = fit.labels[i] >= 0 && (uint64_t)fit.labels[i] < classes;
    fits = fits && rows_fit(&fit.rows, &fit.order, fit.weights.rows);
    if (fits)
        done = ascend(&fit);
    Py_END_ALLOW_THREADS
    close_arrays(&arrays);
    return !fits ? other_shapes() : done < 0 ? PyErr_NoMemory() : PyLong_FromLong(done);
}

/* solve(scores, y, penalty) -> list of the coefficients */
static PyObject *fit_solve(PyObject *module, PyObject *args) {
    PyObject *object, *answer = NULL;
    Py_ssize_t y;
    double penalty;
    struct arrays arrays;
    (void)module;
    if (!PyArg_ParseTuple(args, "Ond", &object, &y, &penalty) || !open_arrays(&arrays, &object, "d1"))
        return NULL;
    size_t classes = length_of(&arrays.buffers[0]);
    double *found = calloc(classes + 1, sizeof *found);
    if (!found)
        PyErr_NoMemory();
    else if (y < 0 || (size_t)y >= classes)
        other_shapes();
    else {
        solve(arrays.buffers[0].buf, classes, (size_t)y, penalty, found);
        answer = PyList_New(0);
        for (size_t k = 0; answer && k < classes; k++)
            append(&answer, PyFloat_FromDouble(found[k]));
    }
    free(found);
    close_arrays(&arrays);
    return answer;
}

/* ---- The module ---- */

static PyMethodDef module_methods[] = {
    {"set_tables", set_tables, METH_VARARGS, "Hands the core what it needs to know."},
    {"pack_numbers", pack_numbers, METH_O, "Numbers of 7 bits a byte, and where each ends."},
    {"unpack_numbers", unpack_numbers, METH_O, "The numbers that were packed so, and where each ends."},
    {"ascend", fit_ascend, METH_VARARGS, "Solves for messages in turn; how many passes there were."},
    {"solve", fit_solve, METH_VARARGS, "The coefficients of a message."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_core", "The reader of messages.", -1, module_methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&module_definition), *reader = PyType_FromSpec(&reader_spec);
    vocabulary_type = (PyTypeObject *)PyType_FromSpec(&vocabulary_spec); /* which is never given up */
    if (!module || !vocabulary_type || !reader ||
        PyModule_AddObjectRef(module, "Vocabulary", (PyObject *)vocabulary_type) < 0 ||
        PyModule_AddObjectRef(module, "Reader", reader) < 0)
        Py_CLEAR(module);
    Py_XDECREF(reader);
    return module;
}
