/**
 * An interpreter of the part of the Jinja template language that chat templates use:
 * docs/decisions/0007-own-jinja.md.
 */
@NullMarked
package io.troupe.chat.jinja;

import org.jspecify.annotations.NullMarked;
