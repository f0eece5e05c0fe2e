/* Text -> words -> tokens, in every script.
 *
 * A word is a maximal run of word characters: ASCII letters and digits, some ASCII punctuation, and every letter, mark
 * and number of Unicode.
 */
#pragma once

#include "arena.h"

struct reader;

/* What is made of a word: its parts, it as a whole, or a host's domains and networks. */
enum word_method { WORD_PARTS, WORD_WHOLE, WORD_HOST };

/* A prefix is empty, or ends with its only colon and has no blank. */
struct place {
    span prefix;
    enum word_method method;
};

/* Makes the table of bytes; once, before anything is read. */
void words_begin(void);

/* Counts the token of a prefix and a text; any text will do. */
void add_token(struct reader *reader, span prefix, span text);
/* The same, but a second time in a message does not count. */
void add_fact(struct reader *reader, span prefix, span text);

/* The words of a header value or of hidden text. */
void add_words(struct reader *reader, const struct place *place, span text);

/* The words of texts together; pairs of the first ones, punctuation, how many words there are, and how many in
 * capitals. The place has no prefix; this one stands before the tokens of the last three kinds. Where it is empty also
 * the length of lines, and the share of capitals. */
void add_texts(struct reader *reader, const struct place *place, const span_list *texts, span prefix);

/* The domains of a host in lower case, or the networks of an address; each token counts once a message. */
void add_host(struct reader *reader, span prefix, span host);
