/**
 * The part of the Jinja template language that chat templates of language models are written in:
 * docs/decisions/0007-own-jinja.md.
 */
@NullMarked
package io.troupe.chat.jinja;

import org.jspecify.annotations.NullMarked;
